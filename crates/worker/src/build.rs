//! The builds of the worker, the browsers that can run them, and the names of their files.
//!
//! | build | needs of the browser |
//! |---|---|
//! | `relaxed-threads` | relaxed SIMD, and memory that threads share: a page that is isolated from other origins |
//! | `relaxed` | relaxed SIMD |
//! | `simd128` | SIMD, as the site itself |
//! | `relaxed-64` | relaxed SIMD, and memory with addresses of 64 bits |
//!
//! `pages` (`crates/pages/src/workers.rs`) makes the files, one of each build for each [`Purpose`];
//! `relaxed-64` is made for the lab alone, which runs it for weights that the others are too narrow
//! for. The file for cells is built plain only: what it computes is the same to the bit in every
//! browser. A file's name ends in a hash of its content, so no cache gives a page the file of
//! another build of the site; the page lists the names that it uses ([`WorkerFiles`]).

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A file of the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Build {
    /// Relaxed SIMD, threads over one memory.
    RelaxedThreads,
    /// Relaxed SIMD, one thread.
    Relaxed,
    /// SIMD, one thread.
    Simd128,
    /// Relaxed SIMD, one thread, addresses of 64 bits. Its code is larger and it has no threads, so
    /// it runs only what does not fit into the memory of the others.
    Relaxed64,
}

/// The purpose of a file of the worker. Each build has a file for each, so a reader downloads no
/// more than is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Loads models and measures them.
    Measure,
    /// Does all that the lab does with them.
    Lab,
}

impl Purpose {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Measure, Self::Lab];

    /// The feature of this crate that it needs.
    pub fn feature(self) -> &'static str {
        match self {
            Self::Measure => "models",
            Self::Lab => "lab",
        }
    }

    /// The builds that are made for it, the quickest first.
    pub fn builds(self) -> &'static [Build] {
        match self {
            Self::Measure => &[Build::RelaxedThreads, Build::Relaxed, Build::Simd128],
            Self::Lab => &Build::ALL,
        }
    }

    /// The name of the files of a build for it, without hash, `.js` and `_bg.wasm`.
    pub fn file(self, build: Build) -> String {
        let kind = match self {
            Self::Measure => "engine",
            Self::Lab => "lab",
        };
        format!("{kind}-{}", build.name())
    }
}

/// The file that computes cells, without its hash, `.js` and `_bg.wasm`.
pub const CELLS: &str = "cells";

/// The script that starts every file of the worker, without its hash and `.js`.
pub const START_SCRIPT: &str = "worker_start";

/// The worker's files of a site: the hash of each by its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkerFiles(BTreeMap<String, String>);

impl WorkerFiles {
    /// Reads the list in a page's `data-workers`: names with their hashes, with spaces between
    /// them, as `Display` writes it.
    pub fn parse(list: &str) -> Self {
        let entries = list.split_whitespace().filter_map(|file| {
            let (name, hash) = file.rsplit_once('-')?;
            Some((name.to_owned(), hash.to_owned()))
        });
        Self(entries.collect())
    }

    /// Adds a file of the hexadecimal hash `hash`.
    pub fn add(&mut self, name: &str, hash: &str) {
        self.0.insert(name.to_owned(), hash.to_owned());
    }

    /// The name of a file with its hash; `None` where the site does not have it.
    pub fn file(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|hash| format!("{name}-{hash}"))
    }

    /// The address of the script that starts a file, from the site's root; `options` follow the name
    /// of the file as `key=value`, with `&` between them. `None` where the site does not have them.
    pub fn address(&self, name: &str, options: &str) -> Option<String> {
        let (script, file) = (self.file(START_SCRIPT)?, self.file(name)?);
        Some(format!("{script}.js?file={file}&{options}"))
    }

    /// The builds of a purpose, the quickest first.
    pub fn builds(&self, purpose: Purpose) -> Vec<Build> {
        let has = |build: &Build| self.0.contains_key(&purpose.file(*build));
        purpose.builds().iter().copied().filter(has).collect()
    }
}

impl fmt::Display for WorkerFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: Vec<String> = self.0.keys().filter_map(|name| self.file(name)).collect();
        f.write_str(&files.join(" "))
    }
}

/// The abilities of a browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// It knows the instructions of relaxed SIMD.
    pub relaxed_simd: bool,
    /// Threads can share memory on this page.
    pub shared_memory: bool,
    /// Memory can have addresses of 64 bits.
    pub memory64: bool,
}

/// A wasm module whose one function holds an instruction of relaxed SIMD,
/// `i16x8.relaxed_dot_i8x16_i7x16_s`: it is valid only where the browser knows the instruction.
pub const RELAXED_PROBE: [u8; 36] = [
    0, 97, 115, 109, 1, 0, 0, 0, // magic number and version
    1, 5, 1, 96, 0, 1, 123, // one type: nothing -> v128
    3, 2, 1, 0, // one function of it
    10, 15, 1, 13, 0, // its code: 13 bytes, no locals
    65, 0, 253, 15, // i32.const 0, i8x16.splat
    65, 0, 253, 15, // the same again
    253, 146, 2, 11, // the instruction, end
];

/// A wasm module with nothing but a memory whose addresses have 64 bits.
pub const MEMORY64_PROBE: [u8; 13] = [
    0, 97, 115, 109, 1, 0, 0, 0, // magic number and version
    5, 3, 1, 4, 0, // one memory: of 64 bits, no largest size, no pages
];

/// Bytes of the largest weights that 32 bits can address: the model that is built from them needs
/// about as many of the 4 GiB that WebAssembly then has.
const LARGEST_OF_32_BITS: u64 = 0xe000_0000;

/// The same of the 16 GiB that browsers give a memory with addresses of 64 bits.
const LARGEST_OF_64_BITS: u64 = 0x3_e000_0000;

impl Build {
    /// Every build, the quickest first; last the one with 64-bit addresses.
    pub const ALL: [Self; 4] = [
        Self::RelaxedThreads,
        Self::Relaxed,
        Self::Simd128,
        Self::Relaxed64,
    ];

    /// Its name, which is part of its files' names.
    pub fn name(self) -> &'static str {
        match self {
            Self::RelaxedThreads => "relaxed-threads",
            Self::Relaxed => "relaxed",
            Self::Simd128 => "simd128",
            Self::Relaxed64 => "relaxed-64",
        }
    }

    /// The build of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|build| build.name() == name)
    }

    /// The build that this code belongs to; natively that of the plain file.
    pub fn here() -> Self {
        match (
            cfg!(target_feature = "atomics"),
            cfg!(feature = "relaxed-simd"),
        ) {
            _ if cfg!(target_arch = "wasm64") => Self::Relaxed64,
            (true, _) => Self::RelaxedThreads,
            (false, true) => Self::Relaxed,
            (false, false) => Self::Simd128,
        }
    }

    /// Returns whether a browser can run it.
    pub fn runs_on(self, browser: Abilities) -> bool {
        match self {
            Self::RelaxedThreads => browser.relaxed_simd && browser.shared_memory,
            Self::Relaxed => browser.relaxed_simd,
            Self::Simd128 => true,
            Self::Relaxed64 => browser.relaxed_simd && browser.memory64,
        }
    }

    /// Returns whether threads can share its work.
    pub fn has_threads(self) -> bool {
        self == Self::RelaxedThreads
    }

    /// Returns whether its addresses have 64 bits.
    pub fn is_wide(self) -> bool {
        self == Self::Relaxed64
    }

    /// Gigabytes, of 2^30 bytes, of the most memory that it can have.
    pub fn most_memory_gb(self) -> u64 {
        if self.is_wide() { 16 } else { 4 }
    }

    /// Bytes of the largest weights that it opens.
    pub fn largest_weights(self) -> u64 {
        if self.is_wide() {
            LARGEST_OF_64_BITS
        } else {
            LARGEST_OF_32_BITS
        }
    }

    /// The quickest of the builds `there` that a browser can run with this number of threads; one
    /// thread needs no shared memory. Every site has the plain one. 64-bit addresses are for
    /// weights that need them ([`Self::for_weights`]).
    pub fn best(there: &[Self], browser: Abilities, threads: usize) -> Self {
        let runs = |build: &Self| {
            let useful = threads > 1 || !build.has_threads();
            there.contains(build) && build.runs_on(browser) && useful && !build.is_wide()
        };
        Self::ALL.into_iter().find(runs).unwrap_or(Self::Simd128)
    }

    /// The build for weights of this many bytes: the [`Self::best`], unless they are too large for
    /// it, and the one with 64-bit addresses is `there`, runs in a browser and can hold them.
    pub fn for_weights(there: &[Self], browser: Abilities, threads: usize, bytes: u64) -> Self {
        let best = Self::best(there, browser, threads);
        let wide = Self::Relaxed64;
        let fits = (best.largest_weights() + 1..=wide.largest_weights()).contains(&bytes);
        if fits && there.contains(&wide) && wide.runs_on(browser) {
            wide
        } else {
            best
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_build_is_one_that_is_there_and_runs() {
        let abilities = |relaxed_simd, shared_memory| Abilities {
            relaxed_simd,
            shared_memory,
            memory64: true,
        };
        let best = |there: &[Build], browser| Build::best(there, browser, 2).name();
        assert_eq!(
            Build::best(&Build::ALL, abilities(true, true), 1),
            Build::Relaxed
        );
        assert_eq!(best(&Build::ALL, abilities(true, true)), "relaxed-threads");
        assert_eq!(best(&Build::ALL, abilities(true, false)), "relaxed");
        assert_eq!(best(&Build::ALL, abilities(false, true)), "simd128");
        assert_eq!(best(&Build::ALL[1..], abilities(true, true)), "relaxed");
        assert_eq!(best(&[], abilities(true, true)), "simd128");
        assert_eq!(best(&[Build::Relaxed64], abilities(true, true)), "simd128");
        assert_eq!(Build::from_name("relaxed"), Some(Build::Relaxed));
        assert_eq!(Build::from_name("Relaxed"), None);
    }

    #[test]
    fn only_weights_that_need_64_bit_addresses_get_them() {
        let build = |there: &[Build], [relaxed_simd, memory64]: [bool; 2], bytes| {
            let browser = Abilities {
                relaxed_simd,
                shared_memory: true,
                memory64,
            };
            Build::for_weights(there, browser, 2, bytes).name()
        };
        let (all, able) = (&Build::ALL[..], [true, true]);
        let narrow = Build::Relaxed.largest_weights();
        for bytes in [0, 1 << 20, narrow] {
            assert_eq!(build(all, able, bytes), "relaxed-threads", "{bytes}");
        }
        let wide = Build::Relaxed64.largest_weights();
        for bytes in [narrow + 1, 5_000_000_000, wide] {
            assert_eq!(build(all, able, bytes), "relaxed-64", "{bytes}");
            assert_eq!(build(all, [true, false], bytes), "relaxed-threads");
            assert_eq!(build(all, [false, true], bytes), "simd128");
            assert_eq!(build(&Build::ALL[..3], able, bytes), "relaxed-threads");
        }
        assert_eq!(build(all, able, wide + 1), "relaxed-threads");
        assert!(Build::ALL[..3].iter().all(|build| !build.is_wide()));
        assert!(Purpose::Lab.builds().contains(&Build::Relaxed64));
        assert!(!Purpose::Measure.builds().contains(&Build::Relaxed64));
        for build in Build::ALL {
            assert!(build.largest_weights() < build.most_memory_gb() << 30);
        }
    }

    #[test]
    fn a_page_lists_the_files_that_it_uses() {
        let mut files = WorkerFiles::default();
        for (name, hash) in [
            (START_SCRIPT, "0a"),
            (CELLS, "1b"),
            ("engine-simd128", "2c"),
            ("lab-relaxed-threads", "3d"),
            ("lab-simd128", "4e"),
            ("lab-relaxed-64", "5f"),
        ] {
            files.add(name, hash);
        }
        assert_eq!(WorkerFiles::parse(&files.to_string()), files);
        assert_eq!(
            files.file("lab-relaxed-threads").as_deref(),
            Some("lab-relaxed-threads-3d")
        );
        assert_eq!(files.file(CELLS).as_deref(), Some("cells-1b"));
        assert_eq!(files.file("engine-relaxed"), None);
        assert_eq!(
            files.address(CELLS, "kind=models").as_deref(),
            Some("worker_start-0a.js?file=cells-1b&kind=models")
        );
        assert_eq!(files.address("engine-relaxed", "threads=1"), None);
        assert_eq!(
            files.builds(Purpose::Lab),
            [Build::RelaxedThreads, Build::Simd128, Build::Relaxed64]
        );
        assert_eq!(files.builds(Purpose::Measure), [Build::Simd128]);
        let none = WorkerFiles::parse("");
        assert!(none.file(START_SCRIPT).is_none() && none.builds(Purpose::Lab).is_empty());
    }
}
