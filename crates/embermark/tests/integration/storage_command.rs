//! `embermark storage`: listing, trying and measuring storages.

use std::fs;
use std::process::Stdio;

use crate::common::run_processes::signal;
use crate::common::{Mounted, ProgramOutput, Sandbox, wait_for};
use embermark_skips::skipped;
use embermark_storage::{built_in_toml, names, parse};
use nix::sys::signal::Signal;

/// A short measurement.
const SHORT: [&str; 4] = ["--for", "2s", "--write-limit", "64MiB"];

/// Whether a storage can be imitated here. Otherwise skips the test.
fn can_be_imitated() -> bool {
    let is_root = nix::unistd::geteuid().is_root();
    let has = |path: &str| fs::metadata(path).is_ok();
    match (is_root, has("/dev/fuse"), has("/dev/loop-control")) {
        (false, ..) => skipped("root", "a file system is mounted, which is for root alone"),
        (_, false, _) => skipped("FUSE", "there is no /dev/fuse"),
        (.., false) => skipped("loop devices", "there is no /dev/loop-control"),
        _ => return true,
    }
    false
}

#[test]
fn every_built_in_storage_is_listed_and_its_file_printed_is_one_that_can_be_used() {
    let sandbox = Sandbox::new();
    let list = sandbox.embermark(&["storage"]).expect_status(0).stdout;
    for name in names() {
        assert!(list.contains(name), "no {name} in:\n{list}");
        let printed = sandbox.embermark(&["storage", "show", name]).expect_status(0).stdout;
        assert_eq!(printed, built_in_toml(name).unwrap());
        sandbox.write("copy.toml", printed);
        let shown = sandbox.embermark(&["storage", "show", "copy.toml"]).expect_status(0).stdout;
        assert!(shown.contains("and its flush") && shown.starts_with("copy  "), "{shown}");
    }
    // The model has 1,220 µs, and 4,096 bytes at 20 MB/s.
    let line = list.lines().find(|line| line.contains(" sd-a1 ")).unwrap();
    assert!(line.contains("1.42 ms") && line.contains("none"), "{line}");
}

#[test]
fn a_name_or_a_file_that_cannot_be_used_is_refused_with_what_is_allowed() {
    let sandbox = Sandbox::new();
    sandbox.write("negative.toml", "like = \"sd-a1\"\nflush-us = -3\n");
    sandbox.write("huge.toml", "like = \"sd-a1\"\nread = { mb-per-s = 1e12 }\n");
    sandbox.write("none.toml", "about = \"nothing\"\n");
    for (given, saying) in [
        (
            "sd-class1",
            &["unknown storage 'sd-class1'", "did you mean 'sd-class10'?", "FILE.toml"][..],
        ),
        ("absent.toml", &["absent.toml", "No such file"]),
        ("negative.toml", &["negative.toml", "'flush-us' is -3", "from 0 to 10000000"]),
        ("huge.toml", &["huge.toml", "'read.mb-per-s'", "from 0 to 20000"]),
        ("none.toml", &["none.toml", "is missing"]),
    ] {
        sandbox.embermark(&["storage", "show", given]).expect_status(2).expect_stderr(saying);
        sandbox
            .embermark(&["storage", "try", given, "--", "true"])
            .expect_status(2)
            .expect_stderr(saying);
    }
    let refused = |words: &[&str], saying: &[&str]| {
        sandbox
            .embermark(&[&["storage", "try", "sd-a1"], words].concat())
            .expect_status(2)
            .expect_stderr(saying);
    };
    refused(&["--size", "many"], &["--size 'many' is not a size"]);
    refused(&["--size", "1KiB"], &["16MiB or more"]);
}

#[test]
fn a_command_runs_on_the_storage_with_its_exit_status_and_nothing_is_left() {
    if !can_be_imitated() {
        return;
    }
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("tmp")).unwrap();
    let script = "test \"$PWD\" = \"$EMBERMARK_STORAGE\" && findmnt -no FSTYPE --target . >&2; \
                  dd if=/dev/zero of=file bs=4k count=40 oflag=direct,dsync 2>&1 && exit 7";
    let words = ["storage", "try", "sd-a1", "--size", "64MiB", "--", "sh", "-c", script];
    let ended = sandbox.command(&words).env("TMPDIR", sandbox.path("tmp")).output().unwrap();
    let ended = ProgramOutput::from(ended).expect_status(7);
    let ended = ended.expect_stderr(&[
        "ext4",
        "requests took",
        "by the model",
        "% were late by more than 50 µs and more than 5 % of their time, the latest by",
        "the path costs",
    ]);
    // 40 writes of 1.42 ms.
    let seconds = ended.stdout.split(',').find_map(|part| part.trim().strip_suffix(" s"));
    let seconds: f64 = seconds.unwrap().parse().unwrap();
    assert!(seconds > 0.04, "{}", ended.stdout);
    assert_eq!(fs::read_dir(sandbox.path("tmp")).unwrap().count(), 0);
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(&*sandbox.path("").to_string_lossy()), "{mounts}");
    // A storage that takes little more time than the path. The difference depends on the machine's
    // other work.
    let fast = "like = \"nvme\"\nwrite = { random-us = 20, sequential-us = 20 }\nflush-us = 250\n";
    sandbox.write("fast.toml", fast);
    let ended =
        sandbox.embermark(&["storage", "try", "fast.toml", "--size", "64MiB", "--", "true"]);
    if ended.stderr.contains("may take up to") {
        ended
            .expect_status(0)
            .expect_stderr(&["commits on fast may take up to 1.", "as on the medium"]);
    } else if !ended.stderr.contains("too fast") {
        ended.expect_status(0).expect_stderr(&["the path costs"]);
    }
    // A command that does not exist.
    let words = ["storage", "try", "sd-a1", "--size", "64MiB", "--", "no-such-program"];
    let ended = sandbox.command(&words).env("TMPDIR", sandbox.path("tmp")).output().unwrap();
    ProgramOutput::from(ended).expect_status(2).expect_stderr(&["cannot run no-such-program"]);
    assert_eq!(fs::read_dir(sandbox.path("tmp")).unwrap().count(), 0);
}

/// SIGINT while the storage is made, and while the command runs.
#[test]
fn an_interrupt_ends_with_130_and_leaves_nothing_and_a_command_that_waits_is_not_started() {
    if !can_be_imitated() {
        return;
    }
    let sandbox = Sandbox::new();
    let tmp = sandbox.path("tmp");
    fs::create_dir(&tmp).unwrap();
    let made = || fs::read_dir(&tmp).unwrap().next();
    let started = sandbox.path("started");
    let script = format!("touch '{}'; exec sleep 600", started.display());
    let words = ["storage", "try", "sd-a1", "--size", "64MiB", "--", "sh", "-c", &script];
    let interrupted = |seen: &mut dyn FnMut() -> bool| {
        let mut command = sandbox.command(&words);
        command.env("TMPDIR", &tmp).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        wait_for("the moment to interrupt", || seen().then_some(()));
        assert!(signal(child.id(), Signal::SIGINT));
        let ended = ProgramOutput::from(child.wait_with_output().unwrap()).expect_status(130);
        assert!(made().is_none(), "{}", ended.stderr);
        ended.stderr
    };
    // Its folder is made after the signal's handler, and before the path is measured.
    let says = interrupted(&mut || made().is_some());
    assert!(!started.exists() && !says.contains("requests"), "{says}");
    let says = interrupted(&mut || started.exists());
    assert!(says.contains("requests took"), "{says}");
}

#[test]
fn a_device_is_measured_into_a_file_that_is_a_storage_and_nothing_is_left_on_it() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("card")).unwrap();
    let words = ["storage", "measure", "card", "-o", "mine.toml", "--page", "mine.html"];
    let ended = sandbox.embermark(&[&words[..], &SHORT].concat());
    if ended.stderr.contains("takes no direct I/O") {
        return skipped("direct I/O", "the file system of the tests has none");
    }
    let ended = ended.expect_status(0).expect_stderr(&["at most 67 MB", "MB were written"]);
    assert!(ended.stdout.contains("mine  ") && ended.stdout.contains("mine.html"));
    let text = fs::read_to_string(sandbox.path("mine.toml")).unwrap();
    let storage = parse("mine", &text).unwrap();
    assert!(storage.flash.is_none() && !storage.about.is_empty(), "{text}");
    assert!(storage.read.kb_per_s.typical > 0 && storage.queue_depth > 0, "{text}");
    let written = text.lines().find(|line| line.starts_with("# written")).unwrap();
    let mb: u64 = written.split_whitespace().find_map(|word| word.parse().ok()).unwrap();
    assert!((32..=67).contains(&mb), "{written}");
    for expected in ["# kernel ", "# date ", "write and flush, in a row", "Random writes of 4 KiB"]
    {
        assert!(text.contains(expected), "no '{expected}' in:\n{text}");
    }
    assert!(fs::read_to_string(sandbox.path("mine.html")).unwrap().contains("<svg"));
    assert_eq!(fs::read_dir(sandbox.path("card")).unwrap().count(), 0);
    sandbox.embermark(&["storage", "show", "mine.toml"]).expect_status(0);
}

#[test]
fn what_cannot_be_measured_says_why_and_leaves_no_file() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "no folder");
    let refused = |folder: &str, out: &str, words: &[&str], saying: &[&str]| {
        let first = ["storage", "measure", folder, "-o", out];
        sandbox.embermark(&[&first, words].concat()).expect_status(2).expect_stderr(saying);
        assert!(!sandbox.path(out).exists(), "{out}");
    };
    refused("absent", "x.toml", &SHORT, &["absent", "No such file", "name a folder"]);
    refused("file", "x.toml", &SHORT, &["file", "not a folder"]);
    refused(".", "x.json", &SHORT, &["x.json", "ends in .toml"]);
    refused(".", "my card.toml", &SHORT, &["my card", "letters, digits"]);
    refused(".", "no/x.toml", &SHORT, &["no/x.toml", "name another file"]);
    refused(".", "x.toml", &["--for", "long"], &["--for 'long' is not a time"]);
    refused(".", "x.toml", &["--write-limit", "1MB"], &["--write-limit", "64MiB"]);
    if let Some(_memory) = Mounted::new(sandbox.path("memory"), "size=8m") {
        refused("memory", "x.toml", &SHORT, &["tmpfs", "takes no direct I/O"]);
    }
    if let Some(_fixed) = Mounted::new(sandbox.path("fixed"), "ro") {
        refused("fixed", "x.toml", &SHORT, &["fixed"]);
    }
}

#[test]
fn a_device_that_is_full_or_cannot_be_written_says_so() {
    if !can_be_imitated() {
        return;
    }
    let sandbox = Sandbox::new();
    let program = env!("CARGO_BIN_EXE_embermark");
    let script = format!(
        "{program} storage measure . -o {}/x.toml --for 2s; mount -o remount,ro . && {program} storage measure . -o {}/x.toml \
         --for 2s --write-limit 64MiB",
        sandbox.path("").display(),
        sandbox.path("").display()
    );
    let words = ["storage", "try", "sd-a1", "--size", "48MiB", "--", "sh", "-c", &script];
    let ended = sandbox.embermark(&words).expect_status(2);
    ended.expect_stderr(&["MB are free", "--write-limit", "Read-only file system"]);
    assert!(!sandbox.path("x.toml").exists());
}
