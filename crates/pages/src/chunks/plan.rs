//! Decides which parts of a cut program come in one file.
//!
//! `wasm_split_cli_support` makes a file for each set of chunks that share something: two hundred for eight lessons, most of them
//! smaller than the request that fetches them. Here they are put together again until a chunk needs few of them. Putting two
//! together makes a chunk that needs only one of them fetch the other for nothing, so that the two are taken for which this is least.

use std::collections::BTreeSet;

/// Bytes of wasm that a request is worth: its headers, and that small files compress badly.
const REQUEST: usize = 4_000;

/// Parts that come in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// The chunks that need the file.
    pub(super) chunks: BTreeSet<String>,
    /// Names of the parts.
    pub(super) parts: Vec<String>,
    /// Bytes of all parts.
    pub(super) size: usize,
}

impl Group {
    /// Bytes that are fetched for nothing, over all chunks, when this group and another one come in one file, less what the spared
    /// requests are worth.
    fn cost(&self, other: &Self) -> i64 {
        let only = |a: &Self, b: &Self| a.chunks.difference(&b.chunks).count();
        let wasted = self.size * only(other, self) + other.size * only(self, other);
        let spared = REQUEST * self.chunks.intersection(&other.chunks).count();
        signed(wasted) - signed(spared)
    }
}

fn signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Puts parts together until no chunk needs more than `most` files that it shares with others. What one chunk alone needs is one
/// file of its own.
pub(super) fn plan(parts: Vec<Group>, most: usize) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for part in parts {
        match groups.iter_mut().find(|group| group.chunks == part.chunks) {
            Some(group) => join(group, part),
            None => groups.push(part),
        }
    }
    while let Some((a, b)) = next(&groups, most) {
        let other = groups.remove(b);
        if let Some(group) = groups.get_mut(a) {
            join(group, other);
        }
    }
    groups
}

fn join(group: &mut Group, other: Group) {
    group.chunks.extend(other.chunks);
    group.parts.extend(other.parts);
    group.size += other.size;
}

/// The two groups to be put together next, the lower index first: `None` where every chunk needs few enough files and no two cost less apart.
fn next(groups: &[Group], most: usize) -> Option<(usize, usize)> {
    let shared = |group: &&Group| group.chunks.len() > 1;
    let is_crowded = |chunk: &String| {
        let files = groups.iter().filter(shared);
        files.filter(|group| group.chunks.contains(chunk)).count() > most
    };
    let crowded: BTreeSet<&String> = groups
        .iter()
        .flat_map(|group| &group.chunks)
        .filter(|chunk| is_crowded(chunk))
        .collect();
    let pairs = (0..groups.len()).flat_map(|a| (a + 1..groups.len()).map(move |b| (a, b)));
    pairs
        .filter_map(|(a, b)| {
            let (first, second) = (groups.get(a)?, groups.get(b)?);
            if !shared(&first) || !shared(&second) {
                return None;
            }
            let cost = first.cost(second);
            let both = first.chunks.intersection(&second.chunks);
            let relieves = both.clone().any(|chunk| crowded.contains(chunk));
            (relieves || cost < 0).then_some((cost, (a, b)))
        })
        .min()
        .map(|(_, pair)| pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(chunks: &[&str], part: &str, size: usize) -> Group {
        Group {
            chunks: chunks.iter().map(|&chunk| chunk.to_owned()).collect(),
            parts: vec![part.to_owned()],
            size,
        }
    }

    #[test]
    fn parts_of_the_same_chunks_are_one_file() {
        let parts = vec![
            group(&["a"], "a1", 90_000),
            group(&["a", "b"], "ab1", 90_000),
            group(&["a"], "a2", 10),
            group(&["a", "b"], "ab2", 10),
            group(&["b"], "b", 5),
        ];
        let groups = plan(parts, 3);
        let parts: Vec<_> = groups.iter().map(|group| group.parts.join(" ")).collect();
        assert_eq!(parts, ["a1 a2", "ab1 ab2", "b"]);
    }

    #[test]
    fn no_chunk_needs_more_files_than_allowed_and_the_cheapest_go_together() {
        let parts = vec![
            group(&["a", "b"], "large", 500_000),
            group(&["a", "b", "c"], "all", 300_000),
            group(&["a", "c"], "small", 20_000),
        ];
        let groups = plan(parts.clone(), 2);
        let names: Vec<_> = groups.iter().map(|group| group.parts.join(" ")).collect();
        // The small part is of no use to b; the large one would be of no use to c.
        assert_eq!(names, ["large", "all small"]);
        assert_eq!(groups[1].chunks.len(), 3);
        assert_eq!(plan(parts, 3).len(), 3);
    }

    #[test]
    fn what_is_smaller_than_a_request_does_not_come_alone() {
        let parts = vec![
            group(&["a", "b", "c"], "all", 300_000),
            group(&["a", "b"], "tiny", 500),
        ];
        assert_eq!(plan(parts, 9).len(), 1);
    }

    #[test]
    fn many_lessons_still_make_few_files() {
        let name = |lesson: u32| format!("lesson{lesson:02}");
        // Every set of lessons that a number's bits choose: as many parts as a large course may have.
        let parts = (1..400_u32).map(|seed| {
            let bits = seed.wrapping_mul(2_654_435_761);
            Group {
                chunks: (0..26).filter(|l| bits >> l & 1 == 1).map(name).collect(),
                parts: vec![format!("part{seed}")],
                size: usize::try_from(bits % 9_000).unwrap(),
            }
        });
        let groups = plan(parts.collect(), 3);
        for lesson in (0..26).map(name) {
            let files = groups.iter().filter(|group| group.chunks.contains(&lesson));
            assert!(files.count() <= 4, "{lesson}");
        }
        let parts: usize = groups.iter().map(|group| group.parts.len()).sum();
        assert_eq!(parts, 399);
    }
}
