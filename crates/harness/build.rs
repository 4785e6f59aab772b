//! Records the commit that is built, for the manifest of results. Outside git there is none, which
//! is not an error. A commit in the environment variable `EMBERMARK_COMMIT` takes precedence. Links
//! debug builds so that they start fast.

#[path = "../../scripts/fixed_address.rs"]
mod fixed_address;

use std::path::Path;
use std::process::Command;

/// The crates whose code determines what is measured.
const MEASURING: [&str; 7] =
    ["contract", "data", "engines", "harness", "meter", "model", "workloads"];

fn main() {
    fixed_address::link();
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=EMBERMARK_COMMIT");
    for path in ["HEAD", "index"] {
        if let Some(file) =
            git(&["rev-parse", "--git-path", path]).filter(|f| Path::new(f).exists())
        {
            println!("cargo::rerun-if-changed={file}");
        }
    }
    for name in MEASURING {
        println!("cargo::rerun-if-changed=../{name}");
    }
    let given = std::env::var("EMBERMARK_COMMIT").ok().filter(|commit| !commit.is_empty());
    if let Some(commit) = given.or_else(commit) {
        println!("cargo::rustc-env=EMBERMARK_COMMIT={commit}");
    }
}

fn commit() -> Option<String> {
    let commit = git(&["rev-parse", "HEAD"])?;
    let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changes.is_empty() { commit } else { format!("{commit}-dirty") })
}

/// Returns the output of git. `None` if git is missing or fails, or if this is not one of its
/// trees.
fn git(arguments: &[&str]) -> Option<String> {
    // `git status` would rewrite the index, and the next build would then run this again.
    let output = Command::new("git").arg("--no-optional-locks").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
