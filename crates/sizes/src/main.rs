//! `sizes [DIR]`: measures what a reader downloads of the built site in DIR (`dist`), in bytes
//! after gzip, and compares it with the budget. Ends with a line that counts the measured things as
//! tests, and with exit code 1 if one is too large.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use miniz_oxide::deflate::compress_to_vec;

/// Bounds in bytes after gzip, for a site that the nightly compiler built for its size and for one
/// of the stable compiler, which has its standard library as it ships and the texts of panics.
type Bounds = [usize; 2];

/// Largest first wasm of the site: the file that every page starts with, with a description of every
/// cell.
const SITE_WASM_BYTES: Bounds = [182_000, 284_000];
/// Most wasm that one page fetches before its cells run, chunks included and the worker not.
const PAGE_WASM_BYTES: Bounds = [546_500, 716_000];
/// Most worker code that a cell waits for: the first file, and those with its own code.
const CELL_WASM_BYTES: Bounds = [190_500, 320_000];
/// Largest file of the engine that loads and measures full-size models. The goal is 170 kB, which
/// it misses (`BENCHMARKS.md` says by what): this keeps it from growing.
const ENGINE_WASM_BYTES: Bounds = [215_000, 241_000];
/// Largest file of the engine for the lab, which has vocabularies, pictures, storage, every kind of
/// model and the cells that compute with an opened one besides.
const LAB_WASM_BYTES: Bounds = [424_000, 469_000];
/// The same of the engine with 64-bit addresses, which only a nightly compiler makes: 2 % larger than
/// its neighbour with 32 bits.
const WIDE_WASM_BYTES: Bounds = [426_000, 0];
/// Most wasm files of the whole site, those of the workers included.
const SITE_WASM_FILES: usize = 125;
/// Most wasm files that one page asks for, those of the worker included.
const PAGE_WASM_FILES: usize = 12;
/// Most that a page needs before its prose stands with JavaScript off: HTML, style sheets, fonts;
/// bytes after gzip; of a page with formulas, which needs their font too, and of any other page.
const FIRST_PAINT_BYTES: [usize; 2] = [170_000, 120_000];

/// What gzip adds to the compressed bytes: its head, a checksum and the length.
const GZIP_FRAME_BYTES: usize = 18;

/// One measured thing.
struct Size {
    name: String,
    /// Bytes after gzip, or the number of files where `counts_files`.
    bytes: usize,
    budget: usize,
    counts_files: bool,
}

impl Size {
    /// Whether it is within its budget.
    fn fits(&self) -> bool {
        self.bytes <= self.budget
    }
}

/// A reason why nothing was measured.
#[derive(Debug, thiserror::Error)]
enum SizesError {
    #[error("cannot read {path}: {source}")]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{0} has no worker for cells; run `cargo xtask build` first")]
    NoWorker(PathBuf),
    #[error("{0} does not list its chunks")]
    NoChunks(PathBuf),
}

fn main() -> ExitCode {
    let folder = std::env::args_os().nth(1);
    let dist = folder.map_or_else(|| PathBuf::from("dist"), PathBuf::from);
    match measure(&dist) {
        Ok(sizes) => {
            print(&sizes);
            let fit = sizes.iter().filter(|size| size.fits()).count();
            let (word, code) = if fit == sizes.len() {
                ("ok", ExitCode::SUCCESS)
            } else {
                ("FAILED", ExitCode::FAILURE)
            };
            let too_large = sizes.len() - fit;
            println!("\ntest result: {word}. {fit} passed; {too_large} failed");
            code
        }
        Err(error) => {
            eprintln!("sizes: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The worker for cells: its files.
struct Worker {
    first: PathBuf,
    /// For each cell, with underscores in its name, the files that it needs besides.
    cells: BTreeMap<String, Vec<PathBuf>>,
}

impl Worker {
    /// Finds it among the files of a site: the script that fetches its chunks names both.
    fn find(dist: &Path, files: &[PathBuf]) -> Result<Self, SizesError> {
        for script in files.iter().filter(|path| path.ends_with("load.js")) {
            let text = read(script)?;
            let main = text.split('"').find_map(|text| text.strip_prefix("../"));
            let Some(main) = main.filter(|main| main.starts_with("cells-")) else {
                continue;
            };
            let folder = script.parent().unwrap_or(dist);
            let chunks = chunks(&text).ok_or_else(|| SizesError::NoChunks(script.clone()))?;
            let paths = |names: Vec<String>| names.iter().map(|file| folder.join(file)).collect();
            return Ok(Self {
                first: dist.join(main.replace(".js", "_bg.wasm")),
                cells: chunks
                    .into_iter()
                    .map(|(cell, names)| (cell, paths(names)))
                    .collect(),
            });
        }
        Err(SizesError::NoWorker(dist.to_owned()))
    }

    /// The number of its files that a page asks for: the first, and those of each cell in a worker
    /// that the page shows or asks about.
    fn files_of(&self, html: &str) -> usize {
        let named = ["data-cell=\"", "data-of=\""].into_iter().flat_map(|key| {
            let after = html.split(key).skip(1);
            after.filter_map(|rest| rest.split('"').next())
        });
        let needed: BTreeSet<&PathBuf> = named
            .filter_map(|name| self.cells.get(&name.replace('-', "_")))
            .flatten()
            .collect();
        // The pages of the tools have one of the engine's files instead of the first.
        needed.len() + 1
    }
}

/// The files of each chunk, as the script that fetches them lists them.
fn chunks(script: &str) -> Option<BTreeMap<String, Vec<String>>> {
    let list = script.split_once("FILES = ")?.1.split_once(';')?.0;
    serde_json::from_str(list).ok()
}

/// Measures the built site.
fn measure(dist: &Path) -> Result<Vec<Size>, SizesError> {
    let files = files_under(dist)?;
    let name = |path: &Path| {
        path.strip_prefix(dist)
            .unwrap_or(path)
            .display()
            .to_string()
    };
    let ends = |end: &'static str| {
        files
            .iter()
            .filter(move |path| path.to_string_lossy().ends_with(end))
    };
    let mut sizes = Vec::new();
    // Only a nightly compiler makes the file with threads.
    let by_nightly = ends("_bg.wasm").any(|path| name(path).contains("-threads-"));
    let bound = |bounds: Bounds| bounds[usize::from(!by_nightly)];
    let mut weigh = |name: String, files: &[PathBuf], bounds: Bounds| {
        sizes.push(Size {
            name,
            bytes: gzipped(files)?,
            budget: bound(bounds),
            counts_files: false,
        });
        Ok(())
    };
    let worker = Worker::find(dist, &files)?;
    for path in ends("_bg.wasm").filter(|&path| *path != worker.first) {
        let (title, bounds) = if name(path).contains("engine-") {
            ("engine for measuring", ENGINE_WASM_BYTES)
        } else if name(path).contains("lab-relaxed-64-") {
            ("engine for the lab, 64-bit addresses", WIDE_WASM_BYTES)
        } else if name(path).contains("lab-") {
            ("engine for the lab", LAB_WASM_BYTES)
        } else {
            ("site wasm", SITE_WASM_BYTES)
        };
        let title = format!("{title} ({})", name(path));
        weigh(title, std::slice::from_ref(path), bounds)?;
    }
    for (cell, more) in &worker.cells {
        let needed = [std::slice::from_ref(&worker.first), more].concat();
        weigh(format!("worker code for {cell}"), &needed, CELL_WASM_BYTES)?;
    }
    for page in ends(".html") {
        let title = format!("wasm of {}, chunks included", name(page));
        weigh(title, &wasm_files(dist, page)?, PAGE_WASM_BYTES)?;
    }
    for page in ends(".html") {
        let asked = wasm_files(dist, page)?;
        sizes.push(Size {
            name: format!("wasm files of {}, the worker's included", name(page)),
            bytes: asked.len() + worker.files_of(&read(page)?),
            budget: PAGE_WASM_FILES,
            counts_files: true,
        });
    }
    sizes.push(Size {
        name: "wasm files of the site".to_owned(),
        bytes: ends(".wasm").count(),
        budget: SITE_WASM_FILES,
        counts_files: true,
    });
    for page in ends(".html") {
        sizes.push(Size {
            name: format!("first paint of {}", name(page)),
            bytes: gzipped(&first_paint_files(dist, page)?)?,
            budget: FIRST_PAINT_BYTES[usize::from(!has_formulas(&name(page)))],
            counts_files: false,
        });
    }
    Ok(sizes)
}

/// Whether a page has formulas: lessons and the reference.
fn has_formulas(page: &str) -> bool {
    ["lesson/", "reference/"]
        .iter()
        .any(|part| page.starts_with(part))
}

fn print(sizes: &[Size]) {
    println!("\nSizes after gzip, in kB of 1,000 bytes, and numbers of files:");
    for size in sizes {
        let (bytes, budget) = if size.counts_files {
            (size.bytes.to_string(), size.budget.to_string())
        } else {
            (kilobytes(size.bytes), kilobytes(size.budget))
        };
        let verdict = if size.fits() { "ok" } else { "TOO LARGE" };
        println!("{bytes:>8} of {budget:>6}  {verdict:<9}  {}", size.name);
    }
}

fn kilobytes(bytes: usize) -> String {
    format!("{}.{}", bytes / 1000, bytes % 1000 / 100)
}

/// The wasm files that a page requests early, which are all that its cells need. Their names stand
/// in the list of its head script, from the site's root.
fn wasm_files(dist: &Path, page: &Path) -> Result<Vec<PathBuf>, SizesError> {
    let html = read(page)?;
    let files = html.split('"').filter(|text| text.ends_with(".wasm"));
    Ok(files
        .map(|file| dist.join(file))
        .filter(|path| path.is_file())
        .collect())
}

/// The page itself, its style sheets, and the fonts that these name and the page uses.
fn first_paint_files(dist: &Path, page: &Path) -> Result<Vec<PathBuf>, SizesError> {
    let mut files = BTreeSet::from([page.to_owned()]);
    let html = read(page)?;
    let has_formulas = html.contains("<math");
    for tag in html.split('<').filter(|tag| tag.starts_with("link")) {
        let needed =
            tag.contains("stylesheet") || (tag.contains("preload") && tag.contains("font"));
        if needed && let Some(href) = attribute(tag, "href") {
            files.insert(resolve(dist, page, href));
        }
    }
    let sheets: Vec<PathBuf> = files
        .iter()
        .filter(|path| path.extension().is_some_and(|kind| kind == "css"))
        .cloned()
        .collect();
    let mut styles = vec![(page.to_owned(), html)];
    for sheet in sheets {
        let text = read(&sheet)?;
        styles.push((sheet, text));
    }
    for (from, text) in styles {
        for (_, rest) in text
            .match_indices("url(")
            .map(|(at, found)| text.split_at(at + found.len()))
        {
            let target = rest
                .split(')')
                .next()
                .unwrap_or_default()
                .trim_matches(['"', '\'', ' ']);
            // A browser fetches a font only where text is set in it.
            let is_used = !target.ends_with("notebook-math.woff2") || has_formulas;
            if target.ends_with(".woff2") && is_used {
                files.insert(resolve(dist, &from, target));
            }
        }
    }
    Ok(files.into_iter().collect())
}

/// The value of a quoted or bare attribute in a tag's text.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let rest = tag.split_once(&format!("{name}="))?.1;
    match rest.chars().next()? {
        quote @ ('"' | '\'') => rest[1..].split(quote).next(),
        _ => rest.split([' ', '>']).next(),
    }
}

/// The file that `link` in `from` points to. An absolute link may start with the base path of the
/// build, of which the built folder knows nothing: leading folders are dropped until a file is
/// found.
fn resolve(dist: &Path, from: &Path, link: &str) -> PathBuf {
    let link = link.split(['?', '#']).next().unwrap_or(link);
    let Some(mut rest) = link.strip_prefix('/') else {
        return normal(&from.parent().unwrap_or(dist).join(link));
    };
    while !dist.join(rest).is_file() {
        match rest.split_once('/') {
            Some((_, shorter)) => rest = shorter,
            None => break,
        }
    }
    dist.join(rest)
}

/// The path without `.` and `..`, so that one file has one name.
fn normal(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                clean.pop();
            }
            std::path::Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean
}

/// The summed size of the files, each compressed on its own as a server would.
fn gzipped(paths: &[PathBuf]) -> Result<usize, SizesError> {
    paths.iter().try_fold(0, |sum, path| {
        let bytes = std::fs::read(path).map_err(|source| unreadable(path, source))?;
        Ok(sum + gzip(&bytes))
    })
}

/// The length of `bytes` after gzip at its best level.
fn gzip(bytes: &[u8]) -> usize {
    compress_to_vec(bytes, 9).len() + GZIP_FRAME_BYTES
}

fn read(path: &Path) -> Result<String, SizesError> {
    std::fs::read_to_string(path).map_err(|source| unreadable(path, source))
}

fn unreadable(path: &Path, source: std::io::Error) -> SizesError {
    let path = path.to_owned();
    SizesError::Read { path, source }
}

/// All files under a folder, sorted.
fn files_under(folder: &Path) -> Result<Vec<PathBuf>, SizesError> {
    let fail = |source| unreadable(folder, source);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.is_dir() {
            files.extend(files_under(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::{attribute, chunks, gzip, kilobytes, normal, resolve};
    use std::path::Path;

    #[test]
    fn reads_attributes() {
        assert_eq!(
            attribute("link rel=\"stylesheet\" href=\"../a.css\">", "href"),
            Some("../a.css")
        );
        assert_eq!(
            attribute("link href=b.css rel=stylesheet>", "href"),
            Some("b.css")
        );
        assert_eq!(attribute("link rel=icon>", "href"), None);
    }

    #[test]
    fn resolves_links_from_the_page_that_holds_them() {
        let dist = Path::new("/site");
        let page = Path::new("/site/lesson/scaling/index.html");
        assert_eq!(
            resolve(dist, page, "../../a.css?x"),
            Path::new("/site/a.css")
        );
        assert_eq!(normal(Path::new("/a/b/.././c")), Path::new("/a/c"));
    }

    #[test]
    fn chunks_are_read_from_the_script_that_fetches_them() {
        let script =
            "import x;\nconst FILES = {\"a\":[\"a.wasm\",\"shared-1.wasm\"],\"b\":[]};\nmore";
        let found = chunks(script).unwrap_or_default();
        assert_eq!(found["a"], ["a.wasm", "shared-1.wasm"]);
        assert!(found["b"].is_empty());
        assert!(chunks("nothing").is_none());
    }

    #[test]
    fn gzip_counts_compressed_bytes() {
        let size = gzip(&[7_u8; 100_000]);
        assert!(size < 1000, "{size}");
        assert_eq!(kilobytes(349_951), "349.9");
    }
}
