//! HarperDB as it is really started: private, on a network of its own, tied to its owner, as root
//! and as anybody else. What its store does is tested with that of every document engine.
#![cfg(feature = "harperdb")]
#![allow(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

mod anybody;

use std::collections::HashSet;
use std::ffi::CString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::ptr;
use std::sync::Barrier;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use embermark_engines::document::{
    Collection, CollectionDef, Document, DocumentStore, Filter, Find, Language, Order, Value,
};
use embermark_engines::{
    Availability, Engine, EngineError, OpenOptions, Opened, Result, Store, Tier, registry,
};
use embermark_model::Durability;
use embermark_skips::{is_here, skipped};
use nix::unistd::geteuid;
use tempfile::TempDir;

/// The folder in which a helper process opens its server.
const HELPER_DIR: &str = "EMBERMARK_TEST_HARPERDB_DIR";

/// A server that the test of `--url` may make a database on.
const GIVEN: &str = "EMBERMARK_TEST_HARPERDB_URL";

static READINGS: CollectionDef = CollectionDef {
    name: "readings",
    key: &["sensor", "ts"],
    indexes: &[&["tag"]],
    fields: &["temperature", "tag"],
};

static NUMBERED: CollectionDef =
    CollectionDef { name: "numbered", key: &["n"], indexes: &[], fields: &["what"] };

fn engine() -> &'static dyn Engine {
    registry::find("harperdb").unwrap()
}

/// Whether a test can run.
fn installed() -> bool {
    is_here(engine())
}

fn options(dir: &Path, durability: Durability) -> OpenOptions {
    OpenOptions::new(dir, durability, 32 << 20)
}

fn open(dir: &TempDir, durability: Durability) -> Opened {
    engine().open(&options(dir.path(), durability)).unwrap()
}

fn store(opened: Opened) -> Box<dyn DocumentStore> {
    match opened.store {
        Store::Document(store) => store,
        _ => panic!("no document store"),
    }
}

fn setting<'a>(opened: &'a Opened, name: &str) -> &'a str {
    &opened.settings.iter().find(|(known, _)| known == name).unwrap().1
}

fn insert(store: &mut dyn DocumentStore, to: Collection, sensor: i64, ts: i64) -> Result<()> {
    let key = [Value::Int(sensor), Value::Int(ts)];
    let fields = [("temperature", Value::Float(ts as f64 / 8.0)), ("tag", Value::Text("a"))];
    store.insert(to, &Document { key: &key, fields: &fields })
}

/// A collection with `count` documents of one sensor.
fn filled(store: &mut dyn DocumentStore, count: i64) -> Collection {
    let readings = store.create(&READINGS).unwrap();
    (0..count).for_each(|ts| insert(store, readings, 1, ts).unwrap());
    readings
}

fn count(store: &mut dyn DocumentStore, of: &CollectionDef, collection: Collection) -> Option<i64> {
    let Language::Sql(dialect) = store.language() else { panic!("no SQL") };
    let question = format!("SELECT COUNT(*) AS documents FROM {}", dialect.table(of.name));
    let mut found = None;
    let visit = &mut |row: &dyn embermark_engines::sql::ResultRow| {
        found = row.int(0)?;
        Ok(())
    };
    store.query(collection, &question, &["documents"], visit).unwrap();
    found
}

/// The network a process sees; `None` when the process is gone.
fn network(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/ns/net")).ok()
}

/// The processes that see a network: of a private server, it and all that it started.
fn processes_on(network: &Path) -> Vec<u32> {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| self::network(*pid).as_deref() == Some(network))
        .collect()
}

fn all_gone(network: &Path) -> bool {
    let deadline = Instant::now() + Duration::from_secs(15);
    while !processes_on(network).is_empty() {
        if Instant::now() > deadline {
            return false;
        }
        sleep(Duration::from_millis(10));
    }
    true
}

/// The sockets of a process, by their inodes.
fn sockets(pid: u32) -> HashSet<String> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    files
        .filter_map(|file| fs::read_link(file.path()).ok())
        .filter_map(|to| Some(to.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect()
}

/// The inodes of what listens on the network that a process sees.
fn listeners(pid: &str) -> HashSet<String> {
    let tables =
        ["tcp", "tcp6"].map(|table| fs::read_to_string(format!("/proc/{pid}/net/{table}")));
    let tables = tables.map(std::result::Result::unwrap_or_default);
    // Columns: number, local address, remote address, state (0A listens), …, inode the tenth.
    let rows = tables.iter().flat_map(|table| table.lines().skip(1));
    rows.map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|row| row[3] == "0A")
        .map(|row| row[9].to_owned())
        .collect()
}

#[test]
fn a_private_server_starts_answers_and_is_gone_after_close() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let opened = open(&dir, Durability::Process);
    let Availability::Ready { version } = engine().availability() else { panic!("gone") };
    assert_eq!(opened.version, version);
    let network = network(opened.server.unwrap()).unwrap();
    let mut store = store(opened);
    let readings = filled(&mut *store, 3);
    assert_eq!(count(&mut *store, &READINGS, readings), Some(3));
    store.close().unwrap();
    assert_eq!(processes_on(&network), [] as [u32; 0]);
    assert!(!dir.path().join("server/data/root/operations-server").exists());
}

#[test]
fn nothing_of_it_listens_where_anybody_else_is() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let opened = open(&dir, Durability::None);
    let network = network(opened.server.unwrap()).unwrap();
    assert_ne!(Some(&network), self::network(std::process::id()).as_ref());
    let processes = processes_on(&network);
    assert!(processes.contains(&opened.server.unwrap()));
    let here = listeners("self");
    for pid in processes {
        let its_own = sockets(pid);
        assert!(!its_own.is_empty());
        assert!(its_own.is_disjoint(&here), "{pid} listens on this network");
    }
    for port in ["http.port", "operationsApi.network.port", "mqtt.network.port"] {
        assert_eq!(setting(&opened, port), "null", "{port}");
    }
    store(opened).close().unwrap();
}

#[test]
fn a_dropped_store_takes_its_server_with_it() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let opened = open(&dir, Durability::None);
    let network = network(opened.server.unwrap()).unwrap();
    drop(opened);
    assert_eq!(processes_on(&network), [] as [u32; 0]);
}

#[test]
fn two_servers_run_at_once_and_share_nothing() {
    if !installed() {
        return;
    }
    let both_filled = Barrier::new(2);
    let fill = |documents: i64| {
        let dir = tempfile::tempdir().unwrap();
        let mut store = store(open(&dir, Durability::None));
        let readings = filled(&mut *store, documents);
        both_filled.wait();
        let count = count(&mut *store, &READINGS, readings);
        store.close().unwrap();
        count
    };
    thread::scope(|scope| {
        let (one, other) = (scope.spawn(|| fill(4)), scope.spawn(|| fill(7)));
        assert_eq!((one.join().unwrap(), other.join().unwrap()), (Some(4), Some(7)));
    });
}

#[test]
fn each_tier_is_set_and_read_back() {
    if !installed() {
        return;
    }
    for tier in Durability::ALL {
        let dir = tempfile::tempdir().unwrap();
        let opened = open(&dir, tier);
        let Tier::Offered { effective_durability, setting: words, .. } = engine().tier(tier) else {
            panic!("{tier}")
        };
        assert!(effective_durability >= tier);
        let found = setting(&opened, "storage.writeAsync");
        assert_eq!(words, format!("storage.writeAsync={found}"));
        assert_eq!(found == "true", tier == Durability::None, "{tier}");
        assert_eq!(setting(&opened, "threads.count"), "1");
        assert_eq!(setting(&opened, "logging.auditLog"), "false");
        store(opened).close().unwrap();
    }
}

#[test]
fn numbers_are_exact_or_refused() {
    const EXACT: i64 = 1 << 53;
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(open(&dir, Durability::None));
    let numbered = store.create(&NUMBERED).unwrap();
    for n in [EXACT, -EXACT, 10, 9, -1] {
        let what = [("what", Value::Int(n))];
        store.insert(numbered, &Document { key: &[Value::Int(n)], fields: &what }).unwrap();
    }
    let refused: [EngineError; 2] = [EXACT + 1, i64::MIN].map(|n| {
        let what = [("what", Value::Int(n))];
        store.insert(numbered, &Document { key: &[Value::Int(1)], fields: &what }).unwrap_err()
    });
    assert!(refused.iter().all(EngineError::is_unsupported), "{refused:?}");
    let mut found = Vec::new();
    let find = |filter, order| Find { filter, order, limit: None, columns: &["n", "what"] };
    store
        .find(numbered, &find(Filter::All, Order::KeyDescending), &mut |row| {
            found.push((row.int(0)?.unwrap(), row.int(1)?.unwrap()));
            Ok(())
        })
        .unwrap();
    assert_eq!(found, [EXACT, 10, 9, -1, -EXACT].map(|n| (n, n)));
    // Without a key of several fields nothing stands beside it, and a change of it is refused.
    let change = store.update(numbered, &Filter::All, &[("n", Value::Int(1))]);
    assert!(change.unwrap_err().is_unsupported());
    assert_eq!(store.delete(numbered, &Filter::Key(&[Value::Int(9)])).unwrap(), 1);
    assert_eq!(count(&mut *store, &NUMBERED, numbered), Some(4));
    store.close().unwrap();
}

#[test]
fn a_database_on_a_given_server_is_made_and_dropped() {
    let Ok(url) = std::env::var(GIVEN) else {
        return skipped("given server", format!("{GIVEN} names none"));
    };
    let dir = tempfile::tempdir().unwrap();
    let given = OpenOptions { url: Some(url), ..options(dir.path(), Durability::Power) };
    let opened = engine().open(&given).unwrap();
    assert_eq!(opened.server, None);
    let mut store = store(opened);
    let readings = filled(&mut *store, 5);
    assert_eq!(count(&mut *store, &READINGS, readings), Some(5));
    let Language::Sql(dialect) = store.language() else { panic!("no SQL") };
    let table = dialect.table(READINGS.name);
    assert!(table.starts_with("embermark_"), "{table}");
    store.close().unwrap();
    let Store::Document(mut again) = engine().open(&given).unwrap().store else { panic!("none") };
    let readings = again.create(&READINGS).unwrap();
    let question = format!("SELECT sensor FROM {table}");
    let error = again.query(readings, &question, &["sensor"], &mut |_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("does not exist"), "{error}");
    again.close().unwrap();
}

/// Not a test of its own: run in a process of its own by those below.
#[test]
#[ignore = "a helper of other tests"]
fn helper() {
    let Some(dir) = std::env::var_os(HELPER_DIR) else { return };
    let opened = engine().open(&options(Path::new(&dir), Durability::None)).unwrap();
    let pid = opened.server.unwrap();
    let mut store = store(opened);
    let readings = filled(&mut *store, 2);
    assert_eq!(count(&mut *store, &READINGS, readings), Some(2));
    println!("\nserver {pid}");
    sleep(Duration::from_secs(60));
}

/// Runs the helper in a copy of this program that anybody may run, with a cache folder in `dir`.
fn run_helper(dir: &TempDir, options: &str, uid: Option<u32>) -> (Child, u32) {
    let program = dir.path().join("program");
    if !program.exists() {
        anybody::copy(&std::env::current_exe().unwrap(), &program);
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(dir.path().join("cache")).unwrap();
    }
    let options = dir.path().join(options);
    fs::create_dir(&options).unwrap();
    let mut command = Command::new(program);
    command.args(["helper", "--exact", "--ignored", "--nocapture"]).env(HELPER_DIR, &options);
    command.env("XDG_CACHE_HOME", dir.path().join("cache"));
    command.current_dir("/").stdout(Stdio::piped());
    if let Some(uid) = uid {
        chown(&options, Some(uid), Some(uid)).unwrap();
        chown(dir.path().join("cache"), Some(uid), Some(uid)).unwrap();
        within_reach(&mut command, dir);
        become_user(&mut command, uid);
    }
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut lines = lines.map_while(std::io::Result::ok);
    let pid = lines.find_map(|line| line.strip_prefix("server ")?.parse().ok());
    (child, pid.expect("the helper failed, see above"))
}

/// Has a command find HarperDB's package in `dir`, where it is mounted for that process and its
/// children alone: where it lies, below a home perhaps, other users than its owner may not reach it.
/// Takes the rights of root.
fn within_reach(command: &mut Command, dir: &TempDir) {
    let programs = engine().programs();
    let (_, program) = programs.iter().find(|(name, _)| *name == "harperdb.js").unwrap();
    // What the package depends on lies beside it: …/node_modules/harperdb/bin/harperdb.js.
    let (from, to) = (program.ancestors().nth(3).unwrap(), dir.path().join("node_modules"));
    fs::create_dir_all(&to).unwrap();
    command.env("EMBERMARK_HARPERDB", to.join("harperdb"));
    let text = |path: &Path| CString::new(path.as_os_str().as_encoded_bytes()).unwrap();
    let (from, to) = (text(from), text(&to));
    let mount = move || {
        let (none, none_data) = (ptr::null(), ptr::null());
        // SAFETY: system calls alone, with texts that were made before.
        let failed = unsafe {
            libc::unshare(libc::CLONE_NEWNS) != 0
                || libc::mount(
                    none,
                    c"/".as_ptr(),
                    none,
                    libc::MS_REC | libc::MS_PRIVATE,
                    none_data,
                ) != 0
                || libc::mount(from.as_ptr(), to.as_ptr(), none, libc::MS_BIND, none_data) != 0
        };
        if failed { Err(std::io::Error::last_os_error()) } else { Ok(()) }
    };
    // SAFETY: it makes system calls and allocates nothing.
    unsafe { command.pre_exec(mount) };
}

/// Has a command run as another user, after what it was told to do before.
fn become_user(command: &mut Command, uid: u32) {
    let change = move || {
        // SAFETY: system calls alone.
        let failed = unsafe {
            libc::setgroups(0, ptr::null()) != 0 || libc::setgid(uid) != 0 || libc::setuid(uid) != 0
        };
        if failed { Err(std::io::Error::last_os_error()) } else { Ok(()) }
    };
    // SAFETY: as above.
    unsafe { command.pre_exec(change) };
}

/// Kills a helper and sees its server die with it.
fn kill((mut owner, pid): (Child, u32)) {
    let network = network(pid).unwrap();
    assert!(processes_on(&network).contains(&pid));
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(all_gone(&network), "left: {:?}", processes_on(&network));
}

#[test]
fn a_server_dies_with_an_owner_that_is_killed() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    kill(run_helper(&dir, "options", None));
}

#[test]
fn an_ordinary_user_runs_it_as_himself() {
    const NOBODY: u32 = 65534;
    if !installed() {
        return;
    }
    if !geteuid().is_root() {
        return skipped("root", "only root can try another user; other tests try this one");
    }
    let dir = tempfile::tempdir().unwrap();
    let helper = run_helper(&dir, "options", Some(NOBODY));
    assert_eq!(fs::metadata(format!("/proc/{}", helper.1)).unwrap().uid(), NOBODY);
    let here = listeners("self");
    assert!(sockets(helper.1).is_disjoint(&here));
    kill(helper);
}

#[test]
fn a_template_is_made_once_for_its_owner_alone_and_knows_no_place() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let templates = dir.path().join("cache/embermark/templates");
    let made = || {
        let mut all = fs::read_dir(&templates).unwrap().flatten().map(|entry| entry.path());
        (all.next().unwrap(), all.next())
    };
    kill(run_helper(&dir, "first", None));
    let (template, None) = made() else { panic!("more than one template") };
    let password = template.join("password");
    let (kept, modes) = (password.metadata().unwrap().ino(), [&template, &password]);
    assert_eq!(modes.map(|path| path.metadata().unwrap().mode() & 0o777), [0o700, 0o600]);
    kill(run_helper(&dir, "second", None));
    assert_eq!(made(), (template.clone(), None));
    assert_eq!(password.metadata().unwrap().ino(), kept);
    let data = dir.path().join("second/server/data");
    assert_eq!(fs::read(data.join("password")).unwrap(), fs::read(password).unwrap());
    for file in ["root/harperdb-config.yaml", "home/.harperdb/hdb_boot_properties.file"] {
        let [kept, used] = [&template, &data].map(|at| fs::read_to_string(at.join(file)).unwrap());
        let place = dir.path().to_str().unwrap();
        assert!(!kept.contains(place) && !kept.contains("/proc/"), "{kept}");
        assert!(!used.contains("/first") && !used.contains("cache/embermark"), "{used}");
        assert!(used.contains("/proc/self/fd/"), "{used}");
    }
}

#[test]
fn what_is_missing_is_said_with_what_gets_it() {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    command.args(["two_servers", "--nocapture"]).env("EMBERMARK_HARPERDB", "/nowhere");
    // It is meant to be skipped.
    let output = command.env_remove(embermark_skips::FILE).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let why = "skipped: harperdb: no bin/harperdb.js and package.json at /nowhere";
    assert!(said.contains(why), "{said}");
    assert!(said.contains("name the folder of the package in EMBERMARK_HARPERDB"), "{said}");
}
