//! Tests what `scripts/deps.sh` fetches, unpacks and uses, and the engines that `scripts/check.sh`
//! tests. Our own programs replace those that fetch, unpack, install and compile.

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use embermark_skips::skipped;

/// Lets one test run at a time: a program that is being written cannot be run, and a process that
/// the other test begins meanwhile has the file open until it runs another program.
static ALONE: Mutex<()> = Mutex::new(());

fn program(folder: &Path, name: &str, does: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{does}\n")).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
}

/// Makes a folder with the script and the programs that it may find. Those that fetch, unpack and
/// install are ours. Every package is installed, and the page of the report exists.
fn checkout(dir: &Path) {
    let (scripts, programs) = (dir.join("scripts"), dir.join("bin"));
    for folder in [&scripts, &programs, &dir.join("tmp")] {
        fs::create_dir(folder).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/deps.sh");
    fs::copy(script, scripts.join("deps.sh")).unwrap();
    for name in [
        "cat",
        "cut",
        "dirname",
        "flock",
        "id",
        "mkdir",
        "mktemp",
        "rm",
        "sh",
        "sha256sum",
        "sleep",
        "tail",
    ] {
        program(&programs, name, &format!("PATH=/usr/bin:/bin exec {name} \"$@\""));
    }
    program(&programs, "uname", "echo Linux x86_64");
    program(&programs, "dpkg", "echo amd64");
    program(&programs, "dpkg-query", "printf installed");
    let page = dir.join("crates/report/page/dist");
    fs::create_dir_all(&page).unwrap();
    fs::write(page.join("page.html"), "").unwrap();
    for name in ["find", "cp", "mv", "chmod"] {
        program(&programs, name, "");
    }
    for name in ["cc", "dpkg-deb", "npm", "perl", "tar"] {
        let trace = dir.join(name);
        program(&programs, name, &format!("echo used >{}", trace.display()));
    }
}

/// What `curl` does: it writes a file that is not the one whose digest is in the script.
const ANOTHER: &str = "while [ \"$1\" != --output ]; do shift; done; echo other >\"$2\"";

fn fetches(dir: &Path, does: &str) {
    program(&dir.join("bin"), "curl", does);
}

/// Returns the command that gets a part.
fn deps(dir: &Path, part: &str) -> Command {
    let mut command = Command::new(dir.join("scripts/deps.sh"));
    command.arg(part).env("PATH", dir.join("bin")).env("TMPDIR", dir.join("tmp"));
    command
}

#[test]
fn a_file_with_another_digest_is_reported_and_not_unpacked() {
    let _alone = ALONE.lock();
    let dir = tempfile::tempdir().unwrap();
    checkout(dir.path());
    fetches(dir.path(), ANOTHER);
    let mut said = String::new();
    for part in ["embedded", "servers"] {
        let output = deps(dir.path(), part).env("ACCEPT_LICENSE", "harperdb").output().unwrap();
        said += &String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
    }
    let pinned = [
        "RocksDB 11.8.1",
        "DuckDB 2.0.1",
        "WiredTiger 11.3.1",
        "Firebird 5.0.4",
        "PostgreSQL 18.6",
        "MariaDB 11.4.5",
        "InfluxDB",
        "MongoDB 6.0.27",
        "Valkey 9.1.2",
        "HarperDB",
    ];
    for name in pinned {
        assert!(said.contains(&format!("deps: {name} is not used: http")), "{said}");
    }
    assert_eq!(said.matches(" has the SHA-256 digest ").count(), pinned.len(), "{said}");
    let used = |name: &str| dir.path().join(name).exists();
    assert!(!used("cc") && !used("dpkg-deb") && !used("npm") && !used("perl"), "{said}");
}

#[test]
fn a_run_that_is_ended_while_it_fetches_leaves_nothing() {
    let _alone = ALONE.lock();
    let dir = tempfile::tempdir().unwrap();
    checkout(dir.path());
    fetches(dir.path(), "kill -TERM \"$PPID\"");
    let output = deps(dir.path(), "embedded").output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{output:?}");
    assert_eq!(fs::read_dir(dir.path().join("tmp")).unwrap().count(), 0);
}

#[test]
fn of_two_runs_one_waits_for_the_other() {
    if Command::new("flock").arg("--version").output().is_err() {
        return skipped("flock", "util-linux has it");
    }
    let _alone = ALONE.lock();
    let dir = tempfile::tempdir().unwrap();
    checkout(dir.path());
    let trace = dir.path().join("trace");
    fetches(dir.path(), &format!("echo \"$PPID\" >>'{}'; sleep 0.2; {ANOTHER}", trace.display()));
    let start = || deps(dir.path(), "embedded").stderr(Stdio::null()).spawn().unwrap();
    for mut run in [start(), start()] {
        assert!(run.wait().unwrap().success());
    }
    let text = fs::read_to_string(trace).unwrap();
    let mut fetching: Vec<&str> = text.lines().collect();
    let files = fetching.len();
    fetching.dedup();
    assert!(fetching.len() == 2 && files > 2, "{text}");
}

/// Returns the features with which `scripts/check.sh` tests engines after a change of this file.
fn tested_after(changed: &str) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in ["scripts/check.sh", "crates/engines/Cargo.toml"] {
        let copy = dir.path().join(file);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(root.join(file), copy).unwrap();
    }
    let programs = dir.path().join("bin");
    fs::create_dir(&programs).unwrap();
    program(&programs, "cargo", "");
    program(&programs, "git", &format!("[ \"$1\" != diff ] || echo {changed}"));
    let path = format!("{}:{}", programs.display(), env::var("PATH").unwrap());
    let mut check = Command::new(dir.path().join("scripts/check.sh"));
    let output = check.env("PATH", path).env("BASE", "HEAD").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    said.lines().find_map(|line| Some(line.split_once("--features ")?.1.to_owned()))
}

#[test]
fn a_change_is_tested_with_engines_that_its_code_is_part_of() {
    let _alone = ALONE.lock();
    for (changed, engines) in [
        ("crates/engines/src/redb.rs", Some("redb")),
        ("crates/engines/src/lsm.rs", Some("leveldb")),
        ("crates/engines/src/server/home.rs", Some("valkey")),
        ("crates/engines/src/engine_library/scope.rs", Some("engine-library,lmdb,redb,sqlite")),
        ("crates/engines/src/registry.rs", Some("lmdb,redb,sqlite")),
        ("examples/engine-c/logmap.c", Some("engine-library,lmdb,sqlite")),
        ("crates/hybrid/src/lib.rs", Some("hybrid")),
        ("docs/method.md", None),
    ] {
        assert_eq!(tested_after(changed).as_deref(), engines, "{changed}");
    }
}

/// Makes a source tree with the layout of WiredTiger's, of a few files.
#[test]
fn wiredtiger_is_compiled_of_the_sources_for_this_system_and_a_failure_is_one() {
    let _alone = ALONE.lock();
    let dir = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = dir.path().join("sources").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("LICENSE", "a licence");
    put(
        "RELEASE_INFO",
        "WIREDTIGER_VERSION_MAJOR=1\nWIREDTIGER_VERSION_MINOR=2\nWIREDTIGER_VERSION_PATCH=3\n",
    );
    put("cmake/configs/version.cmake", "set(WT_VERSION_STRING \"Of 1.2.3: (a day)\")\n");
    let header = "#define MAJOR @VERSION_MAJOR@\n#define SAYS @VERSION_STRING@\n\
                  @wiredtiger_includes_decl@\n@off_t_decl@\n@uintmax_t_decl@\n@uintptr_t_decl@\n";
    put("src/include/wiredtiger.in", header);
    put("src/include/other.h", "extern wt_off_t other;\n");
    put("dist/filelist", "# A list.\n\nsrc/a.c\nsrc/b/b.c  POSIX_HOST\nsrc/c.c\tWINDOWS_HOST\n");
    let includes =
        "#include \"wiredtiger_config.h\"\n#include \"wiredtiger.h\"\n#include \"other.h\"\n";
    put("src/include/wt_internal.h", includes);
    let includes = "#include \"wt_internal.h\"\n";
    put("src/a.c", &format!("{includes}const char *says(void) {{ return SAYS VERSION; }}\n"));
    put("src/b/b.c", &format!("{includes}wt_off_t other = MAJOR + HAVE_FDATASYNC;\n"));
    put("src/c.c", "#error \"for another system\"\n");
    let compile = |part: &str, to: &str| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/wiredtiger.sh");
        let folders = ["sources", to].map(|name| dir.path().join(name));
        let output = Command::new("sh").arg(script).arg(part).args(folders).output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    let new = |name: &str| dir.path().join("new").join(name);
    assert_eq!(compile("header", "new"), (true, String::new()));
    assert!(new("wiredtiger.h").exists() && !new("libwiredtiger.so").exists());
    assert_eq!(compile("library", "new"), (true, String::new()));
    assert_eq!(fs::read_to_string(new("LICENSE")).unwrap(), "a licence");
    let header = fs::read_to_string(new("wiredtiger.h")).unwrap();
    assert!(header.contains("SAYS \"Of 1.2.3: (a day)\"\n#include <sys/types.h>"), "{header}");
    assert!(!header.contains('@') && !new("objects").exists(), "{header}");
    let library = fs::read(new("libwiredtiger.so")).unwrap();
    assert!(library.windows(22).any(|bytes| bytes == b"Of 1.2.3: (a day)1.2.3"));
    put("src/b/b.c", "not_c\n");
    assert!(compile("header", "again").0);
    let (done, said) = compile("library", "again");
    assert!(!done && said.contains("b.c"), "{said}");
    assert!(!dir.path().join("again/libwiredtiger.so").exists());
}

/// Makes a zip archive of these files. The compressed ones are a block that gzip accepts as it is.
fn archive(files: &[(&str, &str, bool)]) -> Vec<u8> {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    for (name, text, compressed) in files {
        let (at, length) = (bytes.len() as u32, text.len() as u16);
        let head = [&[1], &length.to_le_bytes()[..], &(!length).to_le_bytes()].concat();
        let content =
            if *compressed { [&head, text.as_bytes()].concat() } else { text.as_bytes().to_vec() };
        // Version, flags, method, time and day, checksum, lengths, length of the name, nothing
        // more.
        let mut facts = vec![20, 0, 0, 0, if *compressed { 8 } else { 0 }, 0, 0, 0, 0, 0];
        facts.extend(checksum(text.as_bytes()).to_le_bytes());
        facts.extend((content.len() as u32).to_le_bytes());
        facts.extend(u32::from(length).to_le_bytes());
        facts.extend((name.len() as u32).to_le_bytes());
        bytes.extend([b"PK\x03\x04", &facts[..], name.as_bytes(), &content].concat());
        list.extend(
            [b"PK\x01\x02", &[20, 0][..], &facts, &[0; 10], &at.to_le_bytes(), name.as_bytes()]
                .concat(),
        );
    }
    let (count, size, at) = (files.len() as u16, list.len() as u32, bytes.len() as u32);
    let counts = [&[0; 4], &count.to_le_bytes()[..], &count.to_le_bytes()].concat();
    [
        bytes,
        list,
        b"PK\x05\x06".to_vec(),
        counts,
        size.to_le_bytes().to_vec(),
        at.to_le_bytes().to_vec(),
        vec![0; 2],
    ]
    .concat()
}

/// Returns the checksum of zip archives (CRC-32).
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg())
        })
    })
}

#[test]
fn files_are_extracted_from_an_archive_by_the_prefix_of_their_names() {
    let _alone = ALONE.lock();
    let dir = tempfile::tempdir().unwrap();
    let files = [
        ("a/", "", false),
        ("a/b/c", "stored", false),
        ("a/d", "packed", true),
        ("e", "else", true),
    ];
    let (zip, whole) = (dir.path().join("zip"), archive(&files));
    fs::write(&zip, &whole).unwrap();
    let unzip = |prefix: &str, to: &str| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/unzip.pl");
        let mut perl = Command::new("perl");
        let output =
            perl.arg(script).arg(&zip).arg(prefix).arg(dir.path().join(to)).output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    let read = |path: &str| fs::read_to_string(dir.path().join(path)).unwrap();
    assert_eq!(unzip("a/", "x"), (true, String::new()));
    assert_eq!((read("x/b/c"), read("x/d")), ("stored".to_owned(), "packed".to_owned()));
    assert_eq!(fs::read_dir(dir.path().join("x")).unwrap().count(), 2);
    assert_eq!(unzip("e", "y"), (true, String::new()));
    assert_eq!(read("y/e"), "else");
    let (done, said) = unzip("f", "z");
    assert!(!done && said.contains("has nothing below 'f'"), "{said}");
    // One byte of the compressed data is changed.
    let at = whole.windows(6).position(|bytes| bytes == b"packed").unwrap();
    let mut damaged = whole.clone();
    damaged[at] = b'P';
    fs::write(&zip, damaged).unwrap();
    let (done, said) = unzip("a/", "z");
    assert!(!done && said.contains("could not be unpacked"), "{said}");
    fs::write(&zip, &whole[..whole.len() - 9]).unwrap();
    let (done, said) = unzip("a/", "z");
    assert!(!done && said.contains("is no zip archive"), "{said}");
}
