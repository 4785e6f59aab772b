//! Every server engine as it is really started: private, on its own socket, tied to its owner, run
//! by root and by another user; and a guest database on a server given by URL. Its store is tested
//! with those of its family.
mod facts;
#[cfg(feature = "valkey")]
mod valkey;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::thread;

use embermark_engines::sql::Access;
use embermark_engines::{
    Availability, EFFECTIVE_DURABILITY, EngineError, Join, Link, OpenOptions, Opened, Store, Tier,
    registry,
};
use embermark_model::Durability;
use embermark_skips::skipped;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};

use crate::server::owner::{Owner, run_passing, task, test_command};
use crate::server::processes::{Processes, addresses, ports, sockets, uid, unix_listeners};
use crate::server::rows::{close, count, create, join, write};
use crate::server::{ServerEngine, given, options, setting};
use facts::{Facts, Given, Refusal};

/// The id of a user that runs no program.
const NOBODY: u32 = 65534;

/// Whether the version that an engine reports begins with the one that its program reports.
fn is_version(reported: &str, version: &str) -> bool {
    let rest = reported.strip_prefix(version);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '-']))
}

#[test]
fn a_private_server_starts_answers_nobody_on_tcp_and_is_gone_after_close() {
    for Facts { engine, processes, left, .. } in facts::here() {
        let (id, (dir, opened)) = (engine.0, engine.start(Durability::Process).unwrap());
        let Availability::Ready { version } = engine.engine().availability() else { panic!() };
        assert!(is_version(&opened.version, &version), "{} is not {version}", opened.version);
        let (server, server_dir) = (opened.server.unwrap(), dir.path().join("server"));
        let of_server = Processes::of(server, &server_dir);
        let running = of_server.running();
        assert!(running.contains(&server) && processes.contains(&running.len()), "{running:?}");
        let mut store = opened.store;
        create(&mut store).unwrap();
        write(&mut store, 1, 1).unwrap();
        assert_eq!(count(&mut store).unwrap(), 1, "{id}");
        // Its place is occupied.
        let error = engine.refused(&options(dir.path(), Durability::Process)).to_string();
        assert!(error.contains("could not lock") && error.contains("server"), "{error}");
        assert_eq!(answering_on_tcp(server), usize::from(id == "influxdb"), "{id}");
        close(store).unwrap();
        assert_eq!(of_server.running(), [] as [u32; 0], "{id}");
        left(&server_dir);
    }
}

/// Returns on how many TCP ports a server answers, which it may only do to refuse. InfluxDB's
/// listeners cannot be turned off.
fn answering_on_tcp(server: u32) -> usize {
    let mut refused = 0;
    for port in ports(&sockets(server)) {
        let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let question = "GET /query?q=SHOW+DATABASES HTTP/1.0\r\n\r\n";
        let mut said = Vec::new();
        // A server that does not speak HTTP may close the connection at any moment.
        let _ = client
            .write_all(question.as_bytes())
            .and_then(|()| client.shutdown(Shutdown::Write))
            .and_then(|()| client.read_to_end(&mut said));
        let said = String::from_utf8_lossy(&said);
        assert!(said.is_empty() || said.starts_with("HTTP/1.0 401"), "{said}");
        refused += usize::from(!said.is_empty());
    }
    refused
}

#[test]
fn a_server_that_is_started_again_has_what_was_stored_and_so_has_one_on_a_copy() {
    for Facts { engine, .. } in facts::here() {
        let (dir, Opened { mut store, .. }) = engine.start(Durability::Power).unwrap();
        create(&mut store).unwrap();
        (1..=3).for_each(|n| write(&mut store, n, 1).unwrap());
        close(store).unwrap();
        let mut store = engine.open(&options(dir.path(), Durability::Power)).store;
        assert_eq!(count(&mut store).unwrap(), 3, "{}", engine.0);
        write(&mut store, 4, 1).unwrap();
        close(store).unwrap();
        let copy = tempfile::tempdir().unwrap();
        let of_dir = dir.path().join(".");
        let copied = Command::new("cp").arg("-a").args([&of_dir, copy.path()]).status().unwrap();
        assert!(copied.success());
        drop(dir);
        let mut store = engine.open(&options(copy.path(), Durability::Power)).store;
        assert_eq!(count(&mut store).unwrap(), 4, "{}", engine.0);
        close(store).unwrap();
    }
}

#[test]
fn a_server_is_started_again_after_its_processes_were_killed() {
    for Facts { engine, .. } in facts::here() {
        let (dir, Opened { mut store, server, .. }) = engine.start(Durability::Process).unwrap();
        create(&mut store).unwrap();
        (1..=3).for_each(|n| write(&mut store, n, 1).unwrap());
        let processes = Processes::of(server.unwrap(), dir.path());
        for pid in processes.running() {
            // One process may have died because another one did.
            let _ = kill(Pid::from_raw(pid.cast_signed()), Signal::SIGKILL);
        }
        processes.end();
        drop(store);
        // By now another process may have the number in such a file.
        let mut reported = ["data/postmaster.pid", "data/root/hdb.pid"].map(|file| {
            let file = dir.path().join("server").join(file);
            let Ok(text) = fs::read_to_string(&file) else { return false };
            let (_, rest) = text.split_once('\n').unwrap_or_default();
            fs::write(&file, format!("{}\n{rest}", std::process::id())).is_ok()
        });
        reported.sort_unstable();
        assert_eq!(reported, [false, ["postgres", "harperdb"].contains(&engine.0)], "{}", engine.0);
        let mut store = engine.open(&options(dir.path(), Durability::Process)).store;
        assert_eq!(count(&mut store).unwrap(), 3, "{}", engine.0);
        write(&mut store, 4, 1).unwrap();
        close(store).unwrap();
        let mut store = engine.open(&options(dir.path(), Durability::Process)).store;
        assert_eq!(count(&mut store).unwrap(), 4, "{}", engine.0);
        close(store).unwrap();
    }
}

/// Its data are damaged: the error belongs to this start, not to an earlier one.
#[test]
fn a_server_that_does_not_start_again_is_reported_with_the_end_of_its_log() {
    for Facts { engine, .. } in facts::here() {
        let (dir, Opened { store, .. }) = engine.start(Durability::Process).unwrap();
        close(store).unwrap();
        let server = dir.path().join("server");
        let append_only = "data/appendonlydir/appendonly.aof.manifest";
        let vital =
            ["data/PG_VERSION", "data/ibdata1", "data/WiredTiger.wt", append_only, "meta/meta.db"];
        let Some(file) = vital.iter().map(|file| server.join(file)).find(|file| file.exists())
        else {
            assert_eq!(engine.0, "harperdb");
            continue;
        };
        fs::write(file, "torn").unwrap();
        let mark = "a line of an earlier start\n";
        let log = dir.path().join("server.log");
        fs::OpenOptions::new().append(true).open(log).unwrap().write_all(mark.as_bytes()).unwrap();
        let error = engine.refused(&options(dir.path(), Durability::Process)).to_string();
        assert!(error.starts_with(&format!("{} could not start its program", engine.0)), "{error}");
        let (_, lines) = error.split_once("last lines of").unwrap();
        assert!(!lines.contains(mark.trim()) && lines.lines().count() > 1, "{error}");
    }
}

#[test]
fn two_servers_run_at_once_and_share_nothing() {
    for Facts { engine, .. } in facts::here() {
        let both_filled = Barrier::new(2);
        let fill = |rows: i64| {
            let (_dir, Opened { mut store, .. }) = engine.start(Durability::None).unwrap();
            create(&mut store).unwrap();
            (1..=rows).for_each(|n| write(&mut store, n, 1).unwrap());
            both_filled.wait();
            let count = count(&mut store).unwrap();
            close(store).unwrap();
            count
        };
        thread::scope(|scope| {
            let (one, other) = (scope.spawn(|| fill(10)), scope.spawn(|| fill(20)));
            assert_eq!((one.join().unwrap(), other.join().unwrap()), (10, 20), "{}", engine.0);
        });
    }
}

#[test]
fn each_tier_is_set_and_read_back() {
    for Facts { engine, library, settings, tiers, .. } in facts::here() {
        for (tier, of_tier) in Durability::ALL.into_iter().zip(tiers) {
            let offered = engine.engine().tier(tier);
            let Tier::Offered { effective_durability, setting: words, .. } = offered else {
                // These versions were shown not to keep it.
                assert_eq!(tier, Durability::Power, "{}", engine.0);
                assert!(["influxdb", "mariadb"].contains(&engine.0), "{}", engine.0);
                continue;
            };
            assert!(effective_durability >= tier);
            let (_dir, opened) = engine.start(tier).unwrap();
            for (name, value) in settings.iter().chain(*of_tier) {
                assert_eq!(setting(&opened, name), *value, "{} ({tier}): {name}", engine.0);
                // If the words for the tier name the setting, they have its value.
                let says = |what: String| words.contains(&what);
                assert!(!says(format!("{name}=")) || says(format!("{name}={value}")), "{words}");
            }
            if let Some(library) = library {
                let version = setting(&opened, library.setting);
                let version = version.strip_prefix(library.before).unwrap();
                let numbers: Vec<u32> = version.split('.').map(|n| n.parse().unwrap()).collect();
                assert!(numbers.len() > 1 && library.major.contains(&numbers[0]), "{version}");
            }
            close(opened.store).unwrap();
        }
    }
}

#[test]
fn nothing_listens_but_its_own_socket_and_a_dropped_store_takes_its_server_with_it() {
    for Facts { engine, socket, socket_mode, loopback, .. } in facts::here() {
        let (id, (dir, opened)) = (engine.0, engine.start(Durability::None).unwrap());
        let server = opened.server.unwrap();
        let server_dir = dir.path().join("server");
        let processes = Processes::of(server, dir.path());
        assert!(!sockets(server).is_empty(), "not even a Unix socket is seen");
        let mut protocols = Vec::new();
        for pid in processes.running() {
            for (protocol, address) in addresses(&sockets(pid)) {
                assert_eq!(address, "0100007F", "{id}: {protocol}");
                protocols.push(protocol);
            }
        }
        protocols.sort_unstable();
        protocols.dedup();
        assert_eq!(protocols, *loopback, "{id}");
        let name = Path::new(socket).file_name().unwrap().to_str().unwrap();
        assert_eq!(unix_listeners(server), [name], "{id}");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&server_dir), 0o700, "{id}");
        let shut = mode(&server_dir.join(socket));
        assert_eq!(socket_mode.unwrap_or(shut), shut, "{id}");
        // A server that listens on a port as well, which no setting prevents, does so where nobody
        // else is.
        assert_eq!(processes.are_alone(), id == "harperdb");
        drop(opened);
        assert_eq!(processes.running(), [] as [u32; 0], "{id}");
    }
}

#[test]
fn a_server_that_refuses_to_start_is_reported_with_the_end_of_its_log() {
    for Facts { engine, variable, refusal, refusal_words, .. } in facts::here() {
        let (id, dir) = (engine.0, tempfile::tempdir().unwrap());
        let said = match refusal {
            Refusal::Memory(memory) => {
                let private = options(dir.path(), Durability::Process);
                engine.refused(&OpenOptions { memory: *memory, ..private }).to_string()
            }
            Refusal::Program(make) => {
                let program = make(*engine, dir.path());
                let place = dir.path().join("place");
                fs::create_dir(&place).unwrap();
                let task = format!("{id}\n{}", place.display());
                run_passing(test_command("servers::is_refused", task).env(variable, program))
            }
        };
        assert!(said.contains(&format!("{id} could not start its program")), "{said}");
        assert!(said.contains("it ended with exit status: "), "{said}");
        let (_, log) = said.split_once("last lines of").unwrap();
        assert!(refusal_words.iter().any(|words| log.contains(words)), "{said}");
    }
}

/// Returns the engine and the folder that another process was given.
fn task_engine() -> Option<(ServerEngine, OpenOptions)> {
    let task = task()?;
    let (id, dir) = task.split_once('\n').unwrap();
    let id = registry::find(id).unwrap().info().id;
    Some((ServerEngine(id), options(Path::new(dir), Durability::Process)))
}

#[test]
#[ignore = "run in a process of its own by another test"]
fn is_refused() {
    let Some((engine, options)) = task_engine() else { return };
    println!("{}", engine.refused(&options));
}

#[test]
fn a_server_dies_with_its_owner_and_root_runs_it_as_another_user_where_it_refuses() {
    let others = geteuid().is_root().then_some(NOBODY);
    if others.is_none() {
        skipped("root", "only root can try another user as well");
    }
    for Facts { engine, refuses_root, processes, .. } in facts::here() {
        for user in [None].into_iter().chain(others.map(Some)) {
            let dir = tempfile::tempdir().unwrap();
            let owner = Owner::start(*engine, &dir.path().join("options"), user, &[]);
            let (runs_as, ours) = (uid(owner.server), user.unwrap_or(geteuid().as_raw()));
            let is_another = *refuses_root && ours == 0;
            assert_eq!(runs_as == ours, !is_another, "{}: {runs_as}", engine.0);
            let running = owner.processes.running();
            assert!(running.contains(&owner.server) && processes.contains(&running.len()));
            for pid in running {
                assert!(addresses(&sockets(pid)).iter().all(|(_, address)| address == "0100007F"));
            }
            owner.kill();
        }
    }
}

#[test]
fn a_given_server_gets_one_database_and_loses_it_again() {
    for Facts { engine, given: stands, .. } in facts::here() {
        let Some(stands) = stands else { continue };
        let Given { owner, link, url, tier, settings, keeps, caches, too_weak, databases } = stands;
        let (id, dir) = (engine.0, tempfile::tempdir().unwrap());
        let private = OpenOptions { link: *link, ..options(dir.path(), *owner) };
        let mut owner = engine.open(&private).store;
        let Join::At(at) = join(&owner) else { panic!("{id} lets nobody join") };
        let url = url(&dir.path().join("server"), &at);
        create(&mut owner).unwrap();
        write(&mut owner, 1, 1).unwrap();
        let sorted = |owner: &mut Store| {
            let mut names = databases(owner, &url);
            names.sort();
            names
        };
        let at_first = sorted(&mut owner);
        for is_closed in [true, false] {
            let opened = engine.open(&given(&url, *tier));
            assert_eq!(opened.server, None);
            for (name, value) in *settings {
                assert_eq!(setting(&opened, name), *value, "{id}: {name}");
            }
            assert_eq!(setting(&opened, "server"), "given by URL", "{id}");
            assert_eq!(setting(&opened, EFFECTIVE_DURABILITY), keeps.to_string(), "{id}");
            let cache = if *caches { private.memory.to_string() } else { "absent".to_owned() };
            assert_eq!(setting(&opened, "cache"), cache, "{id}");
            let weak = too_weak.is_some_and(|(name, value)| setting(&opened, name) == value);
            let mut ours = opened.store;
            create(&mut ours).unwrap();
            assert_eq!(count(&mut ours).unwrap(), 0, "{id}");
            (1..=2).for_each(|n| write(&mut ours, n, 1).unwrap());
            maintain(&mut ours).unwrap();
            assert_eq!(count(&mut ours).unwrap(), 2, "{id}");
            assert_eq!(count(&mut owner).unwrap(), 1, "{id}");
            let mut added = sorted(&mut owner);
            added.retain(|name| !at_first.contains(name));
            assert!(matches!(&added[..], [one] if one.starts_with("embermark_")), "{added:?}");
            if is_closed {
                close(ours).unwrap();
            } else {
                // This works even in the middle of a transaction.
                if let Store::Sql(store) = &mut ours {
                    store.begin(Access::Write).unwrap();
                }
                drop(ours);
            }
            assert_eq!(sorted(&mut owner), at_first, "{id}");
            if let (Some((name, value)), true) = (too_weak, weak) {
                let error = engine.refused(&given(&url, Durability::Power));
                assert!(error.is_unsupported(), "{error}");
                let error = error.to_string();
                assert!(error.contains("keep the tier 'power'"), "{error}");
                assert!(error.contains(&format!("{name}={value}")), "{error}");
                assert!(error.contains("--tier"), "{error}");
                assert_eq!(sorted(&mut owner), at_first, "{id}");
            }
        }
        close(owner).unwrap();
    }
}

#[test]
fn a_given_server_that_keeps_more_than_was_asked_for_says_so() {
    for Facts { engine, given: stands, .. } in facts::here() {
        let Some(Given { link, url, .. }) = stands else { continue };
        let dir = tempfile::tempdir().unwrap();
        let private = OpenOptions { link: *link, ..options(dir.path(), Durability::Power) };
        let owner = engine.open(&private);
        assert_eq!(setting(&owner, "server"), "absent");
        let Join::At(at) = join(&owner.store) else { panic!("nobody may join") };
        let opened =
            engine.open(&given(&url(&dir.path().join("server"), &at), Durability::Process));
        assert_eq!(setting(&opened, EFFECTIVE_DURABILITY), "power", "{}", engine.0);
        close(opened.store).unwrap();
        close(owner.store).unwrap();
    }
}

#[test]
fn what_a_killed_client_left_on_a_given_server_is_removed() {
    for Facts { engine, given: stands, .. } in facts::here() {
        let Some(Given { owner, link, url, databases, .. }) = stands else { continue };
        let (id, dir) = (engine.0, tempfile::tempdir().unwrap());
        let private = OpenOptions { link: *link, ..options(dir.path(), *owner) };
        let mut owner = engine.open(&private).store;
        let Join::At(at) = join(&owner) else { panic!("{id} lets nobody join") };
        let url = url(&dir.path().join("server"), &at);
        let at_first = databases(&mut owner, &url);
        let name = "embermark_of_a_run";
        let removes = || engine.engine().remove_left(&url, name);
        removes().unwrap();
        let mut client =
            test_command("servers::writes_without_end", format!("{id}\n{name}\n{url}"));
        let mut client = client.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(client.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("writing")), "{id}: it failed, see above");
        client.kill().unwrap();
        client.wait().unwrap();
        let left = databases(&mut owner, &url);
        assert!(left.iter().any(|known| known == name), "{id}: {left:?}");
        removes().unwrap();
        assert_eq!(databases(&mut owner, &url), at_first, "{id}");
        removes().unwrap();
        close(owner).unwrap();
    }
}

#[test]
#[ignore = "run in a process of its own by another test"]
fn writes_without_end() {
    let Some(task) = task() else { return };
    let [id, name, url] = task.split('\n').collect::<Vec<_>>().try_into().unwrap();
    let options = OpenOptions { guest: name.to_owned(), ..given(url, Durability::None) };
    let mut store = registry::find(id).unwrap().open(&options).unwrap().store;
    create(&mut store).unwrap();
    if let Store::Sql(store) = &mut store {
        // The transaction holds locks.
        store.begin(Access::Write).unwrap();
    }
    for n in 1.. {
        write(&mut store, n, 1000).unwrap();
        if n == 100 {
            println!("\nwriting");
        }
    }
}

#[test]
fn over_tcp_nobody_is_let_in_without_a_password() {
    if embermark_network::is_isolated() {
        return skipped("a shared network", "these tests run in one of their own");
    }
    for Facts { engine, .. } in facts::here() {
        let (id, dir) = (engine.0, tempfile::tempdir().unwrap());
        let options =
            OpenOptions { link: Link::Loopback, ..options(dir.path(), Durability::Process) };
        if ["mongodb", "harperdb"].contains(&id) {
            let error = engine.refused(&options);
            assert!(error.is_unsupported() && error.to_string().contains("password"), "{error}");
            continue;
        }
        let mut owner = engine.open(&options).store;
        let mut second = owner.lifecycle().open_client().unwrap().open().unwrap();
        create(&mut second).unwrap();
        let Join::At(at) = join(&owner) else { panic!("{id} lets nobody join") };
        let port = at.split(' ').find_map(|part| part.strip_prefix("port="));
        let of_a_url = |at: &str| Some(at.rsplit_once("127.0.0.1:")?.1.replace('/', ""));
        let port = port.map(str::to_owned).or_else(|| of_a_url(&at)).unwrap();
        let form = match id {
            "postgres" => "postgres://postgres@127.0.0.1:PORT/postgres",
            "mariadb" => "mysql://root@127.0.0.1:PORT/",
            "valkey" => "valkey://127.0.0.1:PORT",
            _ => "http://127.0.0.1:PORT",
        };
        let error = engine.refused(&given(&form.replace("PORT", &port), Durability::Process));
        let error = error.to_string();
        let words = ["password", "Access denied", "401"];
        assert!(words.iter().any(|words| error.contains(words)), "{id}: {error}");
        close(second).unwrap();
        close(owner).unwrap();
    }
}

fn maintain(store: &mut Store) -> Result<(), EngineError> {
    match store {
        Store::Sql(store) => store.maintain(),
        Store::Kv(store) => store.maintain(),
        Store::Document(store) => store.maintain(),
        Store::Series(store) => store.maintain(),
    }
}

#[test]
fn a_server_that_is_not_reached_is_an_error_that_names_it_and_keeps_the_password() {
    for Facts { engine, unreached: (url, place), url_form, .. } in facts::here() {
        let error = engine.refused(&given(url, Durability::Process)).to_string();
        assert!(error.starts_with(&format!("{} could not ", engine.0)), "{error}");
        assert!(error.contains(place) && !error.contains("hunter2"), "{error}");
        let error = engine.refused(&given("no//url", Durability::Process)).to_string();
        assert!(error.contains(url_form), "{error}");
    }
}

#[test]
fn a_url_that_is_written_wrong_is_an_error_without_its_password() {
    for Facts { engine, url_form, .. } in facts::here() {
        let (scheme, _) = url_form.split_once("://").unwrap();
        // Without a host, the password is in the place of a port.
        for rest in
            ["me:hunter2", "me:hunter2/", "me:hunter2@", "me:hunter2@[::1", "me:hunter2@h:x"]
        {
            let url = format!("{scheme}://{rest}");
            let error = engine.refused(&given(&url, Durability::Process)).to_string();
            assert!(!error.contains("hunter2"), "{url}: {error}");
        }
        for other in ["ftp://me:hunter2@127.0.0.1:1", "me:hunter2@127.0.0.1:1", "hunter2"] {
            let error = engine.refused(&given(other, Durability::Process)).to_string();
            assert!(!error.contains("hunter2"), "{other}: {error}");
        }
    }
}

#[test]
fn without_its_library_an_engine_says_what_is_missing_and_what_gets_it() {
    for Facts { engine, library, .. } in facts::here() {
        let Some(library) = library else { continue };
        let empty = tempfile::tempdir().unwrap();
        let task = format!("{}\n{}", engine.0, empty.path().display());
        run_passing(
            test_command("servers::lacks_its_library", task).env(library.variable, empty.path()),
        );
    }
}

#[test]
#[ignore = "run in a process of its own by another test"]
fn lacks_its_library() {
    let Some((engine, private)) = task_engine() else { return };
    let facts = facts::all().find(|facts| facts.engine.0 == engine.0).unwrap();
    let library = facts.library.as_ref().unwrap();
    let Availability::Missing { why, remedy } = engine.engine().availability() else { panic!() };
    assert_eq!(why, format!("no {} in {}", library.file, private.dir.display()));
    assert!(remedy.contains("`make servers`") && remedy.contains(library.variable), "{remedy}");
    for options in [private.clone(), given(facts.unreached.0, Durability::Process)] {
        let error = engine.refused(&options);
        assert!(error.is_unavailable(), "{error}");
        let error = error.to_string();
        assert!(error.contains(&why) && error.contains(&remedy), "{error}");
        assert!(fs::read_dir(&private.dir).unwrap().next().is_none(), "a server was made");
    }
}

#[test]
fn without_its_programs_an_engine_says_what_is_missing_and_what_gets_it() {
    for Facts { engine, variable, .. } in facts::all() {
        let mut command = test_command("servers::is_skipped", format!("{}\n/nowhere", engine.0));
        // This test is meant to be skipped.
        let said = run_passing(command.env(variable, "/nowhere").env_remove(embermark_skips::FILE));
        let skip = format!("skipped: {}: no ", engine.0);
        let (_, why) = said.split_once(&skip).unwrap_or_else(|| panic!("{said}"));
        assert!(why.contains(&format!(" at /nowhere, which {variable} names; name ")), "{said}");
        assert!(why.contains(&format!(" in {variable} by an absolute path")), "{said}");
    }
}

#[test]
#[ignore = "run in a process of its own by another test"]
fn is_skipped() {
    let Some((engine, _)) = task_engine() else { return };
    assert!(!engine.is_here());
}
