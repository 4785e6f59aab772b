//! What `scripts/deps.sh` fetches and uses: with programs of ours in place of those that fetch,
//! unpack and install.

#![allow(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

fn program(folder: &Path, name: &str, does: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{does}\n")).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
}

/// What is fetched is another file than the one whose digest the script holds.
#[test]
fn a_server_that_is_not_the_one_pinned_is_told_and_not_unpacked() {
    let dir = tempfile::tempdir().unwrap();
    let (scripts, programs) = (dir.path().join("scripts"), dir.path().join("bin"));
    for folder in [&scripts, &programs] {
        fs::create_dir(folder).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/deps.sh");
    fs::copy(script, scripts.join("deps.sh")).unwrap();
    for name in ["cat", "cut", "dirname", "id", "mkdir", "mktemp", "rm", "sh", "sha256sum", "tail"]
    {
        program(&programs, name, &format!("PATH=/usr/bin:/bin exec {name} \"$@\""));
    }
    program(&programs, "uname", "echo Linux x86_64");
    program(&programs, "dpkg", "echo amd64");
    // Every package is there, and a mongod.
    program(&programs, "dpkg-query", "printf installed");
    program(&programs, "mongod", "");
    program(&programs, "curl", "while [ \"$1\" != --output ]; do shift; done; echo other >\"$2\"");
    for name in ["dpkg-deb", "npm"] {
        let trace = dir.path().join(name);
        program(&programs, name, &format!("echo used >{}", trace.display()));
    }
    let mut command = Command::new(scripts.join("deps.sh"));
    command.arg("servers").env("PATH", &programs).env("ACCEPT_LICENSE", "harperdb");
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    for name in ["InfluxDB", "HarperDB"] {
        assert!(said.contains(&format!("deps: {name} is not used: http")), "{said}");
    }
    assert_eq!(said.matches(" has the SHA-256 digest ").count(), 2, "{said}");
    assert!(!dir.path().join("dpkg-deb").exists() && !dir.path().join("npm").exists(), "{said}");
}
