//! Chunks: parts of the wasm that come in files of their own, fetched when they are first needed.
//!
//! In release builds `pages` cuts the linked wasm at the functions that [`chunk!`] makes: what only
//! they reach goes into a file for each chunk, what several chunks reach into shared files,
//! everything else stays in the first file. In debug builds all is one file, and the functions only
//! look as if they waited.

pub(crate) use leptos::wasm_split::SplitLoaderError as NotLoaded;

/// Makes an asynchronous function whose value, with everything that only it reaches, is in the
/// chunk `$chunk`. It should be a function pointer or other static data, so that the work itself is
/// done without waiting.
macro_rules! chunk {
    ($(#[$doc:meta])* $chunk:ident: $vis:vis fn $name:ident() -> $out:ty = $body:expr;) => {
        $(#[$doc])*
        #[cfg(chunks)]
        #[leptos::wasm_split::wasm_split($chunk, wasm_split_path = leptos::wasm_split, fallible)]
        $vis fn $name() -> Result<$out, crate::chunk::NotLoaded> {
            Ok($body)
        }
        $(#[$doc])*
        #[cfg(not(chunks))]
        $vis async fn $name() -> Result<$out, crate::chunk::NotLoaded> {
            Ok($body)
        }
    };
}
pub(crate) use chunk;
