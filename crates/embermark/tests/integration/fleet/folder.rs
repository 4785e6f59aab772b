//! A fleet's folder, with a package of the program that is tested.

use std::env::consts::ARCH;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::Sandbox;

/// Folder of the files that packages are made of.
const UNPACKED: &str = "unpacked";

/// Makes a package with only the tested program.
fn package(sandbox: &Sandbox) {
    let bin = sandbox.path(UNPACKED).join("bin");
    fs::create_dir_all(&bin).unwrap();
    let program = bin.join("embermark");
    // Without debug information, because every device gets a copy.
    run(Command::new("strip").arg("-o").arg(&program).arg(env!("CARGO_BIN_EXE_embermark")));
    let to = sandbox.path("packages");
    fs::create_dir(&to).unwrap();
    pack(sandbox, &to, "0.0.0");
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
    pack(sandbox, &sandbox.path("fleet/packages"), "0.0.1");
}

/// Creates a fleet with these inventory lines and this plan.
pub fn fleet(sandbox: &Sandbox, plan: &str, lines: &[String]) {
    package(sandbox);
    sandbox.embermark(&["fleet", "init", "fleet", "--packages", "packages"]).expect_status(0);
    fs::write(sandbox.path("fleet/plan/plan.toml"), plan).unwrap();
    let inventory = sandbox.path("fleet/inventory.ini");
    let text = fs::read_to_string(&inventory).unwrap() + &lines.concat();
    fs::write(inventory, text).unwrap();
}
