//! Private servers on the loopback address, and the traffic that is counted there. There is no test
//! harness, because a process that enters a network namespace has one thread: this program is run
//! again for each of them.

#![allow(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

use std::collections::HashSet;
use std::net::UdpSocket;
use std::os::fd::RawFd;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs};

use embermark_engines::{EFFECTIVE_DURABILITY, Engine, Join, Kind, Link, OpenOptions, registry};
use embermark_model::Durability;
use embermark_network as network;
use embermark_skips::is_here;
use libtest_mimic::{Arguments, Trial};

#[path = "integration/join/common.rs"]
mod common;

use common::{REQUEST_VARIABLE, close, count, create, join, options, write};

fn main() -> ExitCode {
    match env::var(REQUEST_VARIABLE) {
        Ok(request) => match request.split_once('\n') {
            Some((id, dir)) => a_server_answers_on_the_loopback_address_alone(id, dir),
            None => every_byte_is_counted_once(),
        },
        Err(_) => return libtest_mimic::run(&Arguments::from_args(), tests()).exit_code(),
    }
    ExitCode::SUCCESS
}

fn tests() -> Vec<Trial> {
    let test = |name: String, test: Box<dyn FnOnce() + Send>| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let servers = registry::ENGINES.iter().filter(|engine| engine.info().kind == Kind::Server);
    let answer = servers.map(|engine| {
        let name = format!("{}_answers_on_the_loopback_address_alone", engine.info().id);
        test(name, Box::new(|| answers_in_a_network_of_its_own(*engine)))
    });
    let mut tests: Vec<Trial> = answer.collect();
    tests.push(test("every_byte_is_counted_once".into(), Box::new(|| in_a_process_of_its_own(""))));
    tests.push(test(
        "a_server_that_listens_on_every_address_refuses_a_network_that_others_share".into(),
        Box::new(a_server_that_listens_on_every_address_refuses_a_network_that_others_share),
    ));
    tests
}

fn answers_in_a_network_of_its_own(engine: &dyn Engine) {
    if is_here(engine) {
        let dir = tempfile::tempdir().unwrap();
        in_a_process_of_its_own(&format!("{}\n{}", engine.info().id, dir.path().display()));
    }
}

fn in_a_process_of_its_own(request: &str) {
    let mut command = Command::new(env::current_exe().unwrap());
    assert!(command.env(REQUEST_VARIABLE, request).status().unwrap().success(), "{request}");
}

/// Returns the addresses with a listener in this process's network, as the kernel writes
/// them: proc_net(5), where 0A is the state TCP_LISTEN.
fn listening(table: &str) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/self/net/{table}")).unwrap();
    let rows = text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row[3] == "0A").map(|row| row[1].to_owned()).collect()
}

fn a_server_answers_on_the_loopback_address_alone(id: &str, dir: &str) {
    let engine = registry::find(id).unwrap();
    network::enter().unwrap();
    let options = options(Path::new(dir), Durability::Power, Link::Loopback);
    let mut store = engine.open(&options).unwrap().store;
    let Join::At(at) = join(&store) else { panic!("{id} lets nobody join") };
    let mut second = engine.join(&options, &at).unwrap();
    create(&mut store).unwrap();
    let (bytes, before) = (50_000, network::counters().unwrap());
    write(&mut store, 1, bytes).unwrap();
    let after = network::counters().unwrap();
    assert!(after.bytes - before.bytes >= bytes as u64, "{id}: {before:?}, {after:?}");
    assert!(after.packets > before.packets);
    assert_eq!(count(&mut second).unwrap(), 1, "{id}");
    close(second).unwrap();
    assert_eq!(count(&mut store).unwrap(), 1, "{id}");
    let all = [listening("tcp"), listening("tcp6")].concat();
    assert!(!all.is_empty(), "{id}");
    a_database_of_a_server_given_by_url_is_joined(engine, &options, &at);
    // HarperDB opens a port of its own choice on every address, so it must have its own network.
    if id != "harperdb" {
        assert!(all.iter().all(|address| address.starts_with("0100007F:")), "{id}: {all:?}");
    }
    close(store).unwrap();
}

/// The server is the private one of another process, used as if it were a user's.
fn a_database_of_a_server_given_by_url_is_joined(
    engine: &dyn Engine,
    options: &OpenOptions,
    at: &str,
) {
    let parts = match engine.info().id {
        "postgres" | "influxdb" | "harperdb" => 3,
        _ => 2,
    };
    let mut url = at.splitn(parts, ' ').last().unwrap().to_owned();
    if engine.info().id == "harperdb" {
        // It requires a password; that of a private server is next to its files.
        let password = fs::read_to_string(options.dir.join("server/data/password")).unwrap();
        url = url.replace("http://", &format!("http://embermark:{password}@"));
    }
    let options = OpenOptions { url: Some(url), ..options.clone() };
    let of_others = sockets();
    let opened = engine.open(&options).unwrap();
    let says = |name: &str, value: &str| opened.settings.contains(&(name.into(), value.into()));
    assert!(says("server", "given by URL") && says(EFFECTIVE_DURABILITY, "power"));
    let mut given = opened.store;
    create(&mut given).unwrap();
    let Join::At(at) = join(&given) else { panic!("nobody may join") };
    let mut second = engine.join(&options, &at).unwrap();
    for n in 1..=2 {
        write(&mut given, n, 1).unwrap();
        assert_eq!(count(&mut second).unwrap(), n, "{}", engine.info().id);
    }
    close(second).unwrap();
    assert_eq!(count(&mut given).unwrap(), 2, "its end drops nothing");
    // Its client dies: it closes nothing, and the kernel ends its connections.
    std::mem::forget(given);
    for socket in sockets().difference(&of_others) {
        // SAFETY: it concerns no memory. One that the server has ended already is an error.
        unsafe { libc::shutdown(*socket, libc::SHUT_RDWR) };
    }
    engine.remove_left(options.url.as_deref().unwrap(), &options.guest).unwrap();
    let left = engine.join(&options, &at).and_then(|mut second| count(&mut second));
    assert!(left.is_err() || left.is_ok_and(|rows| rows == 0), "{}", engine.info().id);
}

/// Returns the sockets that this process has open.
fn sockets() -> HashSet<RawFd> {
    let files = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let is_socket = |path: &Path| {
        fs::read_link(path).is_ok_and(|to| to.to_string_lossy().starts_with("socket:"))
    };
    let sockets = files.map(|file| file.path()).filter(|path| is_socket(path));
    sockets.map(|path| path.file_name().unwrap().to_str().unwrap().parse().unwrap()).collect()
}

fn a_server_that_listens_on_every_address_refuses_a_network_that_others_share() {
    let Ok(engine) = registry::find("harperdb") else { return };
    if network::is_isolated() || !is_here(engine) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let error = engine.open(&options(dir.path(), Durability::Power, Link::Loopback)).err().unwrap();
    assert!(error.is_unsupported() && error.to_string().contains("every address"), "{error}");
}

fn every_byte_is_counted_once() {
    network::enter().unwrap();
    assert!(network::is_isolated());
    let before = network::counters().unwrap();
    assert_eq!(before, network::Counters::default());
    let (here, there) = (UdpSocket::bind("127.0.0.1:0"), UdpSocket::bind("127.0.0.1:0"));
    let (here, there) = (here.unwrap(), there.unwrap());
    here.send_to(&[1; 100], there.local_addr().unwrap()).unwrap();
    there.recv(&mut [0; 200]).unwrap();
    // The headers of IP and UDP have 20 and 8 bytes.
    let after = network::counters().unwrap();
    assert_eq!(after, network::Counters { bytes: 128, packets: 1 });
}
