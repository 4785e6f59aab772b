//! Lets a test report that it cannot run on this machine. The test ends and passes, and `make test`
//! lists it at the end. With `NO_SKIPS=1`, as in CI, it fails.
//!
//! A test is skipped if a program, a library, a device or a permission is missing that the machine
//! could have and the test cannot get itself. A tier or feature that an engine lacks is not a skip:
//! the test asserts that the engine refuses it with the reason. Parts that a build's features leave
//! out are not skips either, nor are tests that are `#[ignore]`d because other tests run them or
//! they take long.
//!
//! `scripts/test.sh` lists what may be missing without a failure.

mod sample;

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;
use std::{env, thread};

use embermark_contract::{Availability, Engine};
pub use sample::{LONG, SEED, cases, chosen, is_long, sampled};

/// Names the file to which [`skipped`] adds a line: the test, what is missing and why, separated by
/// tabs. Set by `scripts/test.sh`.
pub const FILE: &str = "EMBERMARK_SKIPPED";

/// Reports that the test of this thread cannot run, or only in part. `what` names the missing thing
/// in a word, or is an engine's id. `why` is the reason.
///
/// # Panics
/// If the file cannot be written, because the skip would be overlooked.
pub fn skipped(what: &str, why: impl Display) {
    let why = why.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    println!("skipped: {what}: {why}");
    let Some(file) = env::var_os(FILE) else { return };
    let line = format!("{}\t{what}\t{why}\n", test_name());
    // A single write at the end of the file, because other processes add to it too.
    let opened = OpenOptions::new().create(true).append(true).open(&file);
    if let Err(error) = opened.and_then(|mut file| file.write_all(line.as_bytes())) {
        panic!("could not add to {}, which {FILE} names: {error}: {line}", file.display());
    }
}

/// Whether an engine can run on this machine. If it cannot, reports the test of this thread as
/// [`skipped`].
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

/// Returns the package of the test, from cargo's environment, and the name of the test. The latter is
/// the name of the thread, which libtest sets, or cargo-nextest's name if the test has its own
/// process.
fn test_name() -> String {
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
        let named = thread::Builder::new().name("tests::it".to_owned()).spawn(test_name).unwrap();
        assert_eq!(named.join().unwrap(), "embermark-skips::tests::it");
    }
}
