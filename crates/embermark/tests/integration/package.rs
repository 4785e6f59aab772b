//! What a package installs: the program with libraries beside it, by `scripts/install.sh`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{Ended, Place, is_here};

/// A package as `scripts/dist.sh` lays it out, with this program and DuckDB's library.
fn package(place: &Place) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let of = |name: &str| place.path("package").join(name);
    for folder in ["bin", "lib/embermark/duckdb", "share/man/man1", "share/doc/embermark"] {
        fs::create_dir_all(of(folder)).unwrap();
    }
    fs::copy(env!("CARGO_BIN_EXE_embermark"), of("bin/embermark")).unwrap();
    fs::copy(root.join("scripts/install.sh"), of("install.sh")).unwrap();
    fs::write(of("share/man/man1/embermark-run.1.gz"), "").unwrap();
    fs::write(of("share/doc/embermark/README.md"), "").unwrap();
    for library in ["libduckdb.so", "duckdb-for-python.so"] {
        let from = root.join(".deps/duckdb").join(library);
        if from.exists() {
            fs::copy(from, of(&format!("lib/embermark/duckdb/{library}"))).unwrap();
        }
    }
}

fn install(place: &Place, words: &[&str]) -> Ended {
    let mut command = Command::new("sh");
    command.arg(place.path("package/install.sh")).args(words).current_dir(place.path(""));
    let output: Output = command.env("HOME", place.path("home")).output().unwrap();
    Ended::from(output)
}

#[test]
fn what_is_installed_finds_its_libraries_beside_it_and_goes_without_a_trace() {
    let place = Place::new();
    package(&place);
    fs::create_dir_all(place.path("prefix/bin")).unwrap();
    fs::create_dir_all(place.path("prefix/lib/embermark/of-an-older-version")).unwrap();
    fs::write(place.path("prefix/bin/other"), "").unwrap();
    let said = install(&place, &["--prefix", "prefix"]).with(0).stdout;
    assert!(said.contains("prefix/bin/embermark"), "{said}");
    assert!(!place.path("prefix/lib/embermark/of-an-older-version").exists());
    let program = place.path("prefix/bin/embermark");
    if is_here("duckdb") {
        let ended = Ended::from(place.command_of(&program, &["engines"]).output().unwrap());
        let prefix = place.path("prefix/lib/embermark/duckdb").canonicalize().unwrap();
        let ended = ended.with(0);
        assert!(ended.stdout.contains(prefix.to_str().unwrap()), "{}", ended.stdout);
    }
    let words = ["run", "contacts", "-e", "sqlite", "-s", "50", "--trials", "1", "-o", "out"];
    Ended::from(place.command_of(&program, &words).output().unwrap()).with(0);

    install(&place, &["--prefix=prefix", "--uninstall"]).with(0);
    let left: Vec<_> = files(&place.path("prefix"));
    assert_eq!(left, [place.path("prefix/bin/other")]);
}

#[test]
fn what_cannot_be_installed_says_why() {
    let place = Place::new();
    package(&place);
    install(&place, &["--prefix"]).with(2).saying(&["--prefix takes a folder"]);
    install(&place, &["--into", "x"]).with(2).saying(&["unknown argument --into", "usage"]);
    place.write("file", "");
    install(&place, &["--prefix", "file/prefix"]).with(1).saying(&["file/prefix"]);
    fs::write(place.path("package/bin/embermark"), "\u{7f}ELF of another machine").unwrap();
    install(&place, &["--prefix", "prefix"]).with(1).saying(&["for another system"]);
    assert!(!place.path("prefix").exists());
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let of = |path: std::path::PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    entries.flat_map(of).collect()
}
