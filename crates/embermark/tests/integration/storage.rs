//! Imitated storages: `--storage`. They need root, FUSE, loop devices and mkfs.ext4.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Stdio;

use crate::common::run_processes::{assert_nothing_left, signal};
use crate::common::{Sandbox, processes_using, wait_for};
use embermark_model::Status;
use embermark_model::result::{Cell, ResultFile};
use embermark_skips::{sampled, skipped};
use nix::sys::signal::Signal;

/// A storage whose writes take 3 ms each, without a cache that could hide it.
const SLOW: &str = "like = \"sd-a1\"\nflash = false\nread = { random-us = 300, sequential-us = 300 }\n\
                    write = { random-us = 3000, sequential-us = 3000, mb-per-s = 40 }\n";
const WRITE_NS: u64 = 3_000_000;
const ROWS: u64 = 200;

const RUN: [&str; 13] = [
    "run",
    "sensors",
    "--scale",
    "200",
    "--tier",
    "power",
    "--phases",
    "load",
    "--runs",
    "1",
    "--trials",
    "1",
    "--variant",
];

/// Whether a result has no storage because none can be imitated here.
fn is_skipped(result: &ResultFile) -> bool {
    let why = result.cells.iter().find_map(Cell::lacks_storage);
    why.inspect(|why| skipped("FUSE", why)).is_some()
}

#[test]
fn commits_on_an_imitated_storage_take_the_time_of_its_writes_and_are_cells_of_their_own() {
    let sandbox = Sandbox::new();
    sandbox.write("slow.toml", SLOW);
    let engines = sampled(["sqlite", "lmdb"], 1);
    let with_reference = [&engines[..], &["memory"]].concat().join(",");
    let further = ["commit-each", "-e", &with_reference, "--storage", "none,slow.toml"];
    let words = [&RUN[..], &further, &["--out", "out"]].concat();
    let ended = sandbox.embermark(&words).expect_status(0);
    let result = sandbox.result("out");
    if is_skipped(&result) {
        return;
    }
    let slow = result.plan.storages[1].as_ref().unwrap();
    assert_eq!((slow.name.as_str(), slow.write.random_us.typical), ("slow", 3_000));
    assert!(result.manifest.storage_path.unwrap().write_ns > 0);
    let cells = |storage| {
        let own = result.cells.iter().filter(move |cell| cell.id.storage == storage);
        own.filter(|cell| cell.id.engine != "memory")
    };
    for cell in cells(Some(slow.name)) {
        assert_eq!(cell.status, Status::Ok, "{}: {:?}", cell.id, cell.reason);
        let trial = &cell.trials[0];
        let load = trial.phases.iter().find(|phase| phase.phase == "load").unwrap();
        // Each commit waits for at least one write, because the storage serves one request at a
        // time.
        let took = load.runs[0].elapsed_ns;
        assert!(took >= ROWS * WRITE_NS, "{}: {took} ns for {ROWS} commits", cell.id);
        let times = trial.storage_times.unwrap();
        assert!(times.requests >= ROWS && times.time_ns >= ROWS * WRITE_NS, "{times:?}");
        // The counting trial uses the storage too.
        let counting = cell.counting.as_ref().unwrap();
        assert!(counting.storage_times.unwrap().time_ns >= ROWS * WRITE_NS);
        assert!(counting.phases[0].runs[0].device_io.unwrap().written_bytes > 0);
    }
    assert_eq!(cells(Some(slow.name)).count(), engines.len());
    assert!(cells(None).all(|cell| cell.trials[0].storage_times.is_none()));
    // A reference engine writes nothing to the storage, but still runs on each for comparison.
    let memory = result.cells.iter().filter(|cell| cell.id.engine == "memory");
    for cell in memory {
        assert_eq!(cell.status, Status::Ok, "{}: {:?}", cell.id, cell.reason);
        let took = cell.trials[0].phases[0].runs[0].elapsed_ns;
        assert!(took < ROWS * WRITE_NS, "{}: {took} ns", cell.id);
    }

    let imitated =
        "imitated: a model of slow with its likely values, not a measurement of a device";
    assert!(ended.stdout.contains(imitated), "{}", ended.stdout);
    let tables = sandbox
        .embermark(&["report", "out/result.json", "--show", "tables"])
        .expect_status(0)
        .stdout;
    for says in
        ["sensors 200 on slow · durability power", imitated, "write 3.00 ms", "queue depth 1"]
    {
        assert!(tables.contains(says), "{says}: {tables}");
    }
    let csv = sandbox
        .embermark(&["report", "out/result.json", "--format", "csv"])
        .expect_status(0)
        .stdout;
    assert!(csv.lines().next().unwrap().split(',').any(|column| column == "storage"));
    assert_eq!(processes_using(&sandbox.path("out")), Vec::<String>::new());

    // A different storage of that name cannot be compared, and its cells belong only to it.
    let write = |name: &str, change: &dyn Fn(&mut ResultFile)| {
        let mut other = sandbox.result("out");
        change(&mut other);
        sandbox.write(name, serde_json::to_vec(&other).unwrap());
    };
    write("other.json", &|other| {
        other.plan.storages[1].as_mut().unwrap().write.random_us.typical = 4_000;
    });
    write("own.json", &|own| own.cells.retain(|cell| cell.id.storage.is_none()));
    write("on.json", &|on| on.cells.retain(|cell| cell.id.storage.is_some()));
    let compare = |new: &str, old: &str| sandbox.embermark(&["compare", old, new]);
    compare("other.json", "out/result.json")
        .expect_status(2)
        .expect_stderr(&["storage slow: read", "write 4.00 ms"]);
    compare("own.json", "on.json").expect_status(2).expect_stderr(&["no cell is in both files"]);
    compare("out/result.json", "out/result.json").expect_status(0);
}

#[test]
fn a_plan_file_names_storages_and_a_medium_that_is_too_small_or_too_fast_is_unavailable() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "tiny.toml",
        "like = \"sd-a1\"\n[flash]\nlike = \"sd-32gb\"\ncapacity = \"512 MB\"\n",
    );
    let fast = "like = \"sd-a1\"\nread = { random-us = 1, sequential-us = 1, mb-per-s = 20000 }\n";
    sandbox.write("fast.toml", fast);
    sandbox.write("plan.toml", "storage = [\"tiny.toml\", \"fast.toml\"]\nengines = [\"lmdb\"]\n");
    let words = ["run", "sensors", "--plan", "plan.toml", "--scale", "100", "--phases", "load"];
    sandbox.embermark(&[&words[..], &["--trials", "1", "--out", "out"]].concat());
    let result = sandbox.result("out");
    let why = |name: &str| {
        let of = |cell: &&Cell| cell.id.storage.is_some_and(|own| own.as_str() == name);
        let cell = result.cells.iter().find(of).unwrap();
        assert!(cell.trials.is_empty());
        cell.lacks_storage().unwrap().to_owned()
    };
    if !nix::unistd::geteuid().is_root() || !why("fast").contains("too fast") {
        return skipped("FUSE", why("fast"));
    }
    assert!(why("fast").contains("a read of 4 KiB takes"), "{}", why("fast"));
    assert!(why("tiny").contains("another storage"), "{}", why("tiny"));
}

#[test]
fn what_is_no_storage_is_refused_with_the_nearest_name_and_the_field() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.toml", "like = \"sd-a1\"\nflush = 3\n");
    sandbox.write("less.toml", "like = \"sd-a1\"\nflush-us = -3\n");
    sandbox.write("lone.toml", "flush-us = 3\n");
    sandbox.write("none.toml", "queue-depth = 3 GB");
    sandbox.write("sd-a1.toml", "like = \"sd-a2\"\n");
    let refused = |words: &[&str], saying: &[&str]| {
        sandbox.embermark(words).expect_status(2).expect_stderr(saying);
    };
    let run = |storage: &str, saying: &[&str]| {
        refused(&["run", "sensors", "--storage", storage], saying);
    };
    run("emc", &["unknown storage 'emc'", "did you mean 'emmc'?", "FILE.toml"]);
    run("bad.toml", &["bad.toml", "did you mean 'flush-us'?"]);
    run("less.toml", &["less.toml", "'flush-us' is -3", "from 0 to 10000000"]);
    run("lone.toml", &["lone.toml", "'queue-depth' is missing"]);
    run("none.toml", &["none.toml", "invalid TOML"]);
    run("absent.toml", &["absent.toml", "No such file"]);
    run("sd-a1,sd-a1.toml", &["two storages are called 'sd-a1'"]);
    refused(&["tune", "sqlite", "--storage", "emc"], &["did you mean 'emmc'?"]);
    let durability = ["durability", "sqlite", "--storage"];
    refused(&[&durability[..], &["emc"]].concat(), &["did you mean 'emmc'?"]);
    for option in [&["--states", "9"][..], &["--full-disk"], &["--device-lies"], &["--kills", "0"]]
    {
        let words = [&durability[..], &["sd-a1"], option].concat();
        refused(&words, &["--storage is only for kills", option[0]]);
    }
    let advise = ["advise", "result.json", "--storage", "sd-a1"];
    sandbox.write("result.json", include_bytes!("../../../report/tests/fixtures/schema-1.json"));
    refused(&advise, &["nothing was measured with --storage sd-a1, but with none"]);
}

#[test]
fn an_ordinary_user_is_told_why_a_storage_is_not_imitated_and_the_rest_runs() {
    if !nix::unistd::geteuid().is_root() {
        return skipped("root", "becoming another user takes it");
    }
    // In a folder that every user can access.
    let sandbox = Sandbox::new_in("/tmp");
    let words =
        ["run", "sensors", "-e", "lmdb", "--scale", "100", "--phases", "load", "--runs", "1"];
    let further = ["--trials", "1", "--storage", "none,sd-a1", "--out", "out"];
    let ended = sandbox.as_ordinary_user(&[&words[..], &further].concat()).expect_status(0);
    let result = sandbox.result("out");
    for cell in &result.cells {
        let status = if cell.id.storage.is_some() { Status::Unavailable } else { Status::Ok };
        assert_eq!(cell.status, status, "{}", cell.id);
    }
    let why = "only root may give a trial an imitated storage: run as root";
    assert_eq!(result.cells.iter().find_map(Cell::lacks_storage), Some(why));
    assert!(ended.stdout.contains(why), "{}", ended.stdout);
}

#[test]
fn a_dry_run_names_the_card_that_a_device_takes_or_why_it_cannot_be_imitated() {
    let words = ["run", "sensors:1k", "-e", "memory", "--device", "pi3", "--dry-run"];
    let sandbox = Sandbox::new_in("/tmp");
    if nix::unistd::geteuid().is_root() {
        let shown = sandbox.as_ordinary_user(&words).expect_status(0).stdout;
        let why = "cannot be imitated here: only root may give a trial an imitated storage";
        assert!(shown.contains(why) && shown.starts_with("sensors 1k process"), "{shown}");
    }
    let shown = sandbox.embermark(&words).expect_status(0).stdout;
    if shown.contains("cannot be imitated here") {
        return skipped("FUSE", shown);
    }
    assert!(shown.starts_with("sensors 1k on sd-a1 process"), "{shown}");
    assert!(shown.contains("pi3 takes the storage sd-a1, which is imitated"), "{shown}");
    // The cells show which storage was requested.
    let named =
        sandbox.embermark(&[&words[..], &["--storage", "none"]].concat()).expect_status(0).stdout;
    assert!(named.starts_with("sensors 1k process") && !named.contains("pi3"), "{named}");
}

/// More bytes than a journal and some rows, and fewer than the image of a file system.
const LITTLE: u64 = 1 << 20;

/// Returns the bytes that files below a folder take on the disk.
fn taken(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let of = |path: &Path| match path.is_dir() {
        true => taken(path),
        false => path.metadata().map_or(0, |file| file.blocks() * 512),
    };
    entries.map(|entry| of(&entry.path())).sum()
}

#[test]
fn killed_in_the_middle_a_medium_leaves_no_process_no_loop_device_and_no_image() {
    if !nix::unistd::geteuid().is_root() || !Path::new("/dev/fuse").exists() {
        return skipped("FUSE", "a medium is imitated, which takes root and FUSE");
    }
    let sandbox = Sandbox::new();
    sandbox.write("slow.toml", SLOW.replace("3000", "30000"));
    let load = ["--phases", "load", "--variant", "commit-each"];
    let tune = [&["tune", "sqlite", "sensors:100"][..], &load, &["--for", "10m"]].concat();
    let durability = ["durability", "sqlite", "--kills", "1000"];
    let run = [&["run", "sensors:10k", "-e", "sqlite"][..], &load].concat();
    let all = [("run", &run[..]), ("tune", &tune), ("durability", &durability)];
    for (out, words) in sampled(all, 2) {
        let words = [words, &["--storage", "slow.toml", "--out", out]].concat();
        let mut child = sandbox.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = child.as_mut().unwrap();
        // proc_pid_mountinfo(5): 3 the device, 5 where it is mounted.
        let medium = || {
            let all = fs::read_to_string(format!("/proc/{}/mountinfo", child.id())).ok()?;
            let own = format!("/{out}/");
            let mut mounts = all.lines().filter(|line| line.contains(" ext4 /dev/loop"));
            let mount = mounts.find(|line| line.contains(&own))?;
            Some(mount.split_whitespace().nth(2)?.to_owned())
        };
        // The name of its image is removed right after the mount.
        let ready = || medium().filter(|_| taken(&sandbox.path(out)) < LITTLE);
        let device = wait_for("a medium to be in use", ready);
        assert!(signal(child.id(), Signal::SIGKILL));
        child.wait().unwrap();
        assert_nothing_left(&sandbox);
        let size = format!("/sys/dev/block/{device}/size");
        let is_free = || {
            // Another test may use it by now.
            let blocks = fs::read_to_string(&size).map_or(0, |size| size.trim().parse().unwrap());
            (blocks == 0_u64).then_some(())
        };
        wait_for("the loop device to be free", is_free);
        let bytes = taken(&sandbox.path(out));
        assert!(bytes < LITTLE, "{out}: {bytes} bytes are left");
    }
}
