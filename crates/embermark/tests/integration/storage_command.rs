//! `embermark storage`: listing, trying and measuring storages.

use std::fs;

use crate::common::{Mounted, Place};
use embermark_skips::skipped;
use embermark_storage::{names, parse, text_of};

/// A short measurement.
const SHORT: [&str; 4] = ["--for", "2s", "--write-limit", "64MiB"];

/// Whether a storage can be imitated here; where not, the test is skipped.
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
    let place = Place::new();
    let list = place.embermark(&["storage"]).with(0).stdout;
    for name in names() {
        assert!(list.contains(name), "no {name} in:\n{list}");
        let printed = place.embermark(&["storage", "show", name]).with(0).stdout;
        assert_eq!(printed, text_of(name).unwrap());
        place.write("copy.toml", printed);
        let shown = place.embermark(&["storage", "show", "copy.toml"]).with(0).stdout;
        assert!(shown.contains("and its flush") && shown.starts_with("copy  "), "{shown}");
    }
    // By the model: 1,220 µs and 4,096 bytes at 20 MB/s.
    let line = list.lines().find(|line| line.contains(" sd-a1 ")).unwrap();
    assert!(line.contains("1.42 ms") && line.contains("none"), "{line}");
}

#[test]
fn a_name_or_a_file_that_cannot_be_used_is_refused_with_what_is_allowed() {
    let place = Place::new();
    place.write("negative.toml", "like = \"sd-a1\"\nflush-us = -3\n");
    place.write("huge.toml", "like = \"sd-a1\"\nread = { mb-per-s = 1e12 }\n");
    place.write("none.toml", "about = \"nothing\"\n");
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
        place.embermark(&["storage", "show", given]).with(2).saying(saying);
        place.embermark(&["storage", "try", given, "--", "true"]).with(2).saying(saying);
    }
    let refused = |words: &[&str], saying: &[&str]| {
        place.embermark(&[&["storage", "try", "sd-a1"], words].concat()).with(2).saying(saying);
    };
    refused(&["--size", "many"], &["--size 'many' is not a size"]);
    refused(&["--size", "1KiB"], &["16MiB or more"]);
}

#[test]
fn a_command_runs_on_the_storage_with_its_exit_status_and_nothing_is_left() {
    if !can_be_imitated() {
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path("tmp")).unwrap();
    let script = "test \"$PWD\" = \"$EMBERMARK_STORAGE\" && findmnt -no FSTYPE --target . >&2; \
                  dd if=/dev/zero of=file bs=4k count=40 oflag=direct,dsync 2>&1 && exit 7";
    let words = ["storage", "try", "sd-a1", "--size", "64MiB", "--", "sh", "-c", script];
    let ended = place.command(&words).env("TMPDIR", place.path("tmp")).output().unwrap();
    let ended = crate::common::Ended::from(ended).with(7);
    let ended = ended.saying(&["ext4", "requests took", "by the model", "the path costs"]);
    // 40 writes of 1.42 ms.
    let seconds = ended.stdout.split(',').find_map(|part| part.trim().strip_suffix(" s"));
    let seconds: f64 = seconds.unwrap().parse().unwrap();
    assert!(seconds > 0.04, "{}", ended.stdout);
    assert_eq!(fs::read_dir(place.path("tmp")).unwrap().count(), 0);
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(&*place.path("").to_string_lossy()), "{mounts}");
    // A medium that takes little more than the path: how little depends on what else the machine does.
    let fast = "like = \"nvme\"\nwrite = { random-us = 20, sequential-us = 20 }\nflush-us = 250\n";
    place.write("fast.toml", fast);
    let ended = place.embermark(&["storage", "try", "fast.toml", "--size", "64MiB", "--", "true"]);
    if ended.stderr.contains("may take up to") {
        ended.with(0).saying(&["commits on fast may take up to 1.", "as on the medium"]);
    } else if !ended.stderr.contains("too fast") {
        ended.with(0).saying(&["the path costs"]);
    }
    // A command that is not there.
    let words = ["storage", "try", "sd-a1", "--size", "64MiB", "--", "no-such-program"];
    let ended = place.command(&words).env("TMPDIR", place.path("tmp")).output().unwrap();
    crate::common::Ended::from(ended).with(2).saying(&["cannot run no-such-program"]);
    assert_eq!(fs::read_dir(place.path("tmp")).unwrap().count(), 0);
}

#[test]
fn a_device_is_measured_into_a_file_that_is_a_storage_and_nothing_is_left_on_it() {
    let place = Place::new();
    fs::create_dir(place.path("card")).unwrap();
    let words = ["storage", "measure", "card", "-o", "mine.toml", "--page", "mine.html"];
    let ended = place.embermark(&[&words[..], &SHORT].concat());
    if ended.stderr.contains("takes no direct I/O") {
        return skipped("direct I/O", "the file system of the tests has none");
    }
    let ended = ended.with(0).saying(&["at most 67 MB", "MB were written"]);
    assert!(ended.stdout.contains("mine  ") && ended.stdout.contains("mine.html"));
    let text = fs::read_to_string(place.path("mine.toml")).unwrap();
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
    assert!(fs::read_to_string(place.path("mine.html")).unwrap().contains("<svg"));
    assert_eq!(fs::read_dir(place.path("card")).unwrap().count(), 0);
    place.embermark(&["storage", "show", "mine.toml"]).with(0);
}

#[test]
fn what_cannot_be_measured_says_why_and_leaves_no_file() {
    let place = Place::new();
    place.write("file", "no folder");
    let refused = |folder: &str, out: &str, words: &[&str], saying: &[&str]| {
        let first = ["storage", "measure", folder, "-o", out];
        place.embermark(&[&first, words].concat()).with(2).saying(saying);
        assert!(!place.path(out).exists(), "{out}");
    };
    refused("absent", "x.toml", &SHORT, &["absent", "No such file", "name a folder"]);
    refused("file", "x.toml", &SHORT, &["file", "not a folder"]);
    refused(".", "x.json", &SHORT, &["x.json", "ends in .toml"]);
    refused(".", "my card.toml", &SHORT, &["my card", "letters, digits"]);
    refused(".", "no/x.toml", &SHORT, &["no/x.toml", "name another file"]);
    refused(".", "x.toml", &["--for", "long"], &["--for 'long' is not a time"]);
    refused(".", "x.toml", &["--write-limit", "1MB"], &["--write-limit", "64MiB"]);
    if let Some(_memory) = Mounted::new(place.path("memory"), "size=8m") {
        refused("memory", "x.toml", &SHORT, &["tmpfs", "takes no direct I/O"]);
    }
    if let Some(_fixed) = Mounted::new(place.path("fixed"), "ro") {
        refused("fixed", "x.toml", &SHORT, &["fixed"]);
    }
}

#[test]
fn a_device_that_is_full_or_cannot_be_written_says_so() {
    if !can_be_imitated() {
        return;
    }
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_embermark");
    let script = format!(
        "{program} storage measure . -o {}/x.toml --for 2s; mount -o remount,ro . && {program} storage measure . -o {}/x.toml \
         --for 2s --write-limit 64MiB",
        place.path("").display(),
        place.path("").display()
    );
    let words = ["storage", "try", "sd-a1", "--size", "48MiB", "--", "sh", "-c", &script];
    let ended = place.embermark(&words).with(2);
    ended.saying(&["MB are free", "--write-limit", "Read-only file system"]);
    assert!(!place.path("x.toml").exists());
}
