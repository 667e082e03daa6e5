//! The shipped models of text: their cards computed again from their files, and what the lessons promise of them.
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

#[path = "support/cards.rs"]
mod cards;
#[path = "../../engine/tests/support/shared.rs"]
mod shared;

use cards::{card, check, number};
use shared::shared;
use training::text::masked::Masked;

#[test]
fn tiny_bert() {
    let card = card("tiny-bert");
    assert!(number(&card, "points above the best of these") >= 8.0);
    if let Some(data) = shared("data") {
        check(&Masked::read(&data).unwrap());
    }
}
