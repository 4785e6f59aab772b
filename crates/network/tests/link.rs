//! Links between sockets of one process, carried by another process. It does not use libtest,
//! because a process that enters a network namespace must have one thread: this program runs itself
//! again for each test, and once more to carry packets.
//!
//! A link is never faster than its model, even on a busy machine, so tests compare times only with
//! their lower bounds.

#![allow(clippy::unwrap_used, reason = "a test fails at an error")]

use std::env;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use embermark_model::network::{LinkUse, NetworkLink};
use embermark_network::relay::Task;
use embermark_network::{counters, create_tunnel, enter, has_link, is_isolated, parse, round_trip};
use embermark_skips::skipped;
use libtest_mimic::{Arguments, Trial};

/// Environment variable with the task of this program: a test, or [`CARRY`] and what to carry.
const TASK: &str = "EMBERMARK_LINK_TEST";
const CARRY: &str = "carry ";

const TESTS: [(&str, fn()); 6] = [
    ("a_network_that_others_share_gets_no_link", a_network_that_others_share_gets_no_link),
    ("a_round_trip_takes_the_delay_twice", a_round_trip_takes_the_delay_twice),
    ("bytes_take_the_time_of_the_rate", bytes_take_the_time_of_the_rate),
    (
        "what_is_lost_is_counted_and_tcp_sends_it_again",
        what_is_lost_is_counted_and_tcp_sends_it_again,
    ),
    ("what_the_queue_does_not_hold_is_dropped", what_the_queue_does_not_hold_is_dropped),
    ("bytes_are_those_of_the_devices_counters", bytes_are_those_of_the_devices_counters),
];

fn main() -> ExitCode {
    let Ok(task_name) = env::var(TASK) else {
        let test = |name: &'static str| {
            Trial::test(name, move || {
                run_in_process(name);
                Ok(())
            })
        };
        let tests = TESTS.iter().map(|(name, _)| test(name));
        return libtest_mimic::run(&Arguments::from_args(), tests.collect()).exit_code();
    };
    if let Some(task) = task_name.strip_prefix(CARRY) {
        let task: Task = serde_json::from_str(task).unwrap();
        let done = task.carry(std::io::stdin().as_fd()).unwrap();
        serde_json::to_writer(std::io::stdout(), &done).unwrap();
    } else {
        TESTS.iter().find(|(name, _)| *name == task_name).unwrap().1();
    }
    ExitCode::SUCCESS
}

fn run_in_process(name: &str) {
    if let Err(error) = OpenOptions::new().read(true).write(true).open("/dev/net/tun") {
        return skipped("network link", format!("/dev/net/tun: {error}"));
    }
    let mut again = Command::new(env::current_exe().unwrap());
    assert!(again.env(TASK, name).status().unwrap().success(), "{name}");
}

/// A link with a process that carries its packets.
struct RelayProcess(Child);

impl RelayProcess {
    fn start(text: &str) -> Self {
        enter().unwrap();
        assert!(!has_link());
        let link: NetworkLink = parse("own", text).unwrap();
        let device = create_tunnel().unwrap();
        assert!(is_isolated() && has_link());
        let task = serde_json::to_string(&Task::new(&device, link, 7).unwrap()).unwrap();
        let mut program = Command::new(env::current_exe().unwrap());
        program.env(TASK, format!("{CARRY}{task}")).stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(program.spawn().unwrap())
    }

    fn end(mut self) -> LinkUse {
        drop(self.0.stdin.take());
        let mut output = String::new();
        self.0.stdout.take().unwrap().read_to_string(&mut output).unwrap();
        assert!(self.0.wait().unwrap().success());
        serde_json::from_str(&output).unwrap()
    }
}

fn a_network_that_others_share_gets_no_link() {
    if is_isolated() {
        return skipped("a shared network", "these tests run in a private network");
    }
    let error = create_tunnel().unwrap_err().to_string();
    assert!(error.contains("no network namespace of its own"), "{error}");
}

fn a_round_trip_takes_the_delay_twice() {
    let link = RelayProcess::start("delay-ms = 15");
    let took = round_trip().unwrap();
    assert!(took >= Duration::from_millis(30), "{took:?}");
    let done = link.end();
    assert!(done.up.packets > 7 && done.down.packets > 7, "{done:?}");
    // On a machine with nothing else to do it is some 10 µs; a minute would be another model.
    assert!(took < Duration::from_secs(60), "{took:?}");
}

fn bytes_take_the_time_of_the_rate() {
    const BYTES: usize = 250_000;
    let link = RelayProcess::start("delay-ms = 0\nup-mbit-per-s = 8\nqueue = \"1 MB\"");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut there, _) = listener.accept().unwrap();
    let began = Instant::now();
    let sends = thread::spawn(move || {
        here.write_all(&[1; BYTES]).unwrap();
        here
    });
    there.read_exact(&mut vec![0; BYTES]).unwrap();
    let took = began.elapsed();
    drop(sends.join().unwrap());
    // A megabyte per second, without the headers.
    assert!(took >= Duration::from_millis(250), "{took:?}");
    let done = link.end();
    assert!(done.up.bytes > BYTES as u64 && done.down.bytes < done.up.bytes / 4, "{done:?}");
}

fn what_is_lost_is_counted_and_tcp_sends_it_again() {
    const BYTES: usize = 300_000;
    let link = RelayProcess::start("delay-ms = 0\nloss-percent = 5");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut there, _) = listener.accept().unwrap();
    let sends = thread::spawn(move || here.write_all(&[1; BYTES]).map(|()| here).unwrap());
    let mut got = vec![0; BYTES];
    there.read_exact(&mut got).unwrap();
    drop(sends.join().unwrap());
    assert!(got.iter().all(|byte| *byte == 1));
    let done = link.end();
    assert!(done.up.lost > 0, "{done:?}");
}

fn what_the_queue_does_not_hold_is_dropped() {
    let link = RelayProcess::start("delay-ms = 0\nup-mbit-per-s = 0.1\nqueue = \"5 kB\"");
    let (here, there) = (UdpSocket::bind("127.0.0.1:0"), UdpSocket::bind("127.0.0.1:0"));
    let (here, there) = (here.unwrap(), there.unwrap());
    let to = there.local_addr().unwrap();
    for _ in 0..100 {
        here.send_to(&[1; 1_000], to).unwrap();
    }
    there.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    let got = std::iter::repeat_with(|| there.recv(&mut [0; 2_000])).take_while(Result::is_ok);
    let got = got.count() as u64;
    let done = link.end();
    assert_eq!(done.up.packets + done.up.dropped, 100, "{done:?}");
    assert_eq!((done.up.packets, done.up.lost), (got, 0));
    assert!(done.up.dropped > 50, "{done:?}");
}

fn bytes_are_those_of_the_devices_counters() {
    let link = RelayProcess::start("delay-ms = 1");
    let before = counters().unwrap();
    let (here, there) = (UdpSocket::bind("127.0.0.1:0"), UdpSocket::bind("127.0.0.1:0"));
    let (here, there) = (here.unwrap(), there.unwrap());
    here.send_to(&[1; 100], there.local_addr().unwrap()).unwrap();
    there.recv(&mut [0; 200]).unwrap();
    there.send_to(&[1; 50], here.local_addr().unwrap()).unwrap();
    here.recv(&mut [0; 200]).unwrap();
    let after = counters().unwrap();
    let done = link.end();
    // The headers of IP and UDP have 20 and 8 bytes.
    assert_eq!((done.up.bytes, done.down.bytes), (128, 78), "{done:?}");
    assert_eq!((after.bytes - before.bytes, after.packets - before.packets), (206, 2));
}
