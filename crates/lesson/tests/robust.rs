//! No text makes the compiler panic.

mod common;

use common::{FRONT, World};
use lesson::compile;
use proptest::prelude::*;

/// Pieces that mean something to the compiler, so that random texts reach its corners.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "\n",
            "\n\n",
            "+++\n",
            "```",
            "```cell table #a\n",
            "```exercise e\n",
            "$",
            "$$",
            "\\frac{",
            "}",
            "\\begin{bmatrix}",
            "&",
            "\\\\",
            "> [!NOTE]",
            "> ",
            "[^a]",
            "[^a]: x\n",
            "`=",
            "`",
            "table.w[0,1]",
            "## ",
            "#### ",
            "![",
            "](",
            ")",
            "[",
            "]",
            "<img src=\"",
            "\">",
            "<script",
            "|a|b|\n|-|-|\n",
            "- ",
            "title = \"",
            "\"\n",
            "\"\"\"",
            "question = ",
            "é",
            "\u{1f431}",
            "\0",
            "\r\n",
            "{#x}",
            "choices = [",
        ])
        .prop_map(str::to_owned),
        ".{0,8}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = compile("lessons/03-test.md", &text, &World);
        let _ = compile("lessons/03-test.md", &format!("{FRONT}{text}"), &World);
    }

    #[test]
    fn any_pieces(pieces in proptest::collection::vec(piece(), 0..40)) {
        let text = pieces.concat();
        let _ = compile("lessons/03-test.md", &format!("{FRONT}{text}"), &World);
        let _ = compile("lessons/03-test.md", &format!("+++\n{text}"), &World);
    }

    #[test]
    fn any_formula(latex in "[\\\\{}^_&a-zA-Z0-9 ]{0,40}") {
        let _ = compile("lessons/03-test.md", &format!("{FRONT}${latex}$\n\n$${latex}$$\n"), &World);
    }
}
