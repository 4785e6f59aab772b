//! Hands the page of the HTML report, built by `npm run build` in `page/`, to the crate. Where it
//! was not built the crate builds all the same and says so when it is asked for a page.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    // The folder, which is always there: a path that is missing would rebuild the crate every time.
    println!("cargo::rerun-if-changed=page/dist");
    println!("cargo::rerun-if-changed=build.rs");
    let built = PathBuf::from("page/dist/page.html");
    let page = if built.exists() { fs::read(built)? } else { Vec::new() };
    let out = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    fs::write(out.join("page.html"), page)
}
