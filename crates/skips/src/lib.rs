//! How a test says that it cannot run here: it ends, passes, and is listed at the end of `make
//! test`, where with `NO_SKIPS=1`, as in CI, it is a failure.
//!
//! A test is skipped when a program, a library, a device or a right is missing that it could have.
//! What it can get itself, it gets. No skip is what a test can assert: that an engine without a
//! tier or a feature refuses it with the reason. Nor are parts that were left out of a build by its
//! features, and tests that are `#[ignore]`d because others run them or they take long.
//!
//! Which things nobody is asked to have, so that their lack is no failure, `scripts/test.sh` says.

mod sample;

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;
use std::{env, thread};

use embermark_contract::{Availability, Engine};
pub use sample::{LONG, SEED, chosen, sampled};

/// Names the file to which [`skipped`] adds a line: the test, what it lacks and why, with tabs
/// between. Set by `scripts/test.sh`.
pub const FILE: &str = "EMBERMARK_SKIPPED";

/// Says that the test of this thread cannot run, or not all of it: `what` it lacks, in a word or an
/// engine's id, and why it is not there.
///
/// # Panics
/// When the file cannot be written: the skip would go unseen.
pub fn skipped(what: &str, why: impl Display) {
    let why = why.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    println!("skipped: {what}: {why}");
    let Some(file) = env::var_os(FILE) else { return };
    let line = format!("{}\t{what}\t{why}\n", test());
    // One write at the end of the file, whoever else adds to it meanwhile.
    let opened = OpenOptions::new().create(true).append(true).open(&file);
    if let Err(error) = opened.and_then(|mut file| file.write_all(line.as_bytes())) {
        panic!("could not add to {}, which {FILE} names: {error}: {line}", file.display());
    }
}

/// Whether an engine can run here; where it cannot, the test of this thread is [`skipped`], or the
/// part of it for this engine.
pub fn is_here(engine: &dyn Engine) -> bool {
    match engine.availability() {
        Availability::Ready { .. } => true,
        Availability::Missing { why, remedy } => {
            let id = engine.info().id;
            match engine.is_given() {
                true => skipped("given server", format!("{id}: {why}; {remedy}")),
                false => skipped(id, format!("{why}; {remedy}")),
            }
            false
        }
    }
}

/// The package of the test, as cargo names it to what it runs, and the test: the thread's name, as
/// libtest starts it, or in a process of its own what cargo-nextest calls it.
fn test() -> String {
    let package = env::var("CARGO_PKG_NAME").unwrap_or_default();
    let own = || env::var("NEXTEST_TEST_NAME").unwrap_or_default();
    match thread::current().name() {
        Some(test) if test != "main" => format!("{package}::{test}"),
        _ => format!("{package}::{}", own()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_called_by_its_package_and_its_name() {
        let named = thread::Builder::new().name("tests::it".to_owned()).spawn(test).unwrap();
        assert_eq!(named.join().unwrap(), "embermark-skips::tests::it");
    }
}
