//! Text from any decoder: the command `generate`.

use super::arguments::{Arguments, Failure, number, one, progress, say, start_threads};
use super::files;
use engine::beam::{Beam, search};
use engine::generate::{Ending, Generation, Options};
use engine::kernel::threads;
use engine::model::decoder::{Decoder, Session};
use engine::nn::kv_cache::Precision;
use engine::parameters::MatrixForm;
use engine::sample::{Sampler, Sampling};
use engine::token::stop::StopStrings;
use engine::token::tokenizer::Tokenizer;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

pub(crate) const HELP: &str = "\
Continues a text with a GPT-2, a Llama or one of its relatives.

usage: notebook generate MODEL [--prompt TEXT] [OPTIONS]

MODEL is a .gguf, a .safetensors with its config.json and vocabulary beside it, a llama2.c .bin with a vocabulary beside it, or a
folder with one of these.

  --prompt TEXT               where to begin; without it the model begins by itself
  --tokenizer FILE            another vocabulary than the one in or beside the model
  --new N                     at most so many tokens (default 128)
  --temperature X             0 takes the most likely token each time (default 0.8)
  --top-k N                   only the N most likely tokens
  --top-p X                   only the most likely tokens that together have the probability X
  --repetition-penalty X      divides the scores of tokens that were there already (default 1: none)
  --seed N                    where the random draws start (default 0)
  --stop TEXT                 ends before this text; may come several times
  --beams N                   beam search in place of sampling, N texts wide
  --length-penalty X          of the beam search (default 0.6)
  --type TYPE                 keeps matrices in q8_0, q4_0, f32 or another type
  --as-stored                 keeps matrices as the file has them, also where that is slow
  --half-cache                keeps keys and values with 16 bits a number, in half the memory
  --threads N                 (default: as many as the machine has cores)

The text goes to standard output, figures to standard error. Exit code 1 where a file cannot be used, 2 for wrong arguments.";

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let mut options = Options {
        sampling: Sampling {
            temperature: 0.8,
            ..Sampling::default()
        },
        max_tokens: 128,
        ..Options::default()
    };
    let (mut prompt, mut tokenizer) = (String::new(), None);
    let (mut beams, mut length_penalty) = (None, 0.6);
    let mut cores = None;
    let mut form = MatrixForm::default();
    let mut precision = Precision::Single;
    let words = arguments.read(|name, value| {
        match name {
            "prompt" => prompt = value()?,
            "tokenizer" => tokenizer = Some(PathBuf::from(value()?)),
            "new" => options.max_tokens = number(name, &value()?)?,
            "temperature" => options.sampling.temperature = number(name, &value()?)?,
            "top-k" => options.sampling.top_k = Some(number(name, &value()?)?),
            "top-p" => options.sampling.top_p = Some(number(name, &value()?)?),
            "repetition-penalty" => options.sampling.repetition_penalty = number(name, &value()?)?,
            "seed" => options.seed = number(name, &value()?)?,
            "stop" => options.stop.push(value()?),
            "beams" => beams = Some(number(name, &value()?)?),
            "length-penalty" => length_penalty = number(name, &value()?)?,
            "type" => form = files::kind(&value()?)?.into(),
            "as-stored" => form = MatrixForm::Stored,
            "half-cache" => precision = Precision::Half,
            "threads" => cores = Some(number(name, &value()?)?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let path = one(&words, "MODEL")?;
    // Numbers without a meaning are said before anything is loaded.
    let usage = |error: engine::EngineError| Failure::Usage(error.to_string());
    Sampler::new(options.sampling.clone(), options.seed).map_err(usage)?;
    StopStrings::new(options.stop.clone()).map_err(usage)?;
    start_threads(cores)?;
    let files = files::files(&path, tokenizer.as_deref())?;
    let opened = files::model(&files, form)?;
    let model = opened
        .model
        .decoder()
        .ok_or_else(|| files::wrong_kind(&files, &opened.model))?;
    let tokenizer = files::vocabulary(&files, &opened)?;
    let ids = begin(tokenizer, &prompt)?;
    let session = Session::in_precision(model, precision);
    match beams {
        Some(width) => {
            let beam = Beam {
                width,
                length_penalty,
                max_tokens: options.max_tokens,
                end: tokenizer.special().end,
            };
            best(session, tokenizer, &ids, beam)
        }
        None => sample(session, tokenizer, &prompt, &ids, options),
    }
}

/// The prompt's ids, behind the token that begins a text where the model expects it or there is
/// nothing else.
fn begin(tokenizer: &dyn Tokenizer, prompt: &str) -> Result<Vec<usize>, Failure> {
    let special = tokenizer.special();
    let first = special
        .begin
        .filter(|_| special.add_begin || prompt.is_empty());
    let mut ids: Vec<usize> = first.into_iter().collect();
    if !prompt.is_empty() {
        ids.extend(tokenizer.encode(prompt)?);
    }
    if ids.is_empty() {
        return Err(Failure::Usage(
            "this vocabulary has no token to begin with: give a --prompt".to_owned(),
        ));
    }
    Ok(ids)
}

fn sample(
    mut session: Session<&dyn Decoder>,
    tokenizer: &dyn Tokenizer,
    prompt: &str,
    ids: &[usize],
    options: Options,
) -> Result<(), Failure> {
    let start = Instant::now();
    let mut generation = Generation::new(&mut session, tokenizer, ids, options)?;
    let read = start.elapsed();
    let mut out = std::io::stdout().lock();
    write!(out, "{prompt}")?;
    out.flush()?;
    let (start, mut tokens) = (Instant::now(), 0);
    for piece in generation.by_ref() {
        write!(out, "{}", piece?.text)?;
        out.flush()?;
        tokens += 1;
    }
    writeln!(out)?;
    let elapsed = start.elapsed();
    if let Some(ending) = generation.ending() {
        eprintln!("{ending}");
    }
    // The first token comes with the prompt.
    let rate =
        |count: usize, time: std::time::Duration| count as f64 / time.as_secs_f64().max(1e-9);
    eprintln!(
        "prompt: {} tokens, {:.1} tokens/s; new: {tokens} tokens, {:.1} tokens/s; kernels {}, {} threads",
        ids.len(),
        rate(ids.len(), read),
        rate(tokens.max(1) - 1, elapsed),
        engine::kernel::chosen(),
        threads::count(),
    );
    Ok(())
}

/// Beam search: the texts come when all are found.
fn best(
    mut session: Session<&dyn Decoder>,
    tokenizer: &dyn Tokenizer,
    ids: &[usize],
    mut beam: Beam,
) -> Result<(), Failure> {
    let room = session.context().saturating_sub(ids.len());
    let full = beam.max_tokens > room;
    beam.max_tokens = beam.max_tokens.min(room);
    progress(&format!(
        "searching {} texts of at most {} tokens",
        beam.width, beam.max_tokens
    ));
    let start = Instant::now();
    let found = search(&mut session, ids, &beam)?;
    progress("");
    for text in &found {
        let whole: Vec<usize> = ids.iter().chain(&text.ids).copied().collect();
        let (score, probability, count) = (text.score, text.log_probability, text.ids.len());
        eprintln!("score {score:.4}, log probability {probability:.4}, {count} tokens");
        say!("{}", tokenizer.decode(&whole)?);
    }
    if full && found.iter().any(|text| !text.ended) {
        eprintln!("{}", Ending::ContextFull);
    }
    eprintln!("{:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}
