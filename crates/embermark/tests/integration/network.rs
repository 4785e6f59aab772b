//! Imitated network links: `--network`. They take a network namespace and `/dev/net/tun`.

use embermark_engines::{Kind, registry};
use embermark_model::Status;
use embermark_model::result::{Cell, ResultFile};
use embermark_skips::skipped;

use crate::common::family::nothing_is_left_behind;
use crate::common::{Place, is_here};

/// A round trip of 20 ms, and every fiftieth packet lost.
const LINK: &str = "about = \"a radio\"\ndelay-ms = 10\nup-mbit-per-s = 20\ndown-mbit-per-s = 20\n\
                    half-duplex = true\nloss-percent = 2\n";
const ROUND_TRIP_NS: u64 = 20_000_000;
const ROWS: u64 = 50;

const RUN: [&str; 17] = [
    "run",
    "sensors",
    "--network",
    "radio.toml",
    "--scale",
    "50",
    "--phases",
    "load,read",
    "--variant",
    "single",
    "--runs",
    "1",
    "--trials",
    "1",
    "--out",
    "out",
    "-e",
];

/// Whether a result has no link because none can be imitated here.
fn is_skipped(result: &ResultFile) -> bool {
    let lacks = |cell: &Cell| {
        let reason = cell.trials.iter().find_map(|trial| trial.reason.clone())?;
        reason.contains("--network").then_some(reason)
    };
    let why = result.cells.iter().find_map(lacks);
    why.inspect(|why| skipped("network link", why)).is_some()
}

/// Every server goes over the link with each question, and an embedded engine beside it does not.
#[test]
fn servers_answer_over_the_link_and_embedded_engines_have_none() {
    let servers = registry::ENGINES.iter().filter(|engine| engine.info().kind == Kind::Server);
    // HarperDB's requests are over HTTP by a Unix socket or TCP alike; its start takes long.
    let servers = servers.map(|engine| engine.info().id).filter(|id| *id != "harperdb");
    let servers: Vec<&str> = servers.filter(|id| is_here(id)).collect();
    let place = Place::new();
    place.write("radio.toml", LINK);
    let engines = [&["sqlite"], &servers[..]].concat().join(",");
    let ended = place.embermark(&[&RUN[..], &[&engines]].concat()).with(0);
    let result = place.result("out");
    if is_skipped(&result) {
        return;
    }
    let says = "servers over an imitated network: a model of radio";
    assert!(ended.stdout.contains(says), "{}", ended.stdout);
    assert_eq!(result.plan.network.as_ref().unwrap().delay_us, 10_000);
    let (mut seen, mut lost) = (0, 0);
    for cell in &result.cells {
        let trial = &cell.trials[0];
        assert_eq!(cell.status, Status::Ok, "{:?}: {:?}", cell.id, trial.reason);
        if cell.id.engine == "sqlite" {
            assert_eq!(trial.network, None);
            continue;
        }
        seen += 1;
        let link = trial.network.unwrap();
        assert!(link.round_trip_ns >= ROUND_TRIP_NS, "{:?}: {link:?}", cell.id);
        // Each read is a question and an answer at least.
        assert!(link.up.packets >= ROWS && link.down.packets >= ROWS, "{:?}: {link:?}", cell.id);
        lost += link.lost();
        let read = trial.phases.iter().find(|phase| phase.phase == "read").unwrap();
        for run in &read.runs {
            assert!(run.elapsed_ns >= run.ops * ROUND_TRIP_NS, "{:?}: {run:?}", cell.id);
        }
    }
    assert_eq!(seen, servers.len());
    assert!(lost > 0 || seen == 0);
    nothing_is_left_behind(&place);
}

/// The reader of `machine` is a second process of the same network, and its traffic is counted on the
/// link.
#[test]
fn the_machines_reader_goes_over_the_link_too() {
    if !is_here("postgres") {
        return;
    }
    let place = Place::new();
    place.write("radio.toml", "delay-ms = 2");
    let run = [
        "run",
        "machine",
        "-e",
        "postgres",
        "--network",
        "radio.toml",
        "--scale",
        "10k",
        "--variant",
        "individual",
        "--phases",
        "read_individual",
        "--window",
        "1s",
        "--warm-up",
        "100ms",
        "--trials",
        "1",
        "--rate",
        "100",
        "--out",
        "out",
    ];
    place.embermark(&run).with(0);
    let result = place.result("out");
    if is_skipped(&result) {
        return;
    }
    let trial = &result.cells[0].trials[0];
    let run = &trial.phases[0].runs[0];
    let observed = run.observed.as_ref().unwrap();
    let link = trial.network.unwrap();
    let bytes = observed.network_bytes.unwrap();
    assert!(bytes > 0 && bytes < link.up.bytes + link.down.bytes, "{bytes}, {link:?}");
    // A cycle is found by several questions one after the other.
    if run.ops > 0 {
        assert!(observed.latencies.values().any(|of| of.p50 >= 8_000_000), "{observed:?}");
    }
}

#[test]
fn what_is_no_link_is_refused_before_anything_is_made() {
    let place = Place::new();
    place.write("bad.toml", "delay-ms = 1\nloss = 3\n");
    place.write("range.toml", "delay-ms = 1\nloss-percent = 99\n");
    for (given, says) in [
        ("wify", "did you mean 'wifi'?"),
        ("bad.toml", "unknown field `loss`"),
        ("range.toml", "'loss-percent' is 99"),
        ("absent.toml", "absent.toml: No such file"),
    ] {
        place.embermark(&["run", "--network", given, "--out", "out"]).with(2).saying(&[says]);
        assert!(!place.path("out").exists());
    }
}
