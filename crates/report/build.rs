//! Passes the pages of `page/`, which `npm run build` built, to the crate: the page of the HTML
//! report, and the page of a site with its style and script. The crate builds without them, and
//! reports their absence when one is requested.

use std::path::PathBuf;
use std::{env, fs, io};

const FILES: [&str; 4] = ["page.html", "site.html", "site.css", "site.js"];

fn main() -> io::Result<()> {
    // The folder, which is always there: a path that is missing would rebuild the crate every time.
    println!("cargo::rerun-if-changed=page/dist");
    println!("cargo::rerun-if-changed=build.rs");
    let out = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    for name in FILES {
        let built = PathBuf::from("page/dist").join(name);
        let page = if built.exists() { fs::read(built)? } else { Vec::new() };
        fs::write(out.join(name), page)?;
    }
    Ok(())
}
