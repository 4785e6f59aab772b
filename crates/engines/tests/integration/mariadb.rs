//! MariaDB beyond what every server and every SQL engine must do: values, loads, templates.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use embermark_engines::OpenOptions;
use embermark_engines::sql::{Access, Param, ResultRow, Rows, SqlStore, TableDef};
use embermark_model::Durability;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use tempfile::TempDir;

use crate::mariadb_client;
use crate::server::owner::Owner;
use crate::server::readings::{Made, TABLE, counts_checkpoints, create, made, one_int};
use crate::server::{ServerEngine, given, options, sql};

const MARIADB: ServerEngine = ServerEngine("mariadb");

#[test]
fn values_columns_parameters_statements_and_a_lock_that_is_waited_for() {
    MARIADB.each_on_one(
        Durability::None,
        &[
            ("awkward values come back as they went in, by either way", awkward_values_come_back),
            (
                "numbers of every type are read, and other types are refused by name",
                numbers_are_read,
            ),
            ("an update counts the rows that held the value already", updates_count_all_rows),
            (
                "a text in a document differs from one with a trailing space",
                spaces_in_documents_count,
            ),
            ("a column that begins with NULLs is loaded as what it is", late_values_are_loaded),
            (
                "a parameter of any type and size comes back through one statement",
                mariadb_client::parameters_come_back,
            ),
            (
                "columns of any type are read to their extremes",
                mariadb_client::columns_are_read_to_their_extremes,
            ),
            (
                "a statement of several results is refused, and the store goes on",
                mariadb_client::several_results_are_refused,
            ),
            (
                "every statement of a batch runs up to the first that fails",
                mariadb_client::batches_run_up_to_the_first_failure,
            ),
            // The last one, because it changes a setting of the server.
            (
                "a change that waited for a lock in vain is made again",
                mariadb_client::changes_that_waited_in_vain_are_made_again,
            ),
        ],
    );
}

#[test]
fn errors_loads_panics_checkpoints_and_a_user_with_few_rights() {
    MARIADB.each_on_one(
        Durability::Process,
        &[
            ("a bulk load is all or nothing", bulk_loads_are_all_or_nothing),
            ("an error ends its transaction, and the store goes on", errors_end_their_transaction),
            (
                "a panic of the rows goes through a load and leaves the server running",
                panics_of_rows_go_through_a_load,
            ),
            (
                "a user without rights to the whole server can still be measured",
                few_rights_are_enough,
            ),
            // The last one, because it changes settings of the server.
            ("a checkpoint that is asked for is counted", checkpoints_are_counted),
        ],
    );
}

struct Listed<'a>(std::slice::Iter<'a, [Param<'a>; 4]>);

impl Rows for Listed<'_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        self.0.next().map(|row| &row[..])
    }
}

#[test]
fn as_little_memory_as_the_engine_starts_with_is_enough() {
    if !MARIADB.is_here() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let tiny = OpenOptions { memory: 1, ..options(dir.path(), Durability::None) };
    let mut store = sql(MARIADB.open(&tiny).store);
    create(&mut *store);
    assert_eq!(store.bulk_insert(&TABLE, &mut made(0..20_000)).unwrap(), 20_000);
    store.close().unwrap();
}

fn checkpoints_are_counted(store: &mut dyn SqlStore, _: &TempDir) {
    store.batch("TRUNCATE TABLE readings").unwrap();
    // These settings exist in every version: if no page stays changed, the log has nothing to hold
    // either.
    let none =
        "SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0; SET GLOBAL innodb_max_dirty_pages_pct = 0";
    counts_checkpoints(store, none);
}

/// Returns values that a text format, a signed number or a collation may spoil.
fn awkward() -> Vec<[Param<'static>; 4]> {
    let texts = [
        "",
        "\\",
        "\\N",
        "\\\\n\n\t\r\0",
        "'\"`",
        "日本語 🦆 naïve",
        "a",
        "a ",
        "A",
        "NULL",
        "é",
        "e\u{301}",
        "\u{1a}%_",
    ];
    let floats = [
        0.1,
        -1.0 / 3.0,
        5e-324,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::MIN,
        0.1 + 0.2,
        9_007_199_254_740_993.0,
        1e23,
        -2.225_073_858_507_201e-308,
        123_456.789_012_345_67,
        1e300,
        -0.0,
    ];
    let ints = [i64::MIN, i64::MAX, 0, -1, 1 << 53, (1 << 53) + 1, -(1 << 53) - 1];
    let mut rows: Vec<_> = (0..)
        .zip(texts.iter().zip(floats))
        .map(|(n, (text, float))| {
            let int = ints[n as usize % ints.len()];
            [Param::Int(n), Param::Int(int), Param::Float(float), Param::Text(text)]
        })
        .collect();
    rows.push([Param::Int(i64::from(i32::MAX)), Param::Int(1), Param::Null, Param::Null]);
    rows.push([Param::Int(i64::from(i32::MIN)), Param::Int(2), Param::Null, Param::Text("x")]);
    rows
}

fn awkward_values_come_back(store: &mut dyn SqlStore, _: &TempDir) {
    store.batch("TRUNCATE TABLE readings").unwrap();
    let rows = awkward();
    let insert = store.prepare("INSERT INTO readings VALUES (?, ?, ?, ?)").unwrap();
    let read = store.prepare("SELECT * FROM readings WHERE sensor = ? AND ts = ?").unwrap();
    let by_text = store.prepare("SELECT sensor FROM readings WHERE note = ?").unwrap();
    for bulk in [true, false] {
        if bulk {
            let count = store.bulk_insert(&TABLE, &mut Listed(rows.iter())).unwrap();
            assert_eq!(count, rows.len() as u64);
        } else {
            store.batch("DELETE FROM readings").unwrap();
            for row in &rows {
                assert_eq!(store.run(insert, row).unwrap(), 1);
            }
        }
        for wanted in &rows {
            let mut found = 0;
            let mut look = |row: &dyn ResultRow| {
                found += 1;
                assert_eq!(row.int(0)?.map(Param::Int), Some(wanted[0]));
                assert_eq!(row.int(1)?.map(Param::Int), Some(wanted[1]));
                assert_eq!(row.float(2)?.map_or(Param::Null, Param::Float), wanted[2]);
                assert_eq!(row.text(3)?.map_or(Param::Null, Param::Text), wanted[3]);
                Ok(())
            };
            store.query(read, &wanted[..2], &mut look).unwrap();
            assert_eq!(found, 1, "{wanted:?}");
            let Param::Text(_) = wanted[3] else { continue };
            let mut sensors = Vec::new();
            let mut look = |row: &dyn ResultRow| {
                sensors.push(row.int(0)?.map(Param::Int));
                Ok(())
            };
            store.query(by_text, &wanted[3..], &mut look).unwrap();
            assert_eq!(sensors, [Some(wanted[0])], "{wanted:?}");
        }
    }
    let bad = [Param::Int(-5), Param::Int(0), Param::Float(f64::NAN), Param::Null];
    assert!(store.run(insert, &bad).unwrap_err().to_string().contains("NaN"));
    assert!(store.bulk_insert(&TABLE, &mut Listed([bad].iter())).is_err());
    let count = one_int(store, "SELECT count(*) FROM readings").unwrap();
    assert_eq!(count, Some(rows.len() as i64));
}

fn numbers_are_read(store: &mut dyn SqlStore, _: &TempDir) {
    store.batch("TRUNCATE TABLE readings").unwrap();
    store.bulk_insert(&TABLE, &mut made(1..4)).unwrap();
    let sql = "SELECT sum(ts), avg(ts), ts, CAST(7 AS UNSIGNED), 2.5, value, note, \
               lag(ts) OVER (ORDER BY ts), CAST(now() AS DATETIME) \
               FROM readings GROUP BY ts ORDER BY ts LIMIT 1";
    let statement = store.prepare(sql).unwrap();
    let mut rows = 0;
    let mut look = |row: &dyn ResultRow| {
        rows += 1;
        assert_eq!([0, 2, 3].map(|n| row.int(n).unwrap()), [Some(1), Some(1), Some(7)]);
        assert_eq!([0, 1, 2].map(|n| row.float(n).unwrap()), [Some(1.0); 3]);
        assert_eq!((row.float(4)?, row.float(5)?, row.int(7)?), (Some(2.5), Some(0.25), None));
        assert_eq!(row.text(6)?, Some("grün"));
        assert!(row.int(4).is_err() && row.text(0).is_err() && row.int(9).is_err());
        let error = row.float(8).unwrap_err().to_string();
        assert!(error.contains("DATETIME") && error.contains("cast it"), "{error}");
        Ok(())
    };
    store.query(statement, &[], &mut look).unwrap();
    assert_eq!(rows, 1);
    // More statements than a driver's cache holds.
    let many: Vec<_> = (0..100).map(|n| store.prepare(&format!("SELECT {n}")).unwrap()).collect();
    for (n, statement) in (0..).zip(many) {
        let mut look = |row: &dyn ResultRow| {
            assert_eq!(row.int(0)?, Some(n));
            Ok(())
        };
        store.query(statement, &[], &mut look).unwrap();
    }
}

fn updates_count_all_rows(store: &mut dyn SqlStore, _: &TempDir) {
    store.batch("TRUNCATE TABLE readings").unwrap();
    store.bulk_insert(&TABLE, &mut made(0..10)).unwrap();
    let update = store.prepare("UPDATE readings SET value = ? WHERE ts >= ?").unwrap();
    for _ in 0..2 {
        assert_eq!(store.run(update, &[Param::Float(1.5), Param::Int(4)]).unwrap(), 6);
    }
    let error = store.run(update, &[Param::Int(4)]).unwrap_err().to_string();
    assert!(error.contains("UPDATE readings"), "{error}");
}

fn spaces_in_documents_count(store: &mut dyn SqlStore, _: &TempDir) {
    store.batch("CREATE TABLE documents (d JSON)").unwrap();
    store.batch(r#"INSERT INTO documents VALUES ('{"t": "a"}'), ('{"t": "a "}')"#).unwrap();
    let text = store.dialect().json_text("d", "t").unwrap();
    let sql = format!("SELECT 10 * COUNT(DISTINCT {text}) + SUM({text} = 'a') FROM documents");
    assert_eq!(one_int(store, &sql).unwrap(), Some(21));
}

fn errors_end_their_transaction(store: &mut dyn SqlStore, _: &TempDir) {
    store.batch("TRUNCATE TABLE readings").unwrap();
    let insert = store.prepare("INSERT INTO readings VALUES (?, ?, ?, ?)").unwrap();
    let row = [Param::Int(1), Param::Int(2), Param::Null, Param::Text("x")];
    store.begin(Access::Write).unwrap();
    assert_eq!(store.run(insert, &row).unwrap(), 1);
    assert!(store.maintain().unwrap_err().to_string().contains("transaction"));
    let error = store.run(insert, &row).unwrap_err().to_string();
    assert!(error.starts_with("mariadb could not run `INSERT INTO readings"), "{error}");
    assert!(error.contains("1062") && error.contains("Duplicate entry '1-2'"), "{error}");
    assert_eq!(one_int(store, "SELECT count(*) FROM readings").unwrap(), Some(0));
    store.begin(Access::Read).unwrap();
    assert!(store.run(insert, &row).unwrap_err().to_string().contains("READ ONLY"));
    store.begin(Access::Write).unwrap();
    store.run(insert, &row).unwrap();
    store.commit().unwrap();
    // The error of a later statement among several is reported too.
    let error = store.batch("SELECT 1; DROP TABLE nowhere; SELECT 2").unwrap_err().to_string();
    assert!(error.contains("nowhere"), "{error}");
    assert_eq!(one_int(store, "SELECT count(*) FROM readings").unwrap(), Some(1));
}

fn bulk_loads_are_all_or_nothing(store: &mut dyn SqlStore, _: &TempDir) {
    const ROWS: i64 = 99_999;
    store.batch("TRUNCATE TABLE readings").unwrap();
    assert_eq!(store.bulk_insert(&TABLE, &mut made(0..ROWS)).unwrap(), ROWS as u64);
    let whole = "SELECT CAST(count(*) + sum(ts) + count(value) * 1000 + sum(value * 4) AS SIGNED) \
                 FROM readings WHERE note = 'grün' AND sensor = ts DIV 1000";
    let values = (0..ROWS).filter(|n| n % 3 != 0);
    let expected = ROWS + (0..ROWS).sum::<i64>() + values.map(|n| n + 1000).sum::<i64>();
    assert_eq!(one_int(store, whole).unwrap(), Some(expected));
    // A load into a table that is not empty loses nothing, and an existing key undoes the load.
    assert_eq!(store.bulk_insert(&TABLE, &mut made(ROWS..ROWS + 10)).unwrap(), 10);
    let error = store.bulk_insert(&TABLE, &mut made(ROWS + 5..ROWS + 20)).unwrap_err().to_string();
    assert!(error.contains("INSERT INTO readings") && error.contains("Duplicate entry"), "{error}");
    let error = store.bulk_insert(&TABLE, &mut made(i64::MAX - 5..i64::MAX)).unwrap_err();
    assert!(error.to_string().contains("does not fit column sensor"), "{error}");
    // A missing table, and more rows than are buffered for a server.
    let absent = TableDef { name: "absent", ..TABLE };
    let error = store.bulk_insert(&absent, &mut made(0..ROWS)).unwrap_err().to_string();
    assert!(error.contains("absent") && error.contains("1146"), "{error}");
    let count = "SELECT count(*) FROM readings";
    assert_eq!(one_int(store, count).unwrap(), Some(ROWS + 10));
    let delete = store.prepare("DELETE FROM readings WHERE sensor = ? AND ts = ?").unwrap();
    for n in 0..500 {
        assert_eq!(store.run(delete, &[Param::Int(0), Param::Int(n)]).unwrap(), 1);
    }
    store.maintain().unwrap();
    assert_eq!(one_int(store, count).unwrap(), Some(ROWS + 10 - 500));
    let history = "SELECT CAST(variable_value AS SIGNED) FROM information_schema.global_status \
                   WHERE variable_name = 'Innodb_history_list_length'";
    // The server's own statistics may add a few at any time.
    assert!(one_int(store, history).unwrap().unwrap() < 50);
}

/// NULL in every nullable column, for more than a packet; then values.
struct LateValues {
    next: i64,
    row: [Param<'static>; 4],
}

impl Rows for LateValues {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        let n = self.next;
        self.next += 1;
        let (value, note) = match n {
            0..80_000 => (Param::Null, Param::Null),
            80_000..90_000 => (Param::Int(n), Param::Text("late")),
            90_000..100_000 => (Param::Float(0.5), Param::Text(LONG)),
            _ => return None,
        };
        self.row = [Param::Int(0), Param::Int(n), value, note];
        Some(&self.row)
    }
}

const LONG: &str = "a text that is longer than any length that fits a byte would say, and goes on \
                    until nobody would read it, and then some, for it has to be more than two \
                    hundred and fifty bytes long so that its length is three bytes itself, which \
                    it is now, or nearly so, or by now";

fn late_values_are_loaded(store: &mut dyn SqlStore, _: &TempDir) {
    store.batch("TRUNCATE TABLE readings").unwrap();
    let mut rows = LateValues { next: 0, row: [Param::Null; 4] };
    assert_eq!(store.bulk_insert(&TABLE, &mut rows).unwrap(), 100_000);
    let right = format!(
        "SELECT count(*) FROM readings WHERE CASE WHEN ts < 80000 \
         THEN value IS NULL AND note IS NULL WHEN ts < 90000 THEN value = ts AND note = 'late' \
         ELSE value = 0.5 AND note = '{LONG}' END"
    );
    assert_eq!(one_int(store, &right).unwrap(), Some(100_000));
}

fn panics_of_rows_go_through_a_load(store: &mut dyn SqlStore, _: &TempDir) {
    struct Panicking(Made);
    impl Rows for Panicking {
        fn next(&mut self) -> Option<&[Param<'_>]> {
            assert!(self.0.next < 5_000, "no more rows");
            self.0.next()
        }
    }
    store.batch("TRUNCATE TABLE readings").unwrap();
    let load = std::panic::AssertUnwindSafe(|| {
        store.bulk_insert(&TABLE, &mut Panicking(made(0..10_000))).map(drop)
    });
    assert!(std::panic::catch_unwind(load).is_err());
    assert_eq!(one_int(store, "SELECT 6 * 7").unwrap(), Some(42));
}

/// Returns MariaDB's own client, of the installation that is measured.
fn client() -> PathBuf {
    let server = MARIADB.program("mariadbd");
    let folders =
        [server.parent().unwrap().to_owned(), server.parent().unwrap().with_file_name("bin")];
    let mut programs = folders.iter().map(|folder| folder.join("mariadb"));
    programs.find(|program| program.is_file()).expect("apt-get install mariadb-client-core")
}

/// Returns the lines that MariaDB's own client prints for a statement, sent to a server by its
/// socket, or its error.
fn ask(socket: &Path, sql: &str) -> std::result::Result<Vec<String>, String> {
    let mut command = Command::new(client());
    // The client of 11.4 requires TLS by default.
    command.args(["--no-defaults", "--skip-ssl", "--user=root", "--batch", "--skip-column-names"]);
    command.arg(format!("--socket={}", socket.display())).args(["--execute", sql]);
    let output = command.output().unwrap();
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

#[test]
fn commits_of_the_tier_process_survive_a_kill_of_the_server() {
    const COMMITS: i64 = 500;
    let Some((dir, opened)) = MARIADB.start(Durability::Process) else { return };
    let pid = Pid::from_raw(opened.server.unwrap().cast_signed());
    let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap();
    let mut store = sql(opened.store);
    create(&mut *store);
    let insert = store.prepare("INSERT INTO readings VALUES (?, 1, 2.5, NULL)").unwrap();
    for id in 0..COMMITS {
        store.run(insert, &[Param::Int(id)]).unwrap();
    }
    kill(pid, Signal::SIGKILL).unwrap();
    let error = store.run(insert, &[Param::Int(COMMITS)]).unwrap_err().to_string();
    assert!(error.contains("INSERT INTO readings"), "{error}");
    let error = store.close().unwrap_err().to_string();
    assert!(error.contains("signal: 9"), "{error}");

    let (data, sockets) = (dir.path().join("server/data"), tempfile::tempdir().unwrap());
    let socket = sockets.path().join("s");
    let mut command = Command::new(program);
    // Without TLS, for which a server since 11.4 makes a key at every start.
    command.args(["--no-defaults", "--skip-networking", "--skip-ssl", "--user=root"]);
    command.arg(format!("--datadir={}", data.display()));
    command.arg(format!("--socket={}", socket.display()));
    command.arg(format!("--pid-file={}", sockets.path().join("pid").display()));
    let mut again = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(300);
    let count = loop {
        match ask(&socket, "SELECT count(*) FROM embermark.readings") {
            Ok(count) => break count,
            Err(e) => assert!(Instant::now() < deadline, "{e}"),
        }
        sleep(Duration::from_millis(20));
    };
    again.kill().unwrap();
    again.wait().unwrap();
    assert_eq!(count, [COMMITS.to_string()]);
}

fn few_rights_are_enough(owner: &mut dyn SqlStore, dir: &TempDir) {
    owner
        .batch("CREATE USER guest@localhost; GRANT ALL ON `embermark\\_%`.* TO guest@localhost")
        .unwrap();
    let socket = dir.path().join("server/run/socket");
    let url = format!("mysql://guest@localhost/?socket={}", socket.display());
    let mut guest = sql(MARIADB.open(&given(&url, Durability::Process)).store);
    create(&mut *guest);
    assert_eq!(guest.bulk_insert(&TABLE, &mut made(0..100)).unwrap(), 100);
    guest.maintain().unwrap();
    guest.close().unwrap();
}

#[test]
fn two_that_start_at_once_with_an_empty_cache_leave_one_template_that_a_third_takes() {
    if !MARIADB.is_here() {
        return;
    }
    let cache = tempfile::tempdir().unwrap();
    let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let start = |dir: &TempDir| {
        let variables = [("XDG_CACHE_HOME", cache.path())];
        Owner::start(MARIADB, &dir.path().join("options"), None, &variables)
    };
    thread::scope(|scope| {
        let both = dirs.each_ref().map(|dir| scope.spawn(|| start(dir)));
        both.into_iter().for_each(|owner| owner.join().unwrap().kill());
    });
    let templates = || {
        let folder = fs::read_dir(cache.path().join("embermark/templates")).unwrap();
        folder.map(|e| (e.as_ref().unwrap().file_name(), e.unwrap().path())).collect::<Vec<_>>()
    };
    let kept = templates();
    assert!(matches!(&kept[..], [(name, _)] if name.to_str().unwrap().starts_with("mariadb-")));
    let made = fs::metadata(&kept[0].1).unwrap().ctime_nsec();
    start(&tempfile::tempdir().unwrap()).kill();
    assert_eq!(templates(), kept);
    assert_eq!(fs::metadata(&kept[0].1).unwrap().ctime_nsec(), made);
}

#[test]
fn the_installation_is_left_as_it_is() {
    const NOBODY: u32 = 65534;
    if !MARIADB.is_here() {
        return;
    }
    // Given a user, mariadb-install-db would make that user the owner of the folder below. Not
    // every package has it, so the test makes one, in an installation of links to the present one.
    let base = tempfile::tempdir().unwrap();
    fs::set_permissions(base.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let tool = base.path().join("lib/mysql/plugin/auth_pam_tool_dir");
    fs::create_dir_all(&tool).unwrap();
    fs::write(tool.join("auth_pam_tool"), "").unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o750)).unwrap();
    if geteuid().is_root() {
        chown(&tool, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let state = || fs::metadata(&tool).map(|m| (m.uid(), m.gid(), m.mode())).unwrap();
    let before = state();
    let [install_db, mariadbd] = ["mariadb-install-db", "mariadbd"].map(|p| MARIADB.program(p));
    let own = install_db.parent().and_then(Path::parent).unwrap();
    let print_defaults = own.join("bin/my_print_defaults");
    for (name, target) in [
        ("bin/mariadb-install-db", &install_db),
        ("bin/my_print_defaults", &print_defaults),
        // Depending on its version, the program looks for the server in one of these places.
        ("sbin/mariadbd", &mariadbd),
        ("bin/mariadbd", &mariadbd),
        ("share", &own.join("share")),
    ] {
        let link = base.path().join(name);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, link).unwrap();
    }
    let (dir, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let variables = [("XDG_CACHE_HOME", cache.path()), ("EMBERMARK_MARIADB_DIR", base.path())];
    Owner::start(MARIADB, &dir.path().join("options"), None, &variables).kill();
    assert_eq!(state(), before);
}
