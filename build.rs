//! Says whether the wasm is made to be cut into chunks: in release builds, where `pages` cuts it
//! after the build.
#![allow(
    clippy::disallowed_methods,
    reason = "this runs on the machine that builds, which has an environment"
)]

fn main() {
    println!("cargo::rustc-check-cfg=cfg(chunks)");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    if variable("PROFILE") == "release" && variable("CARGO_CFG_TARGET_ARCH") == "wasm32" {
        println!("cargo::rustc-cfg=chunks");
        // Where each function is called from: without it nothing can be moved to another file.
        println!("cargo::rustc-link-arg-bins=--emit-relocs");
    }
}
