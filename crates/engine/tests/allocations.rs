//! Reading a file's directory allocates at most 16 times the file's size and a mebibyte, whatever
//! the file says; and a matrix of a stored file is packed without all of its bytes beside it.
#![cfg(not(target_family = "wasm"))]
#![allow(
    unsafe_code,
    clippy::unwrap_used,
    reason = "an allocator that counts is unsafe to write; a test fails by panicking"
)]

#[path = "engine/formats/make.rs"]
mod make;

use engine::format::{
    file_bytes::{FileBytes, ReadAt},
    gguf::Gguf,
    llama2c::Llama2c,
    safetensors::SafeTensors,
};
use engine::parameters::{Parameters, Weight};
use engine::quant::Type;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use tools::TensorBytes;
use tools::gguf::write;

/// The system's allocator, which adds up what this thread asked for, and notes the most that it
/// held.
struct Counting;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST_HELD: Cell<isize> = const { Cell::new(0) };
}

fn add(bytes: usize) {
    // A thread that ends may have no counter any more.
    let _ = ALLOCATED.try_with(|sum| sum.set(sum.get() + bytes));
    hold(bytes.cast_signed());
}

/// Notes that so many bytes more are held, or fewer.
fn hold(bytes: isize) {
    let held = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        held.get()
    });
    let _ = MOST_HELD.try_with(|most| most.set(most.get().max(held.unwrap_or(0))));
}

// SAFETY: each call goes to the system's allocator unchanged; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        hold(-layout.size().cast_signed());
        // SAFETY: the pointer came from `System` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size);
        hold(-layout.size().cast_signed());
        // SAFETY: the pointer came from `System` with this layout; the caller promises the rest.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// All that was allocated while `parse` ran, freed or not, is within the bound.
fn bounded<T>(name: &str, file: &[u8], parse: impl Fn(FileBytes) -> T) {
    let bytes = FileBytes::from(file);
    let before = ALLOCATED.with(Cell::get);
    let result = parse(bytes);
    let allocated = ALLOCATED.with(Cell::get) - before;
    drop(result);
    let times = allocated as f64 / file.len() as f64;
    println!(
        "{name}: {} bytes, {allocated} allocated, {times:.2} times as much",
        file.len()
    );
    assert!(allocated <= 16 * file.len() + (1 << 20), "{name}");
}

fn gguf_head(tensors: u64, entries: u64) -> Vec<u8> {
    let (tensors, entries) = (tensors.to_le_bytes(), entries.to_le_bytes());
    [&b"GGUF\x03\0\0\0"[..], &tensors, &entries].concat()
}

/// Fills a file up to four mebibytes.
fn filled(mut file: Vec<u8>, mut part: impl FnMut(usize) -> Vec<u8>) -> (Vec<u8>, usize) {
    let mut count = 0;
    while file.len() < 1 << 22 {
        file.extend(part(count));
        count += 1;
    }
    (file, count)
}

#[test]
fn hostile_gguf() {
    let text = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    // Many tiny entries of metadata.
    let entry = |n: usize| [&text(&format!("{n:x}"))[..], &0u32.to_le_bytes(), &[0]].concat();
    let (mut file, count) = filled(gguf_head(0, 0), entry);
    file[16..24].copy_from_slice(&(count as u64).to_le_bytes());
    assert!(Gguf::parse(file.clone().into()).is_ok());
    bounded("entries", &file, Gguf::parse);
    // As many entries as the length allows, then arrays of arrays that promise the same.
    let array = [
        9u32.to_le_bytes().to_vec(),
        ((1u64 << 22) / 12 - 100).to_le_bytes().to_vec(),
    ]
    .concat();
    let mut file = [
        gguf_head(0, (1 << 22) / 13 - 100),
        text("k"),
        9u32.to_le_bytes().to_vec(),
    ]
    .concat();
    file.extend(array.repeat(2));
    file.extend(8u32.to_le_bytes());
    file.extend(((1u64 << 22) / 8 - 100).to_le_bytes());
    file.resize(1 << 22, 0);
    bounded("promises", &file, Gguf::parse);
    // An array of empty arrays, and one of empty texts.
    for (name, kind, each) in [("empty arrays", 9u32, 12), ("empty texts", 8, 8)] {
        let head = [
            gguf_head(0, 1),
            text("k"),
            [9, kind].map(u32::to_le_bytes).concat(),
        ]
        .concat();
        let count = (1u64 << 22) / each;
        let mut file = [head, count.to_le_bytes().to_vec()].concat();
        file.resize(file.len() + (count * each) as usize, 0);
        assert!(Gguf::parse(file.clone().into()).is_ok());
        bounded(name, &file, Gguf::parse);
    }
    // Many tensors of one byte's name, each refused only at the end.
    let tensor = |n: usize| {
        let mut tensor = text(&format!("{n:x}"));
        tensor.extend(0u32.to_le_bytes());
        tensor.extend(1u32.to_le_bytes());
        tensor.extend((n as u64 * 32).to_le_bytes());
        tensor
    };
    let (mut file, count) = filled(gguf_head(0, 0), tensor);
    file[8..16].copy_from_slice(&(count as u64).to_le_bytes());
    file.resize(file.len() + 32 + count * 32, 0);
    bounded("tensors", &file, Gguf::parse);
    bounded("a small file", &make::gguf(), Gguf::parse);
}

#[test]
fn hostile_safetensors() {
    let entry = |n: usize| {
        format!(
            r#""{n:x}":{{"dtype":"U8","shape":[1,1,1,1,1],"data_offsets":[{n},{}]}},"#,
            n + 1
        )
    };
    let (mut header, count) = filled(b"{".to_vec(), |n| entry(n).into_bytes());
    header.pop();
    header.push(b'}');
    let header = String::from_utf8(header).unwrap();
    let file = make::safetensors_with(&header, &vec![0; count]);
    assert!(SafeTensors::parse(file.clone().into()).is_ok());
    bounded("tensors", &file, SafeTensors::parse);
    let (mut metadata, _) = filled(br#"{"__metadata__":{"#.to_vec(), |_| br#""":"","#.to_vec());
    metadata.pop();
    metadata.extend(b"}}");
    let file = make::safetensors_with(&String::from_utf8(metadata).unwrap(), &[]);
    bounded("metadata", &file, SafeTensors::parse);
    bounded("a small file", &make::safetensors(), SafeTensors::parse);
}

#[test]
fn hostile_llama2c() {
    // The narrowest model there is, with very many layers: norms, attention, MLP.
    let layers = 40_000;
    let numbers = layers * (2 * 2 + 4 * 4 + 3 * 2) + 2 + 2 + 2;
    let file = make::llama2c_with([2, 1, layers as i32, 1, 1, 1, 1], numbers);
    assert!(Llama2c::parse(file.clone().into()).is_ok());
    bounded("layers", &file, Llama2c::parse);
    bounded(
        "promises",
        &make::llama2c_with([2, 1, 1 << 24, 1, 1, 1, 1], 9),
        Llama2c::parse,
    );
    bounded("a small file", &make::llama2c(), Llama2c::parse);
}

#[test]
fn files_of_a_trained_model() {
    let Some(folder) = skip::shared("data/stories260K") else {
        return;
    };
    for name in ["f32", "f16", "q8_0", "q4_0"] {
        let path = folder.join(format!("stories260K-{name}.gguf"));
        bounded(name, &std::fs::read(path).unwrap(), Gguf::parse);
    }
}

#[test]
fn the_vocabulary_of_gpt2() {
    let Some(path) = skip::shared("data/gpt2-tokenizer/ggml-vocab-gpt-2.gguf") else {
        return;
    };
    bounded(
        "GPT-2's vocabulary",
        &std::fs::read(path).unwrap(),
        Gguf::parse,
    );
}

/// A file that lies elsewhere than in memory that is counted here.
struct Elsewhere(&'static [u8]);

impl ReadAt for Elsewhere {
    fn size(&self) -> usize {
        self.0.len()
    }

    fn read_at(&self, start: usize, place: &mut [u8]) -> Result<(), String> {
        place.copy_from_slice(&self.0[start..start + place.len()]);
        Ok(())
    }
}

/// Types with a kernel for blocks, whose rows are packed as they are read.
#[test]
fn a_stored_matrix_is_packed_beside_a_part_of_its_bytes() {
    let (rows, cols) = (20_000, 1024);
    for kind in [Type::Q8_0, Type::Q4_0, Type::Q4_1, Type::Q5_1] {
        let bytes = vec![0; kind.bytes(rows * cols).unwrap()];
        let tensor = TensorBytes {
            name: "t",
            shape: &[rows, cols],
            kind,
            bytes: &bytes,
        };
        let file = FileBytes::stored(Elsewhere(write(&[], &[tensor]).unwrap().leak()));
        let mut tensors = Gguf::parse(file).unwrap().tensors;
        let before = HELD.with(Cell::get);
        MOST_HELD.with(|most| most.set(before));
        let Weight::Packed(matrix) = tensors.weight("t", rows, cols).unwrap() else {
            panic!("it is packed");
        };
        let most = MOST_HELD.with(Cell::get) - before;
        let size = matrix.size().cast_signed();
        println!("{}: {size} bytes, at most {most} held", kind.name());
        assert!(size <= most && most < size + (6 << 20), "{}", kind.name());
    }
}
