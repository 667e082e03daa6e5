//! The same tokens and the same bits with one to four threads.
#![cfg(not(target_family = "wasm"))]
#![allow(clippy::unwrap_used)]

use engine::formula::{Formula, image};
use engine::kernel::threads;
use engine::model::decoder::{Decoder, Session};
use engine::model::{gpt2, llama, vit};
use engine::parameters::{Compressed, MatrixForm, Parameters};
use engine::quant::Type;

fn greedy(model: &dyn Decoder) -> (Vec<usize>, Vec<u32>) {
    // Long enough for threads to share what is done element by element.
    let mut ids: Vec<usize> = (0..40).map(|n| (n * n + 3) % 1000).collect();
    let mut session = Session::new(model);
    let mut logits = session.feed(&ids).unwrap();
    for _ in 0..24 {
        let better = |best: usize, n: usize| if logits[n] > logits[best] { n } else { best };
        let next = (0..logits.len()).fold(0, better);
        ids.push(next);
        logits = session.feed(&[next]).unwrap();
    }
    (ids, logits.iter().map(|x| x.to_bits()).collect())
}

fn source(seed: u64, shapes: Vec<(String, Vec<usize>)>, kind: Type) -> Box<dyn Parameters> {
    let source = Formula::new(seed, shapes);
    match kind {
        // Made from Q6_K alone.
        Type::Q6 => Box::new(Compressed::new(
            Compressed::new(source, Type::Q6K),
            MatrixForm::Fast,
        )),
        _ => Box::new(Compressed::new(source, kind)),
    }
}

#[test]
fn threads_change_no_bit() {
    let gpt2 = gpt2::Config {
        vocabulary: 1000,
        width: 256,
        heads: 4,
        layers: 2,
        inner: 1024,
        context: 64,
        norm_eps: 1e-5,
    };
    let numbers = |key: &str| match key {
        "layers" => Some(2.0),
        "heads" => Some(8.0),
        "key_value_heads" => Some(2.0),
        "width" => Some(256.0),
        "inner" => Some(512.0),
        "vocabulary" => Some(1000.0),
        "context" => Some(64.0),
        _ => None,
    };
    let llama = llama::Config::from_keys(&numbers, engine::nn::position::rope::Pairing::Halves);
    let llama = llama.unwrap();
    let vit = vit::Config {
        width: 192,
        heads: 3,
        layers: 2,
        inner: 768,
        channels: 3,
        patch: 16,
        image: 160,
        classes: 100,
        norm_eps: 1e-6,
        pooling: vit::Pooling::Class,
        positions: true,
    };
    for kind in [
        Type::F32,
        Type::F16,
        Type::Bf16,
        Type::Q8_0,
        Type::Q4_0,
        Type::Q4_1,
        Type::Q5_1,
        Type::Q6,
        Type::Q6K,
    ] {
        let mut parameters = source(5, gpt2.shapes(), kind);
        let gpt2 = gpt2::Gpt2::load(gpt2.clone(), &mut *parameters).unwrap();
        let mut parameters = source(6, llama.shapes(), kind);
        let llama = llama::Llama::load(llama.clone(), &mut *parameters).unwrap();
        let mut parameters = source(7, vit.shapes(), kind);
        let vit = vit::Vit::load(vit.clone(), &mut *parameters).unwrap();
        let all = || {
            let logits = vit.forward(image(160, 1).view(), None).unwrap();
            let bits: Vec<u32> = logits.iter().map(|x| x.to_bits()).collect();
            (greedy(&gpt2), greedy(&llama), bits)
        };
        threads::limit(1);
        let alone = all();
        for count in 2..=4 {
            threads::start(count).unwrap();
            threads::limit(count);
            assert_eq!(threads::count(), count);
            assert_eq!(all(), alone, "{} on {count} threads", kind.name());
        }
    }
}
