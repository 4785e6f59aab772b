//! What a user is told when what was asked for cannot be.

use crate::common::{self, Mounted, Place};
use embermark_model::Status;
use embermark_skips::skipped;

fn refused(words: &[&str], saying: &[&str]) {
    Place::new().embermark(words).with(2).saying(saying);
}

#[test]
fn unknown_names_are_answered_with_the_nearest_and_the_valid_ones() {
    refused(&["run", "sensor"], &["unknown workload 'sensor'", "did you mean 'sensors'?"]);
    refused(
        &["run", "-e", "sqlit"],
        &["unknown engine 'sqlit'", "did you mean 'sqlite'?", "embedded", "servers"],
    );
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
    let place = Place::new();
    let lines = "2004-03-11 16:52:19.794238 2 55 26.2114 43.4524 97.52 3.04574\n";
    place.write("good.txt", lines);
    place.write("empty.txt", "");
    place.write("binary.txt", [0u8, 159, 146, 150, 0, 1]);
    place.write("words.txt", "these are words\nand nothing else\n");
    place.write("commas.txt", lines.replace(' ', ","));
    place.write("cut.gz", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab]);
    for (file, saying) in [
        ("missing.txt", "no such file"),
        (".", "directory"),
        ("empty.txt", "empty"),
        ("binary.txt", "not text"),
        ("words.txt", "words.txt"),
        ("commas.txt", "comma"),
        ("cut.gz", "gzip"),
    ] {
        let words = ["run", "-e", "memory", "--scale", "1", "--data", file, "--out", "out"];
        place.embermark(&words).with(2).saying(&[saying]);
        assert!(!place.path("out/result.json").exists());
    }
    let words = ["run", "-e", "memory", "--scale", "5", "--data", "good.txt", "--out", "more"];
    place.embermark(&words).with(2).saying(&["5 rows were asked for", "has 1"]);
}

#[test]
fn odd_lines_are_counted_and_reported_never_silently_dropped() {
    let place = Place::new();
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
    place.write("log.txt", log.join("\n"));
    let ended = place
        .embermark(&[
            "run", "-e", "memory", "--scale", "full", "--data", "log.txt", "--out", "out",
            "--show", "tables",
        ])
        .with(0);
    let set = &place.result("out").manifest.datasets["sensors"];
    assert_eq!(set.rows + set.dropped.values().sum::<u64>(), log.len() as u64, "{set:?}");
    assert_eq!((set.rows, set.dropped.get("duplicate key")), (3, Some(&1)), "{set:?}");
    assert!(ended.stdout.contains("duplicate key"), "{}", ended.stdout);

    let described = place.embermark(&["data", "log.txt"]).with(0).stdout;
    assert!(described.contains("duplicate key") && described.contains("3 of"), "{described}");
}

#[test]
fn an_output_folder_in_use_or_out_of_reach_is_refused() {
    let place = Place::new();
    let run =
        ["run", "-e", "memory", "--scale", "10", "--phases", "load", "--trials", "1", "--out"];
    let to = |out| place.embermark(&[&run[..], &[out]].concat());
    to("out").with(0);
    to("out").with(2).saying(&["out", "another run"]);
    place.write("file", "not a folder");
    to("file").with(2).saying(&["file"]);
    std::fs::create_dir(place.path("mine")).unwrap();
    place.write("mine/letter.txt", "dear");
    to("mine").with(2).saying(&["mine"]);
    assert!(place.path("mine/letter.txt").exists());
}

#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    let place = Place::new();
    let Some(_mounted) = Mounted::new(place.path("shut"), "ro") else { return };
    let to = |out| place.embermark(&["run", "-e", "memory", "--scale", "10", "--out", out]);
    to("shut").with(2).saying(&["shut", "--out"]);
    to("shut/below").with(2).saying(&["shut/below", "--out"]);
    let words = ["run", "-e", "memory", "--scale", "10", "--out", "out", "--dir", "shut"];
    place.embermark(&words).with(2).saying(&["shut", "--dir"]);
}

#[test]
fn without_postgresql_its_cell_says_what_is_missing_and_the_others_run() {
    if !cfg!(feature = "postgres") {
        return;
    }
    let place = Place::new();
    let words = [
        "run",
        "-e",
        "memory,postgres",
        "--scale",
        "10",
        "--phases",
        "load",
        "--trials",
        "1",
        "--out",
        "out",
        "--show",
        "tables",
    ];
    let output = place.command(&words).env("EMBERMARK_POSTGRES_BIN", "/nowhere").output().unwrap();
    let ended = common::Ended::from(output).with(0);
    assert!(ended.stdout.contains("/nowhere"), "{}", ended.stdout);
    let result = place.result("out");
    for cell in &result.cells {
        let expected = if cell.id.engine == "postgres" { Status::Unavailable } else { Status::Ok };
        assert_eq!(cell.status, expected, "{}", cell.id);
    }
}

#[test]
fn a_file_that_is_no_result_is_refused() {
    let place = Place::new();
    place.write("text.json", "hello");
    place.write("other.json", "{\"a\": 1}");
    place.write("newer.json", "{\"schema\": 999, \"manifest\": {}, \"cells\": []}");
    for (file, saying) in [
        ("none.json", "none.json"),
        ("text.json", "JSON"),
        ("other.json", "not an embermark result"),
        ("newer.json", "999"),
    ] {
        place.embermark(&["report", file]).with(2).saying(&[saying]);
    }
}

#[test]
fn a_device_is_emulated_and_marked_as_an_emulation_or_refused_with_the_reason() {
    refused(&["run", "--device", "pi33"], &["unknown device 'pi33'", "did you mean 'pi3'?"]);
    let place = Place::new();
    let words = ["run", "sensors", "-e", "memory", "--scale", "100", "--phases", "load"];
    let ended = place.embermark(
        &[&words[..], &["--trials", "1", "--device", "pi-zero", "--out", "out"]].concat(),
    );
    if ended.status == 2 {
        let ended = ended.saying(&["--device pi-zero cannot be emulated here: ", "; run as root"]);
        assert!(!place.path("out").exists(), "{}", ended.stderr);
        return skipped("control groups", ended.stderr);
    }
    let ended = ended.with(0);
    let machine = place.result("out").manifest.machine;
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
    let place = Place::new();
    place.write("plan.toml", "workloads = ['sensors']\nclients = 1000\n");
    place.embermark(&["run", "--plan", "plan.toml"]).with(2).saying(&["1000 clients", "1 to 256"]);
}

#[test]
fn an_option_that_cannot_have_an_effect_is_refused() {
    for (words, saying) in [
        (&["sensors", "--set", "window=9s"][..], "window: no phase"),
        (&["events", "--phases", "insert", "--set", "window=9s"], "window: no phase"),
        (&["contacts", "--set", "warm-up=9s"], "machine"),
        (&["sensors", "machine", "--set", "disk-size=4GiB"], "retention"),
        (&["machine", "--set", "p99-limit=9ms"], "embermark rate"),
        (&["sensors", "-e", "sqlite", "--url", "postgres=postgres://h/d"], "--url postgres"),
        (&["sensors", "-e", "sqlite", "--accept-license", "harperdb"], "does not run"),
        (&["sensors", "--weight", "cpu=2"], "machine"),
        (&["sensors", "--rows-per-day", "1k"], "--card"),
        (&["sensors", "--show", "latency", "--format", "json"], "json"),
    ] {
        let place = Place::new();
        let words = [&["run", "--out", "out"], words].concat();
        place.embermark(&words).with(2).saying(&[saying]);
        assert!(!place.path("out").exists(), "{words:?}");
    }
    refused(
        &["reproduce", "mcknight", "--set", "window=9s"],
        &["window: none of the named pieces"],
    );
    refused(&["verify", "sqlite", "--url", "valkey=valkey://h"], &["--url valkey"]);
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
        let place = Place::new();
        let engine = url.split_once('=').unwrap().0;
        let engines = format!("null,{engine}");
        let words = ["run", "sensors", "-e", &engines, "--url", url, "--out", "out"];
        let ended = place.embermark(&words).with(2).saying(&["--url", saying]);
        assert!(!ended.stderr.contains("hunter2"), "{}", ended.stderr);
        assert!(!place.path("out").exists(), "{url}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn rows_whose_name_cannot_stand_in_a_workload_file_are_refused() {
    use std::os::unix::ffi::OsStrExt;

    let place = Place::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.csv");
    std::fs::write(place.path(".").join(name), "a,b\n1,2\n").unwrap();
    let mut command = place.command(&["init"]);
    command.arg(name);
    common::Ended::from(command.output().unwrap()).with(2).saying(&["not UTF-8"]);
}

#[test]
fn an_old_spelling_works_with_a_hint_and_the_short_help_is_short() {
    let place = Place::new();
    place.write("plan.toml", "durability = ['process']\nmemory = '32MiB'\n");
    let words = ["run", "sensors", "-e", "memory", "--plan", "plan.toml", "--dry-run"];
    let old = ["--timeout", "5m", "-d", "power"];
    let ran = place.embermark(&[&words[..], &old].concat()).with(0);
    let hints =
        ["--timeout is now", "-d is now -t", "durability is now tier", "memory is now cache"];
    for hint in hints {
        assert!(ran.stderr.contains(hint), "{}", ran.stderr);
    }
    assert!(ran.stdout.contains(" power "), "{}", ran.stdout);
    let new = ["run", "sensors", "-e", "memory", "--set", "timeout=5m", "-t", "power", "--dry-run"];
    let new = place.embermark(&new).with(0);
    assert_eq!((new.stdout, new.stderr.as_str()), (ran.stdout, ""));

    let help = |flag: &str| place.embermark(&["run", flag]).with(0).stdout;
    let options =
        |help: &str| help.lines().filter(|line| line.trim_start().starts_with('-')).count();
    let (short, long) = (help("-h"), help("--help"));
    assert!(options(&short) <= 25, "{short}");
    assert!(options(&long) > options(&short) && !long.contains("durability"), "{long}");
}
