//! A private server that stands for somebody's own, and a client of PostgreSQL's own.

use std::process::Command;

use tempfile::TempDir;

use crate::POSTGRES;

/// The URL of a private server.
pub fn url_of(dir: &TempDir) -> String {
    let socket = dir.path().join("server/run").to_str().unwrap().replace('/', "%2F");
    format!("postgres://postgres@{socket}/postgres")
}

/// What the client says to a statement: a line for each row.
pub fn psql(url: &str, sql: &str) -> Vec<String> {
    // It lies beside the server, which may be reached by a link.
    let server = POSTGRES.program("postgres").canonicalize().unwrap();
    let mut command = Command::new(server.with_file_name("psql"));
    command.args(["--no-psqlrc", "--no-align", "--tuples-only", "--set=ON_ERROR_STOP=1"]);
    let output = command.args(["--command", sql, url]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}
