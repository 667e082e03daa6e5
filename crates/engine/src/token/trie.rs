//! A set of byte strings that finds the longest one at the start of a text.

use std::collections::HashMap;

/// A set of byte strings with an id each, as a tree over their bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct Trie {
    children: HashMap<(u32, u8), u32>,
    ids: Vec<Option<u32>>,
}

impl Trie {
    /// Adds a string; one that is there already keeps its id. The empty string is not added: it is
    /// found everywhere.
    pub(super) fn insert(&mut self, text: &[u8], id: u32) {
        if text.is_empty() {
            return;
        }
        if self.ids.is_empty() {
            self.ids.push(None);
        }
        let mut node = 0;
        for &byte in text {
            let next = self.ids.len() as u32;
            node = *self.children.entry((node, byte)).or_insert(next);
            if node == next {
                self.ids.push(None);
            }
        }
        self.ids[node as usize].get_or_insert(id);
    }

    /// True without any string.
    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The longest string with which `text` begins: its length in bytes and its id.
    pub(super) fn longest(&self, text: &[u8]) -> Option<(usize, u32)> {
        let (mut node, mut found) = (0, None);
        for (at, &byte) in text.iter().enumerate() {
            match self.children.get(&(node, byte)) {
                Some(&next) => node = next,
                None => break,
            }
            if let Some(id) = self.ids[node as usize] {
                found = Some((at + 1, id));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::Trie;

    #[test]
    fn finds_the_longest_and_keeps_the_first_id() {
        let mut trie = Trie::default();
        assert!(trie.is_empty() && trie.longest(b"a").is_none());
        for (id, text) in ["ab", "a", "abcd", "", "a"].iter().enumerate() {
            trie.insert(text.as_bytes(), id as u32);
        }
        assert_eq!(trie.longest(b"abcx"), Some((2, 0)));
        assert_eq!(trie.longest(b"abcd"), Some((4, 2)));
        assert_eq!(trie.longest(b"ba"), None);
        assert_eq!(trie.longest(b"a"), Some((1, 1)));
    }
}
