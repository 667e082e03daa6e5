//! What a browser takes of the machine's memory.

use std::collections::HashMap;

/// The memory of the process with this argument and of all that it started, in bytes; none where the
/// system does not say.
pub(crate) fn processes_bytes(argument: &str) -> Option<f64> {
    let mut parents = HashMap::new();
    let mut own = Vec::new();
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(id) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        // A process may have ended since it was listed.
        let read = |file: &str| std::fs::read_to_string(entry.path().join(file)).ok();
        let Some(stat) = read("stat") else { continue };
        // Number, name in parentheses, state, number of the parent.
        let parent = stat
            .rsplit_once(')')
            .and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        parents.insert(id, parent.unwrap_or(0));
        let has = |line: String| line.split('\0').any(|part| part == argument);
        if read("cmdline").is_some_and(has) {
            own.push(id);
        }
    }
    let is_own = |mut id: u32| loop {
        if own.contains(&id) {
            return true;
        }
        match parents.get(&id) {
            Some(&parent) if parent != 0 => id = parent,
            _ => return false,
        }
    };
    let kilobytes = |id: &&u32| {
        let text = std::fs::read_to_string(format!("/proc/{id}/smaps_rollup")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    let browser: Vec<&u32> = parents.keys().filter(|id| is_own(**id)).collect();
    let all: Vec<f64> = browser.iter().filter_map(kilobytes).collect();
    (!all.is_empty()).then(|| 1024.0 * all.iter().sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::processes_bytes;

    #[test]
    #[cfg(target_os = "linux")]
    fn processes_are_found_by_an_argument() {
        let own = std::env::args().next().unwrap_or_default();
        assert!(processes_bytes(&own).is_some_and(|bytes| bytes > 1e5));
        assert_eq!(
            processes_bytes("no process has this argument, has it?"),
            None
        );
    }
}
