//! Each probe against a program of known use.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use embermark_harness::probe::{Probe, resident_bytes};
use embermark_model::result::Resources;
use embermark_network as network;
use nix::sys::signal::{Signal, killpg};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;

crate::tests!(
    cpu_time_is_what_a_program_burnt,
    the_peak_is_what_a_program_held_during_the_run_even_when_it_gave_it_back,
    bytes_written_are_what_a_program_wrote_and_synced,
    a_tree_counts_a_child_that_came_and_went_during_the_run,
    memory_shared_in_a_tree_counts_once,
    a_peak_of_before_the_run_does_not_count,
    network_bytes_are_what_a_program_sent_and_little_more,
    a_process_that_ends_during_the_run_is_not_measured_rather_than_idle,
);

/// Runs the program of known use: reports when it is up, waits for a line, uses up `what`, reports
/// that, and waits to be killed.
pub fn use_up(what: &str) {
    let mut line = String::new();
    let mut say = |text| {
        println!("{text}");
        std::io::stdin().read_line(&mut line).expect("a parent");
    };
    match what {
        "cpu" => {
            say("up");
            burn(Duration::from_secs(1));
        }
        "memory" => {
            say("up");
            drop(std::hint::black_box(vec![7_u8; 100_000_000]));
        }
        "memory-before" => {
            drop(std::hint::black_box(vec![7_u8; 100_000_000]));
            say("up");
        }
        "disk" => {
            say("up");
            let path = std::env::current_dir().expect("a folder").join("written");
            let mut file = File::create(path).expect("a file");
            file.write_all(&vec![7; 50_000_000]).and_then(|()| file.sync_all()).expect("a disk");
        }
        "network" => return println!("{}", ten_megabytes_over_the_loopback_device()),
        "child" => {
            say("up");
            let mut child = start("cpu", &std::env::current_dir().expect("a folder"));
            go(&mut child);
            drop(child.stdin.take());
            child.wait().expect("a child");
        }
        other => panic!("no such use: {other}"),
    }
    println!("done");
    std::io::stdin().read_to_string(&mut line).expect("a parent");
}

/// Sends them to itself in its own network. Returns what the loopback device counted, in bytes.
fn ten_megabytes_over_the_loopback_device() -> u64 {
    network::enter().expect("a network of its own");
    let before = network::counters().expect("counters").bytes;
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let sender = std::thread::spawn(move || {
        let mut stream = TcpStream::connect(address).expect("a connection");
        stream.write_all(&vec![7; SENT as usize]).expect("a receiver");
    });
    let (mut stream, _) = listener.accept().expect("a connection");
    let received = std::io::copy(&mut stream, &mut std::io::sink()).expect("a sender");
    sender.join().expect("the sender");
    assert_eq!(received, SENT);
    network::counters().expect("counters").bytes - before
}

/// Bytes that the program sends.
const SENT: u64 = 10_000_000;

fn burn(time: Duration) {
    let used =
        || Duration::from(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("a clock"));
    let from = used();
    while used() - from < time {}
}

fn start(what: &str, dir: &std::path::Path) -> Child {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    command.args(["use", what]).current_dir(dir).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    hear(&mut child, "up");
    child
}

/// Reads byte by byte, so that nothing after the line is lost.
fn hear(child: &mut Child, expected: &str) {
    let mut line = String::new();
    let output = child.stdout.as_mut().unwrap();
    BufReader::with_capacity(1, output).read_line(&mut line).unwrap();
    assert_eq!(line.trim(), expected);
}

fn go(child: &mut Child) {
    child.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
    hear(child, "done");
}

/// Returns the resources of a program, as the probe sees them.
fn used(what: &str, probe: fn(u32) -> Probe) -> Resources {
    let [resources] = seen_by(what, [probe]);
    resources
}

/// Returns the resources of one program, as each of the probes sees them.
fn seen_by<const PROBES: usize>(
    what: &str,
    probes: [fn(u32) -> Probe; PROBES],
) -> [Resources; PROBES] {
    // On the disk of the build, because /tmp may be in memory.
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut child = start(what, dir.path());
    let probes = probes.map(|probe| probe(child.id()));
    let begun = probes.map(|probe| (probe, probe.begin()));
    go(&mut child);
    let resources = begun.map(|(probe, before)| probe.end(before));
    drop(child.stdin.take());
    child.wait().unwrap();
    resources
}

fn within(value: Option<u64>, from: u64, to: u64) {
    assert!(
        value.is_some_and(|value| (from..to).contains(&value)),
        "{value:?} not in {from}..{to}"
    );
}

fn cpu_time_is_what_a_program_burnt() {
    for resources in seen_by("cpu", [Probe::process, Probe::tree]) {
        within(resources.cpu_ns, 950_000_000, 1_050_000_000);
    }
    within(used("memory-before", Probe::process).cpu_ns, 1, 60_000_000);
}

/// Memory of the program itself: a test build with every engine in it.
const ITSELF: u64 = 20_000_000;

fn the_peak_is_what_a_program_held_during_the_run_even_when_it_gave_it_back() {
    within(used("memory", Probe::process).peak_bytes, 100_000_000, 100_000_000 + ITSELF);
}

fn a_peak_of_before_the_run_does_not_count() {
    within(used("memory-before", Probe::process).peak_bytes, 1, ITSELF);
}

fn bytes_written_are_what_a_program_wrote_and_synced() {
    within(used("disk", Probe::process).written_bytes, 50_000_000, 51_000_000);
    within(used("memory", Probe::process).written_bytes, 0, 100_000);
}

fn a_tree_counts_a_child_that_came_and_went_during_the_run() {
    // The time of ended children comes in ticks of 10 ms.
    let [tree, process] = seen_by("child", [Probe::tree, Probe::process]);
    within(tree.cpu_ns, 950_000_000, 1_050_000_000);
    within(process.cpu_ns, 1, 30_000_000);
}

/// Number of descendants of a process that run the program `sleep`.
fn asleep(pid: u32) -> usize {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let children = children.unwrap_or_default();
    let count = |child: u32| {
        let name = fs::read_to_string(format!("/proc/{child}/comm")).unwrap_or_default();
        usize::from(name.trim() == "sleep") + asleep(child)
    };
    children.split_whitespace().filter_map(|child| child.parse().ok()).map(count).sum()
}

fn memory_shared_in_a_tree_counts_once() {
    // A shell that holds 40 MB or more, and two forks of it that share them.
    let script = "x=$(head -c 40000000 /dev/zero | tr '\\0' a)
        (sleep 600; : $x) & (sleep 600; : $x) &
        echo up; read line; echo done; read line";
    let mut child = Command::new("sh")
        .args(["-c", script])
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    hear(&mut child, "up");
    // What a fork shares before it becomes `sleep` would count as its own peak.
    while asleep(child.id()) < 2 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let held = resident_bytes(child.id()).unwrap();
    let probe = Probe::tree(child.id());
    let before = probe.begin();
    go(&mut child);
    let peak = probe.end(before).peak_bytes;
    killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL).unwrap();
    child.wait().unwrap();
    assert!(held > 40_000_000);
    // Without smaps_rollup it is not measured, and certainly not added up.
    if fs::exists("/proc/self/smaps_rollup").unwrap() {
        within(peak, held - held / 5, held + held / 4);
    } else {
        embermark_skips::skipped("kernel", "it has no smaps_rollup");
        assert_eq!(peak, None);
    }
}

fn network_bytes_are_what_a_program_sent_and_little_more() {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program).args(["use", "network"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let counted = String::from_utf8(output.stdout).unwrap().trim().parse().ok();
    // TCP and IP headers: 52 bytes per some 64 kB, and as many for each acknowledgement. A device
    // that also counted what it received would have twice as much.
    within(counted, SENT + 1, SENT + SENT / 50);
}

fn a_process_that_ends_during_the_run_is_not_measured_rather_than_idle() {
    for probe in [Probe::process, Probe::tree] {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let probe = probe(child.id());
        let before = probe.begin();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(probe.end(before), Resources::default());
    }
}
