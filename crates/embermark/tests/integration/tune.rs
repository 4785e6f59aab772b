//! `embermark tune`.

use std::fs;
use std::path::Path;
use std::process::Command;

use embermark_engines::registry;
use embermark_skips::{sampled, skipped};
use serde_json::{Value, json};

use crate::common::{Sandbox, is_here};

fn found(sandbox: &Sandbox, engine: &str) -> Value {
    let all: Value =
        serde_json::from_slice(&fs::read(sandbox.path("out/tune.json")).unwrap()).unwrap();
    all["engines"][engine].clone()
}

fn tried<'a>(found: &'a Value, name: &str, value: &str) -> &'a Value {
    let all = found["tried"].as_array().unwrap();
    all.iter().find(|tried| tried["set"][name] == value).unwrap()
}

/// Asserts that what a search found was measured again, with its use of memory and disk, if there
/// was a gain.
fn assert_measured_again(found: &Value, said: &str) {
    let Some(ratio) = found["gain"]["ratio"].as_f64() else { return };
    assert!(ratio > 0.0 && found["gain"]["trials"].as_u64() >= Some(6), "{found}");
    let opened = |of: &Value| of["open"].as_f64() > Some(0.0);
    assert!(found["uses"].as_array().unwrap().iter().all(opened), "{found}");
    assert!(said.contains("that the search did not see"), "{said}");
}

#[test]
fn what_weakens_the_tier_is_told_and_not_taken_and_by_its_manual_not_even_tried() {
    let sandbox = Sandbox::new();
    let words = ["tune", "redb", "lmdb", "--try", "lmdb:MDB_NOSYNC=ON", "--kills", "1"];
    let words = [&words[..], &["--states", "0", "--out", "out"], &COMMITS].concat();
    let ended = sandbox.embermark(&words).expect_status(0);
    let (_, said) = ended.stdout.split_once("lmdb, tier power, for sensors").unwrap();
    let lmdb = found(&sandbox, "lmdb");
    // Every candidate of the table is there, and the given one.
    let candidates = registry::find("lmdb").unwrap().settings().candidates.len();
    assert_eq!(lmdb["tried"].as_array().unwrap().len(), candidates + 1, "{lmdb}");
    assert_eq!(found(&sandbox, "redb")["tried"].as_array().unwrap().len(), 2);
    let off = tried(&lmdb, "MDB_NOSYNC", "ON");
    // It saves syncs. If that gains nothing, as on a disk in memory, it is not taken.
    let outcome = off["outcome"].as_str().unwrap();
    assert!(["broken", "not-faster", "not-on-top"].contains(&outcome), "{off}");
    if outcome == "broken" {
        assert!(off["lost"].as_str().unwrap().contains("MDB_NOSYNC"), "{off}");
        assert!(said.contains("loses what the tier promises"), "{said}");
    }
    assert!(lmdb["winner"]["MDB_NOSYNC"].is_null(), "{lmdb}");
    assert_measured_again(&lmdb, said);
    let weaker = tried(&lmdb, "MDB_NOMETASYNC", "ON");
    assert_eq!((&weaker["outcome"], &weaker["keeps"]), (&"weaker".into(), &"process".into()));
    assert!(said.contains("not tried: keeps process at most, by its manual"), "{said}");
}

/// Whether a sync takes time here.
fn has_a_disk(sandbox: &Sandbox) -> bool {
    let told =
        Command::new("stat").args(["-f", "-c", "%T"]).arg(sandbox.path("")).output().unwrap();
    if told.stdout.starts_with(b"tmpfs") {
        skipped("disk", "on a file system in memory a sync takes no time");
        return false;
    }
    true
}

/// The words of a search in which a commit without a sync takes at most a tenth of the time,
/// however busy the machine is.
const COMMITS: [&str; 7] =
    ["sensors:100", "--phases", "load", "--variant", "commit-each", "--for", "5m"];

/// Values of several candidates. A search that begins with them does not measure these candidates.
const AS_CANDIDATES: &str =
    "page_size=8192,wal_autocheckpoint=100,mmap_size=268435456,temp_store=MEMORY,cache_spill=0";

/// Returns SQLite with a sync for each commit. In `make test` fewer candidates are left to measure.
fn mine() -> String {
    let synced = "mine=sqlite:synchronous=FULL";
    match embermark_skips::is_long() {
        true => synced.to_owned(),
        false => format!("{synced},{AS_CANDIDATES}"),
    }
}

/// Tests one of two searches, as [`sampled`], because each takes long.
#[test]
fn what_is_faster_is_taken_where_it_is_safe_and_caught_where_it_is_not() {
    let searches: [fn(); 2] = [
        what_is_faster_and_unsafe_is_caught_by_the_cut,
        what_is_faster_and_safe_is_found_and_printed_whole,
    ];
    sampled(searches, 1).into_iter().for_each(|search| search());
}

fn what_is_faster_and_unsafe_is_caught_by_the_cut() {
    if !nix::unistd::geteuid().is_root() {
        skipped("root", "power is cut on a recorded device, which is for root alone");
        return;
    }
    let sandbox = Sandbox::new();
    if !has_a_disk(&sandbox) {
        return;
    }
    let mine = mine();
    let planted = ["tune", "mine", "--configuration", &mine, "--try", "sqlite:synchronous=OFF"];
    let cuts = ["--kills", "2", "--states", "12", "--short-works", "2", "--out", "out"];
    let ended =
        sandbox.embermark(&[&planted[..], &cuts, &COMMITS].concat()).expect_status(0).stdout;
    assert!(ended.contains("mine, tier power, for sensors"), "{ended}");
    let found = found(&sandbox, "mine");
    assert!(found["tried"].as_array().unwrap().len() > 8, "{found}");
    let off = tried(&found, "synchronous", "OFF");
    assert_eq!(off["outcome"], "broken", "{off}");
    assert!(off["lost"].as_str().unwrap().starts_with("power cut: "), "{off}");
    assert!(off["lost"].as_str().unwrap().contains("2 short works"), "{off}");
    assert!(ended.contains("loses what the tier promises"), "{ended}");
    assert!(found["winner"]["synchronous"].is_null(), "{found}");
    assert_measured_again(&found, &ended);
}

fn what_is_faster_and_safe_is_found_and_printed_whole() {
    let sandbox = Sandbox::new();
    if !has_a_disk(&sandbox) {
        return;
    }
    // The tier promises to survive kills, which needs no sync.
    let mine = mine();
    let words = ["tune", "mine", "--tier", "process", "--configuration", &mine];
    let ended = sandbox
        .embermark(&[&words[..], &["--kills", "2", "--out", "out"], &COMMITS].concat())
        .expect_status(0);
    let found = found(&sandbox, "mine");
    let synced = found["winner"]["synchronous"].as_str().unwrap();
    assert!(["OFF", "NORMAL"].contains(&synced), "{found}");
    assert!(found["gain"]["interval"][0].as_f64() > Some(1.05), "{found}");
    assert_measured_again(&found, &ended.stdout);
    assert_eq!((&found["kept"]["kept"], &found["kept"]["kills"]), (&"shown".into(), &2.into()));
    // Includes the tier's settings, in the order in which SQLite needs them.
    let pasted = found["in_a_program"][1].to_string();
    let lines = [&*format!("PRAGMA synchronous = {synced};"), "PRAGMA journal_mode = wal;"];
    let places = lines.map(|line| pasted.find(line));
    assert!(places[0].is_some() && places[0] < places[1], "{pasted}");
    if ended.stdout.contains("report.html") {
        let page = fs::read_to_string(sandbox.path("out/report.html")).unwrap();
        assert!(page.contains(&format!("synchronous={synced}")));
    } else {
        skipped("page", "this build has none; make build");
    }
}

#[test]
fn what_is_printed_runs_in_plain_programs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !is_there("python3") || !is_there("cc") || !root.join(".deps/rocksdb/librocksdb.so").exists()
    {
        skipped("python3", "it, a C compiler or RocksDB's library is not here");
        return;
    }
    let engine = |id: &str, set: &[(&'static str, &'static str)]| {
        let settings = registry::find(id).unwrap().settings();
        let lines = [&set[..1], set].map(|set| settings.in_a_program(set.iter().copied()));
        let gain = json!({ "ratio": 2.0, "interval": [1.5, 3.0] });
        json!({ "engine": id, "gain": gain, "in_a_program": lines })
    };
    let engines = json!({
        "sqlite": engine("sqlite", &[("journal_mode", "WAL"), ("page_size", "8192")]),
        "lmdb": engine("lmdb", &[("MDB_WRITEMAP", "OFF"), ("MDB_NORDAHEAD", "ON")]),
        "rocksdb": engine("rocksdb", &[("block_size", "4096"), ("recycle_log_file_num", "4")]),
    });
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("tune.json"), json!({ "engines": engines }).to_string()).unwrap();
    let mut compare = Command::new(root.join("examples/pasted/compare.py"));
    // LMDB is compiled with each of its settings.
    compare.env("CFLAGS", "-O0").arg(sandbox.path("tune.json"));
    compare.args(["--rounds", "1", "--rows", "20", "--data"]);
    let ended = compare.arg(sandbox.path("")).output().unwrap();
    let (said, failed) =
        [ended.stdout, ended.stderr].map(|text| String::from_utf8(text).unwrap()).into();
    assert!(failed.is_empty(), "{failed}");
    // The gain in twenty commits is not significant.
    assert_eq!(said.matches("with the pasted settings").count(), 3, "{said}");
}

#[test]
fn what_cannot_be_tuned_is_refused_with_what_can() {
    let sandbox = Sandbox::new();
    for (words, says) in [
        (&["hybrid"][..], "hybrid has nothing to tune except its cache; engines that have: "),
        (&["sqlight"], "sqlight"),
        (&["sqlite", "--try", "sqlite:page_sise=512"], "did you mean 'page_size'"),
        (
            &["sqlite", "--try", "sqlite:cache_spill=0,page_sise=512"],
            "--try sqlite:cache_spill=0,page_sise=512: sqlite: ",
        ),
        (&["sqlite", "--try", "lmdb:MDB_WRITEMAP=ON"], "name lmdb among the engines"),
        (&["sqlite", "--try", "page_size=512"], "write ENGINE:SETTING=VALUE"),
        (&["sqlite", "--tier", "strong"], "strong"),
        (
            &["redb", "sensors:100", "--phases", "load", "--variant", "single", "--for", "1ms"],
            "the time is too short for redb: to open its",
        ),
    ] {
        let ended = sandbox.embermark(&[&["tune"][..], words].concat()).expect_status(2);
        assert!(ended.stderr.contains(says), "{words:?}: {}", ended.stderr);
        // The advice can be pasted, and has no fewer phases or rows than are given.
        if let Some((_, advice)) = ended.stderr.split_once("give --for ") {
            let time = advice.trim_end();
            assert!(time.ends_with(['s', 'm']) && !time.contains([' ', ',']), "{}", ended.stderr);
        }
    }
}

#[test]
fn an_engine_that_cannot_do_the_work_is_not_said_to_be_at_its_best() {
    if !is_here("parquet") {
        return;
    }
    let sandbox = Sandbox::new();
    // Rows of Parquet files cannot be changed.
    let words = ["tune", "parquet", "sensors:100", "--tier", "process", "--phases", "update"];
    let words = [&words[..], &["--for", "5m", "--out", "out"]].concat();
    let ended = sandbox.embermark(&words).expect_status(1);
    let says = "parquet does not complete the work with today's settings: ";
    assert!(ended.stderr.contains(says), "{}", ended.stderr);
}

#[test]
fn an_engine_whose_time_is_too_short_does_not_end_the_search_for_the_others() {
    let sandbox = Sandbox::new();
    let words = ["tune", "lmdb", "redb", "sensors:100", "--phases", "load", "--variant", "single"];
    let words = [&words[..], &["--for", "1ms", "--out", "out"]].concat();
    let ended = sandbox.embermark(&words).expect_status(2);
    for says in [
        "the time is too short for lmdb: to open its",
        "the time is too short for redb: to open its",
        "lmdb: needs ",
        "redb: needs ",
        " s, and waits for what the others leave",
        "not tuned, as the time was too short: ",
    ] {
        assert!(ended.stderr.contains(says), "{says}: {}", ended.stderr);
    }
}
