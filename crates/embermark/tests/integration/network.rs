//! Imitated network links: `--network`. They need a network namespace and `/dev/net/tun`.

use embermark_engines::{Kind, registry};
use embermark_model::Status;
use embermark_model::result::{Cell, ResultFile};
use embermark_skips::{sampled, skipped};

use crate::common::run_processes::assert_nothing_left;
use crate::common::{Sandbox, is_here};

/// A round trip of 20 ms, and every twentieth packet lost.
const LINK: &str = "about = \"a radio\"\ndelay-ms = 10\nup-mbit-per-s = 20\ndown-mbit-per-s = 20\n\
                    half-duplex = true\nloss-percent = 5\n";
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

/// Checks that each query of a server goes over the link, and that an embedded engine does not use
/// it.
#[test]
fn servers_answer_over_the_link_and_embedded_engines_have_none() {
    let servers = registry::ENGINES.iter().filter(|engine| engine.info().kind == Kind::Server);
    // HarperDB has the same HTTP requests over a Unix socket and over TCP, and its start takes
    // long.
    let servers = servers.map(|engine| engine.info().id).filter(|id| *id != "harperdb");
    let servers = sampled(servers.filter(|id| is_here(id)), 2);
    if servers.is_empty() {
        return skipped("server", "only servers have a link");
    }
    let sandbox = Sandbox::new();
    sandbox.write("radio.toml", LINK);
    let engines = [&["sqlite"], &servers[..]].concat().join(",");
    let ended = sandbox.embermark(&[&RUN[..], &[&engines]].concat()).expect_status(0);
    let result = sandbox.result("out");
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
        // Each read is at least one query and its answer.
        assert!(link.up.packets >= ROWS && link.down.packets >= ROWS, "{:?}: {link:?}", cell.id);
        lost += link.lost();
        let read = trial.phases.iter().find(|phase| phase.phase == "read").unwrap();
        for run in &read.runs {
            assert!(run.elapsed_ns >= run.ops * ROUND_TRIP_NS, "{:?}: {run:?}", cell.id);
        }
    }
    assert_eq!(seen, servers.len());
    assert!(lost > 0 || seen == 0);
    assert_nothing_left(&sandbox);
}

/// The link drops datagrams, which nothing sends again.
#[test]
fn points_over_udp_are_unsupported_behind_a_link() {
    if !is_here("influxdb") {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("radio.toml", LINK);
    // Nothing is measured.
    sandbox.embermark(&[&RUN[..], &["influxdb", "-t", "none"]].concat()).expect_status(1);
    let result = sandbox.result("out");
    if is_skipped(&result) {
        return;
    }
    let cell = &result.cells[0];
    assert_eq!(cell.status, Status::Unsupported, "{:?}", cell.reason);
    assert!(cell.reason.as_ref().unwrap().contains("points over UDP behind an imitated link"));
}

/// Checks that the reader of `machine`, a second process, uses the same network, and that its
/// traffic is counted on the link.
#[test]
fn the_machines_reader_goes_over_the_link_too() {
    if !is_here("postgres") {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("radio.toml", "delay-ms = 2");
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
        "--set",
        "window=1s",
        "--set",
        "warm-up=100ms",
        "--trials",
        "1",
        "--rate",
        "100",
        "--out",
        "out",
    ];
    let ended = sandbox.embermark(&run);
    let result = sandbox.result("out");
    if is_skipped(&result) {
        return;
    }
    ended.expect_status(0);
    let trial = &result.cells[0].trials[0];
    let run = &trial.phases[0].runs[0];
    let observed = run.observed.as_ref().unwrap();
    let link = trial.network.unwrap();
    let bytes = observed.network_bytes.unwrap();
    assert!(bytes > 0 && bytes < link.up.bytes + link.down.bytes, "{bytes}, {link:?}");
    // Finding a cycle takes several queries, one after the other.
    if run.ops > 0 {
        assert!(observed.latencies.values().any(|of| of.p50 >= 8_000_000), "{observed:?}");
    }
}

#[test]
fn what_is_no_link_is_refused_before_anything_is_made() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.toml", "delay-ms = 1\nloss = 3\n");
    sandbox.write("range.toml", "delay-ms = 1\nloss-percent = 99\n");
    for (given, says) in [
        ("wify", "did you mean 'wifi'?"),
        ("bad.toml", "unknown field `loss`"),
        ("range.toml", "'loss-percent' is 99"),
        ("absent.toml", "absent.toml: No such file"),
    ] {
        sandbox
            .embermark(&["run", "--network", given, "--out", "out"])
            .expect_status(2)
            .expect_stderr(&[says]);
        assert!(!sandbox.path("out").exists());
    }
}
