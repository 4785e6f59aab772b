//! Compiles the bare loops against the same libraries that the adapters use: the bundled sources of
//! SQLite and LMDB, and Berkeley DB if its header and library are installed. Those over RocksDB and
//! libmongoc find the library at run time.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// A library of the system: its name, the linker's name for it, and its header.
const SYSTEM: [[&str; 3]; 1] = [["berkeleydb", "db", "db.h"]];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=loops");
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    // libsqlite3-sys reports where its header is.
    let sqlite =
        env::var_os("DEP_SQLITE3_INCLUDE").ok_or("libsqlite3-sys reports no include folder")?;
    compile("sqlite", Some(Path::new(&sqlite)))?;
    compile("lmdb", Some(&lmdb()?))?;
    compile("rocksdb", None)?;
    compile("mongodb", None)?;
    for [name, library, header] in SYSTEM {
        println!("cargo::rustc-check-cfg=cfg({name}_linked)");
        if links(name, library, header)? {
            compile(name, None)?;
            println!("cargo::rustc-link-lib={library}");
            println!("cargo::rustc-cfg={name}_linked");
        } else {
            // Makes the next build after an installation check again.
            println!("cargo::rerun-if-changed=/usr/include");
        }
    }
    Ok(())
}

fn compile(name: &str, include: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let mut build = cc::Build::new();
    build.file(format!("loops/{name}.c")).include("loops").includes(include);
    // As fast as the adapters' release build, whatever this build is.
    build.opt_level(3).warnings(true).extra_warnings(true);
    Ok(build.try_compile(&format!("embermark_bare_{name}"))?)
}

/// Returns the folder of the LMDB that `lmdb-master-sys` compiles. Cargo reports it, that
/// crate's build script does not.
fn lmdb() -> Result<PathBuf, Box<dyn Error>> {
    let cargo = env::var_os("CARGO").ok_or("cargo does not report its path")?;
    let mut asked = Command::new(cargo);
    asked.args(["metadata", "--format-version=1", "--locked", "--filter-platform"]);
    asked.arg(env::var_os("TARGET").unwrap_or_default());
    let answer = asked.output()?;
    if !answer.status.success() {
        return Err(String::from_utf8_lossy(&answer.stderr).into());
    }
    let metadata: serde_json::Value = serde_json::from_slice(&answer.stdout)?;
    let packages = metadata["packages"].as_array().ok_or("cargo reports no packages")?;
    let found = packages.iter().find(|package| package["name"] == "lmdb-master-sys");
    let manifest = found.and_then(|package| package["manifest_path"].as_str());
    let manifest = Path::new(manifest.ok_or("lmdb-master-sys is not among cargo's packages")?);
    let folder = manifest.with_file_name("lmdb").join("libraries/liblmdb");
    if folder.join("lmdb.h").is_file() {
        Ok(folder)
    } else {
        Err(format!("no lmdb.h in {}", folder.display()).into())
    }
}

/// Whether a program with that header and library compiles and links.
fn links(name: &str, library: &str, header: &str) -> Result<bool, Box<dyn Error>> {
    let scratch = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let source = scratch.join(format!("probe-{name}.c"));
    fs::write(&source, format!("#include <{header}>\nint main(void) {{ return 0; }}\n"))?;
    let Ok(compiler) = cc::Build::new().try_get_compiler() else { return Ok(false) };
    let mut probe = compiler.to_command();
    probe.arg(&source).arg(format!("-l{library}")).arg("-o").arg(scratch.join("probe"));
    Ok(probe.output().is_ok_and(|output| output.status.success()))
}
