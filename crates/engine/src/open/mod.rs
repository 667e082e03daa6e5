//! A model from its files: a file of weights, and files beside it with the sizes and the vocabulary
//! that it lacks.
//!
//! | weights | other files that are needed |
//! |---|---|
//! | GGUF (gpt2, llama, qwen2, bert) | nothing |
//! | safetensors | `config.json`, or the same as `config` in its metadata; for text a vocabulary, or the same in its metadata under the
//! | | vocabulary's name; for pictures `preprocessor_config.json` where `config.json` does not have its values |
//! | llama2.c | a vocabulary |
//!
//! Weights may be in several files, each with its place in its name ([`PartName`]) or its metadata.
//! A vocabulary is `tokenizer.json`, `vocab.json` with `merges.txt`, `encoder.json` with
//! `vocab.bpe`, `vocab.txt`, a SentencePiece `.model`, a `.vocab` or llama2.c's `tok….bin`. The
//! format of weights is known by the content, that of a vocabulary by its name.
//!
//! ```
//! use engine::open::{Files, open};
//! use engine::parameters::MatrixForm;
//! let error = open(&Files::new("notes.txt", b"Dear diary".to_vec()), MatrixForm::default()).err().unwrap();
//! assert_eq!(error.to_string(), "notes.txt: expected GGUF, safetensors or llama2.c, found a file that begins with \"Dear dia\"");
//! ```

mod config;
mod parts;
mod pictures;
pub mod shipped;
mod supported;
mod tracked;
mod vocabulary;

use crate::error::EngineError;
use crate::format::error::FormatError;
use crate::format::file_bytes::FileBytes;
use crate::format::gguf::Gguf;
use crate::format::llama2c::Llama2c;
use crate::format::names::{Architecture, Renamed};
use crate::format::safetensors::SafeTensors;
use crate::format::tensors::Tensors;
use crate::model::bert::Bert;
use crate::model::decoder::Decoder;
use crate::model::dinov2::Dinov2;
use crate::model::gpt2::Gpt2;
use crate::model::llama::Llama;
use crate::model::swin::Swin;
use crate::model::vit::Vit;
use crate::parameters::{Compressed, MatrixForm, Parameters};
use crate::token::tokenizer::Tokenizer;
use config::ConfigFile;
pub use config::TextConfig;
pub use parts::PartName;
pub use pictures::{Labels, Preparation, top};
use tracked::{ReadNames, Tracked};

/// The reason why files are not a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The weights are of no known format.
    #[error(
        "{file}: expected GGUF, safetensors or llama2.c, found a file that begins with \"{found}\""
    )]
    Format {
        /// The file's name.
        file: String,
        /// Its beginning, as text.
        found: String,
    },
    /// The file is damaged, or has a part that is not known here.
    #[error("{file}: {source}")]
    Damaged {
        /// The file's name.
        file: String,
        /// The error of the format's reader.
        source: FormatError,
    },
    /// A file that is needed beside the weights is missing.
    #[error("{file}: needs {needed} beside it")]
    Missing {
        /// The weights' name.
        file: String,
        /// The file that is needed.
        needed: String,
    },
    /// A file beside the weights has another content than it should.
    #[error("{file}: expected {expected}, found {found}")]
    Beside {
        /// The file's name.
        file: String,
        /// The content that is known here.
        expected: String,
        /// The content of the file.
        found: String,
    },
    /// Other files of the same weights are missing.
    #[error("{file} is part {number} of {count}, and {missing} is missing: open all parts at once")]
    Part {
        /// The name of a part that is there.
        file: String,
        /// Its place, from 1 on.
        number: usize,
        /// The number of all parts.
        count: usize,
        /// The first missing part.
        missing: String,
    },
    /// The file has tensors that the model here does not use.
    #[error(
        "{file}: the tensor {tensor} is not read by a {model} here (nor {others} others): the model has a part that is not computed, and \
         its numbers would be wrong"
    )]
    Unread {
        /// The file's name.
        file: String,
        /// The name of the model.
        model: &'static str,
        /// The name in the file of the first such tensor.
        tensor: String,
        /// The number of the others.
        others: usize,
    },
    /// The vocabulary is that of another model.
    #[error(
        "{file}: the vocabulary has {tokens} tokens, and the model's embedding {rows} rows: they are of two models"
    )]
    Vocabulary {
        /// The weights' name.
        file: String,
        /// The number of tokens, those that were added too.
        tokens: usize,
        /// The number of rows, one for each id that the model reads.
        rows: usize,
    },
    /// The model cannot be built from the files.
    #[error("{file}: {source}")]
    Model {
        /// The file's name.
        file: String,
        /// The error of the model or the tokenizer.
        source: EngineError,
    },
}

impl OpenError {
    fn damaged(file: &str, source: FormatError) -> Self {
        let file = file.to_owned();
        Self::Damaged { file, source }
    }

    fn beside(file: &str, expected: impl Into<String>, found: impl ToString) -> Self {
        Self::Beside {
            file: file.to_owned(),
            expected: expected.into(),
            found: found.to_string(),
        }
    }

    fn model(file: &str, source: EngineError) -> Self {
        let file = file.to_owned();
        Self::Model { file, source }
    }
}

/// The files of one model: weights, and the files beside them.
#[derive(Debug, Clone)]
pub struct Files {
    /// The name of the weights' file.
    pub name: String,
    /// The weights; the first part of them where they are in several files.
    pub weights: FileBytes,
    /// The other parts of the weights, by name.
    pub more: Vec<(String, FileBytes)>,
    /// Other files, by name.
    pub beside: Vec<(String, Vec<u8>)>,
}

impl Files {
    /// Weights without other files.
    pub fn new(name: impl Into<String>, weights: impl Into<FileBytes>) -> Self {
        Self {
            name: name.into(),
            weights: weights.into(),
            more: Vec::new(),
            beside: Vec::new(),
        }
    }

    /// The number of bytes of all weights.
    pub fn weight_bytes(&self) -> usize {
        let more = self.more.iter().map(|(_, part)| part.size());
        self.weights.size() + more.sum::<usize>()
    }

    /// Whether a file of this name can be read beside weights.
    pub fn is_of_use(name: &str) -> bool {
        config::NAMES.contains(&name) || vocabulary::is_known(name)
    }

    /// The weights' name without folders, ending, and the number of a part.
    pub fn title(&self) -> String {
        let path = std::path::Path::new(&self.name);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(part) = PartName::parse(&name) {
            return part.model().to_owned();
        }
        let stem = path.file_stem();
        stem.unwrap_or_default().to_string_lossy().into_owned()
    }

    /// A file beside the weights, by the first of some names.
    fn find(&self, names: &[&str]) -> Option<(&str, &[u8])> {
        let found = names.iter().find_map(|name| {
            let mut beside = self.beside.iter();
            beside.find(|(beside, _)| beside.as_str() == *name)
        });
        found.map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
    }

    fn model<T>(&self, result: Result<T, EngineError>) -> Result<T, OpenError> {
        result.map_err(|source| OpenError::model(&self.name, source))
    }

    fn format<T>(&self, result: Result<T, FormatError>) -> Result<T, OpenError> {
        result.map_err(|source| OpenError::damaged(&self.name, source))
    }
}

/// Weights in one of the formats.
#[derive(Debug, Clone)]
pub enum Weights {
    /// GGUF.
    Gguf(Box<Gguf>),
    /// safetensors.
    SafeTensors(Box<SafeTensors>),
    /// llama2.c.
    Llama2c(Box<Llama2c>),
}

impl Weights {
    /// Reads the directories of the weights in some files: one, or all parts of a model.
    ///
    /// # Errors
    /// When a file has another format, or is damaged, or a part is missing.
    pub fn of(files: &Files) -> Result<Self, OpenError> {
        let first = (&files.name, &files.weights);
        let more = files.more.iter().map(|(name, part)| (name, part));
        let parts = std::iter::once(first).chain(more);
        let read = parts.map(|(name, bytes)| {
            Self::parse(name, bytes.clone()).map(|weights| (name.as_str(), weights))
        });
        parts::joined(read.collect::<Result<_, _>>()?)
    }

    /// Reads the directory of a file of any of the formats.
    ///
    /// # Errors
    /// When the file has another format, or is damaged.
    pub fn parse(name: &str, bytes: FileBytes) -> Result<Self, OpenError> {
        let damaged = |source| OpenError::damaged(name, source);
        let unread = |why| OpenError::beside(name, "a file that can be read", why);
        let start = bytes.start(9).map_err(unread)?.into_owned();
        if start.starts_with(b"GGUF") {
            let file = Gguf::parse(bytes).map_err(damaged)?;
            return Ok(Self::Gguf(Box::new(file)));
        }
        if start.get(8) == Some(&b'{') {
            let file = SafeTensors::parse(bytes).map_err(damaged)?;
            return Ok(Self::SafeTensors(Box::new(file)));
        }
        let found = start.get(..8).unwrap_or(&start);
        let unknown = OpenError::Format {
            file: name.to_owned(),
            found: String::from_utf8_lossy(found).into_owned(),
        };
        // A llama2.c file has no magic bytes: only the name tells a damaged one from a text.
        match Llama2c::parse(bytes) {
            Ok(file) => Ok(Self::Llama2c(Box::new(file))),
            Err(source) if name.ends_with(".bin") => Err(damaged(source)),
            Err(_) => Err(unknown),
        }
    }

    /// The format's name.
    pub fn format(&self) -> &'static str {
        match self {
            Self::Gguf(_) => "GGUF",
            Self::SafeTensors(_) => "safetensors",
            Self::Llama2c(_) => "llama2.c",
        }
    }

    /// The tensors.
    pub fn tensors(&self) -> &Tensors {
        match self {
            Self::Gguf(file) => &file.tensors,
            Self::SafeTensors(file) => &file.tensors,
            Self::Llama2c(file) => &file.tensors,
        }
    }
}

/// A model of any of the kinds that files hold.
pub enum OpenedModel {
    /// GPT-2.
    Gpt2(Gpt2),
    /// Llama and its relatives.
    Llama(Llama),
    /// BERT.
    Bert(Bert),
    /// ViT.
    Vit(Vit),
    /// DINOv2, which has no classes.
    Dinov2(Dinov2),
    /// Swin V2.
    Swin(Swin),
}

impl OpenedModel {
    /// The kind's name in a sentence.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Gpt2(_) => "GPT-2",
            Self::Llama(_) => "Llama",
            Self::Bert(_) => "BERT",
            Self::Vit(_) => "ViT",
            Self::Dinov2(_) => "DINOv2",
            Self::Swin(_) => "Swin V2",
        }
    }

    /// The model as a decoder; `None` for a model that does not continue text.
    pub fn decoder(&self) -> Option<&dyn Decoder> {
        match self {
            Self::Gpt2(model) => Some(model),
            Self::Llama(model) => Some(model),
            _ => None,
        }
    }

    /// True for a model that reads pictures.
    pub fn reads_pictures(&self) -> bool {
        matches!(self, Self::Vit(_) | Self::Dinov2(_) | Self::Swin(_))
    }
}

/// A model that is ready to run.
pub struct Opened {
    /// The model.
    pub model: OpenedModel,
    /// The tokenizer of a model that reads text, where its vocabulary is there.
    pub tokenizer: Option<Box<dyn Tokenizer>>,
    /// The preparation of pictures for a model that reads them.
    pub preparation: Option<Preparation>,
    /// The names of its classes, where the files have them.
    pub labels: Option<Labels>,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Opened({})", self.model.name())
    }
}

/// Builds the model in some files, with its matrices in `form`.
///
/// # Errors
/// When the weights have no known format, are damaged or have other shapes than their sizes demand,
/// a file beside them is missing or has a value that is not known here, the vocabulary is another
/// model's, or the model has an option or a tensor that is not computed here.
pub fn open(files: &Files, form: MatrixForm) -> Result<Opened, OpenError> {
    open_through(files, |source| Box::new(Compressed::new(source, form)))
}

/// As [`open`], with the parameters read through a source of the caller, which may count or pack
/// them.
///
/// # Errors
/// As [`open`].
pub fn open_through<'a>(
    files: &Files,
    through: impl FnOnce(Box<dyn Parameters>) -> Box<dyn Parameters + 'a>,
) -> Result<Opened, OpenError> {
    let weights = Weights::of(files)?;
    let model = load(files, &weights, through)?;
    let mut opened = Opened {
        tokenizer: None,
        preparation: None,
        labels: None,
        model,
    };
    if let Weights::SafeTensors(file) = &weights {
        let config = ConfigFile::of(files, file.metadata())?;
        opened.labels = config.labels();
        if opened.model.reads_pictures() {
            opened.preparation = Some(config.preparation(&opened.model)?);
        }
    }
    if !opened.model.reads_pictures() {
        opened.tokenizer = tokenizer(files, &weights)?;
        if let Some(tokenizer) = &opened.tokenizer {
            vocabulary::check(files, &opened.model, &**tokenizer)?;
        }
    }
    Ok(opened)
}

/// The tokenizer of the vocabulary in a file of weights, or beside it; `None` where there is
/// neither.
///
/// # Errors
/// When the vocabulary is damaged or of a kind that is not known here.
pub fn tokenizer(
    files: &Files,
    weights: &Weights,
) -> Result<Option<Box<dyn Tokenizer>>, OpenError> {
    match weights {
        Weights::Gguf(file) if file.value("tokenizer.ggml.model").is_some() => {
            let vocabulary = files.format(file.vocabulary())?;
            files.model(vocabulary.tokenizer()).map(Some)
        }
        Weights::Gguf(_) | Weights::Llama2c(_) => vocabulary::beside(files),
        Weights::SafeTensors(file) => vocabulary::of(files, file.metadata()),
    }
}

/// The model alone, as for measuring it: without the vocabulary, which may be missing, without the
/// preparation of pictures, and without the code that reads them. See [`open_through`].
///
/// # Errors
/// Those of [`open`] that concern the weights and the sizes.
pub fn model_through<'a>(
    files: &Files,
    through: impl FnOnce(Box<dyn Parameters>) -> Box<dyn Parameters + 'a>,
) -> Result<OpenedModel, OpenError> {
    let weights = Weights::of(files)?;
    load(files, &weights, through)
}

fn load<'a>(
    files: &Files,
    weights: &Weights,
    through: impl FnOnce(Box<dyn Parameters>) -> Box<dyn Parameters + 'a>,
) -> Result<OpenedModel, OpenError> {
    let read = ReadNames::default();
    let track = |tensors: Tensors| Tracked::new(tensors, read.clone());
    let (names, tensors): (_, Box<dyn Parameters>) = match weights {
        Weights::Gguf(file) => {
            let tensors = files.format(file.parameters())?.into_inner();
            let renamed = Renamed::new(track(tensors.clone()), files.format(file.architecture())?);
            (tensors.names(), Box::new(renamed))
        }
        other => {
            let tensors = other.tensors();
            (tensors.names(), Box::new(track(tensors.clone())))
        }
    };
    let mut source = through(tensors);
    let model = match weights {
        Weights::SafeTensors(file) => {
            let config = ConfigFile::of(files, file.metadata())?;
            config.model(files, &mut *source)?
        }
        other => {
            let (_, config) = text_config(files, other)?;
            files.model(config.load(&mut *source))?
        }
    };
    match &*read.rest(&names, &model) {
        [] => Ok(model),
        [tensor, others @ ..] => Err(OpenError::Unread {
            file: files.name.clone(),
            model: model.name(),
            tensor: tensor.clone(),
            others: others.len(),
        }),
    }
}

/// The kind and the sizes of a model that reads text.
///
/// # Errors
/// When the files lack them, or the model is of another kind than GPT-2, Llama, Mistral, Mixtral,
/// Qwen2 or BERT.
pub fn text_config(
    files: &Files,
    weights: &Weights,
) -> Result<(Architecture, TextConfig), OpenError> {
    match weights {
        Weights::SafeTensors(file) => ConfigFile::of(files, file.metadata())?.text(),
        Weights::Llama2c(file) => Ok((Architecture::Llama, TextConfig::Llama(file.config.clone()))),
        Weights::Gguf(file) => {
            let architecture = files.format(file.architecture())?;
            let config = match architecture {
                Architecture::Gpt2 => file.gpt2().map(TextConfig::Gpt2),
                Architecture::Llama | Architecture::Qwen2 => file.llama().map(TextConfig::Llama),
                Architecture::Bert => file.bert().map(TextConfig::Bert),
            };
            Ok((architecture, files.model(config)?))
        }
    }
}
