//! Compiles the shims of C libraries. Berkeley DB is linked: the system's where it has one, else one
//! that `make deps` has unpacked; where there is neither, the engine is built as one that says so.
//! WiredTiger is opened at run time: a shim for each version whose header is there.
//!
//! Where `EMBERMARK_PACKAGE` names a folder, the program is to be installed elsewhere, perhaps on another architecture: libraries and
//! headers are that folder's and never the system's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// A program that compiles and links where Berkeley DB can be used.
const PROBE: &str = "#include <db.h>\n\
                     #if DB_VERSION_MAJOR < 5\n#error \"too old\"\n#endif\n\
                     int main(void) { DB_ENV *env; return db_env_create(&env, 0); }\n";

fn main() -> io::Result<()> {
    // By its whole path: a target folder that outlives a checkout is told of the new one's place.
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed={}", package.join("build.rs").display());
    println!("cargo::rerun-if-env-changed=EMBERMARK_PACKAGE");
    let packaged = env::var_os("EMBERMARK_PACKAGE").map(PathBuf::from);
    let takes_systems = packaged.is_none();
    let unpacked =
        packaged.unwrap_or_else(|| package.ancestors().nth(2).unwrap_or(&package).join(".deps"));
    versions()?;
    adapters(&package.join("src"))?;
    let scratch = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    berkeleydb(&scratch, &unpacked.join("berkeleydb"), takes_systems)?;
    wiredtiger(&unpacked.join("wiredtiger"), takes_systems)
}

/// Compiles WiredTiger's shim by the header in a folder, which may not be there, and by the system's where
/// that counts: the layout of its handles differs from version to version.
fn wiredtiger(folder: &Path, takes_systems: bool) -> io::Result<()> {
    const SHIM: &str = "src/wiredtiger/shim.c";
    println!("cargo::rustc-check-cfg=cfg(wiredtiger_deps, wiredtiger_system)");
    if env::var_os("CARGO_FEATURE_WIREDTIGER").is_none() {
        return Ok(());
    }
    println!("cargo::rerun-if-changed={SHIM}");
    let systems = ["/usr/local/include", "/usr/include"].map(Path::new);
    let systems: &[&Path] = if takes_systems { &systems } else { &[] };
    for (whose, folders) in [("deps", &[folder][..]), ("system", systems)] {
        let header = |folder: &Path| folder.join("wiredtiger.h");
        let Some(folder) = folders.iter().copied().find(|folder| header(folder).is_file()) else {
            folders.iter().for_each(|folder| looks_again(folder));
            continue;
        };
        let header = header(folder);
        looks_again(&header);
        let mut compiler = cc::Build::new();
        compiler.define("SHIM", &*format!("ember_wt_{whose}")).include(folder).file(SHIM);
        let compiled = compiler.try_compile(&format!("embermark_wiredtiger_{whose}"));
        compiled.map_err(|error| {
            io::Error::other(format!("compiling {SHIM} by {}: {error}", header.display()))
        })?;
        println!("cargo::rustc-cfg=wiredtiger_{whose}");
    }
    Ok(())
}

/// Has the next build look again where a file, or anything in a folder, has changed by then; where there
/// is no such folder yet, in the one above it.
fn looks_again(path: &Path) {
    // A path that is missing would have this run every time.
    if let Some(there) = path.ancestors().take(2).find(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", there.display());
    }
}

/// Compiles Berkeley DB's shim. `unpacked` is the folder of its unpacked copy, whether it is there or
/// not: headers, and a library to be linked statically, so that the program does not depend on where
/// it lies.
fn berkeleydb(scratch: &Path, unpacked: &Path, takes_systems: bool) -> io::Result<()> {
    const SHIM: &str = "src/berkeleydb/shim.c";
    println!("cargo::rustc-check-cfg=cfg(berkeleydb_linked)");
    if env::var_os("CARGO_FEATURE_BERKELEYDB").is_none() {
        return Ok(());
    }
    println!("cargo::rerun-if-changed={SHIM}");
    let (library, mut compiler) = (unpacked.join("libdb.a"), cc::Build::new());
    if takes_systems && links(&compiler, scratch, Path::new("-ldb"))? {
        println!("cargo::rustc-link-lib=db");
        println!("cargo::rustc-env=BERKELEYDB_LINKED=libdb.so");
    } else if links(compiler.include(unpacked), scratch, &library)? {
        println!("cargo::rustc-link-search=native={}", unpacked.display());
        println!("cargo::rustc-link-lib=static=db");
        // Of a package it is part of the program, wherever that lay.
        if takes_systems {
            println!("cargo::rustc-env=BERKELEYDB_LINKED={}", library.display());
        }
    } else {
        // So that the next build after an installation looks again.
        looks_again(Path::new("/usr/include"));
        unpacked.parent().into_iter().for_each(looks_again);
        return Ok(());
    }
    let compiled = compiler.file(SHIM).try_compile("embermark_berkeleydb");
    compiled.map_err(|error| io::Error::other(format!("compiling {SHIM}: {error}")))?;
    println!("cargo::rustc-cfg=berkeleydb_linked");
    Ok(())
}

/// Whether the probe compiles and links with a library: its file, or an argument of the linker.
fn links(cc: &cc::Build, scratch: &Path, library: &Path) -> io::Result<bool> {
    let source = scratch.join("probe.c");
    fs::write(&source, PROBE)?;
    let Ok(compiler) = cc.try_get_compiler() else { return Ok(false) };
    let mut probe = compiler.to_command();
    probe.arg(&source).arg(library).arg("-o").arg(scratch.join("probe"));
    Ok(probe.output().is_ok_and(|output| output.status.success()))
}

/// Hands the versions in the lock file on of engines that are crates and do not tell their own.
fn versions() -> io::Result<()> {
    const LOCK: &str = "../../Cargo.lock";
    println!("cargo::rerun-if-changed={LOCK}");
    let lock = fs::read_to_string(LOCK)?;
    for name in ["fjall", "redb"] {
        let version = lock
            .split_once(&format!("name = \"{name}\"\nversion = \""))
            .and_then(|(_, rest)| rest.split_once('"'))
            .map_or("unknown", |(version, _)| version);
        println!("cargo::rustc-env={}_VERSION={version}", name.to_uppercase());
    }
    Ok(())
}

/// Tells the registry how many lines of code the module of each engine has: `sqlite=161 duckdb=654 …`.
fn adapters(src: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", src.display());
    let mut lines = BTreeMap::<String, usize>::new();
    for entry in fs::read_dir(src)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        *lines.entry(name).or_default() += code_lines(&path)?;
    }
    let counted: Vec<String> =
        lines.iter().map(|(name, lines)| format!("{name}={lines}")).collect();
    println!("cargo::rustc-env=ADAPTER_LINES={}", counted.join(" "));
    Ok(())
}

/// Counts the lines of Rust and C below a path that are neither blank nor a comment nor a test. Tests are a
/// file or folder `tests`, or a module at the end of a file.
fn code_lines(path: &Path) -> io::Result<usize> {
    if path.file_stem().is_some_and(|stem| stem == "tests") {
        return Ok(0);
    }
    if path.is_dir() {
        return fs::read_dir(path)?.map(|entry| code_lines(&entry?.path())).sum();
    }
    let is_c = path.extension().is_some_and(|extension| extension == "c" || extension == "h");
    if !is_c && path.extension().is_none_or(|extension| extension != "rs") {
        return Ok(0);
    }
    let text = fs::read_to_string(path)?;
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let is_code = |line: &str| {
        let line = line.trim_start();
        let is_comment =
            line.starts_with("//") || is_c && (line.starts_with("/*") || line.starts_with('*'));
        !line.is_empty() && !is_comment
    };
    Ok(code.lines().filter(|line| is_code(line)).count())
}
