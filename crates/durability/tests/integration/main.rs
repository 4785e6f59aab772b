//! Kills, power cuts and full disks: experiments that must find a violation and experiments that
//! must not find any, with real engines and toys.
//!
//! Without libtest, because a worker is this program again and answers on standard output, to which
//! libtest writes.

#![allow(clippy::unwrap_used, reason = "a test has nobody to hand an error to")]

mod common;
mod controls;
mod servers;
mod tree;

use std::env;
use std::process::ExitCode;

use embermark_durability::worker_main;
use libtest_mimic::Arguments;

fn main() -> ExitCode {
    match env::args().nth(1).as_deref() {
        Some(common::WORKER) => return worker_main(&controls::engines()),
        Some(tree::FEW) => tree::each_worker_has_its_own_processes(),
        Some(tree::ENDLESS) => tree::kills(u32::MAX, &|_| ()),
        _ => {
            let tests =
                [controls::tests(), controls::full::tests(), servers::tests(), tree::tests()];
            let tests = tests.into_iter().flatten().collect();
            return libtest_mimic::run(&Arguments::from_args(), tests).exit_code();
        }
    }
    ExitCode::SUCCESS
}
