//! A fleet's folder, with a package of the program that is tested.

use std::env::consts::ARCH;
use std::fs;
use std::process::Command;

use crate::common::Place;

/// A package with the program that is tested and nothing else.
fn package(place: &Place) {
    let name = format!("embermark-0.0.0-linux-{ARCH}");
    let bin = place.path(&name).join("bin");
    fs::create_dir_all(&bin).unwrap();
    let run = |command: &mut Command| assert!(command.status().unwrap().success(), "{command:?}");
    let program = bin.join("embermark");
    // Without what is for debuggers: every device gets a copy.
    run(Command::new("strip").arg("-o").arg(&program).arg(env!("CARGO_BIN_EXE_embermark")));
    let to = place.path("packages");
    fs::create_dir(&to).unwrap();
    let archive = to.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args(["--use-compress-program", "gzip -1", "-cf"]).arg(archive).arg("-C");
    run(tar.arg(place.path("")).arg(&name));
}

/// A fleet of these lines, with this plan.
pub fn fleet(place: &Place, plan: &str, lines: &[String]) {
    package(place);
    place.embermark(&["fleet", "init", "fleet", "--packages", "packages"]).with(0);
    fs::write(place.path("fleet/plan/plan.toml"), plan).unwrap();
    let inventory = place.path("fleet/inventory.ini");
    let text = fs::read_to_string(&inventory).unwrap() + &lines.concat();
    fs::write(inventory, text).unwrap();
}
