//! Tests the list that `scripts/test.sh` prints at its end.

use std::env;
use std::path::Path;
use std::process::Command;

use embermark_skips::skipped;

/// Environment variable with the missing things of the helper test, which runs in its own process.
const LACKS: &str = "EMBERMARK_TEST_LACKS";

#[test]
#[ignore = "run in a process of its own by the others"]
fn lacks() {
    let Ok(all) = env::var(LACKS) else { return };
    all.split(',').for_each(|what| skipped(what, "because\nof this"));
    let again = all.split(',').next().unwrap();
    skipped(again, "because of this");
}

/// Runs the script on a command with these variables. Returns its exit status and output.
fn script(words: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/test.sh");
    let mut command = Command::new(script);
    command.args(words).env_remove("NO_SKIPS").env_remove("ACCEPT_LICENSE");
    let output = command.envs(variables.iter().copied()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

/// Runs the script on the helper, which lacks these things.
fn script_of(lacks: &str, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let program = env::current_exe().unwrap();
    let words = [program.to_str().unwrap(), "list::lacks", "--exact", "--ignored", "--nocapture"];
    // A test has its own thread with its name, unless tests run one by one.
    script(&words, &[&[(LACKS, lacks), ("RUST_TEST_THREADS", "2")], variables].concat())
}

#[test]
fn a_skipped_test_is_counted_once_and_named_with_what_it_lacks() {
    let (status, said) = script_of("root,chromium", &[]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("skipped: root: because of this"), "{said}");
    let end = "skipped: 2\n  embermark-skips::list::lacks: chromium: because of this\n  \
               embermark-skips::list::lacks: root: because of this\n";
    assert!(said.ends_with(end), "{said}");
}

#[test]
fn it_is_a_failure_where_none_may_be() {
    let none = [("NO_SKIPS", "1")];
    assert_eq!(script_of("root", &none).0, Some(1));
    assert_eq!(script_of("root", &[("NO_SKIPS", "")]).0, Some(0));
    let (status, said) = script(&["true"], &none);
    assert_eq!((status, &*said), (Some(0), "skipped: none\n"));
}

#[test]
fn what_nobody_is_asked_to_have_is_named_and_no_skip() {
    let none = [("NO_SKIPS", "1")];
    let (status, said) = script_of("zen,harperdb,sensor log,file system,given server", &none);
    assert_eq!(status, Some(0), "{said}");
    for what in ["zen", "harperdb", "sensor log", "file system", "given server"] {
        let line = format!("not asked for: {what}: because of this\n");
        assert_eq!(said.matches(&line).count(), 1, "{said}");
    }
    assert!(said.ends_with("skipped: none\n"), "{said}");
    let (status, said) = script_of("harperdb", &[none[0], ("ACCEPT_LICENSE", "harperdb")]);
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.ends_with("skipped: 1\n  embermark-skips::list::lacks: harperdb: because of this\n"),
        "{said}"
    );
}

#[test]
fn a_step_that_fails_is_the_end_and_the_list_is_still_there() {
    let fails = "printf 'a test\\troot\\tnone here\\n' >>\"$EMBERMARK_SKIPPED\"; exit 7";
    for variables in [&[][..], &[("NO_SKIPS", "1")]] {
        let (status, said) = script(&["sh", "-c", fails], variables);
        assert_eq!((status, &*said), (Some(7), "skipped: 1\n  a test: root: none here\n"));
    }
}

#[test]
fn a_skip_that_cannot_be_written_down_is_a_failure() {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["list::lacks", "--exact", "--ignored"]).env(LACKS, "root");
    let output = command.env(embermark_skips::FILE, "/nowhere/skips").output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("could not add to /nowhere/skips"), "{said}");
}
