//! What `public/models/MODELS.md` says of each shipped model, computed again from its file.

use engine::model::cnn::Cnn;
use engine::model::vit::Vit;
use skip::shared;
use training::digits::classifier::Classifier;
use training::digits::data::Mnist;
use training::digits::gpt::DigitGpt;
use training::digits::position_tables;
use training::digits::variants::{AveragePooled, Variant, WithoutPositions};
use training::frame::{GZIP, LARGEST_ALL, LARGEST_FILE};
use training::text::masked::FIRST_LAYER;

use crate::cards::{card, cards, check, folder, number};

fn digits() -> Option<Mnist> {
    Some(Mnist::read(&shared("data/mnist")?).unwrap())
}

#[test]
fn digit_vit() {
    if let Some(digits) = digits() {
        check(&Classifier::<Vit>::new(digits));
    }
}

#[test]
fn digit_vit_without_positions() {
    if let Some(digits) = digits() {
        check(&Classifier::<Variant<WithoutPositions>>::new(digits));
    }
}

#[test]
fn digit_vit_with_average_pooling() {
    if let Some(digits) = digits() {
        check(&Classifier::<Variant<AveragePooled>>::new(digits));
    }
}

#[test]
fn digit_cnn() {
    if let Some(digits) = digits() {
        check(&Classifier::<Cnn>::new(digits));
    }
}

#[test]
fn digit_gpt() {
    if let Some(digits) = digits() {
        check(&DigitGpt::new(&digits).unwrap());
    }
}

#[test]
fn every_file_has_a_card_and_all_are_small() {
    let cards = cards();
    let mut all = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.extension().unwrap_or_default();
        if kind != "safetensors" && kind != "gguf" {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        if name == FIRST_LAYER || name == position_tables::FILE {
            all += path.metadata().unwrap().len() as usize;
            continue;
        }
        let has_card = cards.iter().any(|card| card.get("file") == Some(name));
        assert!(has_card, "{name} is not in MODELS.md");
        let bytes = path.metadata().unwrap().len() as usize;
        assert!(bytes <= LARGEST_FILE, "{name}: {bytes}");
        all += bytes;
    }
    assert!(all <= LARGEST_ALL, "{all}");
    for card in &cards {
        for row in [
            "data",
            "licence of the data",
            "public original",
            "time taken",
        ] {
            assert!(
                card.get(row).is_some_and(|text| !text.is_empty()),
                "{}: {row}",
                card.name
            );
        }
    }
}

/// On a slow line these kB are most of what the first cell of the home page waits for.
#[test]
fn the_model_of_the_home_page_is_small() {
    let bytes = number(&card("tiny-bert"), GZIP);
    assert!(bytes <= 600_000.0, "{bytes}");
}

#[test]
fn attention_and_convolutions_are_compared_fairly() {
    let (vit, cnn) = (&card("digit-vit"), &card("digit-cnn"));
    let [a, b] = [vit, cnn].map(|card| number(card, "parameters"));
    assert!((a - b).abs() <= 0.1 * a.min(b), "{a} and {b}");
    assert!(number(vit, "right of 10000 test digits, %") >= 97.0);
}

/// Without positions the patches are a bag: 85 of 100 digits are still right, and a shift hardly changes
/// that. In place
/// of the class token, the mean of the patches serves almost as well.
#[test]
fn variants_of_the_vit_show_what_a_part_is_worth() {
    let right = "right of 10000 test digits, %";
    let moved = |pixels: usize| {
        format!("right of 500 test digits, each moved {pixels} pixels in 4 directions, %")
    };
    let [vit, bag, mean] = ["digit-vit", "digit-vit-nopos", "digit-vit-gap"].map(card);
    assert!((80.0..90.0).contains(&number(&bag, right)));
    assert!(number(&vit, right) - number(&mean, right) < 1.0);
    let lost = |model| number(model, &moved(0)) - number(model, &moved(6));
    assert!(lost(&bag) < 5.0 && lost(&vit) > 40.0 && lost(&mean) > 40.0);
}
