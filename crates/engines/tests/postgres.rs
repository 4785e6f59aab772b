//! PostgreSQL as it is really started: private, tied to its owner, as root and as anybody else.
#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod anybody;
#[path = "postgres/client.rs"]
mod client;
#[path = "postgres/common.rs"]
mod common;
#[path = "postgres/external.rs"]
mod external;
#[path = "postgres/load.rs"]
mod load;
#[path = "postgres/values.rs"]
mod values;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use embermark_engines::Availability;
use embermark_engines::sql::Access;
use embermark_engines::sql::Param;
use embermark_model::Durability;
use embermark_skips::skipped;
use nix::unistd::geteuid;
use tempfile::TempDir;

use common::{
    TABLE, engine, installed, made, one_int, open, options, refused, setting, store, with_table,
};

/// The folder in which a helper process opens its server.
const HELPER_DIR: &str = "EMBERMARK_TEST_POSTGRES_DIR";

/// The directory in which a process of PostgreSQL works.
fn working_directory(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

fn processes_in(data: &Path) -> Vec<u32> {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| working_directory(*pid).is_some_and(|dir| dir.starts_with(data)))
        .collect()
}

fn all_gone(data: &Path) -> bool {
    let deadline = Instant::now() + Duration::from_secs(15);
    while !processes_in(data).is_empty() {
        if Instant::now() > deadline {
            return false;
        }
        sleep(Duration::from_millis(10));
    }
    true
}

#[test]
fn a_private_server_starts_answers_and_is_gone_after_close() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let opened = open(&dir, Durability::Process);
    let Availability::Ready { version } = engine().availability() else { panic!("gone") };
    assert!(opened.version.starts_with(&version), "{} is not {version}", opened.version);
    let pid = opened.server.unwrap();
    let data = dir.path().join("server/data");
    assert_eq!(working_directory(pid), Some(data.clone()));
    let mut store = store(opened);
    assert_eq!(one_int(&mut *store, "SELECT 6 * 7").unwrap(), Some(42));
    store.close().unwrap();
    assert!(processes_in(&data).is_empty());
    assert!(fs::read_dir(dir.path().join("server/run")).unwrap().next().is_none());
}

#[test]
fn a_dropped_store_takes_its_server_with_it() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    drop(open(&dir, Durability::None));
    assert!(processes_in(dir.path()).is_empty());
}

#[test]
fn two_servers_run_at_once_and_share_nothing() {
    if !installed() {
        return;
    }
    let both_filled = Barrier::new(2);
    let fill = |rows: i64| {
        let dir = tempfile::tempdir().unwrap();
        let mut store = with_table(&dir, Durability::Process);
        store.bulk_insert(&TABLE, &mut made(0..rows)).unwrap();
        both_filled.wait();
        let count = one_int(&mut *store, "SELECT count(*) FROM readings").unwrap();
        store.close().unwrap();
        count
    };
    thread::scope(|scope| {
        let (one, other) = (scope.spawn(|| fill(10)), scope.spawn(|| fill(20)));
        assert_eq!((one.join().unwrap(), other.join().unwrap()), (Some(10), Some(20)));
    });
}

#[test]
fn each_tier_is_set_and_read_back() {
    if !installed() {
        return;
    }
    let tiers = [
        (Durability::None, ["off", "off", "off", "unlogged"]),
        (Durability::Process, ["off", "on", "on", "permanent"]),
        (Durability::Power, ["on", "on", "on", "permanent"]),
    ];
    let names = ["fsync", "synchronous_commit", "full_page_writes", "relpersistence"];
    for (tier, expected) in tiers {
        let dir = tempfile::tempdir().unwrap();
        let opened = open(&dir, tier);
        assert_eq!(names.map(|name| setting(&opened, name)), expected, "{tier}");
        assert_eq!(setting(&opened, "shared_buffers"), "32MB");
        assert_eq!(setting(&opened, "wal_level"), "minimal");
        store(opened).close().unwrap();
    }
}

#[test]
fn nothing_listens_beyond_the_unix_socket() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let opened = open(&dir, Durability::Process);
    assert_eq!(setting(&opened, "listen_addresses"), "");
    let pid = opened.server.unwrap();
    let sockets: Vec<String> = fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .filter_map(|fd| fs::read_link(fd.unwrap().path()).ok())
        .filter_map(|to| {
            Some(to.to_str()?.strip_prefix("socket:[")?.trim_end_matches(']').to_owned())
        })
        .collect();
    assert!(!sockets.is_empty(), "not even a Unix socket is seen");
    for table in ["tcp", "tcp6"] {
        let Ok(table) = fs::read_to_string(format!("/proc/{pid}/net/{table}")) else { continue };
        // Columns: number, local address, remote address, state (0A listens), …, inode the tenth.
        let listens = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let ours = |row: &Vec<&str>| row[3] == "0A" && sockets.iter().any(|s| s == row[9]);
        assert!(!listens.skip(1).any(|row| ours(&row)));
    }
    store(opened).close().unwrap();
}

#[test]
fn a_server_that_refuses_to_start_is_reported_with_the_end_of_its_log() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut greedy = options(dir.path(), Durability::Process);
    greedy.memory = 1 << 50;
    let error = refused(&greedy).to_string();
    assert!(error.contains("postgres could not start") && error.contains("exit status"), "{error}");
    assert!(error.contains("shared_buffers"), "{error}");
    let error = refused(&options(dir.path(), Durability::Process)).to_string();
    assert!(error.contains("could not create") && error.contains("server"), "{error}");
}

#[test]
fn an_error_ends_its_transaction_and_the_store_goes_on() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut store = with_table(&dir, Durability::Process);
    let insert = store.prepare("INSERT INTO readings VALUES ($1, $2, $3, $4)").unwrap();
    let row = [Param::Int(1), Param::Int(2), Param::Null, Param::Text("x")];
    store.begin(Access::Write).unwrap();
    assert_eq!(store.run(insert, &row).unwrap(), 1);
    let error = store.run(insert, &row).unwrap_err().to_string();
    assert!(error.starts_with("postgres could not run `INSERT INTO readings"), "{error}");
    assert!(error.contains("23505") && error.contains("already exists"), "{error}");
    assert_eq!(one_int(&mut *store, "SELECT count(*) FROM readings").unwrap(), Some(0));
    store.begin(Access::Read).unwrap();
    assert!(store.run(insert, &row).unwrap_err().to_string().contains("read-only"));
    store.begin(Access::Write).unwrap();
    store.run(insert, &row).unwrap();
    store.commit().unwrap();
    assert_eq!(one_int(&mut *store, "SELECT count(*) FROM readings").unwrap(), Some(1));
    store.close().unwrap();
}

/// Not a test of its own: run in a process of its own by the two below.
#[test]
#[ignore = "a helper of other tests"]
fn helper() {
    let Some(dir) = std::env::var_os(HELPER_DIR) else { return };
    let opened = engine().open(&options(Path::new(&dir), Durability::Process)).unwrap();
    let pid = opened.server.unwrap();
    let mut store = store(opened);
    assert_eq!(one_int(&mut *store, "SELECT 6 * 7").unwrap(), Some(42));
    println!("\nserver {pid}");
    sleep(Duration::from_secs(60));
}

/// Runs the helper in a copy of this program that anybody may run.
fn run_helper(dir: &TempDir, uid: Option<u32>) -> (std::process::Child, u32) {
    let program = dir.path().join("program");
    anybody::copy(&std::env::current_exe().unwrap(), &program);
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let options = dir.path().join("options");
    fs::create_dir(&options).unwrap();
    let mut command = Command::new(program);
    command.args(["helper", "--exact", "--ignored", "--nocapture"]).env(HELPER_DIR, &options);
    command.current_dir("/").stdout(Stdio::piped());
    if let Some(uid) = uid {
        chown(&options, Some(uid), Some(uid)).unwrap();
        command.uid(uid).gid(uid);
    }
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut lines = lines.map_while(std::io::Result::ok);
    let pid = lines.find_map(|line| line.strip_prefix("server ")?.parse().ok());
    (child, pid.expect("the helper failed, see above"))
}

fn uid_of(pid: u32) -> u32 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(format!("/proc/{pid}")).unwrap().uid()
}

#[test]
fn a_server_dies_with_an_owner_that_is_killed() {
    if !installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (mut owner, pid) = run_helper(&dir, None);
    let data = dir.path().join("options/server/data");
    assert!(processes_in(&data).contains(&pid) && processes_in(&data).len() > 3);
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(all_gone(&data), "left: {:?}", processes_in(&data));
}

#[test]
fn root_runs_it_as_another_user_and_an_ordinary_user_as_himself() {
    const NOBODY: u32 = 65534;
    if !installed() {
        return;
    }
    let own = tempfile::tempdir().unwrap();
    let opened = open(&own, Durability::Process);
    let uid = uid_of(opened.server.unwrap());
    assert_eq!(uid == geteuid().as_raw(), !geteuid().is_root());
    assert_ne!(uid, 0);
    store(opened).close().unwrap();
    if !geteuid().is_root() {
        return skipped("root", "only root can try another user; other tests try this one");
    }
    let dir = tempfile::tempdir().unwrap();
    let (mut owner, pid) = run_helper(&dir, Some(NOBODY));
    assert_eq!(uid_of(pid), NOBODY);
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(all_gone(dir.path()));
}
