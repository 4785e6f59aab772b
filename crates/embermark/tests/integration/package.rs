//! Installing a package by `scripts/install.sh`: the program, with its libraries next to it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{ProgramOutput, Sandbox, is_here, uncounted};

/// Gives a large file a second name, which costs less than a copy. The file may be replaced, but not
/// written to.
fn link(from: &Path, to: &Path) {
    // A copy where it is on another file system.
    fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(drop)).unwrap();
}

/// Makes a package like `scripts/dist.sh`, with this program and DuckDB's library.
fn package(sandbox: &Sandbox) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let of = |name: &str| sandbox.path("package").join(name);
    for folder in ["bin", "lib/embermark/duckdb", "share/man/man1", "share/doc/embermark"] {
        fs::create_dir_all(of(folder)).unwrap();
    }
    link(Path::new(env!("CARGO_BIN_EXE_embermark")), &of("bin/embermark"));
    fs::copy(root.join("scripts/install.sh"), of("install.sh")).unwrap();
    fs::write(of("share/man/man1/embermark-run.1.gz"), "").unwrap();
    fs::write(of("share/doc/embermark/README.md"), "").unwrap();
    for library in ["libduckdb.so", "duckdb-for-python.so"] {
        let from = root.join(".deps/duckdb").join(library);
        if from.exists() {
            link(&from, &of(&format!("lib/embermark/duckdb/{library}")));
        }
    }
}

fn install(sandbox: &Sandbox, words: &[&str]) -> ProgramOutput {
    let mut command = Command::new("sh");
    command.arg(sandbox.path("package/install.sh")).args(words).current_dir(sandbox.path(""));
    let output: Output = command.env("HOME", sandbox.path("home")).output().unwrap();
    ProgramOutput::from(output)
}

#[test]
fn what_is_installed_finds_its_libraries_beside_it_and_goes_without_a_trace() {
    let sandbox = Sandbox::new();
    package(&sandbox);
    fs::create_dir_all(sandbox.path("prefix/bin")).unwrap();
    fs::create_dir_all(sandbox.path("prefix/lib/embermark/of-an-older-version")).unwrap();
    fs::write(sandbox.path("prefix/bin/other"), "").unwrap();
    let said = install(&sandbox, &["--prefix", "prefix"]).expect_status(0).stdout;
    assert!(said.contains("prefix/bin/embermark"), "{said}");
    assert!(!sandbox.path("prefix/lib/embermark/of-an-older-version").exists());
    let program = sandbox.path("prefix/bin/embermark");
    if is_here("duckdb") {
        let ended =
            ProgramOutput::from(sandbox.command_for(&program, &["engines"]).output().unwrap());
        let prefix = sandbox.path("prefix/lib/embermark/duckdb").canonicalize().unwrap();
        let ended = ended.expect_status(0);
        assert!(ended.stdout.contains(prefix.to_str().unwrap()), "{}", ended.stdout);
    }
    let words = ["run", "contacts", "-e", "sqlite", "-s", "50", "--variant", "single"];
    let short = ["--runs", "1", "--trials", "1", "-o", "out"];
    let words = [&words[..], &short, uncounted()].concat();
    ProgramOutput::from(sandbox.command_for(&program, &words).output().unwrap()).expect_status(0);

    install(&sandbox, &["--prefix=prefix", "--uninstall"]).expect_status(0);
    let left: Vec<_> = files(&sandbox.path("prefix"));
    assert_eq!(left, [sandbox.path("prefix/bin/other")]);
}

#[test]
fn what_cannot_be_installed_says_why() {
    let sandbox = Sandbox::new();
    package(&sandbox);
    install(&sandbox, &["--prefix"]).expect_status(2).expect_stderr(&["--prefix takes a folder"]);
    install(&sandbox, &["--into", "x"])
        .expect_status(2)
        .expect_stderr(&["unknown argument --into", "usage"]);
    // Nothing of it is removed.
    let whole = files(&sandbox.path("package"));
    install(&sandbox, &["--prefix", "package"])
        .expect_status(1)
        .expect_stderr(&["package is this package itself"]);
    assert_eq!(files(&sandbox.path("package")), whole);
    sandbox.write("file", "");
    install(&sandbox, &["--prefix", "file/prefix"])
        .expect_status(1)
        .expect_stderr(&["file/prefix"]);
    let program = sandbox.path("package/bin/embermark");
    fs::remove_file(&program).unwrap();
    fs::write(&program, "\u{7f}ELF of another machine").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    install(&sandbox, &["--prefix", "prefix"])
        .expect_status(1)
        .expect_stderr(&["for another system"]);
    assert!(!sandbox.path("prefix").exists());
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let of = |path: std::path::PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    entries.flat_map(of).collect()
}
