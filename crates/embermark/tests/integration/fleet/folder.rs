//! A fleet's folder, with a package of the program that is tested.

use std::env::consts::ARCH;
use std::fs;
use std::process::Command;

use crate::common::Sandbox;

/// Makes a package with only the tested program.
fn package(sandbox: &Sandbox) {
    let name = format!("embermark-0.0.0-linux-{ARCH}");
    let bin = sandbox.path(&name).join("bin");
    fs::create_dir_all(&bin).unwrap();
    let run = |command: &mut Command| assert!(command.status().unwrap().success(), "{command:?}");
    let program = bin.join("embermark");
    // Without debug information, because every device gets a copy.
    run(Command::new("strip").arg("-o").arg(&program).arg(env!("CARGO_BIN_EXE_embermark")));
    let to = sandbox.path("packages");
    fs::create_dir(&to).unwrap();
    let archive = to.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args(["--use-compress-program", "gzip -1", "-cf"]).arg(archive).arg("-C");
    run(tar.arg(sandbox.path("")).arg(&name));
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
