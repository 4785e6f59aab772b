//! Passes the folder of the libraries of `make deps` to the compiler, unless `EMBERMARK_PACKAGE` is
//! set because the program will be installed elsewhere.

use std::env;
use std::path::PathBuf;

fn main() {
    // An absolute path, so that a target folder that outlives a checkout gets the new location.
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed={}", package.join("build.rs").display());
    println!("cargo::rerun-if-env-changed=EMBERMARK_PACKAGE");
    if env::var_os("EMBERMARK_PACKAGE").is_none() {
        let folder = package.ancestors().nth(2).unwrap_or(&package).join(".deps");
        println!("cargo::rustc-env=EMBERMARK_DEPENDENCIES={}", folder.display());
    }
}
