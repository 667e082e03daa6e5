//! Models whose weights are in several files: `model-00002-of-00005.safetensors` is the second of
//! five. Hosts of models cut large ones in this way, each part a whole file of its format; parts of
//! a GGUF say their place in their metadata too.

use super::{OpenError, Weights};

/// The most parts that a name may speak of.
const MOST: usize = 1000;

/// The name of a file that is a part of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartName<'a> {
    before: &'a str,
    digits: usize,
    number: usize,
    count: usize,
    /// From `-of-` on: the same for all parts.
    after: &'a str,
}

impl<'a> PartName<'a> {
    /// Reads a file's name; `None` where it is not that of one part of several.
    ///
    /// ```
    /// use engine::open::PartName;
    /// let part = PartName::parse("model-00002-of-00005.safetensors").unwrap();
    /// assert_eq!((part.number(), part.count()), (2, 5));
    /// assert_eq!(part.name_of(3), "model-00003-of-00005.safetensors");
    /// assert_eq!(PartName::parse("out-of-place.gguf"), None);
    /// ```
    pub fn parse(name: &'a str) -> Option<Self> {
        let (start, after) = name.split_at(name.rfind("-of-")?);
        let (before, number) = start.rsplit_once('-')?;
        let (count, _) = after.strip_prefix("-of-")?.split_once('.')?;
        let digits = number.len();
        let whole = |digits: &str| {
            let is_whole = digits.bytes().all(|digit| digit.is_ascii_digit());
            digits.parse::<usize>().ok().filter(|_| is_whole)
        };
        let (number, count) = (whole(number)?, whole(count)?);
        let is_part = (2..=MOST).contains(&count) && (1..=count).contains(&number);
        is_part.then_some(Self {
            before,
            digits,
            number,
            count,
            after,
        })
    }

    /// The place of the part, from 1 on.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The number of all parts.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The name of the part of another number.
    pub fn name_of(&self, number: usize) -> String {
        let (before, after, digits) = (self.before, self.after, self.digits);
        format!("{before}-{number:0digits$}{after}")
    }

    /// What the names of all parts of the model begin with.
    pub fn model(&self) -> &'a str {
        self.before
    }

    /// Returns whether another name is that of a part of the same model.
    pub fn is_with(&self, other: &PartName<'_>) -> bool {
        (self.before, self.after) == (other.before, other.after)
    }
}

/// The place of a file in its model, from 1 on, and the number of all files.
fn place(name: &str, weights: &Weights) -> Option<(usize, usize)> {
    match weights {
        Weights::Gguf(file) => file.part(),
        Weights::SafeTensors(_) => PartName::parse(name).map(|part| (part.number(), part.count())),
        Weights::Llama2c(_) => None,
    }
}

/// The weights of a model in all of its files, in any order.
///
/// # Errors
/// When a part is missing or there twice, or the files are not parts of one model.
pub(super) fn joined(files: Vec<(&str, Weights)>) -> Result<Weights, OpenError> {
    let Some((first, weights)) = files.first() else {
        return Err(OpenError::beside("weights", "a file", "none"));
    };
    let first = *first;
    let Some((number, count)) = place(first, weights) else {
        return whole(files);
    };
    let mut parts = Vec::with_capacity(files.len());
    for (name, weights) in files {
        let found = place(name, &weights);
        if found.map(|(_, count)| count) != Some(count) {
            let what = found.map_or_else(
                || "a file that is no part".to_owned(),
                |(number, count)| format!("part {number} of {count}"),
            );
            let expected = format!("one of the {count} parts of the model of {first}");
            return Err(OpenError::beside(name, expected, what));
        }
        parts.push((found.map_or(0, |(number, _)| number), name, weights));
    }
    parts.sort_by_key(|(number, ..)| *number);
    if let Some([_, (number, name, _)]) = parts
        .windows(2)
        .find(|pair| matches!(pair, [(a, ..), (b, ..)] if a == b))
    {
        let found = format!("two files that are part {number}");
        return Err(OpenError::beside(name, "each part once", found));
    }
    let missing = (1..=count).find(|n| parts.iter().all(|(number, ..)| number != n));
    if let Some(missing) = missing {
        let named = PartName::parse(first).map(|part| part.name_of(missing));
        return Err(OpenError::Part {
            file: first.to_owned(),
            number,
            count,
            missing: named.unwrap_or_else(|| format!("part {missing}")),
        });
    }
    join(first, parts.into_iter().map(|(.., weights)| weights))
}

/// The weights of a model in one file.
fn whole(mut files: Vec<(&str, Weights)>) -> Result<Weights, OpenError> {
    let others = files.len().saturating_sub(1);
    match files.pop() {
        Some((_, weights)) if others == 0 => Ok(weights),
        last => {
            let name = last.map_or("", |(name, _)| name);
            let found = format!("{} files of weights", others + 1);
            Err(OpenError::beside(name, "the parts of one model", found))
        }
    }
}

/// One directory of all parts, which are in order.
fn join(name: &str, parts: impl Iterator<Item = Weights>) -> Result<Weights, OpenError> {
    let (mut gguf, mut safetensors, mut others) = (Vec::new(), Vec::new(), 0);
    for part in parts {
        match part {
            Weights::Gguf(file) => gguf.push(*file),
            Weights::SafeTensors(file) => safetensors.push(*file),
            Weights::Llama2c(_) => others += 1,
        }
    }
    let damaged = |source| OpenError::damaged(name, source);
    match (gguf.is_empty(), safetensors.is_empty(), others) {
        (false, true, 0) => {
            let file = super::Gguf::joined(gguf).map_err(damaged)?;
            Ok(Weights::Gguf(Box::new(file)))
        }
        (true, false, 0) => {
            let file = super::SafeTensors::joined(safetensors).map_err(damaged)?;
            Ok(Weights::SafeTensors(Box::new(file)))
        }
        _ => Err(OpenError::beside(
            name,
            "parts in one format",
            "several formats",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::PartName;

    #[test]
    fn names_of_parts_are_known() {
        let part = PartName::parse("a-00001-of-00002.gguf").unwrap();
        assert_eq!((part.number(), part.count()), (1, 2));
        assert_eq!(part.name_of(2), "a-00002-of-00002.gguf");
        assert_eq!(part.model(), "a");
        let short = PartName::parse("of-9-of-12.q8_0.gguf").unwrap();
        assert_eq!(short.name_of(10), "of-10-of-12.q8_0.gguf");
        assert!(part.is_with(&PartName::parse("a-00002-of-00002.gguf").unwrap()));
        for other in [
            "b-00002-of-00002.gguf",
            "a-00002-of-00003.gguf",
            "a-00002-of-00002.bin",
        ] {
            assert!(!part.is_with(&PartName::parse(other).unwrap()), "{other}");
        }
        for name in [
            "model.gguf",
            "a-00001-of-00001.gguf",
            "a-00003-of-00002.gguf",
            "a-00000-of-00002.gguf",
            "a-1-of-2",
            "a-+1-of-2.gguf",
            "-of-.gguf",
            "a--of-2.gguf",
            "a-1-of-1001.gguf",
            "",
        ] {
            assert_eq!(PartName::parse(name), None, "{name}");
        }
    }
}
