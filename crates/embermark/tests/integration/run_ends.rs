//! Ends of runs whose folder, disk or terminal disappears.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::run_processes::{assert_nothing_left, signal};
use crate::common::{ProgramOutput, Sandbox, is_here, wait_for};
use embermark_model::Status;
use embermark_model::result::ResultFile;
use embermark_skips::{sampled, skipped};
use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::signal::Signal;

#[test]
fn a_run_whose_folder_is_removed_keeps_what_it_measured_and_says_where() {
    let sandbox = Sandbox::new();
    let words = ["run", "sensors", "-e", "memory", "-s", "1k", "--runs", "2", "--trials", "1000"];
    let mut command = sandbox.command(&[&words[..], &["--no-counting", "--out", "out"]].concat());
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let journal = sandbox.path("out/journal.jsonl");
    let ended = wait_for("the first trial", || {
        let text = fs::read_to_string(&journal).unwrap_or_default();
        let ended = text.contains("{\"cell\":");
        (ended || run.try_wait().unwrap().is_some()).then_some(ended)
    });
    assert!(ended);
    fs::rename(sandbox.path("out"), sandbox.path("gone")).unwrap();
    let ended = ProgramOutput::from(run.wait_with_output().unwrap()).expect_status(1);
    let kept = ended.stderr.split("the result is in ").nth(1).unwrap_or_default();
    let kept = Path::new(kept.lines().next().unwrap_or_default());
    let result: ResultFile = serde_json::from_slice(&fs::read(kept).unwrap()).unwrap();
    assert!(!result.cells[0].trials.is_empty());
    assert_nothing_left(&sandbox);
}

/// Returns a terminal of 60 columns.
fn terminal() -> OpenptyResult {
    let size = Winsize { ws_row: 24, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0 };
    let terminal = openpty(Some(&size), None).unwrap();
    for side in [&terminal.master, &terminal.slave] {
        // A program that held it open would keep it from being closed.
        // SAFETY: sets a flag of a descriptor that is open.
        unsafe { libc::fcntl(side.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    terminal
}

/// Runs a command with a terminal as its standard error. Returns its standard output, and what the
/// terminal got.
fn on_terminal(mut command: Command) -> (String, String) {
    let terminal = terminal();
    let output = command.stderr(File::from(terminal.slave)).stdout(Stdio::piped()).spawn();
    drop(command);
    let output = output.unwrap().wait_with_output().unwrap();
    let mut shown = Vec::new();
    // It ends with an error, because the other side is closed.
    let _ = File::from(terminal.master).read_to_end(&mut shown);
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(shown).unwrap())
}

#[test]
fn an_output_in_a_file_does_not_depend_on_the_terminal() {
    let sandbox = Sandbox::new();
    sandbox.write("result.json", include_bytes!("../../../report/tests/fixtures/schema-1.json"));
    let plain = sandbox.embermark(&["report", "result.json"]).expect_status(0).stdout;
    assert_eq!(on_terminal(sandbox.command(&["report", "result.json"])).0, plain);
    sandbox.write("mine.toml", "x");
    for (no_color, colours) in [("1", false), ("", true)] {
        let mut command = sandbox.command(&["run", "mine.toml"]);
        command.env("NO_COLOR", no_color);
        let shown = on_terminal(command).1;
        assert!(shown.contains("not a valid workload file"), "{shown}");
        assert_eq!(shown.contains('\x1b'), colours, "{shown}");
    }
}

#[test]
fn a_help_that_cannot_be_written_is_an_error() {
    let sandbox = Sandbox::new();
    for words in [["run", "--help"], ["workloads", "sensors"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ended = sandbox.command(&words).stdout(full).output().unwrap();
        ProgramOutput::from(ended)
            .expect_status(1)
            .expect_stderr(&["cannot write to standard output"]);
    }
}

#[test]
fn a_run_whose_terminal_is_closed_leaves_result_page_and_tables() {
    let sandbox = Sandbox::new();
    let terminal = terminal();
    let end = || Stdio::from(File::from(terminal.slave.try_clone().unwrap()));
    let words = ["run", "sensors", "-e", "memory", "-s", "1k", "--runs", "2", "--trials", "1"];
    let mut command = sandbox.command(&[&words[..], &["--out", "out"]].concat());
    let mut run = command.stdout(end()).stderr(end()).spawn().unwrap();
    // Every later write fails.
    drop(terminal);
    drop(command);
    let status = run.wait().unwrap();
    assert_ne!(status.code(), Some(101), "it panicked");
    assert!(sandbox.result("out").manifest.finished.is_some());
    assert!(sandbox.path("out/tables.txt").exists());
    assert_nothing_left(&sandbox);
}

#[test]
fn an_output_that_cannot_be_written_is_said_before_anything_is_read() {
    let sandbox = Sandbox::new();
    for out in ["no/such/folder/page.html", "no/such/folder/runs.csv"] {
        let ended =
            sandbox.embermark(&["report", "absent.json", "-f", "csv", "-o", out]).expect_status(2);
        ended.expect_stderr(&["cannot write no/such/folder"]);
    }
    for words in [
        ["init", "absent.csv", "-o", "no/such/folder/mine.toml"],
        ["data", "absent.txt", "-o", "no/such/folder/rows.csv"],
    ] {
        let ended = sandbox.embermark(&words).expect_status(2);
        ended.expect_stderr(&["cannot write no/such/folder"]);
    }
    let words = ["fleet", "report", "absent", "-o", "no/such/folder/runs.csv"];
    sandbox.embermark(&words).expect_status(2).expect_stderr(&["cannot write no/such/folder"]);
    sandbox
        .embermark(&["data", "absent.txt", "-o", "rows.json"])
        .expect_status(2)
        .expect_stderr(&["rows.json is neither .csv nor .parquet"]);
    let long = "x".repeat(300);
    let words = ["run", "sensors", "-e", "memory", "-s", "100", "--out", &long];
    sandbox.embermark(&words).expect_status(2).expect_stderr(&["--out"]);
}

/// A small file system in memory, unmounted when dropped.
struct Small(std::path::PathBuf);

impl Small {
    fn at(path: std::path::PathBuf) -> Option<Self> {
        fs::create_dir(&path).unwrap();
        let mount = ["-t", "tmpfs", "-o", "size=3m", "tmpfs"];
        let mounted = Command::new("mount").args(mount).arg(&path).output();
        match mounted {
            Ok(said) if said.status.success() => Some(Self(path)),
            _ => {
                skipped("a small file system", "mounting one takes root");
                None
            }
        }
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).output();
    }
}

#[test]
fn a_full_disk_is_called_so_whatever_the_engine_says() {
    let sandbox = Sandbox::new();
    let Some(small) = Small::at(sandbox.path("small")) else { return };
    // SQLite needs more than this disk in each variant, whatever the others need.
    let others = ["lmdb", "leveldb", "redb", "wiredtiger", "duckdb", "berkeleydb"];
    let others = sampled(others.into_iter().filter(|engine| is_here(engine)), 1);
    let engines = [&["sqlite"], &others[..]].concat().join(",");
    let words = ["run", "sensors", "-e", &engines, "-s", "200k", "--phases", "load", "--runs", "1"];
    let more = ["--trials", "1", "--no-counting", "--dir", "small", "--out", "out"];
    sandbox.embermark(&[&words[..], &more].concat()).expect_status(1);
    for cell in sandbox.result("out").cells {
        let reason = cell.reason.clone().or(cell.trials[0].reason.clone()).unwrap_or_default();
        if cell.status == Status::Failed {
            assert!(reason.contains("disk full"), "{}: {reason}", cell.id);
        }
    }
    let failed =
        sandbox.result("out").cells.iter().filter(|cell| cell.status == Status::Failed).count();
    assert!(failed > 1);
    drop(small);
}

#[test]
fn rows_that_do_not_fit_on_the_disk_are_refused_with_the_figures_before_they_are_written() {
    let sandbox = Sandbox::new();
    if let Some(small) = Small::at(sandbox.path("small")) {
        let words = ["run", "sensors", "-e", "memory", "-s", "1000M", "--out", "small/out"];
        let ended = sandbox.embermark(&words).expect_status(2);
        let ended = ended.expect_stderr(&["take at least", "GB are free", "--scale"]);
        assert!(!sandbox.path("small/out").exists(), "{}", ended.stderr);
        // The rows of the workload file are in several files, of a gigabyte in total.
        let words = ["run", "ycsb-c", "-e", "memory", "-s", "1M", "--out", "small/out"];
        sandbox.embermark(&words).expect_status(2).expect_stderr(&[
            "ycsb-c: ",
            "take at least",
            "GB are free",
        ]);
        drop(small);
    }
    let words = ["run", "sensors", "-e", "memory", "-s", "100", "--cache", "64TiB", "--out", "out"];
    sandbox
        .embermark(&words)
        .expect_status(2)
        .expect_stderr(&["65536.0 GiB", "this machine's memory"]);
}

#[test]
fn an_interrupt_is_heard_while_rows_are_prepared() {
    let sandbox = Sandbox::new();
    let words = ["run", "sensors", "-e", "memory", "-s", "20M", "--out", "out"];
    let mut command = sandbox.command(&words);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(run.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(said.any(|line| line.starts_with("preparing rows of sensors")));
    assert!(signal(run.id(), Signal::SIGINT));
    let said: Vec<String> = said.collect();
    assert_eq!(run.wait().unwrap().code(), Some(130), "{said:?}");
    assert!(said.iter().any(|line| line.contains("interrupted before a trial had ended")));
    assert!(!sandbox.path("out/result.json").exists());
}
