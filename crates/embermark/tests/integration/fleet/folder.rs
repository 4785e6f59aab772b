//! A fleet's folder, with a package of the program that is tested.

use std::env::consts::ARCH;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::common::Sandbox;

/// Folder of the files that packages are made of.
const UNPACKED: &str = "unpacked";

/// Form of the program in a package.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// A copy, which is sent to each device and unpacked there.
    Copy,
    /// A link, because each device is this machine. In long campaigns a copy.
    Link,
}

/// Makes a package with only the tested program.
fn package(sandbox: &Sandbox, program: Program) {
    fs::create_dir_all(sandbox.path(UNPACKED).join("bin")).unwrap();
    add_program(sandbox, program);
    let to = sandbox.path("packages");
    fs::create_dir(&to).unwrap();
    pack(sandbox, &to, "0.0.0");
}

/// Puts the tested program into the files that packages are made of.
fn add_program(sandbox: &Sandbox, program: Program) {
    let to = sandbox.path(UNPACKED).join("bin/embermark");
    let tested = env!("CARGO_BIN_EXE_embermark");
    if to.exists() {
        fs::remove_file(&to).unwrap();
    }
    if program == Program::Copy || embermark_skips::is_long() {
        // Without debug information, because every device gets a copy.
        run(Command::new("strip").arg("-o").arg(&to).arg(tested));
    } else {
        symlink(tested, &to).unwrap();
    }
}

/// Packs the files as those of a version.
fn pack(sandbox: &Sandbox, to: &Path, version: &str) {
    let archive = to.join(format!("embermark-{version}-linux-{ARCH}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args(["--use-compress-program", "gzip -1", "-cf"]).arg(archive).arg("-C");
    run(tar.arg(sandbox.path("")).arg(UNPACKED));
}

fn run(command: &mut Command) {
    assert!(command.status().unwrap().success(), "{command:?}");
}

/// Adds a newer package to the fleet: the same program, and the file `newer`.
pub fn add_newer_package(sandbox: &Sandbox) {
    fs::write(sandbox.path(UNPACKED).join("newer"), "").unwrap();
    add_program(sandbox, Program::Link);
    pack(sandbox, &sandbox.path("fleet/packages"), "0.0.1");
}

/// Creates a fleet with these inventory lines and this plan.
pub fn fleet(sandbox: &Sandbox, plan: &str, lines: &[String], program: Program) {
    package(sandbox, program);
    sandbox.embermark(&["fleet", "init", "fleet", "--packages", "packages"]).expect_status(0);
    fs::write(sandbox.path("fleet/plan/plan.toml"), plan).unwrap();
    let inventory = sandbox.path("fleet/inventory.ini");
    let text = fs::read_to_string(&inventory).unwrap() + &lines.concat();
    fs::write(inventory, text).unwrap();
}
