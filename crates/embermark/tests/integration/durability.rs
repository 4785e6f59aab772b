//! `embermark durability`, as a user runs it.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::common::run_processes::{assert_nothing_left, running_processes, signal};
use crate::common::{ProgramOutput, Sandbox, is_here, uncounted, wait_for};
use embermark_engines::registry;
use embermark_report::html;
use embermark_skips::{sampled, skipped};
use nix::sys::signal::Signal;

/// The result file.
fn result(out: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(out.join("result.json")).unwrap()).unwrap()
}

fn refused(words: &[&str], saying: &[&str]) {
    let words = [&["durability"], words].concat();
    Sandbox::new().embermark(&words).expect_status(2).expect_stderr(saying);
}

#[test]
fn what_makes_no_sense_is_refused() {
    refused(&["sqlit"], &["unknown engine 'sqlit'"]);
    refused(&["-t", "full"], &["unknown tier 'full'"]);
    refused(&["--fs", "zfs"], &["unknown file system 'zfs'", "ext4, xfs, btrfs, f2fs"]);
    refused(&["--clients", "0"], &["--clients"]);
    refused(&["--accept-license", "lmdb"], &["lmdb", "need not be accepted"]);
    refused(&["--full-disk", "--fills", "0"], &["--fills"]);
    refused(&["--full-disk", "--disk-mib", "8"], &["--disk-mib", "32..=4096"]);
    refused(&["--fills", "2"], &["--full-disk"]);
    let nothing = ["--kills", "0", "--states", "0", "--short-works", "3"];
    refused(&nothing, &["nothing would be tested", "--kills", "--states"]);
    refused(&["--resume", "nowhere"], &["nowhere"]);
    refused(&["--resume", "nowhere", "--full-disk"], &["--full-disk"]);
    refused(&["--resume", "nowhere", "--kills", "3"], &["--kills"]);
}

#[test]
fn a_run_is_gone_on_with_and_repeats_nothing_that_ended() {
    if !is_here("lmdb") {
        return;
    }
    let sandbox = Sandbox::new();
    let words = ["durability", "lmdb", "-t", "process,power", "--states", "0", "--kills", "2"];
    sandbox.embermark(&[&words[..], &["-o", "out"]].concat()).expect_status(0);
    let (out, journal) = (sandbox.path("out"), sandbox.path("out/journal.jsonl"));
    let whole = fs::read_to_string(&journal).unwrap();
    let tested = |out: &Path| result(out)["tested"].as_array().unwrap().clone();
    let before = tested(&out);
    assert_eq!(before.len(), 2);
    assert!(before.iter().all(|one| one["verdicts"]["holds"] == 2 && one["tried"] == 2));
    // A new run does not overwrite it.
    sandbox
        .embermark(&[&words[..], &["-o", "out"]].concat())
        .expect_status(2)
        .expect_stderr(&["journal.jsonl"]);

    // The last line is cut off.
    fs::write(&journal, &whole[..whole.len() - 9]).unwrap();
    sandbox.embermark(&["durability", "--resume", "out"]).expect_status(0);
    let after = tested(&out);
    assert_eq!((after.len(), &after[0]), (2, &before[0]), "not repeated");
    let lines = fs::read_to_string(&journal).unwrap();
    assert_eq!(lines.lines().count(), 3);
    assert_eq!(
        lines.lines().take(2).collect::<Vec<_>>(),
        whole.lines().take(2).collect::<Vec<_>>()
    );
    assert!(!sandbox.path("out/work").exists());
}

#[test]
fn a_run_that_could_not_begin_leaves_its_folder_to_the_corrected_one() {
    if !is_here("sqlite") {
        return;
    }
    let sandbox = Sandbox::new();
    let words = ["durability", "sqlite", "-t", "power", "--short-works", "0", "-o", "out"];
    let cut = [&words[..], &["--states", "1", "--kills", "0"]].concat();
    // Without a PATH no program makes file systems.
    let mut command = sandbox.command(&cut);
    let ended = ProgramOutput::from(command.env("PATH", "").output().unwrap());
    if ended.status != 1 {
        skipped("root", "power is cut on a recorded device, which is for root alone");
        return;
    }
    assert!(!sandbox.path("out").exists(), "{}", ended.stderr);
    let kill = [&words[..], &["--states", "0", "--kills", "1"]].concat();
    sandbox.embermark(&kill).expect_status(0);
}

#[test]
fn what_a_run_has_shown_is_told_by_its_page_by_engines_and_by_reports() {
    if !is_here("lmdb") {
        return;
    }
    let sandbox = Sandbox::new();
    let words = ["durability", "lmdb", "-t", "process", "--states", "0", "--kills", "2"];
    let ended = sandbox.embermark(&[&words[..], &["-o", "out"]].concat()).expect_status(0);
    assert_eq!(sandbox.path("out/report.html").exists(), html::is_built());
    match html::is_built() {
        true => {
            let page = fs::read_to_string(sandbox.path("out/report.html")).unwrap();
            assert!(page.contains("shown: no violation in 2 kills"));
        }
        false => {
            skipped("page", "this build has none; make build");
            ended.expect_stderr(&["no report.html", "make build"]);
        }
    }

    let words = ["run", "sensors", "-e", "lmdb", "-t", "process", "-s", "200", "--variant", "bulk"];
    let short = ["--phases", "load,read", "--runs", "2", "--trials", "1", "-o", "run"];
    sandbox.embermark(&[&words[..], &short, uncounted()].concat()).expect_status(0);
    for own in ["out", "out/result.json"] {
        let engines = sandbox.embermark(&["engines", "--durability", own]).expect_status(0).stdout;
        assert!(engines.contains("shown: no violation in 2 kills ("), "{engines}");
        let report = ["report", "run/result.json", "--durability", own];
        let screen = sandbox.embermark(&report).expect_status(0).stdout;
        assert!(screen.contains("durability process: shown for lmdb"), "{screen}");
    }
    for words in [&["engines"][..], &["report", "run/result.json"]] {
        let wrong = |own| [words, &["--durability", own]].concat();
        sandbox
            .embermark(&wrong("nowhere"))
            .expect_status(2)
            .expect_stderr(&["no result at nowhere"]);
        let run = sandbox.embermark(&wrong("run")).expect_status(2);
        run.expect_stderr(&["is not a result of `embermark durability`"]);
    }
    let report = sandbox.embermark(&["report", "out/result.json"]).expect_status(2);
    report.expect_stderr(&["one of `embermark durability`"]);
}

/// DuckDB 1.5.6 is not offered in `power`.
#[test]
fn a_tier_that_an_engine_is_not_offered_in_is_tried_where_the_engine_is_named() {
    if !is_here("duckdb") {
        return;
    }
    let sandbox = Sandbox::new();
    let words = ["durability", "-t", "power", "--states", "0", "--kills", "1"];
    let not_tried = |out: &str| {
        let all = result(&sandbox.path(out))["not_tried"].as_array().unwrap().clone();
        all.into_iter().find(|not| not["engine"] == "duckdb")
    };
    sandbox.embermark(&[&words[..], &["duckdb", "-o", "named"]].concat()).expect_status(0);
    assert_eq!(not_tried("named"), None);
    let tried = result(&sandbox.path("named"))["tested"].clone();
    assert_eq!((&tried[0]["engine"], &tried[0]["tried"]), (&"duckdb".into(), &1.into()));

    let engines = sandbox.embermark(&["engines"]).expect_status(0).stdout;
    let all = [&words[..], &["embedded", "-o", "all"]].concat();
    if embermark_skips::is_long() {
        sandbox.embermark(&all).expect_status(0);
    } else {
        // The engines after DuckDB do not matter here.
        let mut command = sandbox.command(&all);
        let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let journal = sandbox.path("all/journal.jsonl");
        wait_for("DuckDB's turn to end", || {
            let lines = fs::read_to_string(&journal).unwrap_or_default();
            lines.contains(r#""engine":"duckdb""#).then_some(())
        });
        assert!(signal(run.id(), Signal::SIGINT));
        run.wait().unwrap();
    }
    let why = not_tried("all").map(|not| not["why"].as_str().unwrap().to_owned());
    assert_eq!(why.is_some(), engines.contains("duckdb, power: not offered"), "{engines}");
    assert!(why.is_none_or(|why| why.contains("embermark durability duckdb")));

    // A configuration is named too, even if only its library is another one.
    let origin = registry::find("duckdb").unwrap().origin().unwrap();
    let folder = origin.path().unwrap().parent().unwrap();
    let own = format!("own=duckdb:library={}", folder.display());
    let own = ["--configuration", &own, "-o", "own"];
    sandbox.embermark(&[&words[..], &own].concat()).expect_status(0);
    let own = result(&sandbox.path("own"));
    assert_eq!(own["not_tried"].as_array().unwrap().len(), 0, "{own}");
    let tried = &own["tested"][0];
    assert_eq!((&tried["engine"], &tried["tried"]), (&"own".into(), &1.into()));
}

#[test]
fn killed_in_the_middle_it_leaves_no_mount_no_loop_device_and_no_process() {
    if !is_here("sqlite") {
        return;
    }
    if !nix::unistd::geteuid().is_root() {
        skipped("root", "power is cut on a recorded device, which is for root alone");
        return;
    }
    let cut = ["--states", "200"];
    let full = ["--states", "0", "--full-disk"];
    // While the work is recorded, while the first states are inspected, and while a disk is filled.
    let all = [(&cut[..], "record/files"), (&cut, "look-0/files"), (&full, "full/disk")];
    for (words, folder) in sampled(all, 2) {
        let sandbox = Sandbox::new();
        let all = [&["durability", "sqlite", "-t", "power", "--kills", "0", "-o", "out"], words];
        let mut command = sandbox.command(&all.concat());
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut run = command.spawn().unwrap();
        let mounted = || {
            let mounts = fs::read_to_string(format!("/proc/{}/mounts", run.id())).ok()?;
            let at = format!("out/work/{folder}");
            let threads = fs::read_dir(format!("/proc/{}/task", run.id())).ok()?.flatten();
            let mut seen = threads.filter_map(|t| fs::read_to_string(t.path().join("mounts")).ok());
            (mounts.contains(&at) || seen.any(|mounts| mounts.contains(&at))).then_some(())
        };
        wait_for("a device to be mounted", mounted);
        assert!(signal(run.id(), Signal::SIGKILL));
        run.wait().unwrap();
        assert_nothing_left(&sandbox);
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        assert!(!mounts.contains(&*sandbox.path("out").to_string_lossy()), "{mounts}");
        let at = sandbox.path("out");
        wait_for("the loop devices to go", || loops(&at).is_empty().then_some(()));
    }
}

#[test]
fn what_an_engine_did_on_a_full_disk_is_told_by_a_table_markdown_the_result_and_the_page() {
    if !is_here("sqlite") {
        return;
    }
    if !nix::unistd::geteuid().is_root() {
        skipped("root", "disks are filled on devices, which are for root alone");
        return;
    }
    let sandbox = Sandbox::new();
    let tried = ["durability", "sqlite", "-t", "process", "--states", "0", "--kills", "0"];
    let full = ["--full-disk", "--fills", "1", "--disk-mib", "32", "-o", "out"];
    let screen = sandbox.embermark(&[&tried[..], &full].concat()).expect_status(0).stdout;
    let row = |text: &str, what: &str| {
        let row = text.lines().find(|line| line.contains("sqlite") && line.contains("by itself"));
        let row = row.unwrap_or_else(|| panic!("no row of {what}: {text}"));
        let said = ["process", "an error (", "yes", "all there"];
        assert!(said.iter().all(|said| row.contains(said)), "{row}");
    };
    row(&screen, "the screen");
    assert!(screen.contains("database or disk is full"), "{screen}");
    assert!(!screen.contains("a commit writes"), "nothing was interrupted: {screen}");
    row(&fs::read_to_string(sandbox.path("out/full-disk.md")).unwrap(), "Markdown");

    let result = result(&sandbox.path("out"));
    let (head, tested) = (&result, &result["tested"][0]);
    assert_eq!((&head["fills"], &head["disk_bytes"]), (&1.into(), &(32 << 20).into()));
    assert_eq!(
        (&tested["experiment"], &tested["verdicts"]["holds"]),
        (&"full-disk".into(), &1.into())
    );
    let fill = &tested["full_disk"]["fills"][0];
    assert_eq!(
        (&fill["stopped"]["is"], &fill["goes_on"]["is"]),
        (&"error".into(), &"by-itself".into())
    );
    assert!(fill["commits"].as_u64().unwrap() > 50, "{fill}");
    if html::is_built() {
        let page = fs::read_to_string(sandbox.path("out/report.html")).unwrap();
        assert!(page.contains("When the disk is full") && page.contains("opens when full"));
    }
    let at = sandbox.path("out");
    wait_for("the loop devices to go", || loops(&at).is_empty().then_some(()));
    assert!(!sandbox.path("out/work").exists());
}

#[test]
fn killed_in_the_middle_it_leaves_no_server() {
    if !is_here("postgres") {
        return;
    }
    let sandbox = Sandbox::new();
    let words = ["durability", "postgres", "-t", "process", "--states", "0", "-o", "out"];
    let mut command = sandbox.command(&words);
    let said = sandbox.path("said.txt");
    command.stdout(Stdio::null()).stderr(fs::File::create(&said).unwrap());
    let mut run = command.spawn().unwrap();
    // It has a file of this sandbox open.
    drop(command);
    let serves = || {
        let ended = run.try_wait().unwrap();
        assert!(ended.is_none(), "{ended:?}: {}", fs::read_to_string(&said).unwrap());
        // This program, its supervisor, the worker and the postmaster. PostgreSQL's other processes
        // write their titles over their environment, by which they would be found.
        let socket = sandbox.path("out/work/killed/server/run/.s.PGSQL.5432");
        (socket.exists() && running_processes(&sandbox).len() > 3).then_some(())
    };
    wait_for("a server to run", serves);
    assert!(signal(run.id(), Signal::SIGKILL));
    run.wait().unwrap();
    assert_nothing_left(&sandbox);
}

#[test]
fn an_engine_that_forbids_publishing_is_tried_when_that_is_accepted() {
    if !is_here("harperdb") {
        return;
    }
    let sandbox = Sandbox::new();
    let words = ["durability", "harperdb", "-t", "power", "--states", "0", "--kills", "1"];
    sandbox.embermark(&[&words[..], &["-o", "out"]].concat()).expect_status(0);
    let why = &result(&sandbox.path("out"))["not_tried"][0]["why"];
    assert!(why.as_str().unwrap().contains("--accept-license harperdb"), "{why}");
}

/// Returns the files of loop devices that are below `folder` or on a removed device.
fn loops(folder: &Path) -> Vec<String> {
    let devices = fs::read_dir("/sys/block").unwrap().flatten();
    let files = devices.filter_map(|d| fs::read_to_string(d.path().join("loop/backing_file")).ok());
    let ours = |file: &String| file.trim() == "/image" || file.contains(&*folder.to_string_lossy());
    files.filter(ours).collect()
}
