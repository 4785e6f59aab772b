//! Installing a package by `scripts/install.sh`: the program, with its libraries next to it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::common::{Mounted, ProgramOutput, Sandbox, is_here, uncounted};

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

/// Makes a package in a folder whose program says its version, with a library of that many bytes.
fn small_package(sandbox: &Sandbox, folder: &str, version: &str, bytes: usize) {
    let of = |name: &str| sandbox.path(folder).join(name);
    for folder in ["bin", "lib/embermark/engine", "share/man/man1"] {
        fs::create_dir_all(of(folder)).unwrap();
    }
    fs::write(of("bin/embermark"), format!("#!/bin/sh\necho {version}\n")).unwrap();
    fs::set_permissions(of("bin/embermark"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(of("lib/embermark/engine/lib.so"), vec![1; bytes]).unwrap();
    fs::write(of(&format!("share/man/man1/embermark-{version}.1.gz")), "").unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::copy(root.join("scripts/install.sh"), of("install.sh")).unwrap();
}

fn install(sandbox: &Sandbox, words: &[&str]) -> ProgramOutput {
    install_from(sandbox, "package", words)
}

fn install_from(sandbox: &Sandbox, package: &str, words: &[&str]) -> ProgramOutput {
    let mut command = Command::new("sh");
    command.arg(sandbox.path(package).join("install.sh")).args(words);
    command.current_dir(sandbox.path("")).env("HOME", sandbox.path("home"));
    ProgramOutput::from(command.output().unwrap())
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

/// What an upgrade leaves if the new version does not fit: the older one, whole, and nothing else.
#[test]
fn an_upgrade_that_does_not_fit_leaves_the_older_version_and_one_that_fits_nothing_of_it() {
    let sandbox = Sandbox::new();
    small_package(&sandbox, "old", "older", 300_000);
    small_package(&sandbox, "large", "larger", 900_000);
    small_package(&sandbox, "new", "newer", 100_000);
    let Some(_disk) = Mounted::new(sandbox.path("disk"), "size=1m") else { return };
    install_from(&sandbox, "old", &["--prefix", "disk/prefix"]).expect_status(0);
    let before = files(&sandbox.path("disk"));
    install_from(&sandbox, "large", &["--prefix", "disk/prefix"])
        .expect_status(1)
        .expect_stderr(&["No space left", "what was installed is unchanged"]);
    assert_eq!(files(&sandbox.path("disk")), before);
    let says = || Command::new(sandbox.path("disk/prefix/bin/embermark")).output().unwrap().stdout;
    assert_eq!(says(), b"older\n");

    install_from(&sandbox, "new", &["--prefix", "disk/prefix"]).expect_status(0);
    assert_eq!(says(), b"newer\n");
    let left = files(&sandbox.path("disk"));
    assert!(!left.iter().any(|path| path.ends_with("embermark-older.1.gz")), "{left:?}");
    assert_eq!(left.len(), before.len());
}

#[test]
fn a_package_that_may_not_be_executed_is_not_taken_for_one_of_another_system() {
    let sandbox = Sandbox::new();
    small_package(&sandbox, "package", "any", 1);
    // As on a file system that is mounted noexec.
    let rights = fs::Permissions::from_mode(0o644);
    fs::set_permissions(sandbox.path("package/bin/embermark"), rights).unwrap();
    install(&sandbox, &["--prefix", "prefix"])
        .expect_status(1)
        .expect_stderr(&["mounted noexec", "unpack the package elsewhere"]);
    assert!(!sandbox.path("prefix").exists());
}

/// As on a device whose service has neither HOME nor a user's PATH.
#[test]
fn a_prefix_needs_no_home_and_its_path_is_told_whole_and_quoted() {
    let sandbox = Sandbox::new();
    small_package(&sandbox, "package", "any", 1);
    let run = |script: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(sandbox.path(""));
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        ProgramOutput::from(command.output().unwrap())
    };
    let said = run("sh package/install.sh --prefix \"it's here\"").expect_status(0).stdout;
    let hint = said.split_once("PATH:  ").unwrap().1.trim();
    let found = run(&format!("{hint}; cd / && command -v embermark")).expect_status(0).stdout;
    let program = sandbox.path("it's here/bin/embermark").canonicalize().unwrap();
    assert_eq!(Path::new(found.trim()), program);
    // An ordinary user's, whose default is below HOME.
    run("id() { echo 1000; }; . package/install.sh")
        .expect_status(2)
        .expect_stderr(&["name a folder with --prefix"]);
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let of = |path: std::path::PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    entries.flat_map(of).collect()
}
