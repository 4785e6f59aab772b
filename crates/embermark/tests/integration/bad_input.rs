//! Error messages for invalid input.

use crate::common::{self, Mounted, Sandbox};
use embermark_model::Status;
use embermark_skips::skipped;

fn refused(words: &[&str], saying: &[&str]) {
    Sandbox::new().embermark(words).expect_status(2).expect_stderr(saying);
}

#[test]
fn unknown_names_are_answered_with_the_nearest_and_the_valid_ones() {
    refused(&["run", "sensor"], &["unknown workload 'sensor'", "did you mean 'sensors'?"]);
    refused(
        &["run", "-e", "sqlit"],
        &["unknown engine 'sqlit'", "did you mean 'sqlite'?", "embedded", "servers"],
    );
    let neither = "is neither an engine nor a workload";
    refused(&["tune", "sqlight"], &["'sqlight'", neither, "did you mean 'sqlite"]);
    refused(&["tune", "sensor"], &["'sensor'", neither, "did you mean 'sensors'?"]);
    refused(&["tune", "nosuch"], &["'nosuch'", neither, "; engines: ", "; workloads: "]);
    refused(&["run", "--tier", "full"], &["unknown tier 'full'", "none, process, power"]);
    refused(&["run", "--variant", "bluk"], &["unknown variant 'bluk'", "did you mean 'bulk'?"]);
    refused(&["run", "--phases", "raed"], &["unknown phase 'raed'", "did you mean 'read'?"]);
    refused(&["run", "--format", "xml"], &["unknown format 'xml'", "markdown"]);
    refused(&["run", "--enginse", "sqlite"], &["--engines"]);
    refused(&["ran"], &["run"]);
}

#[test]
fn scales_that_make_no_sense_are_refused() {
    refused(&["run", "--scale", "0"], &["at least 1"]);
    refused(&["run", "--scale", "many"], &["'many' is not a scale", "10k"]);
    refused(&["run", "--scale", "-3"], &["-3"]);
    refused(&["run", "--scale", "99999999999999999999999"], &["at most"]);
    refused(&["run", "--scale", "full"], &["full", "--data"]);
}

#[test]
fn a_data_file_that_cannot_be_used_says_why() {
    let sandbox = Sandbox::new();
    let lines = "2004-03-11 16:52:19.794238 2 55 26.2114 43.4524 97.52 3.04574\n";
    sandbox.write("good.txt", lines);
    sandbox.write("empty.txt", "");
    sandbox.write("binary.txt", [0u8, 159, 146, 150, 0, 1]);
    sandbox.write("words.txt", "these are words\nand nothing else\n");
    sandbox.write("commas.txt", lines.replace(' ', ","));
    sandbox.write("cut.gz", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab]);
    for (file, saying) in [
        ("missing.txt", "no such file"),
        (".", "folder"),
        ("empty.txt", "empty"),
        ("binary.txt", "not text"),
        ("words.txt", "words.txt"),
        ("commas.txt", "comma"),
        ("cut.gz", "gzip"),
    ] {
        let words = ["run", "-e", "memory", "--scale", "1", "--data", file, "--out", "out"];
        sandbox.embermark(&words).expect_status(2).expect_stderr(&[saying]);
        assert!(!sandbox.path("out/result.json").exists());
    }
    let words = ["run", "-e", "memory", "--scale", "5", "--data", "good.txt", "--out", "more"];
    sandbox.embermark(&words).expect_status(2).expect_stderr(&["5 rows requested", "has only 1"]);
}

#[test]
fn odd_lines_are_counted_and_reported_never_silently_dropped() {
    let sandbox = Sandbox::new();
    let good = "2004-03-11 16:52:19.794238 2 55 26.2114 43.4524 97.52 3.04574";
    let log = [
        good,
        good,
        "2004-03-11 16:52:20 2 99 26.2 43.4 97.5 3.0",
        "2004-03-11 16:52:21 2 99999 26.2 43.4 97.5 3.0",
        "2004-03-11 16:52:22 2  26.2 43.4 97.5 3.0",
        "2004-03-11 16:52:23 2 7 26.2",
        "2004-03-11 16:52:24 2 7 warm 43.4 97.5 3.0",
        "2004-03-11 16:52:25 2 7  43.4 97.5 3.0",
    ];
    sandbox.write("log.txt", log.join("\n"));
    let ended = sandbox
        .embermark(&[
            "run",
            "-e",
            "memory",
            "--scale",
            "full",
            "--data",
            "log.txt",
            "--out",
            "out",
            "--show",
            "tables",
            "--effort",
            "quick",
            "--no-counting",
        ])
        .expect_status(0);
    let set = &sandbox.result("out").manifest.datasets["sensors"];
    assert_eq!(set.rows + set.dropped.values().sum::<u64>(), log.len() as u64, "{set:?}");
    assert_eq!((set.rows, set.dropped.get("duplicate key")), (3, Some(&1)), "{set:?}");
    assert!(ended.stdout.contains("duplicate key"), "{}", ended.stdout);

    let described = sandbox.embermark(&["data", "log.txt"]).expect_status(0).stdout;
    assert!(described.contains("duplicate key") && described.contains("3 of"), "{described}");
}

#[test]
fn an_output_folder_in_use_or_out_of_reach_is_refused() {
    let sandbox = Sandbox::new();
    let run = ["run", "-e", "memory", "--scale", "10", "--phases", "load", "--effort", "quick"];
    let to = |out| sandbox.embermark(&[&run[..], &["--no-counting", "--out", out]].concat());
    to("out").expect_status(0);
    to("out").expect_status(2).expect_stderr(&["out", "another run"]);
    sandbox.write("file", "not a folder");
    to("file").expect_status(2).expect_stderr(&["file"]);
    std::fs::create_dir(sandbox.path("mine")).unwrap();
    sandbox.write("mine/letter.txt", "dear");
    to("mine").expect_status(2).expect_stderr(&["mine"]);
    assert!(sandbox.path("mine/letter.txt").exists());
}

#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    let sandbox = Sandbox::new();
    let Some(_mounted) = Mounted::new(sandbox.path("shut"), "ro") else { return };
    let to = |out| sandbox.embermark(&["run", "-e", "memory", "--scale", "10", "--out", out]);
    to("shut").expect_status(2).expect_stderr(&["shut", "--out"]);
    to("shut/below").expect_status(2).expect_stderr(&["shut/below", "--out"]);
    let words = ["run", "-e", "memory", "--scale", "10", "--out", "out", "--dir", "shut"];
    sandbox.embermark(&words).expect_status(2).expect_stderr(&["shut", "--dir"]);
}

#[test]
fn without_postgresql_its_cell_says_what_is_missing_and_the_others_run() {
    if !cfg!(feature = "postgres") {
        return;
    }
    let sandbox = Sandbox::new();
    let words = [
        "run",
        "-e",
        "memory,postgres",
        "--scale",
        "10",
        "--phases",
        "load",
        "--effort",
        "quick",
        "--no-counting",
        "--out",
        "out",
        "--show",
        "tables",
    ];
    let output =
        sandbox.command(&words).env("EMBERMARK_POSTGRES_BIN", "/nowhere").output().unwrap();
    let ended = common::ProgramOutput::from(output).expect_status(0);
    assert!(ended.stdout.contains("/nowhere"), "{}", ended.stdout);
    let result = sandbox.result("out");
    for cell in &result.cells {
        let expected = if cell.id.engine == "postgres" { Status::Unavailable } else { Status::Ok };
        assert_eq!(cell.status, expected, "{}", cell.id);
    }
}

#[test]
fn a_file_that_is_no_result_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("text.json", "hello");
    sandbox.write("other.json", "{\"a\": 1}");
    sandbox.write("newer.json", "{\"schema\": 999, \"manifest\": {}, \"cells\": []}");
    for (file, saying) in [
        ("none.json", "none.json"),
        ("text.json", "JSON"),
        ("other.json", "not an embermark result"),
        ("newer.json", "999"),
    ] {
        sandbox.embermark(&["report", file]).expect_status(2).expect_stderr(&[saying]);
    }
}

#[test]
fn a_device_is_emulated_and_marked_as_an_emulation_or_refused_with_the_reason() {
    refused(&["run", "--device", "pi33"], &["unknown device 'pi33'", "did you mean 'pi3'?"]);
    let sandbox = Sandbox::new();
    let words = ["run", "sensors", "-e", "memory", "--scale", "100", "--phases", "load"];
    let ended = sandbox.embermark(
        &[&words[..], &["--effort", "quick", "--device", "pi-zero", "--out", "out"]].concat(),
    );
    if ended.status == 2 {
        let ended =
            ended.expect_stderr(&["--device pi-zero cannot be emulated here: ", "; run as root"]);
        assert!(!sandbox.path("out").exists(), "{}", ended.stderr);
        return skipped("control groups", ended.stderr);
    }
    let ended = ended.expect_status(0);
    let machine = sandbox.result("out").manifest.machine;
    let limits = machine.emulates.unwrap().limits;
    let memory = limits.get("memory.max").or_else(|| limits.get("memory.limit_in_bytes"));
    assert_eq!(memory.map(String::as_str), Some("536870912"), "{limits:?}");
    assert!(ended.stdout.contains("an emulation of pi-zero, not the device"), "{}", ended.stdout);
}

#[test]
fn clients_and_rates_that_cannot_be_had_are_refused_with_what_can() {
    for clients in ["0", "many", "257", "2.5"] {
        refused(&["run", "sensors", "-e", "memory", "--clients", clients], &["--clients"]);
    }
    refused(&["run", "machine", "--clients", "2"], &["'machine'", "--clients", "run sensors"]);
    refused(&["run", "--clients", "2"], &["no point operations", "run sensors"]);
    refused(&["run", "htap", "--rate", "5"], &["at a rate", "run sensors"]);
    refused(&["run", "sensors", "--rate", "0"], &["at least 1"]);
    refused(&["run", "sensors", "--rate", "soon"], &["rate 'soon'"]);
    refused(&["run", "sensors", "--rate", "99999999999"], &["1 to 10000000"]);
    let point = ["only point operations", "commit-each"];
    refused(&["run", "sensors", "--clients", "2", "--phases", "avg_sensor"], &point);
    let bulk = ["run", "sensors", "--clients", "2", "--variant", "bulk", "--phases", "update"];
    refused(&bulk, &point);
    let sandbox = Sandbox::new();
    sandbox.write("plan.toml", "workloads = ['sensors']\nclients = 1000\n");
    sandbox
        .embermark(&["run", "--plan", "plan.toml"])
        .expect_status(2)
        .expect_stderr(&["1000 clients", "1 to 256"]);
}

#[test]
fn an_option_that_cannot_have_an_effect_is_refused() {
    for (words, saying) in [
        (&["sensors", "--set", "window=9s"][..], "window: no selected phase"),
        (&["events", "--phases", "insert", "--set", "window=9s"], "window: no selected phase"),
        (&["contacts", "--set", "warm-up=9s"], "machine"),
        (&["sensors", "machine", "--set", "disk-size=4GiB"], "retention"),
        (&["machine", "--set", "p99-limit=9ms"], "embermark rate"),
        (&["sensors", "-e", "sqlite", "--url", "postgres=postgres://h/d"], "--url postgres"),
        (&["sensors", "-e", "sqlite", "--accept-license", "harperdb"], "does not run"),
        (&["sensors", "-e", "sqlite", "--network", "wifi"], "--network: only servers"),
        (
            &["sensors", "-e", "postgres", "--network", "wifi", "--url", "postgres=postgres://h/d"],
            "--network: only servers",
        ),
        (&["sensors", "--weight", "cpu=2"], "machine"),
        (&["sensors", "--rows-per-day", "1k"], "--card"),
        (&["sensors", "--show", "latency", "--format", "json"], "json"),
        (&["sensors", "--format", "parquet"], "Parquet is not text"),
        // A dry run refuses what the run would refuse.
        (&["sensors", "--dry-run", "--weight", "cpu=2"], "machine"),
        (&["sensors", "--dry-run", "--card", "sd-32gb", "--no-counting"], "--no-counting"),
    ] {
        let sandbox = Sandbox::new();
        let words = [&["run", "--out", "out"], words].concat();
        sandbox.embermark(&words).expect_status(2).expect_stderr(&[saying]);
        assert!(!sandbox.path("out").exists(), "{words:?}");
    }
    refused(
        &["reproduce", "mcknight", "--set", "window=9s"],
        &["window: none of the named pieces"],
    );
    refused(&["verify", "sqlite", "--url", "valkey=valkey://h"], &["--url valkey"]);
    refused(&["reproduce", "ulb", "--weight", "cpu=2"], &["--weight", "machine"]);
    refused(&["reproduce", "ulb", "--format", "json"], &["--format has no effect"]);
    refused(&["run", "--dry-run", "--resume", "out"], &["cannot be used with"]);
    refused(&["rate", "--rate", "5"], &["leave out --rate"]);
    refused(&["rate", "--set", "rate=5"], &["leave out --set rate"]);
    refused(&["rate", "--resume", "out", "--p99-limit", "5ms"], &["cannot be used with"]);
    refused(&["data", "log.txt", "--seed", "7"], &["cannot be used with"]);
}

#[test]
fn a_folder_that_a_command_cannot_use_is_named_with_the_option() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "not a folder");
    for folder in ["searched", "tested"] {
        std::fs::create_dir(sandbox.path(folder)).unwrap();
    }
    sandbox.write("searched/tune.json", "{}");
    sandbox.write("tested/journal.jsonl", "");
    for (words, saying) in [
        (&["verify", "memory", "--dir", "absent"][..], "--dir"),
        (&["footprint", "memory", "--dir", "absent"], "--dir"),
        (&["durability", "memory", "--out", "file"], "--out"),
        (&["durability", "memory", "--out", "tested"], "of another run: name another folder"),
        (&["tune", "sqlite", "--out", "file"], "--out"),
        (&["tune", "sqlite", "--out", "searched"], "of another search: name another folder"),
        (&["tune", "sqlite", "--out", "new", "--for", "soon"], "--for 'soon'"),
    ] {
        sandbox.embermark(words).expect_status(2).expect_stderr(&[saying]);
    }
    assert!(!sandbox.path("new").exists());
    assert_eq!(std::fs::read(sandbox.path("searched/tune.json")).unwrap(), b"{}");
}

#[test]
fn a_name_that_a_command_does_not_know_is_answered_with_the_nearest() {
    refused(&["workloads", "sensor"], &["did you mean 'sensors'?"]);
    refused(&["man", "docter"], &["did you mean 'doctor'?"]);
}

#[test]
fn a_url_that_its_client_refuses_is_refused_before_anything_is_there() {
    for (url, saying) in [
        ("mariadb=mysql://h/d?password=hunter2", "parameters"),
        ("mariadb=mysql://u@h/d?passwd=hunter2", "parameters"),
        ("mariadb=mysql://h?tcp_connect_timeout_ms=hunter2", "tcp_connect_timeout_ms"),
        ("mongodb=mongodb://u:hunter2@", "host"),
        ("mongodb=mongodb://u:hunter2@/d", "host"),
        ("postgres=postgres://h/d?pasword=hunter2", "parameter"),
        ("harperdb=http://h:9925", "no user"),
    ] {
        let sandbox = Sandbox::new();
        let engine = url.split_once('=').unwrap().0;
        let engines = format!("null,{engine}");
        let words = ["run", "sensors", "-e", &engines, "--url", url, "--out", "out"];
        let ended = sandbox.embermark(&words).expect_status(2).expect_stderr(&["--url", saying]);
        assert!(!ended.stderr.contains("hunter2"), "{}", ended.stderr);
        assert!(!sandbox.path("out").exists(), "{url}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn rows_whose_name_cannot_stand_in_a_workload_file_are_refused() {
    use std::os::unix::ffi::OsStrExt;

    let sandbox = Sandbox::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.csv");
    std::fs::write(sandbox.path(".").join(name), "a,b\n1,2\n").unwrap();
    let mut command = sandbox.command(&["init"]);
    command.arg(name);
    common::ProgramOutput::from(command.output().unwrap())
        .expect_status(2)
        .expect_stderr(&["not UTF-8"]);
}

#[test]
fn the_short_help_is_short() {
    let sandbox = Sandbox::new();
    let help_of =
        |command: &str, flag: &str| sandbox.embermark(&[command, flag]).expect_status(0).stdout;
    let help = |flag: &str| help_of("run", flag);
    let options =
        |help: &str| help.lines().filter(|line| line.trim_start().starts_with('-')).count();
    let (short, long) = (help("-h"), help("--help"));
    assert!(options(&short) <= 25, "{short}");
    assert!(options(&long) > options(&short) && !long.contains("durability"), "{long}");
    for flag in ["-h", "--help"] {
        let rate = help_of("rate", flag);
        let words: Vec<&str> = rate.split_whitespace().collect();
        for default in ["all [default: machine]", "cut) [default: process]"] {
            assert!(words.join(" ").contains(default), "{rate}");
        }
    }
}
