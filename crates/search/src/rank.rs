//! What a query finds, best first.

use crate::index::{Index, Indexed};
use crate::words::{fold, is_telling, words};

/// What a word is worth where it is found: as a whole word, and as the start of one.
const IN_HEADING: [u32; 2] = [12, 8];
const IN_PAGE: [u32; 2] = [5, 3];
const IN_TEXT: [u32; 2] = [2, 1];

/// What a page is worth more than its sections where their headings say the same.
const WHOLE_PAGE: u32 = 2;

/// The words that a reader searches for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Words that an entry must have.
    needed: Vec<String>,
    /// Numbers, single letters and common words, which the index has in headings only: an entry
    /// that has them comes first.
    wished: Vec<String>,
}

/// An entry that has all words of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit<'a> {
    /// Address from the site's root.
    pub address: &'a str,
    /// Title or heading.
    pub heading: &'a str,
    /// Title of the page that the section is on; empty for a page.
    pub page: &'a str,
    /// The words of the text that match, where the headings lack one of the query's words.
    pub in_text: Vec<&'a str>,
}

impl Query {
    /// Reads what a reader typed. Words that tell little are needed only where there are no others.
    pub fn new(typed: &str) -> Self {
        let all = words(typed).map(|at| fold(&typed[at]));
        let (needed, wished): (Vec<_>, Vec<_>) = all
            .filter(|word| !word.is_empty())
            .partition(|word| is_telling(word));
        match needed.is_empty() {
            true => Self {
                needed: wished,
                wished: Vec::new(),
            },
            false => Self { needed, wished },
        }
    }

    /// Whether there is nothing to search for.
    pub fn is_empty(&self) -> bool {
        self.needed.is_empty()
    }

    /// The entries that have all words, best first, in the order of the index where two are equally
    /// good. A section has at least one of the words itself, in its heading or its text; the others
    /// may be in the title of its page.
    pub fn search<'a>(&self, index: &'a Index) -> Vec<Hit<'a>> {
        if self.is_empty() {
            return Vec::new();
        }
        let found = index.entries.iter().filter_map(|entry| self.hit(entry));
        let mut found: Vec<(u32, Hit)> = found.collect();
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        found.into_iter().map(|(_, hit)| hit).collect()
    }

    /// The score of an entry that has all words.
    fn hit<'a>(&self, entry: &'a Indexed) -> Option<(u32, Hit<'a>)> {
        let (heading, page) = (folded(&entry.heading), folded(&entry.page));
        let terms: Vec<&str> = entry.terms.split(' ').collect();
        let mut in_text = Vec::new();
        let (mut total, mut is_own) = (0, false);
        for word in &self.needed {
            let in_heading = worth(&heading, word, IN_HEADING);
            let in_page = worth(&page, word, IN_PAGE);
            let own_text = worth(&terms, word, IN_TEXT);
            let best = in_heading.max(in_page).max(own_text);
            if best == 0 {
                return None;
            }
            if in_heading == 0 && in_page == 0 {
                in_text.extend(terms.iter().filter(|term| term.starts_with(word.as_str())));
            }
            is_own |= in_heading + own_text > 0;
            total += best;
        }
        let wished = self.wished.iter().map(|word| {
            let in_heading = worth(&heading, word, IN_HEADING);
            in_heading.max(worth(&page, word, IN_PAGE))
        });
        total += wished.sum::<u32>();
        let hit = Hit {
            address: &entry.address,
            heading: &entry.heading,
            page: &entry.page,
            in_text,
        };
        let is_titled = entry.page.is_empty() && total >= IN_HEADING[1];
        is_own.then_some((total + if is_titled { WHOLE_PAGE } else { 0 }, hit))
    }

    /// A text in parts, with whether a word of the query starts that part: what to mark.
    pub fn marked<'t>(&self, text: &'t str) -> Vec<(&'t str, bool)> {
        let mut parts = Vec::new();
        let mut done = 0;
        for at in words(text) {
            let word = fold(&text[at.clone()]);
            let is_found = |asked: &String| word.starts_with(asked.as_str());
            if self.needed.iter().any(is_found) {
                parts.push((&text[done..at.start], false));
                done = at.end;
                parts.push((&text[at], true));
            }
        }
        parts.push((&text[done..], false));
        parts.retain(|(part, _)| !part.is_empty());
        parts
    }
}

fn folded(text: &str) -> Vec<String> {
    words(text).map(|at| fold(&text[at])).collect()
}

/// What an asked word is worth among others; 0 where it is not among them.
fn worth(among: &[impl AsRef<str>], asked: &str, [whole, start]: [u32; 2]) -> u32 {
    let of = |word: &str| match word.strip_prefix(asked) {
        Some("") => whole,
        Some(_) => start,
        None => 0,
    };
    let worths = among.iter().map(|word| of(word.as_ref()));
    worths.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Entry, write};

    fn index(entries: &[[&str; 3]]) -> Index {
        let entries: Vec<Entry> = entries
            .iter()
            .map(|[address, heading, text]| Entry {
                address: (*address).to_owned(),
                heading: (*heading).to_owned(),
                text: (*text).to_owned(),
            })
            .collect();
        Index::parse(&write(&entries)).unwrap()
    }

    fn course() -> Index {
        index(&[
            ["lesson/attention/", "Self-attention", "Each word asks."],
            [
                "#scores",
                "The scores",
                "Queries and keys give scores; attention weights follow.",
            ],
            ["#cafe", "Perché così", "Un caffè."],
            ["lesson/scaling/", "Scaling", "The softmax saturates."],
            [
                "#spread",
                "Spread of scores",
                "The scores spread with the dimension.",
            ],
            ["#softmax", "The softmax", "It turns scores into weights."],
        ])
    }

    fn found(typed: &str) -> Vec<String> {
        let index = course();
        let hits = Query::new(typed).search(&index);
        hits.iter().map(|hit| hit.address.to_owned()).collect()
    }

    #[test]
    fn headings_come_before_text_and_whole_words_before_starts() {
        assert_eq!(
            found("scores"),
            [
                "lesson/attention/#scores",
                "lesson/scaling/#spread",
                "lesson/scaling/#softmax"
            ]
        );
        assert_eq!(
            found("softmax"),
            ["lesson/scaling/#softmax", "lesson/scaling/"]
        );
        assert_eq!(found("attention")[0], "lesson/attention/");
        let other = index(&[["a", "Scores", ""], ["b", "Score", ""]]);
        let hits = Query::new("score").search(&other);
        assert_eq!([hits[0].address, hits[1].address], ["b", "a"]);
    }

    #[test]
    fn all_words_have_to_be_there_each_as_a_start() {
        assert_eq!(found("spre sco"), ["lesson/scaling/#spread"]);
        assert_eq!(found("spread nothing"), Vec::<String>::new());
        assert_eq!(
            found("ores"),
            Vec::<String>::new(),
            "the end of a word is no start"
        );
    }

    #[test]
    fn the_title_of_a_page_helps_its_sections_and_finds_none_of_them_alone() {
        assert_eq!(found("scaling"), ["lesson/scaling/"]);
        assert_eq!(found("scaling softmax")[0], "lesson/scaling/#softmax");
    }

    #[test]
    fn capitals_accents_and_common_words_make_no_difference() {
        assert_eq!(found("PERCHE COSÌ"), ["lesson/attention/#cafe"]);
        assert_eq!(found("caffe"), ["lesson/attention/#cafe"]);
        assert_eq!(found("what is the softmax"), found("softmax"));
        assert_eq!(
            found("the").len(),
            2,
            "alone a common word is looked for in headings"
        );
        assert!(found("").is_empty() && found(" - ").is_empty());
        assert!(Query::new(" ?").is_empty());
    }

    /// The index keeps no numbers and single letters of texts, so they cannot be demanded.
    #[test]
    fn numbers_and_letters_rank_and_do_not_exclude() {
        let index = index(&[
            ["a", "A model", "GPT-2 writes, after Vaswani et al. (2017)."],
            ["b", "GPT 2", "Another text with d_k in it."],
        ]);
        let found = |typed: &str| {
            let hits = Query::new(typed).search(&index);
            hits.iter().map(|hit| hit.address).collect::<String>()
        };
        assert_eq!(found("GPT-2"), "ba");
        assert_eq!(found("Vaswani 2017"), "a");
        assert_eq!(found("2"), "b", "alone a number is looked for in headings");
        assert!(
            Query::new("\u{301}").is_empty(),
            "an accent alone is no word"
        );
    }

    #[test]
    fn a_hit_names_the_words_of_the_text_only_where_headings_lack_one() {
        let index = course();
        let hits = Query::new("weights dim").search(&index);
        assert!(hits.is_empty());
        let hits = Query::new("spread dim").search(&index);
        assert_eq!(hits[0].in_text, ["dimension"]);
        assert_eq!(hits[0].page, "Scaling");
        let hits = Query::new("spread").search(&index);
        assert!(hits[0].in_text.is_empty());
    }

    #[test]
    fn whole_words_that_start_like_the_query_are_marked() {
        let query = Query::new("cosi sco");
        assert_eq!(
            query.marked("Così: the scores"),
            [("Così", true), (": the ", false), ("scores", true)]
        );
        assert_eq!(query.marked("nothing"), [("nothing", false)]);
        assert!(query.marked("").is_empty());
    }
}
