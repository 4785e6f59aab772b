//! Only the client of a server gets the password in its URL.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::common::run_processes::{assert_nothing_left, running_processes, signal, workers};
use crate::common::{self, Sandbox, is_here, wait_for};
use embermark_skips::{sampled, skipped};
use nix::sys::signal::Signal;

const PASSWORD: &str = "s3cr3t-of-ann";

/// Returns every file below a folder whose bytes contain the password.
fn holders(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).unwrap().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else if fs::read(entry.path())
                .unwrap()
                .windows(PASSWORD.len())
                .any(|part| part == PASSWORD.as_bytes())
            {
                found.push(entry.path().display().to_string());
            }
        }
    }
    found
}

#[test]
fn no_file_of_a_run_holds_it_and_resume_asks_for_it_again() {
    if !is_here("postgres") {
        return skipped("postgres", "its client library is not here");
    }
    let sandbox = Sandbox::new();
    // No server listens there, so the cell fails with the client's error.
    let url = format!("postgres=postgresql://ann:{PASSWORD}@127.0.0.1:1/x?connect_timeout=2");
    let cells = ["run", "sensors", "-e", "postgres,sqlite", "-s", "100", "--phases", "load,read"];
    let more = ["--trials", "1", "--runs", "1", "--url", &url, "--out", "out"];
    let ended = sandbox.embermark(&[&cells[..], &more].concat()).expect_status(1);
    assert!(
        !ended.stdout.contains(PASSWORD) && !ended.stderr.contains(PASSWORD),
        "{}",
        ended.stderr
    );
    assert_eq!(holders(&sandbox.path("out")), Vec::<String>::new());
    let journal = fs::read_to_string(sandbox.path("out/journal.jsonl")).unwrap();
    assert!(journal.contains("postgresql://***@127.0.0.1:1/x\""), "{journal}");

    // Imitates an interruption before the last trials.
    let begun: String = journal.split_inclusive('\n').take(2).collect();
    fs::remove_file(sandbox.path("out/result.json")).unwrap();
    fs::write(sandbox.path("out/journal.jsonl"), begun).unwrap();
    let refused = sandbox.embermark(&["run", "--resume", "out"]).expect_status(2);
    refused.expect_stderr(&["--url postgres=URL", "EMBERMARK_PASSWORD_POSTGRES"]);
    let elsewhere = "postgres=postgresql://ann@127.0.0.1:2/x";
    let refused =
        sandbox.embermark(&["run", "--resume", "out", "--url", elsewhere]).expect_status(2);
    refused.expect_stderr(&["127.0.0.1:1/x", "127.0.0.1:2/x"]);
    let user = "postgres=postgresql://ann@127.0.0.1:1/x?connect_timeout=2";
    let mut command = sandbox.command(&["run", "--resume", "out", "--url", user]);
    common::ProgramOutput::from(
        command.env("EMBERMARK_PASSWORD_POSTGRES", PASSWORD).output().unwrap(),
    )
    .expect_status(1);
    assert!(sandbox.result("out").manifest.finished.is_some());
    assert_eq!(holders(&sandbox.path("out")), Vec::<String>::new());
}

#[test]
fn a_malformed_url_ends_before_anything_is_written_and_is_not_repeated() {
    let sandbox = Sandbox::new();
    for url in [
        "postgres=host = h password='s3cr3t-of-ann",
        "postgres=postgres://ann:s3cr3t-of-ann/x@h/y",
        "postgres=s3cr3t-of-ann",
        "influxdb=http://h:8086?u=ann&p=s3cr3t-of-ann",
        "valkey=redis://s3cr3t-of-ann@h",
        "s3cr3t-of-ann",
        "s3cr3t-of-ann=x",
    ] {
        for format in ["--url", "--plan"] {
            let plan = sandbox.write("plan.toml", format!("url = [\"\"\"{url}\"\"\"]\n"));
            let given = if format == "--url" { url } else { plan.to_str().unwrap() };
            let words = ["run", "sensors", "-e", "sqlite", "-s", "100", "--out", "out"];
            let ended =
                sandbox.embermark(&[&words[..], &[format, given]].concat()).expect_status(2);
            assert!(ended.stderr.contains("--url"), "{}", ended.stderr);
            ended.expect_not_printed(PASSWORD);
            assert!(!sandbox.path("out").exists(), "{url}");
        }
    }
}

#[test]
fn a_plan_file_that_is_wrong_names_the_line_and_repeats_no_secret() {
    let sandbox = Sandbox::new();
    for (line, says) in [
        (format!("url = \"postgres=postgres://ann:{PASSWORD}@h\""), "sequence"),
        (format!("runs = \"{PASSWORD}\""), "u32"),
        (format!("url = [\"postgres=postgres://ann:{PASSWORD}@h"), "array"),
        (format!("url = [[\"{PASSWORD}\"]]"), "string"),
        (format!("url = {{ postgres = \"{PASSWORD}\" }}"), "sequence"),
    ] {
        let plan = sandbox.write("plan.toml", format!("trials = 1\n\n{line}\n"));
        let ended = sandbox.embermark(&["run", "--plan", plan.to_str().unwrap()]).expect_status(2);
        let ended = ended.expect_stderr(&["plan.toml, line 3: ", says]);
        ended.expect_not_printed(PASSWORD);
    }
}

#[test]
fn no_process_of_a_run_has_a_password_in_its_environment() {
    let sandbox = Sandbox::new();
    let mut engines = vec!["sqlite"];
    engines.extend(sampled(["postgres", "valkey"].into_iter().filter(|id| is_here(id)), 1));
    for engine in engines {
        let words = ["run", "sensors", "-e", engine, "-s", "20k", "--runs", "100", "--out"];
        let words = [&words[..], &[engine, "--set", "max-run-time=none", "--trials", "1"]].concat();
        let mut command = sandbox.command(&words);
        for other in ["POSTGRES", "VALKEY"] {
            command.env(format!("EMBERMARK_PASSWORD_{other}"), PASSWORD);
        }
        let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let root = run.id();
        // The worker of a trial, and its server if the engine is one.
        let most = if engine == "sqlite" { 1 } else { 2 };
        let others = wait_for("the processes of a trial", || {
            let running = running_processes(&sandbox).into_iter().filter(|pid| *pid != root);
            let others: Vec<u32> = running.collect();
            let is_there = !workers(&sandbox).is_empty() && others.len() >= most;
            (is_there || run.try_wait().unwrap().is_some()).then_some(others)
        });
        assert!(others.len() >= most, "{engine}: it ended");
        for pid in others {
            for file in ["environ", "cmdline"] {
                // A process that was just forked has those of its parent until it executes its
                // program.
                wait_for(&format!("{engine}: the {file} of {pid} without the password"), || {
                    let text = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
                    (!String::from_utf8_lossy(&text).contains(PASSWORD)).then_some(())
                });
            }
        }
        signal(root, Signal::SIGINT);
        run.wait().unwrap();
    }
    assert_nothing_left(&sandbox);
}

#[test]
fn an_engine_of_another_version_does_not_go_on_with_a_run() {
    let sandbox = Sandbox::new();
    let words = ["run", "sensors", "-e", "sqlite", "-s", "100", "--phases", "load", "--runs", "1"];
    let more = ["--variant", "single", "--trials", "2", "--no-counting", "--out", "out"];
    sandbox.embermark(&[&words[..], &more].concat()).expect_status(0);
    let journal = fs::read_to_string(sandbox.path("out/journal.jsonl")).unwrap();
    let version = sandbox.result("out").cells[0].trials[0].version.clone().unwrap();
    let first = journal.find("{\"cell\":").unwrap();
    let end = first + journal[first..].find('\n').unwrap() + 1;
    let begun = journal[..end].to_owned();
    let older = begun.replace(
        &format!("\"version\":\"{version}\",\"settings\""),
        "\"version\":\"3.0.1\",\"settings\"",
    );
    assert_ne!(begun, older);
    fs::remove_file(sandbox.path("out/result.json")).unwrap();
    fs::write(sandbox.path("out/journal.jsonl"), &older).unwrap();
    let refused = sandbox.embermark(&["run", "--resume", "out"]).expect_status(2);
    assert!(
        refused.stderr.contains(&format!("sqlite was 3.0.1 in the trials before and is {version}")),
        "{}",
        refused.stderr
    );
    // The run resumes with the original engine.
    fs::write(sandbox.path("out/journal.jsonl"), &begun).unwrap();
    sandbox.embermark(&["run", "--resume", "out"]).expect_status(0);
}
