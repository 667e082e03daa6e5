//! The files of the site that cells compute with: trained models and sets of sentences, each opened
//! once.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::sync::Arc;

use engine::EngineError;
use engine::format::json::{self, ReadJson};
use engine::model::bert::{self, Bert};
use engine::model::cnn::{self, Cnn};
use engine::model::gpt2::{self, Gpt2};
use engine::model::image_gpt::ImageGpt;
use engine::model::vit::{self, Vit};
use engine::open::OpenError;
use engine::open::shipped::{self, Shipped as File};
use engine::parameters;
use engine::token::byte_bpe::{ByteBpe, ByteBpeFiles};
use engine::token::json::read_byte_bpe;
use engine::token::word_piece::{WordPiece, WordPieceFiles};
use engine::translate::{self, Stored, Translator};
use litemap::LiteMap;
use ndarray::Array2;

use crate::error::CellError;

/// The files that cells use, with their bytes; a host that compresses a file does not say how many
/// they are.
const SIZES: &[(&str, u64)] = &[
    ("bert-vocab.json", 351_981),
    ("bias-runs.tsv", 2_724),
    ("depth-runs.tsv", 11_705),
    ("digit-cnn.safetensors", 149_768),
    ("digit-gpt.safetensors", 235_020),
    ("digit-vit-gap.safetensors", 157_376),
    ("digit-vit-nopos.safetensors", 154_092),
    ("digit-vit.safetensors", 157_628),
    ("drawn-runs.tsv", 7_680),
    ("eval-en-it.tsv", 50_646),
    ("gpt2-merges.txt", 456_318),
    ("head-race.tsv", 9_840),
    ("mlp-runs.tsv", 13_341),
    ("position-race.tsv", 11_665),
    ("position-tables.safetensors", 38_312),
    ("scale-runs.tsv", 2_051),
    ("shape-runs.tsv", 2_160),
    ("seq2seq-attention.safetensors", 1_474_424),
    ("seq2seq-gru.safetensors", 1_483_648),
    ("story-race.tsv", 2_144),
    ("tiny-bert-first-layer.safetensors", 574_684),
    ("tiny-bert-vocab.txt", 23_508),
    ("tiny-bert.safetensors", 819_628),
    ("tiny-gpt-tokenizer.json", 42_312),
    ("tiny-gpt.safetensors", 1_220_096),
    ("translator-runs.tsv", 12_291),
    ("translator-tokenizer.json", 95_048),
    ("translator.safetensors", 1_434_760),
    ("unlabelled-runs.tsv", 1_526),
];

/// The files that `cargo xtask build` copies from packages of npm (`xtask/src/npm.rs`).
pub const FROM_NPM: [&str; 2] = ["bert-vocab.json", "gpt2-merges.txt"];

/// The number of bytes of a file below `models/`.
pub fn size_of(name: &str) -> Option<u64> {
    let found = SIZES.iter().find(|(file, _)| *file == name);
    found.map(|(_, bytes)| *bytes)
}

/// A type that the site ships as one file below `models/`.
pub trait Shipped: Any + Send + Sync + Sized {
    /// Opens the file; `name` is what it is called in messages, and `read_json` reads what is JSON
    /// in it.
    ///
    /// # Errors
    /// When the file is not what it should be.
    fn open(name: &str, bytes: Arc<[u8]>, read_json: ReadJson) -> Result<Self, OpenError>;
}

impl<M: Stored + Any + Send + Sync> Shipped for Translator<M> {
    fn open(name: &str, bytes: Arc<[u8]>, read_json: ReadJson) -> Result<Self, OpenError> {
        translate::open(name, bytes, read_json)
    }
}

/// A decoder that writes text, with its vocabulary.
#[derive(Debug)]
pub struct CausalLm {
    /// The model.
    pub model: Gpt2,
    /// Its vocabulary.
    pub tokenizer: ByteBpe,
}

impl Shipped for CausalLm {
    fn open(name: &str, bytes: Arc<[u8]>, read_json: ReadJson) -> Result<Self, OpenError> {
        let file = File::parse(name, bytes, read_json)?;
        Ok(Self {
            model: file
                .model(|number, source| Gpt2::load(gpt2::Config::from_keys(number)?, source))?,
            tokenizer: file.check(read_byte_bpe(&file.json(translate::TOKENIZER)?))?,
        })
    }
}

/// An encoder that fills in masked words, with its vocabulary.
#[derive(Debug)]
pub struct MaskedLm {
    /// The model.
    pub model: Bert,
    /// Its vocabulary.
    pub tokenizer: WordPiece,
}

impl Shipped for MaskedLm {
    fn open(name: &str, bytes: Arc<[u8]>, read_json: ReadJson) -> Result<Self, OpenError> {
        let file = File::parse(name, bytes, read_json)?;
        let vocabulary = WordPieceFiles::from_vocab_txt(file.text("vocab.txt")?);
        Ok(Self {
            model: file
                .model(|number, source| Bert::load(bert::Config::from_keys(number)?, source))?,
            tokenizer: file.check(WordPiece::new(vocabulary))?,
        })
    }
}

impl Shipped for Vit {
    fn open(name: &str, bytes: Arc<[u8]>, read_json: ReadJson) -> Result<Self, OpenError> {
        let file = File::parse(name, bytes, read_json)?;
        file.model(|number, source| {
            let mut config = vit::Config::from_keys(number)?;
            if file.word("global_pool") == "avg" {
                config.pooling = vit::Pooling::Mean;
            }
            Vit::load(config, source)
        })
    }
}

impl Shipped for Cnn {
    fn open(name: &str, bytes: Arc<[u8]>, read_json: ReadJson) -> Result<Self, OpenError> {
        let file = File::parse(name, bytes, read_json)?;
        file.model(|number, source| Self::load(cnn::Config::from_keys(number)?, source))
    }
}

impl Shipped for ImageGpt {
    fn open(name: &str, bytes: Arc<[u8]>, read_json: ReadJson) -> Result<Self, OpenError> {
        let file = File::parse(name, bytes, read_json)?;
        file.model(|number, source| Self::load(gpt2::Config::from_keys(number)?, source))
    }
}

/// A table of positions of patches at several steps of a training run.
#[derive(Debug)]
pub struct PositionTables {
    /// The steps, in ascending order, each with its table `[N, C]`, a row for each patch.
    pub tables: Vec<(u64, Array2<f32>)>,
    /// The command that makes the file again.
    pub command: String,
}

impl Shipped for PositionTables {
    fn open(name: &str, bytes: Arc<[u8]>, read_json: ReadJson) -> Result<Self, OpenError> {
        let file = File::parse(name, bytes, read_json)?;
        let config = file.json(shipped::CONFIG)?;
        let steps = config["steps"].as_array().into_iter().flatten();
        let steps: Vec<u64> = steps.filter_map(serde_json::Value::as_u64).collect();
        let tables = file.model(|_, source| {
            let table = |&step: &u64| {
                let name = format!("step.{step}");
                let expected = "a table for each step";
                let shape = source.shape(&name).unwrap_or_default();
                let &[rows, columns] = &shape[..] else {
                    return Err(EngineError::shape(
                        "position tables",
                        expected,
                        format!("{shape:?}"),
                    ));
                };
                Ok((step, parameters::matrix(source, &name, rows, columns)?))
            };
            steps.iter().map(table).collect::<Result<Vec<_>, _>>()
        })?;
        match tables.is_empty() {
            true => Err(file.refuse("steps in its sizes", "none")),
            false => Ok(Self {
                tables,
                command: file.text("command")?.to_owned(),
            }),
        }
    }
}

/// A text.
impl Shipped for String {
    fn open(name: &str, bytes: Arc<[u8]>, _: ReadJson) -> Result<Self, OpenError> {
        Self::from_utf8(bytes.to_vec())
            .map_err(|error| unlike(name, "a text in UTF-8", error.to_string()))
    }
}

/// A vocabulary of bytes and merges: a `tokenizer.json`, or the merges of GPT-2, a line for each.
impl Shipped for ByteBpe {
    fn open(name: &str, bytes: Arc<[u8]>, read_json: ReadJson) -> Result<Self, OpenError> {
        let text = String::open(name, bytes, read_json)?;
        let wrong = |found: String| unlike(name, "a byte-level vocabulary", found);
        let vocabulary = if name.ends_with(".json") {
            read_byte_bpe(&read_json(&text).map_err(wrong)?)
        } else {
            Self::new(ByteBpeFiles::from_merges_txt(&text))
        };
        vocabulary.map_err(|error| wrong(error.to_string()))
    }
}

/// A WordPiece vocabulary: a list in JSON whose tokens that begin a word are marked, or a
/// `vocab.txt`.
impl Shipped for WordPiece {
    fn open(name: &str, bytes: Arc<[u8]>, read_json: ReadJson) -> Result<Self, OpenError> {
        let text = String::open(name, bytes, read_json)?;
        let wrong = |found: String| unlike(name, "a WordPiece vocabulary", found);
        let files = if name.ends_with(".json") {
            let list = read_json(&text).map_err(wrong)?;
            let tokens = list.as_array().into_iter().flatten();
            let tokens = tokens.map(|token| token.as_str().unwrap_or_default().to_owned());
            WordPieceFiles::marked(tokens.collect())
        } else {
            WordPieceFiles::from_vocab_txt(&text)
        };
        Self::new(files).map_err(|error| wrong(error.to_string()))
    }
}

/// The error of a file that is not what it should be.
fn unlike(name: &str, expected: &str, found: String) -> OpenError {
    OpenError::Beside {
        file: name.to_owned(),
        expected: expected.to_owned(),
        found,
    }
}

/// The files of a worker, each opened once as what a cell takes it for.
pub struct ModelCache {
    read_json: ReadJson,
    /// The bytes stay: a cell may take a file for another type than one before it did.
    files: RefCell<LiteMap<String, Arc<[u8]>>>,
    opened: RefCell<Vec<Opened>>,
    #[cfg(not(target_family = "wasm"))]
    folder: Option<std::path::PathBuf>,
}

/// A file as a type: one cell may take a translator as it comes, another only one of its kinds.
struct Opened {
    name: String,
    content: Arc<dyn Any + Send + Sync>,
}

impl Opened {
    fn is<T: Any>(&self, name: &str) -> bool {
        self.name == name && self.content.as_ref().type_id() == TypeId::of::<T>()
    }
}

/// A cache that reads JSON with the engine's reader.
impl Default for ModelCache {
    fn default() -> Self {
        Self::reading(json::read)
    }
}

impl ModelCache {
    /// A cache that reads what is JSON in a file with `read_json`.
    pub fn reading(read_json: ReadJson) -> Self {
        Self {
            read_json,
            files: RefCell::default(),
            opened: RefCell::default(),
            #[cfg(not(target_family = "wasm"))]
            folder: None,
        }
    }

    /// All files of a folder, each read when a cell asks for it.
    #[cfg(not(target_family = "wasm"))]
    pub fn of_folder(folder: impl Into<std::path::PathBuf>) -> Self {
        Self {
            folder: Some(folder.into()),
            ..Self::default()
        }
    }

    /// Returns whether a file is there. A cache that reads a folder counts as having every file, so a
    /// missing one is an error and never a partial result.
    pub fn has(&self, name: &str) -> bool {
        #[cfg(not(target_family = "wasm"))]
        if self.folder.is_some() {
            return true;
        }
        self.files.borrow().contains_key(name)
    }

    /// Adds a file.
    pub fn put(&self, name: &str, bytes: Arc<[u8]>) {
        self.files.borrow_mut().insert(name.to_owned(), bytes);
    }

    /// The content of a file, opened when it is first asked for as this type.
    ///
    /// # Errors
    /// [`CellError::Mismatch`] where the file is not here or not what it should be.
    pub fn opened<T: Shipped>(&self, name: &str) -> Result<Arc<T>, CellError> {
        if let Some(known) = self.known(name) {
            return Ok(known);
        }
        let bytes = self.bytes(name)?;
        let opened = T::open(name, bytes, self.read_json)
            .map_err(|error| CellError::Mismatch(error.to_string()))?;
        let opened = Arc::new(opened);
        self.opened.borrow_mut().push(Opened {
            name: name.to_owned(),
            content: Arc::<T>::clone(&opened),
        });
        Ok(opened)
    }

    fn known<T: Shipped>(&self, name: &str) -> Option<Arc<T>> {
        let opened = self.opened.borrow();
        let known = opened.iter().find(|opened| opened.is::<T>(name))?;
        Arc::clone(&known.content).downcast().ok()
    }

    fn bytes(&self, name: &str) -> Result<Arc<[u8]>, CellError> {
        if let Some(bytes) = self.files.borrow().get(name) {
            return Ok(Arc::clone(bytes));
        }
        #[cfg(not(target_family = "wasm"))]
        if let Some(folder) = &self.folder {
            let path = folder.join(name);
            return match std::fs::read(&path) {
                Ok(bytes) => Ok(bytes.into()),
                Err(error) => Err(CellError::Mismatch(format!("{}: {error}", path.display()))),
            };
        }
        Err(CellError::Mismatch(format!("{name} has not been loaded")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::model::seq2seq_attention::AttentiveSeq2Seq;
    use engine::model::transformer::Transformer;

    #[test]
    fn a_file_is_opened_once_and_as_what_it_is() {
        let cache = ModelCache::default();
        cache.put("a.txt", b"words".as_slice().into());
        assert!(cache.has("a.txt") && !cache.has("b.txt"));
        let first = cache.opened::<String>("a.txt").unwrap();
        assert_eq!(*first, "words");
        assert!(Arc::ptr_eq(
            &first,
            &cache.opened::<String>("a.txt").unwrap()
        ));
        assert!(cache.opened::<Vit>("a.txt").is_err());
        assert!(cache.opened::<String>("b.txt").is_err());
    }

    /// The sizes are those of the files, and every file that a cell needs for its defaults has one.
    #[test]
    fn the_sizes_are_those_of_the_files() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../public/models");
        for (name, bytes) in SIZES {
            let path = folder.join(name);
            if FROM_NPM.contains(name) && !path.exists() {
                continue; // `cargo xtask build` copies it.
            }
            assert_eq!(std::fs::metadata(path).unwrap().len(), *bytes, "{name}");
        }
        for entry in crate::jobs::all() {
            let spec = crate::registry::find(entry.name).unwrap();
            let inputs = crate::Inputs::defaults(&(spec.inputs)());
            for file in (entry.files)(&inputs) {
                assert!(size_of(file).is_some(), "{file}");
            }
        }
    }

    #[test]
    fn damaged_files_are_refused_with_their_name() {
        let cache = ModelCache::default();
        for bytes in [&[0xff_u8, 0xfe][..], &[], b"no safetensors at all"] {
            cache.put("model", bytes.into());
            let error = cache.opened::<MaskedLm>("model").unwrap_err().to_string();
            assert!(error.contains("model"), "{error}");
        }
    }

    #[test]
    fn the_models_of_the_site_open() {
        let cache =
            ModelCache::of_folder(concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models"));
        cache.opened::<MaskedLm>("tiny-bert.safetensors").unwrap();
        cache.opened::<Vit>("digit-vit.safetensors").unwrap();
        cache.opened::<String>("eval-en-it.tsv").unwrap();
        let file = "translator.safetensors";
        let one: Arc<Translator<Transformer>> = cache.opened(file).unwrap();
        let any: Arc<Translator> = cache.opened(file).unwrap();
        assert_eq!(one.end(), any.end());
        assert!(Arc::ptr_eq(&one, &cache.opened(file).unwrap()));
        assert!(cache.opened::<Translator<AttentiveSeq2Seq>>(file).is_err());
        assert!(cache.opened::<Vit>("tiny-bert.safetensors").is_err());
        assert!(cache.opened::<Vit>("none.safetensors").is_err());
    }
}
