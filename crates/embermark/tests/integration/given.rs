//! Runs on a server given by its URL. What a killed run leaves on the server is removed.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::run_processes::signal;
use crate::common::{ProgramOutput, Sandbox, is_here, processes, wait_for};
use embermark_engines::{OpenOptions, Store, registry};
use embermark_model::{Durability, Status};
use nix::sys::signal::Signal;

/// Pause before each question to a server while a test waits. A question takes milliseconds of two
/// processes.
const PAUSE: Duration = Duration::from_millis(10);

/// Returns the schemas of runs on the server.
fn schemas(owner: &mut Store) -> Vec<String> {
    let Store::Sql(owner) = owner else { panic!("no SQL store") };
    let sql = "SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'embermark%'";
    let statement = owner.prepare(sql).unwrap();
    let mut found = Vec::new();
    let mut visit = |row: &dyn embermark_engines::row::ResultRow| {
        found.extend(row.text(0)?.map(str::to_owned));
        Ok(())
    };
    owner.query(statement, &[], &mut visit).unwrap();
    found
}

fn start(sandbox: &Sandbox, words: &[&str]) -> Child {
    sandbox.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Returns the worker of a run, whose standard error is a log.
fn worker_of(parent: u32) -> Option<u32> {
    processes().into_iter().find(|pid| {
        let log = fs::read_link(format!("/proc/{pid}/fd/2")).unwrap_or_default();
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let of = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
        log.extension().is_some_and(|extension| extension == "log") && of == Some(parent)
    })
}

#[test]
fn a_killed_worker_an_interrupt_and_a_killed_run_that_is_gone_on_with_leave_nothing() {
    if !is_here("postgres") {
        return;
    }
    let sandbox = Sandbox::new();
    let dir = sandbox.path("of-the-owner");
    fs::create_dir(&dir).unwrap();
    let private = OpenOptions::new(&dir, Durability::Process, 64 << 20);
    let mut owner = registry::find("postgres").unwrap().open(&private).unwrap().store;
    let socket = dir.join("server/run").to_str().unwrap().replace('/', "%2F");
    let url = format!("postgres=postgres://postgres@{socket}/postgres");
    let words = ["run", "sensors", "-e", "postgres", "--url", &url, "--scale", "1k"];
    let words =
        [&words[..], &["--variant", "single", "--trials", "1", "--set", "max-run-time=none"]];
    let few = ["--phases", "load,read,update", "--no-counting", "--tier", "process", "--out"];
    let words = [&words.concat()[..], &few].concat();
    let mut begun = |out: &str, runs: &str| {
        let mut run = start(&sandbox, &[&words[..], &[out, "--runs", runs]].concat());
        let is_there = wait_for("its schema", || {
            thread::sleep(PAUSE);
            let is_there = !schemas(&mut owner).is_empty();
            (is_there || run.try_wait().unwrap().is_some()).then_some(is_there)
        });
        assert!(is_there, "{}", ProgramOutput::from(run.wait_with_output().unwrap()).stderr);
        run
    };

    let run = begun("worker", "100");
    assert!(signal(worker_of(run.id()).unwrap(), Signal::SIGKILL));
    ProgramOutput::from(run.wait_with_output().unwrap()).expect_status(1);
    let run_of_worker = sandbox.result("worker");
    assert_eq!(run_of_worker.cells[0].status, Status::Failed);

    let run = begun("interrupt", "100");
    assert!(signal(run.id(), Signal::SIGINT));
    ProgramOutput::from(run.wait_with_output().unwrap()).expect_status(130);

    let mut run = begun("run", "3");
    let worker = worker_of(run.id()).unwrap();
    run.kill().unwrap();
    run.wait().unwrap();
    wait_for("its worker's end", || (!processes().contains(&worker)).then_some(()));
    // The earlier runs left nothing. The schema of this run stays until it is resumed.
    let [left] = schemas(&mut owner).try_into().unwrap();
    let journal = fs::read_to_string(sandbox.path("run/journal.jsonl")).unwrap();
    let (_, id) = journal.split_once("\"run_id\":\"").unwrap();
    let (id, _) = id.split_once('"').unwrap();
    assert_eq!(left, format!("embermark_{}", id.to_lowercase().replace('-', "_")));
    // Its journal has no user.
    sandbox
        .embermark(&["run", "--resume", "run"])
        .expect_status(2)
        .expect_stderr(&["--url postgres=URL"]);
    sandbox.embermark(&["run", "--resume", "run", "--url", &url]).expect_status(0);
    assert_eq!(schemas(&mut owner), [] as [&str; 0]);
    let settings = &sandbox.result("run").cells[0].trials[0].settings;
    assert_eq!(settings["server"], "given by URL");
    assert_eq!(settings["cache"], (64 << 20).to_string());
    owner.close().unwrap();
}

#[test]
fn a_cell_whose_tier_is_changed_during_its_trial_is_wrong() {
    if !is_here("mariadb") {
        return;
    }
    let sandbox = Sandbox::new();
    let dir = sandbox.path("of-the-owner");
    fs::create_dir(&dir).unwrap();
    let private = OpenOptions::new(&dir, Durability::Process, 64 << 20);
    let mut owner = registry::find("mariadb").unwrap().open(&private).unwrap().store;
    let Store::Sql(sql) = &mut owner else { panic!("no SQL store") };
    let url = format!(
        "mariadb=mysql://root@localhost/?socket={}",
        dir.join("server/run/socket").display()
    );
    let words = ["run", "sensors", "-e", "mariadb", "--url", &url, "--scale", "1k", "--out", "out"];
    let more = ["--variant", "single", "--trials", "1", "--runs", "10", "--no-counting"];
    let few = ["--phases", "load,read"];
    let mut run = start(&sandbox, &[&words[..], &more, &few].concat());
    let tables =
        "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema LIKE 'embermark\\_%'";
    let tables = sql.prepare(tables).unwrap();
    let is_there = wait_for("its table", || {
        thread::sleep(PAUSE);
        let mut count = 0;
        let mut visit = |row: &dyn embermark_engines::row::ResultRow| {
            count = row.int(0)?.unwrap_or_default();
            Ok(())
        };
        sql.query(tables, &[], &mut visit).unwrap();
        (count > 0 || run.try_wait().unwrap().is_some()).then_some(count > 0)
    });
    if is_there {
        sql.batch("SET GLOBAL innodb_flush_log_at_trx_commit = 0").unwrap();
    }
    ProgramOutput::from(run.wait_with_output().unwrap()).expect_status(1);
    let cell = &sandbox.result("out").cells[0];
    assert_eq!(cell.status, Status::Wrong, "{:?}", cell.reason);
    let reason = cell.reason.as_deref().unwrap();
    assert!(reason.contains("tier changed during the trial: innodb_flush_log"), "{reason}");
    owner.close().unwrap();
}
