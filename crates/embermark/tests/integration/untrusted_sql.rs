//! A workload file is data. SQL in it runs as one query over its tables, or not at all.

use std::fs;

use crate::common::{Sandbox, is_here};
use embermark_model::Status;
use embermark_model::result::{PhaseResult, ResultFile};
use embermark_skips::sampled;

const SQL_ENGINES: [&str; 6] = ["sqlite", "duckdb", "hybrid", "firebird", "postgres", "mariadb"];

const QUICK: [&str; 9] =
    ["--runs", "1", "--trials", "1", "--set", "window=5ms", "--out", "out", "--no-counting"];

const TABLE: &str = r#"
    [table.readings]
    rows = 100
    key = ["id"]
    [table.readings.columns]
    id = { type = "u32", make = "sequence" }
    temp = { type = "f64", make = "random", from = -10.0, to = 30.0 }
    [phase.load]
    do = "insert"
"#;

/// SQL that an attacker could write. `OUT` is a folder of the test, which must stay empty.
const HOSTILE: &[(&str, &str)] = &[
    ("copy", "COPY readings TO 'OUT/copy.csv'"),
    ("copy_query", "COPY (SELECT 1) TO 'OUT/copy_query.csv'"),
    ("program", "COPY readings TO PROGRAM 'touch OUT/program'"),
    ("outfile", "SELECT * FROM readings INTO OUTFILE 'OUT/outfile'"),
    ("dumpfile", "SELECT 1 INTO DUMPFILE 'OUT/dumpfile'"),
    ("export", "EXPORT DATABASE 'OUT/export'"),
    ("attach", "ATTACH 'OUT/attach.db' AS other"),
    ("attach_database", "ATTACH DATABASE 'OUT/attach.db' AS other"),
    ("vacuum_into", "VACUUM INTO 'OUT/vacuum.db'"),
    ("log", "SELECT * FROM enable_logging(storage = 'file', storage_config = {'path': 'OUT/log'})"),
    ("write_file", "SELECT writefile('OUT/written', 'x')"),
    ("lo_export", "SELECT lo_export(lo_create(0), 'OUT/lo')"),
    ("create_database", "CREATE DATABASE 'OUT/new.fdb'"),
    ("external", "CREATE TABLE x EXTERNAL FILE 'OUT/external' (a CHAR(1))"),
    ("read_csv", "SELECT * FROM read_csv('/etc/passwd')"),
    ("read_text", "SELECT (SELECT count(*) FROM read_text('/etc/passwd')) FROM readings"),
    ("a_file", "SELECT * FROM '/etc/passwd.csv'"),
    ("readfile", "SELECT readfile('/etc/passwd')"),
    ("pg_read_file", "SELECT pg_read_file('/etc/passwd')"),
    ("pg_ls_dir", "SELECT * FROM pg_ls_dir('/')"),
    ("lo_import", "SELECT lo_import('/etc/passwd')"),
    ("copy_from", "COPY readings FROM '/etc/passwd'"),
    ("load_data", "LOAD DATA INFILE '/etc/passwd' INTO TABLE readings"),
    ("getenv", "SELECT getenv('HOME')"),
    ("install", "INSTALL httpfs"),
    ("load_library", "LOAD httpfs"),
    ("load_extension", "SELECT load_extension('x')"),
    ("extension", "CREATE EXTENSION amcheck"),
    ("plugin", "INSTALL SONAME 'ha_example'"),
    ("pragma", "PRAGMA synchronous = OFF"),
    ("set", "SET synchronous_commit = off"),
    ("set_global", "SET GLOBAL innodb_flush_log_at_trx_commit = 0"),
    ("alter_system", "ALTER SYSTEM SET fsync = off"),
    ("role", "SET ROLE postgres"),
    ("two", "SELECT 1; DROP TABLE readings"),
    ("out_of_parentheses", "SELECT 1) AS a; DROP TABLE readings; SELECT (2"),
    ("drop", "DROP TABLE readings"),
    ("truncate", "TRUNCATE TABLE readings"),
    ("insert", "INSERT INTO readings VALUES (1000000, 1.0)"),
    ("returning", "INSERT INTO readings VALUES (1000001, 1.0) RETURNING id"),
    ("update", "UPDATE readings SET temp = 0"),
    ("delete", "DELETE FROM readings"),
    ("delete_in_with", "WITH gone AS (DELETE FROM readings RETURNING id) SELECT * FROM gone"),
    ("into", "SELECT * INTO copied FROM readings"),
    ("create", "CREATE TABLE copied AS SELECT * FROM readings"),
    ("begin", "BEGIN"),
    ("start", "START TRANSACTION"),
    ("commit", "COMMIT"),
    ("vacuum", "VACUUM"),
    ("checkpoint", "SELECT * FROM force_checkpoint()"),
    ("block", "EXECUTE BLOCK RETURNS (a INT) AS BEGIN DELETE FROM readings; a = 1; SUSPEND; END"),
    ("do_block", "DO $$ BEGIN DELETE FROM readings; END $$"),
    ("call", "CALL force_checkpoint()"),
    ("explain", "EXPLAIN ANALYZE DELETE FROM readings"),
    ("prepare", "PREPARE p AS DELETE FROM readings"),
    ("xml", "SELECT query_to_xml('DELETE FROM readings', true, true, '')"),
];

/// Single SELECT statements that try to read a file, and must get nothing.
const FRUITLESS: &[(&str, &str)] = &[("load_file", "SELECT LOAD_FILE('/etc/passwd')")];

const HONEST: &[(&str, &str)] = &[
    ("count", "SELECT COUNT(*), MAX(temp) FROM readings"),
    ("with", "WITH warm AS (SELECT id FROM readings WHERE temp > 0) SELECT COUNT(*) FROM warm"),
];

fn phases(of: &[(&str, &str)], out: &str, more: &str) -> String {
    let phase = |(name, sql): &(&str, &str)| {
        format!("[phase.{name}]\nsql = '''{}'''\n{more}", sql.replace("OUT", out))
    };
    of.iter().map(phase).collect()
}

/// Line of a phase that the referees are not asked, because they would end the run.
const ANSWER: &str = "answer = \"answer.csv\"\n";

/// Line of a phase that only some engines can prepare: DuckDB, a referee, has this text.
const OF_DUCKDB: &str = "sql-duckdb = \"SELECT NULL\"\n";

fn outcomes<'a>(result: &'a ResultFile, engine: &str) -> Vec<&'a PhaseResult> {
    let cells = result.cells.iter().filter(|cell| cell.id.engine == engine);
    cells.flat_map(|cell| &cell.trials).flat_map(|trial| &trial.phases).collect()
}

#[test]
fn sql_of_a_file_is_a_query_on_every_engine_and_everything_else_is_refused() {
    let here = sampled(SQL_ENGINES.into_iter().filter(|id| is_here(id)), 2);
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("stolen")).unwrap();
    let out = sandbox.path("stolen").display().to_string();
    let text = [
        TABLE,
        &phases(HOSTILE, &out, ANSWER),
        &phases(FRUITLESS, &out, OF_DUCKDB),
        &phases(HONEST, &out, ""),
        "[phase.update_all]\ndo = \"update\"\nset = [\"temp\"]\nops = 50\n",
    ]
    .concat();
    sandbox.write("stranger.toml", text);
    sandbox.write("answer.csv", "a\n1\n");
    let words = ["run", "stranger.toml", "-e", &here.join(",")];
    sandbox.embermark(&[&words[..], &QUICK].concat()).expect_status(0);

    let result = sandbox.result("out");
    for engine in here {
        let outcomes = outcomes(&result, engine);
        for phase in &outcomes {
            let said = format!("{engine} {}: {:?} {:?}", phase.phase, phase.status, phase.reason);
            let is = |of: &[(&str, &str)]| of.iter().any(|(name, _)| *name == phase.phase);
            if is(HOSTILE) {
                assert_eq!(phase.status, Status::Unsupported, "{said}");
                assert!(phase.runs.is_empty(), "{said}");
            } else if !is(FRUITLESS) {
                assert_eq!(phase.status, Status::Ok, "{said}");
            }
            let reason = phase.reason.as_deref().unwrap_or_default();
            assert!(!reason.contains("root:"), "{said}");
        }
        let wanted = 2 + HOSTILE.len() + FRUITLESS.len() + HONEST.len();
        assert_eq!(outcomes.len(), wanted, "{engine}: every phase had its turn");
    }
    assert_eq!(fs::read_dir(sandbox.path("stolen")).unwrap().count(), 0);
    let text = fs::read_to_string(sandbox.path("out/result.json")).unwrap();
    assert!(!text.contains("root:x:0"), "what a file holds is in the result");
}

#[test]
fn referees_that_nobody_asked_for_refuse_it_too() {
    if !is_here("duckdb") {
        return;
    }
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("stolen")).unwrap();
    let out = sandbox.path("stolen").display().to_string();
    sandbox.write("stranger.toml", [TABLE, &phases(HOSTILE, &out, "")].concat());
    sandbox
        .embermark(&[&["run", "stranger.toml", "-e", "lmdb"], &QUICK[..]].concat())
        .expect_status(0);
    assert_eq!(fs::read_dir(sandbox.path("stolen")).unwrap().count(), 0);
}
