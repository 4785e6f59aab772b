//! Compiles the shim of Berkeley DB where its headers and library are; where they are not, the
//! engine is built as one that says so.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(berkeleydb_linked)");
    if env::var_os("CARGO_FEATURE_BERKELEYDB").is_none() {
        return Ok(());
    }
    let shim = "src/berkeleydb/shim.c";
    println!("cargo::rerun-if-changed={shim}");
    if !links(&PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()))? {
        // So that the next build after an installation looks again.
        println!("cargo::rerun-if-changed=/usr/include");
        return Ok(());
    }
    let compiled = cc::Build::new().file(shim).try_compile("embermark_berkeleydb");
    compiled.map_err(|error| io::Error::other(format!("compiling {shim}: {error}")))?;
    println!("cargo::rustc-link-lib=db");
    println!("cargo::rustc-cfg=berkeleydb_linked");
    Ok(())
}

/// Whether a program that uses Berkeley DB 5 or later compiles and links.
fn links(scratch: &Path) -> io::Result<bool> {
    let source = scratch.join("probe.c");
    fs::write(
        &source,
        "#include <db.h>\n\
         #if DB_VERSION_MAJOR < 5\n#error \"too old\"\n#endif\n\
         int main(void) { DB_ENV *env; return db_env_create(&env, 0); }\n",
    )?;
    let Ok(compiler) = cc::Build::new().try_get_compiler() else { return Ok(false) };
    let mut probe = compiler.to_command();
    probe.arg(&source).arg("-ldb").arg("-o").arg(scratch.join("probe"));
    Ok(probe.output().is_ok_and(|output| output.status.success()))
}
