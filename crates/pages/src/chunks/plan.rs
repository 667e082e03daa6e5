//! Decides which parts of a cut program come in one file.
//!
//! `wasm_split_cli_support` makes a part for each set of chunks that share something: two hundred
//! for eight lessons, most of them smaller than the request that would fetch them. [`plan`] joins
//! them so that a chunk needs few files and fetches nothing that it does not use. For that, a part
//! may be in several files: a file that chunks share holds only what all of them need, and what
//! else a chunk needs is in the file of its own, even where that of another chunk has it too.

use std::collections::{BTreeMap, BTreeSet};

/// Bytes of wasm that cost as much as one more request, with its headers and the poorer compression
/// of small files.
const REQUEST: usize = 4_000;

/// Bytes of wasm of which the cells of a lesson come in one file, whatever each of them needs: about
/// 105 kB after gzip. Of more than that a cell fetches only little that it does not use.
const ONE_FILE: usize = 285_000;

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
    fn join(&mut self, other: Self) {
        self.chunks.extend(other.chunks);
        self.parts.extend(other.parts);
        self.size += other.size;
    }
}

/// What becomes of the parts of a cut program.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Parts that join the first file.
    pub(super) first: Vec<String>,
    /// The other files.
    pub(super) files: Vec<Group>,
}

impl Plan {
    /// The parts that are in several files.
    pub(super) fn copied(&self) -> BTreeSet<&String> {
        let mut seen = BTreeSet::new();
        let parts = self.files.iter().flat_map(|file| &file.parts);
        parts.filter(|&part| !seen.insert(part)).collect()
    }
}

/// Where the parts that every chunk needs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Common {
    /// In the first file, which nobody fetches without a chunk.
    First,
    /// In the files of chunks: the first file is enough for some.
    Chunks,
}

/// Gathers the chunks of each family to those that come in one file: gives each chunk the name of
/// the file, which is that of the family where all of its chunks are in it, or else that of one of
/// them.
///
/// Two that together are small come in one, and two of which neither needs much less than both.
pub(super) fn gather(
    parts: &[Group],
    family: impl Fn(&str) -> Option<&'static str>,
) -> BTreeMap<String, String> {
    let all: BTreeSet<String> = parts.iter().flat_map(|part| part.chunks.clone()).collect();
    let own = parts.iter().filter(|part| part.chunks != all);
    let own: Vec<&Group> = own.collect();
    let size = |chunks: &BTreeSet<String>| -> usize {
        let needed = own.iter().filter(|part| !part.chunks.is_disjoint(chunks));
        needed.map(|part| part.size).sum()
    };
    let mut families: BTreeMap<&str, Vec<BTreeSet<String>>> = BTreeMap::new();
    for chunk in &all {
        let name = family(chunk).unwrap_or(chunk);
        let alone = BTreeSet::from([chunk.clone()]);
        families.entry(name).or_default().push(alone);
    }
    let mut names = BTreeMap::new();
    for (family, mut gathered) in families {
        while let Some((_, a, b)) = closest(&gathered, &size) {
            let joined = gathered.swap_remove(b);
            gathered[a].extend(joined);
        }
        let is_whole = gathered.len() == 1;
        for chunks in gathered {
            let first = chunks.first().map_or(family, String::as_str);
            let name = if is_whole { family } else { first }.to_owned();
            names.extend(chunks.into_iter().map(|chunk| (chunk, name.clone())));
        }
    }
    names
}

/// Of the sets that may come in one file, the two of which one of them would fetch least that it
/// does not use: these bytes, and the indices of both.
fn closest(
    sets: &[BTreeSet<String>],
    size: &impl Fn(&BTreeSet<String>) -> usize,
) -> Option<(usize, usize, usize)> {
    let pairs = (0..sets.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    let costs = pairs.map(|(a, b)| {
        let both = size(&(&sets[a] | &sets[b]));
        let unused = both - size(&sets[a]).min(size(&sets[b]));
        (both, (unused, a, b))
    });
    let small = costs.filter(|&(both, (unused, ..))| both <= ONE_FILE || unused <= 2 * REQUEST);
    small.map(|(_, cost)| cost).min()
}

/// Joins parts to files, of which a chunk needs its own and at most `most` of it that it shares with
/// others.
///
/// Chunks share the file that spares most copies, then the next one, until another file would not
/// be worth its requests.
pub(super) fn plan(parts: Vec<Group>, most: impl Fn(&str) -> usize, common: Common) -> Plan {
    let atoms = joined(parts);
    let all: BTreeSet<String> = atoms.iter().flat_map(|a| a.chunks.clone()).collect();
    let is_first = |atom: &Group| common == Common::First && atom.chunks == all;
    let (first, mut atoms): (Vec<Group>, Vec<Group>) = atoms.into_iter().partition(is_first);
    let mut plan = Plan {
        first: first.into_iter().flat_map(|atom| atom.parts).collect(),
        files: Vec::new(),
    };
    let teams = teams(&atoms);
    // The chunks of an atom are from here on those that still lack it.
    let mut room: BTreeMap<&String, usize> = all.iter().map(|chunk| (chunk, most(chunk))).collect();
    let has_room = |team: &BTreeSet<String>, room: &BTreeMap<&String, usize>| {
        team.iter().all(|chunk| room.get(chunk) > Some(&0))
    };
    while let Some((_, team)) = teams
        .iter()
        .filter(|team| has_room(team, &room))
        .map(|team| (worth(&atoms, team), team))
        .filter(|&(worth, _)| worth > 0)
        .max()
    {
        plan.files.extend(file(&mut atoms, team));
        for chunk in team {
            room.entry(chunk).and_modify(|files| *files -= 1);
        }
    }
    for chunk in &all {
        plan.files
            .extend(file(&mut atoms, &BTreeSet::from([chunk.clone()])));
    }
    plan
}

/// The parts, those that the same chunks need joined.
fn joined(parts: Vec<Group>) -> Vec<Group> {
    let mut same: BTreeMap<BTreeSet<String>, Group> = BTreeMap::new();
    for part in parts {
        match same.get_mut(&part.chunks) {
            Some(group) => group.join(part),
            None => {
                same.insert(part.chunks.clone(), part);
            }
        }
    }
    same.into_values().collect()
}

/// The sets of chunks that might share a file: those that share an atom, and what two of these have
/// in common.
fn teams(atoms: &[Group]) -> BTreeSet<BTreeSet<String>> {
    let pairs = atoms
        .iter()
        .flat_map(|a| atoms.iter().map(move |b| &a.chunks & &b.chunks));
    pairs.filter(|team| team.len() > 1).collect()
}

/// Whether a file that a team shares would hold an atom: all of the team need it, and none has it
/// yet.
fn is_for(atom: &Group, team: &BTreeSet<String>) -> bool {
    team.is_subset(&atom.chunks)
}

/// Bytes of copies that a file spares which a team shares, less the worth of its requests.
fn worth(atoms: &[Group], team: &BTreeSet<String>) -> i64 {
    let inside = atoms.iter().filter(|atom| is_for(atom, team));
    let bytes: usize = inside.map(|atom| atom.size).sum();
    signed(bytes * (team.len() - 1)) - signed(REQUEST * team.len())
}

fn signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// The file with everything that all of a team lack, which they then have; `None` where there is
/// nothing.
fn file(atoms: &mut [Group], team: &BTreeSet<String>) -> Option<Group> {
    let inside = atoms.iter_mut().filter(|atom| is_for(atom, team));
    let taken = inside.map(|atom| {
        atom.chunks.retain(|chunk| !team.contains(chunk));
        Group {
            chunks: team.clone(),
            ..atom.clone()
        }
    });
    taken.reduce(|mut all, atom| {
        all.join(atom);
        all
    })
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

    /// The chunks and the parts of each file.
    fn files(plan: &Plan) -> Vec<(String, String)> {
        let files = plan.files.iter().map(|file| {
            let chunks: Vec<&str> = file.chunks.iter().map(String::as_str).collect();
            (chunks.join(" "), file.parts.join(" "))
        });
        files.collect()
    }

    fn expected(files: &[(&str, &str)]) -> Vec<(String, String)> {
        let files = files.iter();
        files.map(|&(a, b)| (a.to_owned(), b.to_owned())).collect()
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
        let plan = plan(parts, |_| 3, Common::Chunks);
        let found = files(&plan);
        assert_eq!(
            found,
            expected(&[("a b", "ab1 ab2"), ("a", "a1 a2"), ("b", "b")])
        );
        assert!(plan.copied().is_empty());
    }

    #[test]
    fn a_chunk_fetches_only_what_it_needs_in_few_files() {
        let parts = vec![
            group(&["a", "b"], "large", 500_000),
            group(&["a", "b", "c"], "all", 300_000),
            group(&["a", "c"], "small", 20_000),
        ];
        let one = plan(parts.clone(), |_| 1, Common::Chunks);
        let found = files(&one);
        // The two that share most do so; what else they need comes in files of their own.
        assert_eq!(
            found,
            expected(&[("a b", "large all"), ("a", "small"), ("c", "all small")])
        );
        let copied: Vec<&str> = one.copied().into_iter().map(String::as_str).collect();
        assert_eq!(copied, ["all", "small"]);
        let two = plan(parts, |_| 2, Common::Chunks);
        let wanted = expected(&[("a b", "large all"), ("a c", "small"), ("c", "all")]);
        assert_eq!(files(&two), wanted);
        let sizes: Vec<usize> = two.files.iter().map(|file| file.size).collect();
        assert_eq!(sizes, [800_000, 20_000, 300_000]);
    }

    #[test]
    fn what_is_smaller_than_a_request_is_copied() {
        let parts = vec![
            group(&["a", "b", "c"], "all", 300_000),
            group(&["a", "b"], "tiny", 500),
        ];
        let found = files(&plan(parts, |_| 9, Common::Chunks));
        let wanted = expected(&[("a b c", "all"), ("a", "tiny"), ("b", "tiny")]);
        assert_eq!(found, wanted);
    }

    #[test]
    fn what_every_chunk_needs_may_join_the_first_file() {
        let parts = vec![
            group(&["a", "b", "c"], "all", 80_000),
            group(&["a", "b"], "two", 90_000),
            group(&["c"], "own", 300),
        ];
        let plan = plan(parts, |_| 1, Common::First);
        assert_eq!(plan.first, ["all"]);
        assert_eq!(files(&plan), expected(&[("a b", "two"), ("c", "own")]));
    }

    #[test]
    fn chunks_of_a_family_come_in_one_file_where_none_waits_for_much_more() {
        let (most, much) = (ONE_FILE, ONE_FILE / 2);
        let parts = vec![
            group(&["a1", "a2", "b1", "b2", "b3", "c"], "all", most),
            group(&["a1"], "a1", much),
            group(&["a2"], "a2", much),
            group(&["b1", "b2"], "b", most),
            group(&["b1"], "b1", REQUEST),
            group(&["b3"], "b3", 10 * REQUEST),
            group(&["c"], "c", 1),
        ];
        let family = |chunk: &str| match chunk.chars().next() {
            Some('a') => Some("small"),
            Some('b') => Some("large"),
            _ => None,
        };
        let found = gather(&parts, family);
        let found: Vec<(&str, &str)> = (found.iter())
            .map(|(chunk, file)| (chunk.as_str(), file.as_str()))
            .collect();
        let expected = [
            ("a1", "small"),
            ("a2", "small"),
            ("b1", "b1"),
            ("b2", "b1"),
            ("b3", "b3"),
            ("c", "c"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn many_lessons_still_make_few_files() {
        let name = |lesson: u32| format!("lesson{lesson:02}");
        // Sets of lessons that a number's bits choose.
        let parts = (1..50_u32).map(|seed| {
            let bits = seed.wrapping_mul(2_654_435_761);
            Group {
                chunks: (0..26).filter(|l| bits >> l & 1 == 1).map(name).collect(),
                parts: vec![format!("part{seed}")],
                size: usize::try_from(bits % 9_000).unwrap(),
            }
        });
        let parts: Vec<Group> = parts.collect();
        let groups = plan(parts.clone(), |_| 3, Common::Chunks).files;
        for lesson in (0..26).map(name) {
            let files = groups.iter().filter(|group| group.chunks.contains(&lesson));
            let files: Vec<&Group> = files.collect();
            // Three shared files and the one of its own, if it has one.
            assert!(files.len() <= 4, "{lesson}");
            let needed = parts.iter().filter(|part| part.chunks.contains(&lesson));
            let mut needed: Vec<&String> = needed.flat_map(|part| &part.parts).collect();
            let mut fetched: Vec<&String> = files.iter().flat_map(|file| &file.parts).collect();
            needed.sort();
            fetched.sort();
            assert_eq!(fetched, needed, "{lesson}");
        }
    }
}
