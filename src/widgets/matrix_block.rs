//! Reading a pasted block of numbers.

use super::{Limits, parse_number};

/// Rows of numbers from text that a spreadsheet, a CSV file or a program printed: lines are rows;
/// tabs, semicolons or spaces part the numbers, and commas where there is nothing else. `None`
/// where anything is no number, or where there is only one number (which needs no block).
pub(crate) fn parse_block(text: &str) -> Option<Vec<Vec<f32>>> {
    let rows: Vec<Vec<f32>> = text
        .lines()
        .map(|line| line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | ',')))
        .filter(|line| !line.is_empty())
        .map(parse_line)
        .collect::<Option<_>>()?;
    (rows.iter().map(Vec::len).sum::<usize>() > 1).then_some(rows)
}

fn parse_line(line: &str) -> Option<Vec<f32>> {
    let parted = |c: char| c == '\t' || c == ';' || c == ' ';
    let words: Vec<&str> = if line.contains(parted) {
        line.split(parted)
            .map(|w| w.trim_matches(','))
            .filter(|w| !w.is_empty())
            .collect()
    } else if line.matches(',').count() == 1 && !line.contains('.') {
        // One comma and no point: a decimal comma.
        vec![line]
    } else {
        line.split(',').collect()
    };
    words
        .into_iter()
        .map(|w| parse_number(w, Limits::ENTRY).ok().map(|x| x as f32))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::parse_block;

    #[test]
    fn blocks_of_many_origins() {
        let two = Some(vec![vec![1.0, 2.5], vec![-3.0, 4.0]]);
        for text in [
            "1\t2.5\n-3\t4\n",
            "1 2.5\r\n-3 4",
            "1,2.5\n-3,4.0",
            "1;2,5\n-3;4",
            "[1, 2.5],\n[-3, 4]",
            "1  2,5\n\u{2212}3  4",
        ] {
            assert_eq!(parse_block(text), two, "{text:?}");
        }
        assert_eq!(
            parse_block("1,5"),
            None,
            "one number with a decimal comma is no block"
        );
        assert_eq!(parse_block("7"), None);
        assert_eq!(parse_block("1 x"), None);
        assert_eq!(parse_block("1 1e9"), None);
        assert_eq!(parse_block(""), None);
    }
}
