//! Models through GGUF and back: filled by the formula, written under llama.cpp's names and
//! metadata, loaded, compared bit for bit.

mod convert;
mod wrong;

use convert::{CONVERTED, bert_file, gpt2_file, llama_file, llama_source, permuted};
use engine::format::gguf::Gguf;
use engine::format::gguf_value::Value;
use engine::model::bert::Bert;
use engine::model::decoder::{Decoder, DecoderExt};
use engine::model::gpt2::Gpt2;
use engine::model::llama::Llama;
use engine::ndarray::Array2;
use engine::nn::packed::Packed;
use engine::nn::position::rope::Pairing;
use engine::nn::position::rope::Scaling;
use engine::parameters::{Compressed, Parameters, Weight};
use engine::quant::{Type, quantize};
use tools::TensorBytes;
use tools::gguf::write;

const IDS: [usize; 7] = [3, 22, 4, 4, 0, 17, 9];

fn bits(x: &Array2<f32>) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

fn logits(model: &dyn Decoder) -> Array2<f32> {
    model.forward(&IDS, None).unwrap()
}

/// The same parameters, matrices packed as those of files are.
fn in_panels<P: Parameters>(source: P) -> Compressed<P> {
    Compressed::new(source, Type::F32)
}

/// The llama or qwen2 in a file.
fn loaded(file: Vec<u8>) -> Llama {
    let file = Gguf::parse(file.into()).unwrap();
    Llama::load(file.llama().unwrap(), &mut file.parameters().unwrap()).unwrap()
}

#[test]
fn gpt2() {
    let (config, source) = convert::gpt2();
    let direct = Gpt2::load(config.clone(), &mut in_panels(source)).unwrap();
    let file = Gguf::parse(gpt2_file(CONVERTED).into()).unwrap();
    assert_eq!(file.gpt2().unwrap(), config);
    let read = Gpt2::load(config, &mut file.parameters().unwrap()).unwrap();
    assert_eq!(bits(&logits(&read)), bits(&logits(&direct)));
}

#[test]
fn qwen2() {
    let mut config = convert::llama_config(Pairing::Halves);
    config.rope.scaling = Scaling::Linear { factor: 4.0 };
    config.rope.base = 1e6;
    let source = llama_source(&config, true);
    let direct = Llama::load(config.clone(), &mut in_panels(source)).unwrap();
    let read = loaded(llama_file("qwen2", &config, true, CONVERTED));
    assert_eq!(read.config(), &config);
    assert_eq!(bits(&logits(&read)), bits(&logits(&direct)));
    // The biases and the head are not left out.
    let plain = Llama::load(config.clone(), &mut llama_source(&config, false)).unwrap();
    assert_ne!(logits(&read), logits(&plain));
}

/// What a YaRN of these numbers computes is compared with transformers in `tests/options.rs`.
#[test]
fn yarn() {
    let usual = 1.0 + 0.1 * 4.0_f32.ln();
    let yarn = |fast, slow, original_context, attention| Scaling::Yarn {
        factor: 4.0,
        fast,
        slow,
        original_context,
        truncate: true,
        attention,
    };
    // The factor of attention is rounded on its way through the file.
    let check = |found: &Llama, expected: Scaling| {
        let (Scaling::Yarn { attention, .. }, mut expected) =
            (&found.config().rope.scaling, expected)
        else {
            panic!("{:?}", found.config().rope.scaling);
        };
        let Scaling::Yarn {
            attention: rounded, ..
        } = &mut expected
        else {
            panic!("{expected:?}");
        };
        assert!((attention - *rounded).abs() < 1e-6, "{attention} {rounded}");
        *rounded = *attention;
        assert_eq!(found.config().rope.scaling, expected);
    };
    for architecture in ["llama", "qwen2"] {
        let mut config = convert::llama_config(Pairing::Halves);
        let plain = loaded(llama_file(architecture, &config, false, CONVERTED));
        config.rope.scaling = yarn(8.0, 2.0, 64, 1.5);
        let read = loaded(llama_file(architecture, &config, false, CONVERTED));
        check(&read, yarn(8.0, 2.0, 64, 1.5));
        assert_ne!(logits(&read), logits(&plain));

        // llama.cpp's own numbers where the file has none.
        let file = llama_file(architecture, &config, false, |metadata, _| {
            let is_option = |key: &str| key.contains("yarn_") || key.contains("original_context");
            metadata.retain(|(key, _)| !is_option(key));
        });
        check(&loaded(file), yarn(32.0, 1.0, config.context, usual));
    }
}

/// Mistral's files are those of a llama with a window.
#[test]
fn a_window() {
    let mut config = convert::llama_config(Pairing::Halves);
    let plain = loaded(llama_file("llama", &config, false, CONVERTED));
    config.windows = vec![Some(4); config.layers];
    let read = loaded(llama_file("llama", &config, false, CONVERTED));
    assert_eq!(read.config().windows, config.windows);
    // The first tokens see all that there is.
    let (narrow, wide) = (logits(&read), logits(&plain));
    assert_eq!(narrow.row(3), wide.row(3));
    assert_ne!(narrow.row(4), wide.row(4));
    // A window as long as the longest text is none.
    config.windows = vec![Some(config.context); config.layers];
    let read = loaded(llama_file("llama", &config, false, CONVERTED));
    assert!(read.config().windows.is_empty());
}

#[test]
fn llama() {
    for experts in [None, Some((4, 2))] {
        let mut halves = convert::llama_config(Pairing::Halves);
        halves.experts = experts;
        let read = loaded(llama_file("llama", &halves, false, CONVERTED));
        let mut neighbours = halves.clone();
        neighbours.rope.pairing = Pairing::Neighbours;
        assert_eq!(read.config(), &neighbours);

        // The same rows of q and k in the same order: the same bits.
        let source = permuted(&halves, &mut llama_source(&halves, false));
        let direct = Llama::load(neighbours, &mut in_panels(source)).unwrap();
        assert_eq!(bits(&logits(&read)), bits(&logits(&direct)));
        // Hugging Face's order adds the products of q and k in another order: the same but for
        // rounding.
        let direct = Llama::load(halves.clone(), &mut llama_source(&halves, false)).unwrap();
        let difference = logits(&read) - logits(&direct);
        assert!(difference.iter().all(|d| d.abs() < 1e-6));
        // Planes of the wrong numbers are another model.
        let mut source = llama_source(&halves, false);
        let other = Llama::load(read.config().clone(), &mut source).unwrap();
        let difference = logits(&read) - logits(&other);
        assert!(difference.iter().any(|d| d.abs() > 1e-4));
    }
}

#[test]
fn bert() {
    let (config, source) = convert::bert();
    let direct = Bert::load(config.clone(), &mut in_panels(source)).unwrap();
    let file = Gguf::parse(bert_file(CONVERTED).into()).unwrap();
    assert_eq!(file.bert().unwrap(), config);
    let read = Bert::load(config, &mut file.parameters().unwrap()).unwrap();
    let types = [0, 0, 0, 1, 1, 1, 1];
    let hidden = |model: &Bert| {
        let tokens = Packed::one(&IDS);
        let hidden = model.hidden(&tokens, Some(&types), &mut None);
        hidden.unwrap()
    };
    assert_eq!(bits(&hidden(&read)), bits(&hidden(&direct)));
    let sentence = |model: &Bert| model.sentence(&IDS, None).unwrap();
    assert_eq!(sentence(&read), sentence(&direct));

    // llama.cpp's files have no head that fills masks, and this is said where one is asked for.
    assert!(direct.forward(&IDS, None).is_ok());
    let error = read.forward(&IDS, None).unwrap_err().to_string();
    let head = "parameter cls.predictions.transform.dense.weight: expected [12, 12], found none";
    assert_eq!(error, head);
}

fn packed<'a>(name: &'a str, shape: &'a [usize], bytes: &'a [u8]) -> TensorBytes<'a> {
    TensorBytes {
        name,
        shape,
        kind: Type::Q8_0,
        bytes,
    }
}

#[test]
fn a_stack_of_experts_stays_in_its_blocks() {
    let numbers: Vec<f32> = (0..3 * 2 * 64).map(|n| (n % 127) as f32 - 60.0).collect();
    let blocks = quantize(Type::Q8_0, &numbers).unwrap();
    let metadata = [(
        "general.architecture".to_owned(),
        Value::Text("llama".to_owned()),
    )];
    let stack = packed("blk.0.ffn_gate_exps.weight", &[3, 2, 64], &blocks);
    let file = Gguf::parse(write(&metadata, &[stack]).unwrap().into()).unwrap();
    let mut parameters = file.parameters().unwrap();
    let name = |n: usize| format!("layers.0.block_sparse_moe.experts.{n}.w1.weight");
    assert_eq!(parameters.names(), [name(0), name(1), name(2)]);
    for n in 0..3 {
        let weight = parameters.weight(&name(n), 2, 64).unwrap();
        let Weight::Packed(weight) = weight else {
            panic!("not in blocks");
        };
        assert_eq!(weight.kind(), Type::Q8_0);
        let one = quantize(Type::Q8_0, &numbers[n * 128..(n + 1) * 128]).unwrap();
        let alone = packed("blk.0.ffn_gate.weight", &[2, 64], &one);
        let file = Gguf::parse(write(&metadata, &[alone]).unwrap().into()).unwrap();
        let mut alone = file.parameters().unwrap();
        let alone = alone.weight("layers.0.mlp.gate_proj.weight", 2, 64);
        assert_eq!(
            weight.rows(&[0, 1]).unwrap(),
            alone.unwrap().rows(&[0, 1]).unwrap()
        );
    }
    assert_eq!(parameters.shape(&name(3)), None);

    // The same expert alone and in the stack.
    let twice = packed("blk.0.ffn_gate.1.weight", &[1, 64], &blocks[..68]);
    let file = Gguf::parse(write(&metadata, &[stack, twice]).unwrap().into()).unwrap();
    let error = file.parameters().map(|_| ()).unwrap_err().to_string();
    let expected = "gguf: tensor blk.0.ffn_gate.1.weight: expected one of this name, found two";
    assert_eq!(error, expected);
}
