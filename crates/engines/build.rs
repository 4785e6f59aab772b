//! Compiles the shims of the C libraries that are linked: the system's where it has one, else one that
//! `make deps` has unpacked; where there is neither, the engine is built as one that says so.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// A C library that an engine reaches by a shim of its own, `src/NAME/shim.c`.
struct Linked {
    /// The engine's module and feature.
    name: &'static str,
    /// What the linker calls the library, and its unpacked copy.
    library: &'static str,
    /// A program that compiles and links where the library can be used.
    probe: &'static str,
}

const LINKED: &[Linked] = &[
    Linked {
        name: "berkeleydb",
        library: "db",
        probe: "#include <db.h>\n\
                #if DB_VERSION_MAJOR < 5\n#error \"too old\"\n#endif\n\
                int main(void) { DB_ENV *env; return db_env_create(&env, 0); }\n",
    },
    Linked {
        name: "wiredtiger",
        library: "wiredtiger",
        probe: "#include <wiredtiger.h>\n\
                #if WIREDTIGER_VERSION_MAJOR < 3\n#error \"too old\"\n#endif\n\
                int main(void) { return wiredtiger_version(0, 0, 0) == 0; }\n",
    },
];

fn main() -> io::Result<()> {
    // By its whole path: a target folder that outlives a checkout is told of the new one's place.
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed={}", package.join("build.rs").display());
    println!("cargo::rustc-env=EMBERMARK_DEPENDENCIES={}", package.join("../../.deps").display());
    redb_version()?;
    let scratch = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let unpacked = package.join("../../.deps");
    LINKED.iter().try_for_each(|linked| linked.build(&scratch, &unpacked.join(linked.name)))
}

impl Linked {
    /// `unpacked` is the folder of its unpacked copy, whether it is there or not: headers, and a library
    /// to be linked statically, so that the program does not depend on where it lies.
    fn build(&self, scratch: &Path, unpacked: &Path) -> io::Result<()> {
        let Self { name, library, .. } = self;
        println!("cargo::rustc-check-cfg=cfg({name}_linked)");
        if env::var_os(format!("CARGO_FEATURE_{}", name.to_uppercase())).is_none() {
            return Ok(());
        }
        let shim = format!("src/{name}/shim.c");
        println!("cargo::rerun-if-changed={shim}");
        let mut compiler = cc::Build::new();
        if self.links(&compiler, scratch, None)? {
            println!("cargo::rustc-link-lib={library}");
        } else if self.links(compiler.include(unpacked), scratch, Some(unpacked))? {
            println!("cargo::rustc-link-search=native={}", unpacked.display());
            println!("cargo::rustc-link-lib=static={library}");
        } else {
            // So that the next build after an installation looks again.
            println!("cargo::rerun-if-changed=/usr/include");
            // A path that is missing would have this run every time.
            if let Some(all) = unpacked.parent().filter(|all| all.exists()) {
                println!("cargo::rerun-if-changed={}", all.display());
            }
            return Ok(());
        }
        let compiled = compiler.file(&shim).try_compile(&format!("embermark_{name}"));
        compiled.map_err(|error| io::Error::other(format!("compiling {shim}: {error}")))?;
        println!("cargo::rustc-cfg={name}_linked");
        Ok(())
    }

    /// Whether the probe compiles and links, with the static library of a folder or the system's.
    fn links(&self, cc: &cc::Build, scratch: &Path, folder: Option<&Path>) -> io::Result<bool> {
        let source = scratch.join(format!("probe-{}.c", self.name));
        fs::write(&source, self.probe)?;
        let Ok(compiler) = cc.try_get_compiler() else { return Ok(false) };
        let mut probe = compiler.to_command();
        probe.arg(&source);
        match folder {
            Some(folder) => probe.arg(folder.join(format!("lib{}.a", self.library))),
            None => probe.arg(format!("-l{}", self.library)),
        };
        probe.arg("-o").arg(scratch.join("probe"));
        Ok(probe.output().is_ok_and(|output| output.status.success()))
    }
}

/// Hands the version of redb in the lock file on: the crate does not tell its own.
fn redb_version() -> io::Result<()> {
    const LOCK: &str = "../../Cargo.lock";
    println!("cargo::rerun-if-changed={LOCK}");
    let lock = fs::read_to_string(LOCK)?;
    let version = lock
        .split_once("name = \"redb\"\nversion = \"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("unknown", |(version, _)| version);
    println!("cargo::rustc-env=REDB_VERSION={version}");
    Ok(())
}
