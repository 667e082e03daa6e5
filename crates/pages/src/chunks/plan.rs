//! Decides which parts of a cut program come in one file.
//!
//! `wasm_split_cli_support` makes a part for each set of chunks that share something: two hundred
//! for eight lessons, most of them smaller than the request that would fetch them. [`plan`] joins
//! them until a chunk needs few files. A chunk that needs only one of two joined parts fetches the
//! other for nothing, so [`plan`] joins the two that waste the fewest bytes. The chunks of the worker
//! may share with the first file instead, and [`plan_beside_first`] looks for the chunks that had
//! best share a file of their own.

use std::collections::{BTreeMap, BTreeSet};

/// Bytes of wasm that cost as much as one more request, with its headers and the poorer compression
/// of small files.
const REQUEST: usize = 4_000;

/// Bytes below which a part joins any file that all its chunks need. Most parts are this small.
const CRUMB: usize = 512;

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
    /// Bytes that the chunks fetch for nothing if this group and another come in one file, less the
    /// worth of the spared requests; `None` where no chunk needs both.
    fn cost(&self, other: &Self) -> Option<i64> {
        let common = self.chunks.intersection(&other.chunks).count();
        let wasted =
            self.size * (other.chunks.len() - common) + other.size * (self.chunks.len() - common);
        (common > 0).then(|| signed(wasted) - signed(REQUEST * common))
    }

    fn is_shared(&self) -> bool {
        self.chunks.len() > 1
    }

    fn join(&mut self, other: Self) {
        self.chunks.extend(other.chunks);
        self.parts.extend(other.parts);
        self.size += other.size;
    }
}

fn signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// What becomes of the parts of a cut program.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Parts that join the first file.
    pub(super) first: Vec<String>,
    /// The other files.
    pub(super) files: Vec<Group>,
}

/// Joins parts until no chunk needs more than `most` files that it shares with others. The parts
/// that only one chunk needs are one file.
pub(super) fn plan(parts: Vec<Group>, most: usize) -> Plan {
    let atoms = joined(parts);
    let is_crumb = |group: &Group| group.is_shared() && group.size < CRUMB;
    let (crumbs, mut groups): (Vec<Group>, Vec<Group>) = atoms.iter().cloned().partition(is_crumb);
    for crumb in crumbs {
        let fitting = groups
            .iter_mut()
            .filter(|group| group.chunks.is_superset(&crumb.chunks));
        match fitting.min_by_key(|group| group.chunks.len()) {
            Some(group) => group.join(crumb),
            None => groups.push(crumb),
        }
    }
    while let Some((a, b)) = next(&groups, most) {
        let other = groups.remove(b);
        if let Some(group) = groups.get_mut(a) {
            group.join(other);
        }
    }
    Plan {
        first: Vec::new(),
        files: spread(&atoms, groups, most),
    }
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

/// Joins parts so that a chunk needs its own file, at most one that it shares with others, and the
/// first file, which every chunk comes after.
///
/// Chunks that share a file are a team. What two teams need joins the first file. Starting from
/// teams of one, two teams join, or a chunk changes its team, while that makes the chunks that
/// fetch most fetch less.
pub(super) fn plan_beside_first(parts: Vec<Group>) -> Plan {
    let atoms = joined(parts);
    let chunks: BTreeSet<&String> = atoms.iter().flat_map(|atom| &atom.chunks).collect();
    let mut teams: Vec<BTreeSet<&String>> = chunks
        .iter()
        .map(|&chunk| BTreeSet::from([chunk]))
        .collect();
    let mut least = cost_of_teams(&atoms, &teams);
    loop {
        let other = changes(&teams)
            .map(|teams| (cost_of_teams(&atoms, &teams), teams))
            .min_by(|(a, _), (b, _)| a.total_cmp(b));
        match other {
            Some((cost, other)) if cost < least => (least, teams) = (cost, other),
            _ => break,
        }
    }
    let mut plan = Plan::default();
    for team in &teams {
        let inside = atoms
            .iter()
            .filter(|atom| atom.is_shared() && is_within(atom, team));
        plan.files.extend(inside.cloned().reduce(|mut all, atom| {
            all.join(atom);
            all
        }));
    }
    for atom in &atoms {
        if !atom.is_shared() {
            plan.files.push(atom.clone());
        } else if !teams.iter().any(|team| is_within(atom, team)) {
            plan.first.extend(atom.parts.iter().cloned());
        }
    }
    plan
}

/// Whether only chunks of a team need a group.
fn is_within(group: &Group, team: &BTreeSet<&String>) -> bool {
    group.chunks.iter().all(|chunk| team.contains(chunk))
}

/// All teams that differ from `teams` by one step: a chunk in another team or alone, or two teams
/// in one.
fn changes<'a, 'b>(
    teams: &'b [BTreeSet<&'a String>],
) -> impl Iterator<Item = Vec<BTreeSet<&'a String>>> + 'b {
    let count = teams.len();
    let full = |teams: Vec<BTreeSet<&'a String>>| {
        let teams = teams.into_iter().filter(|team| !team.is_empty());
        teams.collect::<Vec<_>>()
    };
    let moved = teams.iter().enumerate().flat_map(move |(from, team)| {
        team.iter().flat_map(move |&chunk| {
            (0..=count).map(move |to| {
                let mut teams = teams.to_vec();
                teams.push(BTreeSet::new());
                teams[from].remove(chunk);
                teams[to].insert(chunk);
                full(teams)
            })
        })
    });
    let joined = (0..count).flat_map(move |a| {
        (a + 1..count).map(move |b| {
            let mut teams = teams.to_vec();
            let other = teams.remove(b);
            teams[a].extend(other);
            teams
        })
    });
    moved.chain(joined)
}

/// The sum over all chunks of the fourth power of what each fetches besides what every chunk needs
/// of the first file anyway.
fn cost_of_teams(atoms: &[Group], teams: &[BTreeSet<&String>]) -> f64 {
    let shared = atoms.iter().filter(|atom| atom.is_shared());
    let first = shared.filter(|atom| !teams.iter().any(|team| is_within(atom, team)));
    let first: usize = first.map(|atom| atom.size).sum();
    let of_team = |team: &BTreeSet<&String>| {
        let inside = atoms
            .iter()
            .filter(|atom| atom.is_shared() && is_within(atom, team));
        let shared: usize = inside.map(|atom| atom.size).sum();
        let request = if shared > 0 { REQUEST } else { 0 };
        let each = team.iter().map(|&chunk| {
            let own = atoms
                .iter()
                .filter(|atom| !atom.is_shared() && atom.chunks.contains(chunk));
            let own: usize = own.map(|atom| atom.size).sum();
            ((first + shared + request + own) as f64).powi(4)
        });
        each.sum::<f64>()
    };
    teams.iter().map(of_team).sum()
}

/// Moves single sets of parts from one shared file to another while that makes the chunks that
/// fetch most fetch less. `atoms` are the parts, joined where the same chunks need them.
fn spread(atoms: &[Group], groups: Vec<Group>, most: usize) -> Vec<Group> {
    let (shared, own): (Vec<Group>, Vec<Group>) = groups.into_iter().partition(Group::is_shared);
    let inside = |file: &Group| {
        let mut inside: Vec<Group> = atoms
            .iter()
            .filter(|atom| file.parts.contains(&atom.parts[0]))
            .cloned()
            .collect();
        inside.sort_by_key(|atom| std::cmp::Reverse(atom.size));
        inside
    };
    let mut files: Vec<Vec<Group>> = shared.iter().map(inside).collect();
    files.push(Vec::new());
    let mut least = cost(&files, &own, most);
    loop {
        let before = least;
        for from in 0..files.len() {
            for at in (0..files[from].len()).rev() {
                let atom = files[from].remove(at);
                let mut best = from;
                for to in 0..files.len() {
                    files[to].push(atom.clone());
                    let now = cost(&files, &own, most);
                    files[to].pop();
                    if now < least {
                        (best, least) = (to, now);
                    }
                }
                let place = if best == from { at } else { files[best].len() };
                files[best].insert(place, atom);
            }
        }
        if least >= before {
            break;
        }
    }
    let joined = files.into_iter().filter_map(|file| {
        file.into_iter().reduce(|mut all, atom| {
            all.join(atom);
            all
        })
    });
    own.into_iter().chain(joined).collect()
}

/// The sum over all chunks of the fourth power of what each fetches, so the chunks that fetch most
/// count most; infinite where one needs too many shared files.
fn cost(files: &[Vec<Group>], own: &[Group], most: usize) -> f64 {
    let mut fetched: BTreeMap<&String, (usize, usize)> = BTreeMap::new();
    for group in own {
        for chunk in &group.chunks {
            fetched.entry(chunk).or_default().0 += group.size;
        }
    }
    for file in files {
        let size: usize = file.iter().map(|atom| atom.size).sum();
        let chunks: BTreeSet<&String> = file.iter().flat_map(|atom| &atom.chunks).collect();
        for chunk in chunks {
            let (bytes, count) = fetched.entry(chunk).or_default();
            *bytes += size + REQUEST;
            *count += 1;
        }
    }
    if fetched.values().any(|&(_, count)| count > most) {
        return f64::INFINITY;
    }
    let bytes = fetched.values().map(|&(bytes, _)| bytes as f64);
    bytes.map(|bytes| bytes.powi(4)).sum()
}

/// The two groups, by their indices, that [`plan`] joins next: the cheapest; `None` where every
/// chunk needs few enough files and joining saves nothing.
fn next(groups: &[Group], most: usize) -> Option<(usize, usize)> {
    let mut files: BTreeMap<&String, usize> = BTreeMap::new();
    for chunk in groups
        .iter()
        .filter(|group| group.is_shared())
        .flat_map(|group| &group.chunks)
    {
        *files.entry(chunk).or_default() += 1;
    }
    let is_crowded = |chunk: &String| files.get(chunk).is_some_and(|&count| count > most);
    let shared: Vec<(usize, &Group)> = groups
        .iter()
        .enumerate()
        .filter(|(_, group)| group.is_shared())
        .collect();
    let pairs = shared.iter().enumerate().flat_map(|(at, first)| {
        let later = shared.iter().skip(at + 1);
        later.map(move |second| (first, second))
    });
    let joins = pairs.filter_map(|(&(a, first), &(b, second))| {
        let cost = first.cost(second)?;
        let mut both = first.chunks.intersection(&second.chunks);
        (cost < 0 || both.any(is_crowded)).then_some((cost, (a, b)))
    });
    joins.min().map(|(_, pair)| pair)
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
        let groups = plan(parts, 3).files;
        let parts: Vec<_> = groups.iter().map(|group| group.parts.join(" ")).collect();
        assert_eq!(parts, ["a1 a2", "b", "ab1 ab2"]);
    }

    #[test]
    fn no_chunk_needs_more_files_than_allowed_and_the_cheapest_go_together() {
        let parts = vec![
            group(&["a", "b"], "large", 500_000),
            group(&["a", "b", "c"], "all", 300_000),
            group(&["a", "c"], "small", 20_000),
        ];
        let groups = plan(parts.clone(), 2).files;
        let names: Vec<_> = groups.iter().map(|group| group.parts.join(" ")).collect();
        // The small part is of no use to b; the large one would be of no use to c.
        assert_eq!(names, ["large", "all small"]);
        assert_eq!(groups[1].chunks.len(), 3);
        assert_eq!(plan(parts, 3).files.len(), 3);
    }

    #[test]
    fn what_is_smaller_than_a_request_does_not_come_alone() {
        let parts = vec![
            group(&["a", "b", "c"], "all", 300_000),
            group(&["a", "b"], "tiny", 500),
        ];
        assert_eq!(plan(parts, 9).files.len(), 1);
    }

    #[test]
    fn a_part_moves_to_a_file_whose_chunks_all_fetch_it_anyway() {
        // Joining the cheapest first leaves the small part in the file that c does not need.
        let parts = [
            group(&["a", "b"], "ab", 60_000),
            group(&["a", "b", "c"], "abc", 50_000),
            group(&["a", "c"], "ac", 5_000),
        ];
        let joined = |members: &[usize]| {
            let file = members.iter().map(|&i| parts[i].clone());
            file.reduce(|mut all, part| {
                all.join(part);
                all
            })
        };
        let before = vec![joined(&[0, 2]).unwrap(), joined(&[1]).unwrap()];
        let after = spread(&parts, before, 2);
        let fetched = |chunk: &str| -> usize {
            let files = after.iter().filter(|file| file.chunks.contains(chunk));
            files.map(|file| file.size).sum()
        };
        assert_eq!(
            (fetched("a"), fetched("b"), fetched("c")),
            (115_000, 115_000, 55_000)
        );
    }

    #[test]
    fn chunks_that_share_much_share_a_file_beside_the_first() {
        let parts = vec![
            group(&["a", "b", "c", "d"], "all", 80_000),
            group(&["a", "b", "c"], "most", 70_000),
            group(&["a", "b"], "left", 90_000),
            group(&["c", "d"], "right", 90_000),
            group(&["a", "d"], "across", 500),
            group(&["d"], "own", 300),
        ];
        let plan = plan_beside_first(parts);
        assert_eq!(plan.first, ["most", "all", "across"]);
        let names: Vec<_> = plan.files.iter().map(|file| file.parts.join(" ")).collect();
        assert_eq!(names, ["left", "right", "own"]);
    }

    #[test]
    fn a_chunk_that_shares_little_waits_for_no_shared_file() {
        let parts = vec![
            group(&["a", "b"], "two", 90_000),
            group(&["a", "b", "c"], "three", 5_000),
        ];
        let plan = plan_beside_first(parts);
        assert_eq!(plan.first, ["three"]);
        assert_eq!(plan.files.len(), 1);
        assert!(!plan.files[0].chunks.contains("c"));
    }

    #[test]
    fn many_lessons_still_make_few_files() {
        let name = |lesson: u32| format!("lesson{lesson:02}");
        // Sets of lessons that a number's bits choose.
        let parts = (1..120_u32).map(|seed| {
            let bits = seed.wrapping_mul(2_654_435_761);
            Group {
                chunks: (0..26).filter(|l| bits >> l & 1 == 1).map(name).collect(),
                parts: vec![format!("part{seed}")],
                size: usize::try_from(bits % 9_000).unwrap(),
            }
        });
        let groups = plan(parts.collect(), 3).files;
        for lesson in (0..26).map(name) {
            let files = groups.iter().filter(|group| group.chunks.contains(&lesson));
            // Three shared files and the one of its own, if it has one.
            assert!(files.count() <= 4, "{lesson}");
        }
        let parts: usize = groups.iter().map(|group| group.parts.len()).sum();
        assert_eq!(parts, 119);
    }
}
