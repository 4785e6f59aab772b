//! What the tests of PostgreSQL share: servers, tables, rows and a second client.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use embermark_engines::sql::{Nullable, Param, Rows, SqlStore, SqlType, TableDef};
use embermark_engines::{Engine, EngineError, OpenOptions, Opened, Result, Store, registry};
use embermark_model::Durability;
use embermark_skips::is_here;
use tempfile::TempDir;

pub const TABLE: TableDef = TableDef {
    name: "readings",
    columns: &[
        ("sensor", SqlType::Int, Nullable::No),
        ("ts", SqlType::Big, Nullable::No),
        ("value", SqlType::Double, Nullable::Yes),
        ("note", SqlType::Text, Nullable::Yes),
    ],
    key: &["sensor", "ts"],
};

pub fn engine() -> &'static dyn Engine {
    registry::find("postgres").unwrap()
}

/// Whether a test can run.
pub fn installed() -> bool {
    is_here(engine())
}

pub fn options(dir: &Path, durability: Durability) -> OpenOptions {
    OpenOptions::new(dir, durability, 32 << 20)
}

pub fn open(dir: &TempDir, durability: Durability) -> Opened {
    engine().open(&options(dir.path(), durability)).unwrap()
}

pub fn store(opened: Opened) -> Box<dyn SqlStore> {
    match opened.store {
        Store::Sql(store) => store,
        _ => panic!("no SQL store"),
    }
}

/// A store on a server of its own, with the table in it.
pub fn with_table(dir: &TempDir, durability: Durability) -> Box<dyn SqlStore> {
    let mut store = store(open(dir, durability));
    let create = store.dialect().create_table(&TABLE);
    store.batch(&create).unwrap();
    store
}

pub fn one_int(store: &mut dyn SqlStore, sql: &str) -> Result<Option<i64>> {
    let statement = store.prepare(sql)?;
    let mut found = None;
    store.query(statement, &[], &mut |row| {
        found = row.int(0)?;
        Ok(())
    })?;
    Ok(found)
}

pub fn setting<'a>(opened: &'a Opened, name: &str) -> &'a str {
    &opened.settings.iter().find(|(known, _)| known == name).unwrap().1
}

/// The error of an open that has to fail.
pub fn refused(options: &OpenOptions) -> EngineError {
    match engine().open(options) {
        Ok(_) => panic!("opened"),
        Err(error) => error,
    }
}

/// Rows (0, 0), (0, 1) …, with a NULL in every third.
pub struct Made {
    next: i64,
    end: i64,
    row: [Param<'static>; 4],
}

pub fn made(rows: std::ops::Range<i64>) -> Made {
    Made { next: rows.start, end: rows.end, row: [Param::Null; 4] }
}

impl Rows for Made {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        (self.next < self.end).then(|| {
            let n = self.next;
            self.next += 1;
            let value = if n % 3 == 0 { Param::Null } else { Param::Float(n as f64 / 4.0) };
            self.row = [Param::Int(n / 1000), Param::Int(n), value, Param::Text("grün")];
            &self.row[..]
        })
    }
}

pub struct Twice(pub Made, pub Made);

impl Rows for Twice {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        if self.0.next < self.0.end { self.0.next() } else { self.1.next() }
    }
}

/// The URL of a private server, which stands for somebody's own.
pub fn url_of(dir: &TempDir) -> String {
    let socket = dir.path().join("server/run").to_str().unwrap().replace('/', "%2F");
    format!("postgres://postgres@{socket}/postgres")
}

/// What a client of PostgreSQL's own says to a statement: a line for each row.
pub fn psql(url: &str, sql: &str) -> Vec<String> {
    let mut command = Command::new(program("psql"));
    command.args(["--no-psqlrc", "--no-align", "--tuples-only", "--set=ON_ERROR_STOP=1"]);
    let output = command.args(["--command", sql, url]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// A program of the installation, found as the engine finds the server's.
fn program(name: &str) -> PathBuf {
    let search = match env::var_os("EMBERMARK_POSTGRES_BIN") {
        Some(folder) => return Path::new(&folder).join(name),
        None => env::var_os("PATH").unwrap_or_default(),
    };
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let version = |entry: &std::fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let mut versions: Vec<_> =
        versions.filter_map(|entry| Some((version(&entry)?, entry.path().join("bin")))).collect();
    versions.sort();
    let folders = env::split_paths(&search).chain(versions.into_iter().rev().map(|(_, bin)| bin));
    folders.map(|folder| folder.join(name)).find(|file| file.is_file()).unwrap()
}

pub fn schemas(url: &str) -> Vec<String> {
    psql(url, "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1")
}
