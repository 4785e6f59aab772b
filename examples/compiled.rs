//! The examples as shared libraries, for tests and benchmarks. Those in C are compiled on demand.

#![allow(dead_code, reason = "each of them uses its part")]

use std::env::{current_exe, temp_dir};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{self, Command};

use embermark_skips::skipped;

/// Root of the source tree.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

const HEADER: &str = "crates/abi/include/embermark_engine.h";

/// Compiles the example in C. `None`, and a skipped test, without a C compiler.
pub fn logmap() -> Option<PathBuf> {
    let source = Path::new(ROOT).join("examples/engine-c/logmap.c");
    compiled("logmap", &source, &["-lpthread"])
}

/// Compiles the example in C with SQL. `None`, and a skipped test, without a C compiler or SQLite's
/// header.
pub fn sqlite() -> Option<PathBuf> {
    let source = Path::new(ROOT).join("examples/engine-sql-c/sqlite.c");
    with_sqlite("sqlite-library", &source)
}

/// Compiles a C file of the example with SQL.
pub fn with_sqlite(name: &str, source: &Path) -> Option<PathBuf> {
    if is_newer(&library(name), source) {
        return Some(library(name));
    }
    let has_header = Command::new("cc")
        .args(["-E", "-include", "sqlite3.h", "-x", "c", "/dev/null", "-o", "/dev/null"])
        .output();
    match has_header {
        Ok(output) if output.status.success() => {}
        Ok(_) => {
            skipped("sqlite3.h", "there is none: install libsqlite3-dev");
            return None;
        }
        Err(error) => {
            skipped("cc", error);
            return None;
        }
    }
    compiled(name, source, &["-lsqlite3"])
}

/// Returns the path of the library with this name, next to the test program.
fn library(name: &str) -> PathBuf {
    let beside = current_exe().ok().and_then(|program| Some(program.parent()?.to_owned()));
    beside.unwrap_or_else(temp_dir).join("engine-libraries").join(format!("lib{name}.so"))
}

/// Compiles a C file to a library with this name. Every warning is an error.
pub fn compiled(name: &str, source: &Path, more: &[&str]) -> Option<PathBuf> {
    let library = library(name);
    let folder = library.parent().expect("a library in a folder");
    fs::create_dir_all(folder).expect("a folder next to the test program");
    // One process at a time, because replacing the file would break a process that has loaded it.
    let lock = File::create(folder.join(format!("{name}.lock"))).expect("the folder is writable");
    lock.lock().expect("the file system has locks");
    if is_newer(&library, source) {
        return Some(library);
    }
    // Renaming makes the file appear whole, even if this process is killed.
    let own = folder.join(format!("lib{name}-{}.so", process::id()));
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC"]);
    cc.arg("-I")
        .arg(format!("{ROOT}/crates/abi/include"))
        .arg("-I")
        .arg(format!("{ROOT}/examples/engine-c"))
        .arg("-I")
        .arg(format!("{ROOT}/examples/engine-sql-c"));
    let output = match cc.arg("-o").arg(&own).arg(source).args(more).output() {
        Ok(output) => output,
        Err(error) => {
            skipped("cc", error);
            return None;
        }
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", source.display());
    fs::rename(own, &library).expect("both are in one folder");
    Some(library)
}

/// Whether a library is newer than its source and the files that it includes.
fn is_newer(library: &Path, source: &Path) -> bool {
    let changed = |path: &Path| fs::metadata(path)?.modified();
    let examples = ["examples/engine-c/logmap.c", "examples/engine-sql-c/sqlite.c"];
    let included = ["examples/compiled.rs", HEADER].into_iter().chain(examples);
    let included: Vec<PathBuf> = included.map(|path| Path::new(ROOT).join(path)).collect();
    let of = included.iter().map(PathBuf::as_path).chain([source]);
    changed(library)
        .is_ok_and(|made| of.map(changed).all(|time| time.is_ok_and(|time| time < made)))
}

/// Returns the example in Rust, which Cargo builds into the same folder as the crates that depend on
/// it.
pub fn redb() -> PathBuf {
    let program = current_exe().expect("the program has a path");
    let folders = program.ancestors().skip(1).take(2);
    let found = folders.flat_map(|folder| [folder.to_owned(), folder.join("deps")]);
    let mut found = found.map(|folder| folder.join("libembermark_example_redb.so"));
    found.find(|path| path.exists()).expect("a dependency that is built as a cdylib")
}
