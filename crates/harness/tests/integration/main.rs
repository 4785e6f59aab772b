//! Whole runs with a toy workload and engines that misbehave in known ways. This program is also
//! the worker of those runs, and the program of known use that the probes are tested on.

// The lint recognises tests by their attribute, which a custom runner does without.
#![allow(clippy::unwrap_used)]

mod cells;
mod energy;
mod journal;
mod libraries;
mod probes;
mod race;
mod registry;
mod resumption;
mod scale_budget;
mod sharing;
mod toy;
mod trials;
mod twins;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["worker"] => return embermark_harness::serve(&toy::CATALOG),
        ["companion"] => return embermark_harness::companion_main(),
        ["worker-of-twins"] => return embermark_harness::serve(&twins::CATALOG),
        ["worker-of-sharing"] => return embermark_harness::serve(&sharing::CATALOG),
        ["worker-of-the-build"] => return embermark_harness::worker_main(),
        ["use", what] => {
            probes::use_up(what);
            return ExitCode::SUCCESS;
        }
        ["run", engines, out] => return trials::run_into(engines, out),
        _ => {}
    }
    let mut arguments = Arguments::from_args();
    // A process does one run at a time, as `run` requires, and probes need a quiet machine.
    arguments.test_threads = Some(1);
    let tests = [
        cells::TESTS,
        energy::TESTS,
        journal::TESTS,
        trials::TESTS,
        resumption::TESTS,
        sharing::TESTS,
        libraries::TESTS,
        race::TESTS,
        scale_budget::TESTS,
        registry::TESTS,
        probes::TESTS,
    ]
    .concat();
    let slow = twins::SLOW.iter().map(|(name, test)| (*name, *test, true));
    let tests = tests.into_iter().map(|(name, test)| (name, test, false)).chain(slow);
    let trial = |(name, test, slow): (&'static str, fn(), bool)| {
        Trial::test(name.replace('_', " "), move || -> Result<(), Failed> {
            test();
            Ok(())
        })
        .with_ignored_flag(slow)
    };
    libtest_mimic::run(&arguments, tests.map(trial).collect()).exit_code()
}

/// Declares functions as tests under their own names.
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        /// The tests of this module.
        pub const TESTS: &[(&str, fn())] = &[$((stringify!($name), $name)),*];
    };
}
use tests;
