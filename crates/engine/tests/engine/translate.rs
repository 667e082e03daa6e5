//! Translators of all three kinds, with random weights.

use engine::format::json as read_json;
use engine::formula::Formula;
use engine::grad::{Draw, initialise};
use engine::model::encoder_decoder::EncoderDecoder;
use engine::model::seq2seq::{self, Seq2Seq};
use engine::model::seq2seq_attention::{self, AttentiveSeq2Seq};
use engine::model::transformer::{self, Transformer};
use engine::ndarray;
use engine::nn::packed::Packed;
use engine::nn::plain::Plain;
use engine::quant::Type;
use engine::token::added::AddedToken;
use engine::token::byte_bpe::{ByteBpe, ByteBpeFiles};
use engine::token::split::Split;
use engine::token::tokenizer::{SpecialTokens, Tokenizer};
use engine::token::train::train;
use engine::translate::{
    CONFIG, TOKENIZER, TranslationModel, Translator, aligned, by_words, crossings, heaviest, open,
    words,
};
use serde_json::{Value, json};
use tools::safetensors::write_parameters;
use tools::tokenizer_json::tokenizer_json;

/// A vocabulary of the bytes, four merges and the end.
fn tokenizer() -> ByteBpe {
    let learned = train(" il gatto il gatto", 4, Split::Gpt2)
        .unwrap()
        .tokenizer;
    let mut tokens: Vec<String> = (0..learned.size())
        .map(|id| learned.token(id).unwrap().to_owned())
        .collect();
    let merges = learned.merges();
    let merges = merges
        .iter()
        .map(|(left, right, _)| format!("{} {}", tokens[*left], tokens[*right]));
    let (merges, end) = (merges.collect(), tokens.len());
    tokens.push("<|endoftext|>".to_owned());
    ByteBpe::new(ByteBpeFiles {
        tokens,
        merges,
        added: vec![AddedToken {
            text: "<|endoftext|>".to_owned(),
            id: end,
            special: true,
            ..AddedToken::default()
        }],
        special: SpecialTokens {
            end: Some(end),
            ..SpecialTokens::default()
        },
        ..ByteBpeFiles::default()
    })
    .unwrap()
}

/// A model of each kind, drawn at random, with its sizes.
fn models(vocabulary: usize) -> Vec<(TranslationModel, Value)> {
    let gru = seq2seq::Config {
        source_vocabulary: vocabulary,
        target_vocabulary: vocabulary,
        embedding: 4,
        width: 6,
        layers: 2,
        readout: Some(5),
        feeds_context: true,
        reverse_source: true,
    };
    let attention = seq2seq_attention::Config {
        source_vocabulary: vocabulary,
        target_vocabulary: vocabulary,
        embedding: 4,
        width: 6,
        inner: 5,
        readout: Some(7),
    };
    let transformer = transformer::Config {
        vocabulary,
        width: 8,
        heads: 2,
        inner: 12,
        encoder_layers: 1,
        decoder_layers: 2,
        norm_eps: 1e-5,
    };
    let both = json!({ "source_vocabulary": vocabulary, "target_vocabulary": vocabulary, "embedding": 4, "width": 6 });
    let with = |kind: &str, more: Value| {
        let mut all = both.as_object().unwrap().clone();
        all.insert("model_type".to_owned(), json!(kind));
        all.extend(more.as_object().unwrap().clone());
        Value::Object(all)
    };
    let mut all = vec![
        (
            TranslationModel::Gru(Seq2Seq::load(gru, &mut Formula::new(0, gru.shapes())).unwrap()),
            with(
                "seq2seq-gru",
                json!({ "layers": 2, "readout": 5, "feeds_context": true, "reverse_source": true }),
            ),
        ),
        (
            TranslationModel::Attention(Box::new(
                AttentiveSeq2Seq::load(attention, &mut Formula::new(0, attention.shapes()))
                    .unwrap(),
            )),
            with("seq2seq-attention", json!({ "inner": 5, "readout": 7 })),
        ),
        (
            TranslationModel::Transformer(
                Transformer::load(
                    transformer.clone(),
                    &mut Formula::new(0, transformer.shapes()),
                )
                .unwrap(),
            ),
            json!({
                "model_type": "transformer", "vocabulary": vocabulary, "width": 8, "heads": 2, "inner": 12,
                "encoder_layers": 1, "decoder_layers": 2, "norm_eps": 1e-5,
            }),
        ),
    ];
    for (model, _) in &mut all {
        initialise(model, 3, Draw::Xavier).unwrap();
    }
    all
}

#[test]
fn token_by_token_and_all_at_once_are_the_same() {
    let vocabulary = tokenizer();
    for (model, _) in models(vocabulary.size()) {
        let translator = Translator::new(model, vocabulary.clone()).unwrap();
        let source = translator.ids("Il gatto è qui.").unwrap();
        let target = [translator.end(), 5, 90, 257];
        let all = translator
            .model
            .run(
                &mut Plain::silent(),
                &Packed::one(&source),
                &Packed::one(&target),
            )
            .unwrap();
        let mut reading = translator.read(&source).unwrap();
        for (id, row) in target.into_iter().zip(all.outer_iter()) {
            let next = reading.feed(id).unwrap();
            assert!((&next - &row).iter().all(|d| d.abs() < 1e-5));
        }
    }
}

#[test]
fn a_beam_of_one_is_the_greedy_choice() {
    let vocabulary = tokenizer();
    for (model, _) in models(vocabulary.size()) {
        let translator = Translator::new(model, vocabulary.clone()).unwrap();
        let source = translator.ids("the cat").unwrap();
        let greedy = translator.greedy(&source).unwrap();
        let beam = translator.beam(&source, 1, 0.0).unwrap();
        let found: Vec<usize> = beam[0]
            .ids
            .iter()
            .copied()
            .filter(|&id| id != translator.end())
            .collect();
        assert_eq!(found, greedy);
        assert_eq!(
            translator.translate("The  cat!").unwrap(),
            translator.text(&greedy).unwrap()
        );
        assert_eq!(translator.translate(" . ").unwrap(), "");
    }
}

#[test]
fn a_file_holds_model_and_vocabulary() {
    let vocabulary = tokenizer();
    for (mut model, sizes) in models(vocabulary.size()) {
        let metadata = [
            (CONFIG.to_owned(), sizes.to_string()),
            (TOKENIZER.to_owned(), tokenizer_json(&vocabulary).unwrap()),
        ];
        let saved = engine::trainable::saved(&mut model).unwrap();
        let whole = |metadata: &[(String, String)]| {
            let bytes = write_parameters(metadata, &saved, Type::F32).unwrap();
            open::<TranslationModel>("a file", bytes.into(), read_json::read)
        };
        let translator = whole(&metadata).unwrap();
        let source = translator.ids("il gatto").unwrap();
        let same = Translator::new(model, vocabulary.clone()).unwrap();
        assert_eq!(
            translator.greedy(&source).unwrap(),
            same.greedy(&source).unwrap()
        );

        let bytes = write_parameters(&metadata, &saved, Type::F32).unwrap();
        let gru = open::<Seq2Seq>("a file", bytes.into(), read_json::read);
        assert_eq!(gru.is_ok(), sizes["model_type"] == "seq2seq-gru");
        if let Err(error) = gru {
            let error = error.to_string();
            assert!(error.contains("seq2seq-gru"), "{error}");
        }

        let error = whole(&metadata[..1]).unwrap_err().to_string();
        assert!(
            error.starts_with("a file: ") && error.contains("tokenizer.json"),
            "{error}"
        );
        let other = [
            (
                CONFIG.to_owned(),
                json!({ "model_type": "gpt2" }).to_string(),
            ),
            metadata[1].clone(),
        ];
        let error = whole(&other).unwrap_err().to_string();
        assert!(error.ends_with("found gpt2"), "{error}");
        let mut wider = sizes.clone();
        wider["width"] = json!(10);
        let other = [(CONFIG.to_owned(), wider.to_string()), metadata[1].clone()];
        let error = whole(&other).unwrap_err().to_string();
        assert!(error.contains("expected ["), "{error}");
    }
}

#[test]
fn a_vocabulary_of_another_size_is_refused() {
    let vocabulary = tokenizer();
    for (model, _) in models(vocabulary.size() + 1) {
        let error = Translator::new(model, vocabulary.clone()).unwrap_err();
        assert!(error.to_string().contains("vocabulary must be"), "{error}");
    }
}

/// The weights of a translation are those of its steps; from word to word they still add up to one.
#[test]
fn alignments_belong_to_the_translation() {
    let tokenizer = tokenizer();
    let all = models(tokenizer.size());
    for (model, _) in all {
        let TranslationModel::Attention(model) = model else {
            continue;
        };
        let any = TranslationModel::Attention(model.clone());
        let any = Translator::new(any, tokenizer.clone()).unwrap();
        let translator = Translator::new(*model, tokenizer.clone()).unwrap();
        let source = translator.ids("il gatto il").unwrap();
        let found = aligned(&translator, &source).unwrap();
        let mut written = found.target.clone();
        if written.last() == Some(&translator.end()) {
            written.pop();
        }
        assert_eq!(written, any.greedy(&source).unwrap());
        assert_eq!(found.weights.dim(), (found.target.len(), source.len()));
        let (to, from) = (
            words(&translator, &found.target).unwrap(),
            words(&translator, &source).unwrap(),
        );
        assert_eq!(from.len(), 3);
        let folded = by_words(found.weights.view(), &to, &from).unwrap();
        for row in found.weights.rows().into_iter().chain(folded.rows()) {
            assert!((row.sum() - 1.0).abs() < 1e-5, "{row}");
        }
        assert!(aligned(&translator, &[]).is_err());
        assert!(
            by_words(
                folded.view(),
                &to,
                std::slice::from_ref(&(0..from.len() + 1))
            )
            .is_err()
        );
    }
}

/// Two pieces of a source word are added, two of a target word averaged.
#[test]
fn pieces_become_words() {
    let weights = ndarray::array![[0.5, 0.25, 0.25], [0.0, 0.5, 0.5], [0.75, 0.25, 0.0]];
    let found = by_words(weights.view(), &[0..2, 2..3], &[0..1, 1..3]).unwrap();
    assert_eq!(found, ndarray::array![[0.25, 0.75], [0.75, 0.25]]);
    assert_eq!(heaviest(found.view()), [1, 0]);
    assert_eq!(heaviest(ndarray::array![[0.5, 0.5]].view()), [0]);
    for (joined, expected) in [
        (&[0, 1, 1, 2][..], 0),
        (&[0, 2, 1], 1),
        (&[2, 1, 0], 3),
        (&[], 0),
    ] {
        assert_eq!(crossings(joined), expected);
    }
    let nothing: std::ops::Range<usize> = 1..1;
    assert!(by_words(weights.view(), &[nothing], std::slice::from_ref(&(0..3))).is_err());
}
