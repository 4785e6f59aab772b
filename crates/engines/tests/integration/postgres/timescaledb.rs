//! TimescaleDB, by a stand-in: an extension of PostgreSQL 18 whose functions have the names and
//! parameters in the documentation, and record their arguments.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use embermark_engines::sql::SqlStore;
use embermark_engines::{Availability, OpenOptions, Opened, registry};
use embermark_model::Durability;
use tempfile::TempDir;

use super::POSTGRES;
use super::owner::{ask, run, url_of};
use crate::server::readings::{TABLE, create, made, one_int};
use crate::server::{ServerEngine, given, options, setting, sql};

const TIMESCALEDB: ServerEngine = ServerEngine("timescaledb");

const CONTROL: &str =
    "comment = 'stands in for TimescaleDB'\nrelocatable = false\ntrusted = true\n";

/// What both interfaces require: the key has the column, the table is empty and has a log, and the
/// interval of an integer is given. They create an index on the time, as documented.
const COMMON: &str = r"
CREATE TABLE hypertables (name text, column_name name, interval_length bigint);
CREATE FUNCTION become(relation regclass, of name, length bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE filled boolean;
BEGIN
    IF length IS NULL THEN
        RAISE EXCEPTION 'integer dimensions require an explicit interval';
    END IF;
    IF (SELECT relpersistence FROM pg_class WHERE oid = relation) <> 'p' THEN
        RAISE EXCEPTION 'table % has to be logged', relation;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)
                   WHERE indrelid = relation AND indisprimary AND attname = of) THEN
        RAISE EXCEPTION 'cannot create a unique index without the column %', of;
    END IF;
    EXECUTE format('SELECT EXISTS (SELECT FROM %s)', relation) INTO filled;
    IF filled THEN
        RAISE EXCEPTION 'table % is not empty', relation;
    END IF;
    INSERT INTO @extschema@.hypertables VALUES (relation::text, of, length);
    EXECUTE format('CREATE INDEX ON %s (%I DESC)', relation, of);
END $$;
CREATE FUNCTION drop_chunks(relation regclass, older_than anyelement = NULL::bigint) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    of name;
    length bigint;
BEGIN
    SELECT column_name, interval_length INTO STRICT of, length
        FROM @extschema@.hypertables WHERE name = relation::text;
    EXECUTE format('DELETE FROM %s WHERE (%I / %s + 1) * %s <= $1', relation, of, length, length) USING older_than;
END $$;
";

const OLD: &str = r"
CREATE FUNCTION create_hypertable(
    relation regclass, time_column_name name, partitioning_column name = NULL, number_partitions integer = NULL,
    chunk_time_interval anyelement = NULL::bigint, create_default_indexes boolean = TRUE,
    if_not_exists boolean = FALSE, migrate_data boolean = FALSE
) RETURNS TABLE(hypertable_id integer, schema_name name, table_name name, created boolean) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM @extschema@.become(relation, time_column_name, chunk_time_interval);
    RETURN QUERY SELECT 1, 'any'::name, 'any'::name, TRUE;
END $$;
";

const NEW: &str = r"
CREATE TYPE dimension_info AS (column_name name, interval_length bigint);
CREATE FUNCTION by_range(
    column_name name, partition_interval anyelement = NULL::bigint, partition_func regproc = NULL
) RETURNS @extschema@.dimension_info LANGUAGE sql AS 'SELECT ROW($1, $2)::@extschema@.dimension_info';
CREATE FUNCTION create_hypertable(
    relation regclass, dimension @extschema@.dimension_info, create_default_indexes boolean = TRUE,
    if_not_exists boolean = FALSE, migrate_data boolean = FALSE
) RETURNS TABLE(hypertable_id integer, created boolean) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM @extschema@.become(relation, (dimension).column_name, (dimension).interval_length);
    RETURN QUERY SELECT 1, TRUE;
END $$;
";

/// Starts a server that has the stand-in in three versions, none of which is in its database yet.
fn server() -> Option<(TempDir, TempDir, Box<dyn SqlStore>)> {
    if !POSTGRES.is_here() {
        return None;
    }
    let (dir, stand_in) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = stand_in.path().join("extension");
    fs::create_dir(&folder).unwrap();
    for (file, text) in [
        ("timescaledb.control", CONTROL.to_owned()),
        ("timescaledb--1.7.5.sql", "SELECT 1;".to_owned()),
        ("timescaledb--2.12.2.sql", [COMMON, OLD].concat()),
        ("timescaledb--2.20.0.sql", [COMMON, NEW].concat()),
    ] {
        write(&folder.join(file), &text);
    }
    // The server may run as another user.
    for folder in [stand_in.path(), &folder] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:$system", stand_in.path().display());
    let settings = vec![("extension_control_path".to_owned(), path)];
    let options = OpenOptions { settings, ..options(dir.path(), Durability::Process) };
    let owner = sql(POSTGRES.open(&options).store);
    Some((dir, stand_in, owner))
}

const REMOVE: &str = "DROP EXTENSION timescaledb CASCADE; DROP SCHEMA ts CASCADE";

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
}

fn open(url: &str, durability: Durability) -> Opened {
    TIMESCALEDB.open(&given(url, durability))
}

/// Leaves the server without the extension.
fn refuses_a_server_without_it_or_with_an_old_one(url: &str) {
    let refused = || TIMESCALEDB.refused(&given(url, Durability::None)).to_string();
    assert!(refused().starts_with("timescaledb could not"), "{}", refused());
    assert!(refused().contains("run CREATE EXTENSION timescaledb there"), "{}", refused());
    run(url, "CREATE SCHEMA ts; CREATE EXTENSION timescaledb SCHEMA ts VERSION '1.7.5'");
    assert!(refused().contains("version 1.7.5; update it to 2.0 or newer"), "{}", refused());
    let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'embermark%' \
                   AND nspname <> current_schema()";
    assert_eq!(ask(url, schemas), Some(0), "what was made for it is gone");
    run(url, REMOVE);
}

#[test]
fn it_is_not_there_without_a_server_and_is_chosen_by_its_name_alone() {
    let Availability::Missing { why, remedy } = TIMESCALEDB.engine().availability() else {
        panic!("there is a server of it")
    };
    assert!(why.contains("installs no server") && remedy.contains("--url timescaledb="));
    let nowhere = options(Path::new("/nowhere"), Durability::None);
    assert!(TIMESCALEDB.refused(&nowhere).to_string().contains("--url timescaledb="));
    let id = TIMESCALEDB.0;
    let has = |word: &str| registry::select(word).unwrap().iter().any(|e| e.info().id == id);
    assert_eq!(["all", "servers", id].map(has), [false, false, true]);
}

#[test]
fn a_server_without_it_or_with_an_old_one_is_refused_and_a_table_with_a_time_is_a_hypertable() {
    let Some((dir, _stand_in, owner)) = server() else { return };
    let url = url_of(&dir);
    refuses_a_server_without_it_or_with_an_old_one(&url);
    // A table with a time in its key becomes one in the words of the version.
    for version in ["2.12.2", "2.20.0"] {
        run(
            &url,
            &format!(
                "CREATE SCHEMA ts; CREATE EXTENSION timescaledb SCHEMA ts VERSION '{version}'"
            ),
        );
        let opened = open(&url, Durability::None);
        assert!(
            opened.version.starts_with(&format!("{version} on PostgreSQL ")),
            "{}",
            opened.version
        );
        assert_eq!(setting(&opened, "lacks"), "UNLOGGED tables, COPY into an emptied table");
        assert!(setting(&opened, "tables").contains("else plain tables"));
        let mut store = sql(opened.store);
        create(&mut *store);
        let part = store.dialect().part_by_time(&TABLE, "ts", 1_000).unwrap();
        store.batch(&part).unwrap();
        let kept =
            "SELECT sum(interval_length)::bigint FROM ts.hypertables WHERE name = 'readings'";
        assert_eq!(one_int(&mut *store, kept).unwrap(), Some(7_000));
        assert_eq!(store.bulk_insert(&TABLE, &mut made(0..100_000)).unwrap(), 100_000);
        let mut second = sql(store.open_client().unwrap().open().unwrap());
        let count = "SELECT count(*) FROM readings";
        assert_eq!(one_int(&mut *second, count).unwrap(), Some(100_000));
        second.close().unwrap();
        store.maintain().unwrap();

        // A window is kept by dropping chunks, each as long as a stretch of time.
        let dialect = store.dialect();
        let parts = dialect.range_partitions().unwrap();
        let kept = embermark_engines::sql::TableDef { name: "kept", ..TABLE };
        for statement in parts.create(&kept, "ts", "part_0", 0, 1_000) {
            store.batch(&statement).unwrap();
        }
        assert_eq!(parts.add("kept", "part_1", 1_000, 2_000), None);
        assert_eq!(store.bulk_insert(&kept, &mut made(0..2_500)).unwrap(), 2_500);
        store.batch(&parts.remove("kept", "part_0", 1_000)).unwrap();
        assert_eq!(one_int(&mut *store, "SELECT min(ts) FROM kept").unwrap(), Some(1_000));
        assert_eq!(one_int(&mut *store, "SELECT count(*) FROM kept").unwrap(), Some(1_500));
        store.close().unwrap();
        run(&url, REMOVE);
    }
    owner.close().unwrap();
}
