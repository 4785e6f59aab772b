use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use embermark_model::Durability;

use super::{Account, Home, Server, ServerSpec, run_to_end};
use crate::EngineError;

fn shell(script: &str) -> ServerSpec<'static> {
    ServerSpec {
        program: Path::new("/bin/sh"),
        args: ["-c", script].map(OsString::from).to_vec(),
        env: vec![("GREETING".into(), "hello".into())],
        stop: Signal::SIGTERM,
        abort: Signal::SIGKILL,
        ready_within: Duration::from_secs(10),
        stop_within: Duration::from_millis(300),
        alone: false,
    }
}

fn home(options: &Path) -> Home {
    Home::open("shell", options, Account::unprivileged(Path::new("/bin/sh"), &["nobody"]).unwrap())
        .unwrap()
}

/// Ready once the server has created the file `ready` in its home.
fn ready(home: &Home) -> Result<(), String> {
    home.path().join("ready").metadata().map(|_| ()).map_err(|e| e.to_string())
}

fn in_home(home: &Home, script: &str) -> String {
    format!("cd {}; {script}", home.path().display())
}

fn is_gone(pid: u32) -> bool {
    let pid = Pid::from_raw(pid.cast_signed());
    let deadline = Instant::now() + Duration::from_secs(300);
    while kill(pid, None) != Err(Errno::ESRCH) {
        if Instant::now() > deadline {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
    true
}

#[test]
fn a_server_starts_below_a_long_path_closed_to_its_user_and_stops_by_its_signal() {
    let options = tempfile::tempdir().unwrap();
    let deep = options.path().join("d".repeat(120));
    fs::create_dir(&deep).unwrap();
    let home = home(&deep);
    let script = in_home(
        &home,
        "trap 'exit 0' TERM; echo $GREETING; : >ready; while :; do sleep 0.01; done",
    );
    let (server, ()) = Server::start(shell(&script), &home, ready).unwrap();
    let pid = server.pid();
    assert_eq!(fs::read_to_string(deep.join("server.log")).unwrap(), "hello\n");
    server.stop().unwrap();
    assert!(is_gone(pid));
}

#[test]
fn a_server_alone_sees_a_network_with_its_loopback_up_and_nothing_else() {
    let options = tempfile::tempdir().unwrap();
    let home = Home::open("shell", options.path(), Account::ourselves()).unwrap();
    // 127.0.0.0/8 is in a namespace's routing table only while its loopback device is up.
    let script =
        in_home(&home, "cat /proc/net/dev /proc/net/fib_trie >net; : >ready; exec sleep 60");
    let spec = ServerSpec { alone: true, ..shell(&script) };
    let (server, ()) = match Server::start(spec, &home, ready) {
        Err(error) if error.to_string().contains("the kernel refuses one") => {
            return embermark_skips::skipped("network namespace", error);
        }
        started => started.unwrap(),
    };
    let namespace = |pid: u32| fs::read_link(format!("/proc/{pid}/ns/net")).unwrap();
    assert_ne!(namespace(server.pid()), namespace(std::process::id()));
    let net = fs::read_to_string(options.path().join("server/net")).unwrap();
    let devices = net.lines().filter(|line| line.contains(": ")).count();
    assert!(devices == 1 && net.contains(" lo: ") && net.contains("127.0.0.0/8"), "{net}");
    let pid = server.pid();
    drop(server);
    assert!(is_gone(pid));
}

#[test]
fn an_early_exit_is_reported_with_its_status_and_the_last_lines_of_its_log() {
    let options = tempfile::tempdir().unwrap();
    let home = home(options.path());
    let path = home.path();
    let script = format!("echo first; echo no room in {} >&2; exit 3", path.display());
    let begun = Instant::now();
    let spec = ServerSpec { ready_within: Duration::from_secs(600), ..shell(&script) };
    let error = Server::start(spec, &home, ready).err().unwrap().to_string();
    assert!(error.contains("exit status: 3") && error.contains("\n  first\n  no room"), "{error}");
    assert!(error.contains(&*options.path().join("server").to_string_lossy()), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(300), "waited for a dead server");
}

/// As the kernel kills it for lack of memory.
#[test]
fn a_server_that_is_killed_before_it_says_a_word_is_reported_without_an_empty_log() {
    let options = tempfile::tempdir().unwrap();
    let home = home(options.path());
    let error = Server::start(shell("kill -KILL $$"), &home, ready).err().unwrap().to_string();
    let says = "it ended with signal: 9 (SIGKILL), perhaps out of memory (see the kernel's log)";
    assert!(error.ends_with(says), "{error}");
}

#[test]
fn a_server_that_never_answers_is_given_up_with_its_log_and_leaves_nothing_running() {
    let options = tempfile::tempdir().unwrap();
    let home = home(options.path());
    let mut spec = shell("echo $$; exec sleep 60");
    spec.ready_within = Duration::from_secs(1);
    let error = Server::start(spec, &home, ready).err().unwrap().to_string();
    assert!(error.contains("no answer within 1s"), "{error}");
    let pid = fs::read_to_string(options.path().join("server.log")).unwrap();
    assert!(error.contains(pid.trim()) && is_gone(pid.trim().parse().unwrap()), "{error}");
}

#[test]
fn a_server_that_ignores_its_signal_is_killed_with_its_group_and_that_is_an_error() {
    let options = tempfile::tempdir().unwrap();
    let home = home(options.path());
    let script = in_home(&home, "trap '' TERM; sleep 60 & echo $! >pid; mv pid ready; wait");
    let (server, ()) = Server::start(shell(&script), &home, ready).unwrap();
    let (pid, inner) =
        (server.pid(), fs::read_to_string(options.path().join("server/ready")).unwrap());
    let error = server.stop().unwrap_err().to_string();
    assert!(error.contains("did not stop within 300ms and was killed"), "{error}");
    assert!(is_gone(pid) && is_gone(inner.trim().parse().unwrap()));
}

#[test]
fn a_server_that_died_before_its_stop_is_an_error() {
    let options = tempfile::tempdir().unwrap();
    let home = home(options.path());
    let script = in_home(&home, ": >ready; echo giving up; exit 7");
    let (server, ()) = Server::start(shell(&script), &home, ready).unwrap();
    while !server.has_exited() {
        thread::sleep(Duration::from_millis(1));
    }
    let error = server.stop().unwrap_err().to_string();
    assert!(error.contains("exit status: 7") && error.contains("giving up"), "{error}");
}

#[test]
fn a_server_that_crashes_while_it_stops_is_an_error() {
    let options = tempfile::tempdir().unwrap();
    let home = home(options.path());
    let script = in_home(
        &home,
        "trap 'echo torn; kill -KILL $$' TERM; : >ready; while :; do sleep 0.01; done",
    );
    let (server, ()) = Server::start(shell(&script), &home, ready).unwrap();
    let error = server.stop().unwrap_err().to_string();
    assert!(error.contains("signal: 9") && error.contains("torn"), "{error}");
}

#[test]
fn a_server_that_fails_while_it_stops_is_an_error() {
    let options = tempfile::tempdir().unwrap();
    let home = home(options.path());
    let script = in_home(
        &home,
        "trap 'echo no room left; exit 1' TERM; : >ready; while :; do sleep 0.01; done",
    );
    let (server, ()) = Server::start(shell(&script), &home, ready).unwrap();
    let error = server.stop().unwrap_err().to_string();
    assert!(error.contains("exit status: 1") && error.contains("no room left"), "{error}");
}

#[test]
fn a_dropped_server_is_gone_and_one_started_by_a_thread_that_ended_is_not() {
    let options = tempfile::tempdir().unwrap();
    let home = home(options.path());
    let script = in_home(&home, ": >ready; exec sleep 60");
    let start = move || Server::start(shell(&script), &home, ready).unwrap().0;
    let server = thread::spawn(start).join().unwrap();
    thread::sleep(Duration::from_millis(50));
    assert!(!server.has_exited());
    let pid = server.pid();
    drop(server);
    assert!(is_gone(pid));
}

#[test]
fn a_program_that_is_not_there_or_fails_is_an_error_that_names_it() {
    let options = tempfile::tempdir().unwrap();
    let mut spec = shell("");
    spec.program = Path::new("/nowhere/serverd");
    let error = run_to_end(spec, &home(options.path())).err().unwrap().to_string();
    assert!(error.contains("/nowhere/serverd"), "{error}");

    let other = tempfile::tempdir().unwrap();
    let error = run_to_end(shell("echo disk full; exit 1"), &home(other.path())).err().unwrap();
    assert!(error.to_string().contains("disk full"), "{error}");
}

#[test]
fn a_site_that_is_occupied_is_refused_and_one_that_was_left_is_not() {
    let options = tempfile::tempdir().unwrap();
    let first = home(options.path());
    let account = Account::unprivileged(Path::new("/bin/sh"), &["nobody"]).unwrap();
    let open = || Home::open("shell", options.path(), account);
    let error = open().err().unwrap().to_string();
    assert!(error.contains("could not lock") && error.contains("server"), "{error}");
    drop(first);
    open().unwrap();
}

/// A process that its server has started, and that outlives the owner.
#[test]
fn a_site_is_occupied_as_long_as_any_process_of_its_server_runs() {
    let options = tempfile::tempdir().unwrap();
    let first = home(options.path());
    // It is ready once it has its own session. Before that, it would be ended with its server.
    let script = in_home(&first, "setsid sh -c 'echo $$ >pid; mv pid ready; exec sleep 60' & wait");
    let (server, ()) = Server::start(shell(&script), &first, ready).unwrap();
    let pid = fs::read_to_string(options.path().join("server/ready")).unwrap();
    drop((server, first));
    let open = || Home::open("shell", options.path(), Account::ourselves());
    assert!(open().err().unwrap().to_string().contains("a server runs in it"));
    kill(Pid::from_raw(pid.trim().parse().unwrap()), Signal::SIGKILL).unwrap();
    open().unwrap();
}

#[test]
fn a_directory_is_made_once_and_whole() {
    let options = tempfile::tempdir().unwrap();
    let home = home(options.path());
    let made = |text: Option<&str>| {
        home.create_once("data", Durability::Power, |dir| {
            fs::write(dir.join(text.map_or("half", |_| "file")), text.unwrap_or_default()).unwrap();
            let killed = || EngineError::failed("shell", "make it", "it was killed");
            text.map(drop).ok_or_else(killed)
        })
    };
    assert!(made(None).is_err());
    let data = made(Some("first")).unwrap();
    assert!(!data.join("half").exists());
    assert_eq!(made(Some("second")).unwrap(), data);
    assert_eq!(fs::read_to_string(data.join("file")).unwrap(), "first");
}
