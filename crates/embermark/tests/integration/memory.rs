//! Data larger than memory: limits by a control group, which needs root, and cold reads.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::common::{self, Sandbox, is_here, processes_using, wait_for};
use embermark_model::result::{Cell, ResultFile, Run};
use embermark_model::{MemoryLimit, Status};
use embermark_skips::{sampled, skipped};

const LIMIT: u64 = 32 << 20;

/// Whether limits could be set. Otherwise skips the test.
fn limited(result: &ResultFile) -> bool {
    let cells = result.cells.iter().filter(|cell| cell.id.memory_limit.is_some());
    let why =
        cells.filter_map(|cell| cell.reason.as_ref()).find(|why| why.contains("control group"));
    if let Some(why) = why {
        skipped("control groups", why);
    }
    why.is_none()
}

/// Returns the memory control groups that a run has left, by its id.
fn groups(run_id: &str) -> Vec<PathBuf> {
    let folders = ["/sys/fs/cgroup", "/sys/fs/cgroup/memory"];
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.to_string_lossy().contains(run_id)).collect()
}

fn last<'a>(cell: &'a Cell, phase: &str) -> &'a Run {
    let phases = &cell.trials[0].phases;
    phases.iter().find(|part| part.phase == phase).unwrap().runs.last().unwrap()
}

#[test]
fn an_engine_and_the_page_cache_of_its_files_stay_within_the_limit_and_answer_right() {
    if !is_here("lmdb") || !is_here("sqlite") {
        return;
    }
    let sandbox = Sandbox::new();
    let short = ["--variant", "bulk", "--phases", "load,read,avg_sensor", "--runs", "1"];
    let how = ["--trials", "1", "--no-counting", "--set", "max-run-time=1s"];
    let run =
        |words: &[&str]| sandbox.embermark(&[&["run", "sensors"], words, &short, &how].concat());
    let both = ["-e", "lmdb,sqlite,memory", "-s", "300", "--memory-limit", "none,32MiB"];
    let ended = run(&[&both[..], &["--show", "tables", "--out", "out"]].concat());
    let result = sandbox.result("out");
    if !limited(&result) {
        return;
    }
    let ended = ended.expect_status(0);
    for heading in ["sensors 300 · durability", "sensors 300 within 32 MiB · durability"] {
        assert!(ended.stdout.contains(heading), "{}", ended.stdout);
    }
    for cell in &result.cells {
        let peak = cell.trials.first().and_then(|trial| trial.limited_peak_bytes);
        match cell.id.memory_limit {
            None => assert_eq!((cell.status.has_figures(), peak), (true, None), "{}", cell.id),
            Some(limit) if cell.reference => {
                assert_eq!((limit, cell.status), (MemoryLimit(LIMIT), Status::Unsupported));
            }
            Some(_) => {
                assert!(cell.status.has_figures(), "{}: {:?}", cell.id, cell.reason);
                assert!(peak.is_some_and(|peak| peak <= LIMIT), "{}: {peak:?}", cell.id);
            }
        }
    }
    // The cache is a quarter of the limit.
    let setting = |cell: &Cell| cell.trials[0].settings["cache_size"].clone();
    let sqlite: Vec<String> =
        result.cells.iter().filter(|cell| cell.id.engine == "sqlite").map(setting).collect();
    assert_eq!(sqlite, ["-65536", "-8192"]);
    assert_eq!(groups(&result.manifest.run_id), Vec::<PathBuf>::new());

    let engines = sampled(["lmdb", "sqlite"], 1);
    let all = engines.join(",");
    run(&["-e", &all, "-s", "200k", "--memory-limit", "32MiB", "--out", "many"]).expect_status(0);
    let result = sandbox.result("many");
    assert_eq!(result.cells.len(), engines.len());
    for cell in &result.cells {
        assert!(cell.status.has_figures(), "{}: {:?}", cell.id, cell.reason);
        // The rows alone are 8 MB, and the database is more.
        let peak = cell.trials[0].limited_peak_bytes.unwrap();
        assert!((8_000_000..=LIMIT).contains(&peak), "{}: {peak}", cell.id);
    }
    assert_eq!(groups(&result.manifest.run_id), Vec::<PathBuf>::new());
}

#[test]
fn a_run_that_is_killed_leaves_no_group_once_it_was_gone_on_with() {
    if !is_here("lmdb") {
        return;
    }
    let sandbox = Sandbox::new();
    let words = ["run", "sensors", "-e", "lmdb", "-s", "5k", "--memory-limit", "32MiB"];
    let more = ["--variant", "single", "--phases", "load,read", "--trials", "2"];
    let more = [&more[..], &["--no-counting", "--out", "out"]].concat();
    let mut command = sandbox.command(&[&words[..], &more].concat());
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let up = wait_for("a database or the end", || match run.try_wait().unwrap() {
        Some(_) => Some(false),
        None => {
            let entries = fs::read_dir(sandbox.path("out/data")).ok()?;
            let mut names = entries.flatten().map(|entry| entry.file_name());
            let of_a_trial = "lmdb-sensors-5k-within-32-MiB";
            names.any(|name| name.to_string_lossy().starts_with(of_a_trial)).then_some(true)
        }
    });
    if !up {
        assert!(!limited(&sandbox.result("out")), "it ended without a trial");
        return;
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let out = fs::canonicalize(sandbox.path("out")).unwrap();
    wait_for("its processes to end", || processes_using(&out).is_empty().then_some(()));
    sandbox.embermark(&["run", "--resume", "out"]).expect_status(0);
    let result = sandbox.result("out");
    assert!(result.cells.iter().all(|cell| cell.trials.len() == 2));
    assert!(
        result.cells.iter().flat_map(|cell| &cell.trials).all(|t| t.limited_peak_bytes.is_some())
    );
    assert_eq!(groups(&result.manifest.run_id), Vec::<PathBuf>::new());
}

#[test]
fn cold_reads_come_from_storage_and_warm_ones_do_not() {
    let engines = ["lmdb", "sqlite"];
    if !engines.iter().all(|engine| is_here(engine)) {
        return;
    }
    let sandbox = Sandbox::new();
    // Phases that this looks at, and those that put their rows in.
    let phases = "load,read,avg_sensor,insert,select_scan,update_indexed,delete_scan,gps";
    let short = ["--variant", "single,none", "--phases", phases, "--set", "window=50ms"];
    let once = ["-s", "3k", "--runs", "2", "--trials", "1", "--no-counting", "--out"];
    let run = |words: &[&str], out: &[&str]| {
        let words = [&["run", "sensors", "contacts", "events"], words, &short, &once, out].concat();
        sandbox.embermark(&words).expect_status(0)
    };
    let ended = run(&["htap", "-e", "lmdb,sqlite,memory"], &["cold", "--cold"]);
    ended.expect_stderr(&["--cold does not apply to htap: left out"]);
    run(&["-e", "lmdb,sqlite"], &["warm"]);
    let (cold, warm) = (sandbox.result("cold"), sandbox.result("warm"));
    assert!(cold.cells.iter().all(|cell| cell.id.workload != "htap"));
    let reads = [
        ("sensors", "read"),
        ("sensors", "avg_sensor"),
        ("contacts", "select_scan"),
        ("contacts", "update_indexed"),
        ("contacts", "delete_scan"),
        ("events", "gps"),
    ];
    for (workload, phase) in reads {
        for engine in engines {
            let read = |result: &ResultFile| {
                let of = |cell: &&Cell| cell.id.workload == workload && cell.id.engine == engine;
                let cell = result.cells.iter().find(of).unwrap();
                assert!(cell.status.has_figures(), "{}: {:?}", cell.id, cell.reason);
                last(cell, phase).engine.read_bytes.unwrap()
            };
            let (cold, warm) = (read(&cold), read(&warm));
            assert!(cold >= 4096 && warm < cold, "{engine} {workload} {phase}: {cold}, {warm}");
        }
    }
    let reference = cold.cells.iter().find(|cell| cell.reference).unwrap();
    assert_eq!(reference.status, Status::Unsupported);
}

#[test]
fn a_plan_file_has_them_too_and_what_cannot_be_had_is_refused() {
    let sandbox = Sandbox::new();
    for (words, saying) in [
        (&["run", "sensors", "--memory-limit", "1MiB"][..], "at least 16MiB"),
        (&["run", "sensors", "--memory-limit", "much"], "--memory-limit 'much' is not a size"),
        (&["run", "sensors", "--memory-limit", "900TiB"], "exceeds this machine's memory"),
        (&["run", "sensors", "--memory-limit", "900TiB", "--dry-run"], "exceeds this machine's"),
        (&["run", "sensors", "--cache", "900TiB"], "(--cache) exceeds this machine's memory"),
        (&["run", "sensors", "--cache", "900TiB", "--dry-run"], "(--cache) exceeds"),
        (
            &["run", "sensors", "--memory-limit", "64MiB", "--cache", "32MiB"],
            "at most a quarter, 16 MiB",
        ),
        (&["run", "htap", "--cold"], "reads of htap cannot be cold"),
        (&["run", "machine", "htap", "--cold"], "or run sensors, contacts, events"),
    ] {
        sandbox.embermark(words).expect_status(2).expect_stderr(&[saying]);
        assert!(!sandbox.path("results").exists(), "{words:?}");
    }
    sandbox.write("plan.toml", "workloads = ['machine']\nmemory-limit = ['2MiB']\ncold = true\n");
    sandbox
        .embermark(&["run", "--plan", "plan.toml"])
        .expect_status(2)
        .expect_stderr(&["at least 16MiB"]);
}

#[test]
fn lmdb_has_a_smaller_map_where_a_process_has_less_room_for_addresses() {
    let sandbox = Sandbox::new();
    let limited = ["-c", "ulimit -v 8000000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_embermark")];
    let words = ["run", "sensors", "-e", "lmdb", "-s", "300", "--phases", "load,read"];
    let how = ["--runs", "1", "--trials", "1", "--no-counting", "--out", "out"];
    let words = [&limited, &words[..], &how].concat();
    let ended = sandbox.command_for(Path::new("/bin/sh"), &words).output().unwrap();
    common::ProgramOutput::from(ended).expect_status(0);
    let result = sandbox.result("out");
    let mut maps = result.cells.iter().map(|cell| cell.trials[0].settings["map size"].as_str());
    assert!(maps.all(|map| map == "4294967296 bytes"), "{:?}", result.cells);
}
