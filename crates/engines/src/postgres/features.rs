//! Features of PostgreSQL that a server has. Other servers use its protocol and most of its SQL,
//! and each lacks other features. On a given server the first client tries every feature once.

use super::connection::Connection;
use super::{copy, pipeline};

/// A feature that a server has or lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Feature {
    /// Sessions are listed by their names, can be ended, and limit how long they wait for locks.
    Sessions,
    /// A session can set a commit's wait for the log, `synchronous_commit`.
    CommitLevel,
    /// A session can set a time zone.
    TimeZone,
    /// A transaction can be set at its start to read one state of the database.
    Snapshot,
    /// A session can set this for all of its transactions.
    SessionSnapshot,
    /// Tables can be without a log.
    Unlogged,
    /// Texts can be compared by their bytes, whatever the database's collation.
    ByteOrder,
    /// COPY in its binary format.
    Copy,
    /// A table can be emptied and filled by COPY in a transaction, with its key created last.
    Fill,
    CopyCsv,
    /// A view lists each table's indexes.
    Indexes,
    /// JSON documents as text, and their fields.
    Json,
    JsonBinary,
    /// The month of a time in milliseconds.
    Months,
    /// Statements can be sent without waiting for the answer to each.
    Pipeline,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Features(u32);

/// Name of the table for trying features.
const TRIAL: &str = "embermark_trial";

/// Features, each with its name for a person.
const FEATURE_NAMES: &[(Feature, &str)] = &[
    (Feature::Sessions, "ending sessions"),
    (Feature::CommitLevel, "synchronous_commit"),
    (Feature::TimeZone, "time zones of a session"),
    (Feature::Snapshot, "BEGIN of a snapshot"),
    (Feature::SessionSnapshot, "sessions of snapshots"),
    (Feature::Unlogged, "UNLOGGED tables"),
    (Feature::ByteOrder, "COLLATE \"C\""),
    (Feature::Copy, "binary COPY"),
    (Feature::Fill, "COPY into an emptied table"),
    (Feature::CopyCsv, "COPY of CSV"),
    (Feature::Indexes, "pg_indexes"),
    (Feature::Json, "json"),
    (Feature::JsonBinary, "jsonb"),
    (Feature::Months, "to_timestamp"),
    (Feature::Pipeline, "pipelines"),
];

/// Features tried before there is a schema, each with statements that must all be accepted.
const SESSION_FEATURES: &[(Feature, &str)] = &[
    (
        Feature::Sessions,
        "SET lock_timeout = '30s'; SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE application_name = 'embermark of nobody'; RESET lock_timeout",
    ),
    (Feature::CommitLevel, "SET synchronous_commit = on"),
    (Feature::TimeZone, "SET timezone = 'UTC'"),
    (Feature::Snapshot, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1"),
    (
        Feature::SessionSnapshot,
        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    ),
];

/// Features tried in the schema, with the table.
const TABLE_FEATURES: &[(Feature, &str)] = &[
    (Feature::Unlogged, "CREATE UNLOGGED TABLE embermark_trial_unlogged (id bigint PRIMARY KEY)"),
    (
        Feature::ByteOrder,
        "CREATE TABLE embermark_trial_text (name text COLLATE \"C\" NOT NULL, PRIMARY KEY (name))",
    ),
    (
        Feature::Indexes,
        "SELECT CAST(indexname AS TEXT) FROM pg_indexes \
         WHERE schemaname = CURRENT_SCHEMA() AND tablename = 'embermark_trial'",
    ),
    (Feature::Json, "SELECT CAST(CAST('{\"a\": 1}' AS json) ->> 'a' AS double precision)"),
    (Feature::JsonBinary, "SELECT CAST('{\"a\": 1}'::jsonb ->> 'a' AS double precision)"),
    (
        Feature::Months,
        "SELECT CAST(date_part('month', to_timestamp(1000 / 1000) AT TIME ZONE 'UTC') AS integer)",
    ),
];

impl Features {
    pub const ALL: Self = Self(u32::MAX);

    /// Returns whether the server has a feature.
    pub const fn has(self, feature: Feature) -> bool {
        self.0 & (1 << feature as u32) != 0
    }

    pub fn without(self, lacks: &[Feature]) -> Self {
        Self(lacks.iter().fold(self.0, |features, lack| features & !(1 << *lack as u32)))
    }

    fn set(&mut self, feature: Feature, has: bool) {
        if has {
            self.0 |= 1 << feature as u32;
        }
    }

    /// Returns the features of sessions. Each is tried in a transaction that is rolled back.
    pub fn of_server(connection: &mut Connection) -> Self {
        let mut found = Self(0);
        for &(feature, statements) in SESSION_FEATURES {
            found.set(feature, takes(connection, statements));
        }
        found
    }

    /// Adds the features of tables, tried in a schema that is empty and in the search path. Leaves
    /// no table there.
    pub fn with_tables(mut self, connection: &mut Connection) -> Self {
        let table = format!("CREATE TABLE {TRIAL} (id bigint NOT NULL, PRIMARY KEY (id))");
        takes(connection, &table);
        // Some servers commit a table when it is created, others roll it back.
        if connection.run(&format!("SELECT id FROM {TRIAL}")).is_err() {
            let _ = connection.run(&table);
        }
        for &(feature, statements) in TABLE_FEATURES {
            self.set(feature, takes(connection, statements));
        }
        self.set(Feature::Copy, copy::is_taken(connection, TRIAL, "binary"));
        self.set(Feature::CopyCsv, copy::is_taken(connection, TRIAL, "csv"));
        self.set(Feature::Fill, fills(connection));
        self.set(Feature::Pipeline, pipeline::is_taken(connection, TRIAL));
        for table in [TRIAL, "embermark_trial_unlogged", "embermark_trial_text"] {
            let _ = connection.run(&format!("DROP TABLE IF EXISTS {table}"));
        }
        self
    }

    /// Returns the features that the server lacks, for a person. `None` for PostgreSQL itself.
    pub fn lacking(self) -> Option<String> {
        let lacks = FEATURE_NAMES.iter().filter(|(feature, _)| !self.has(*feature));
        let names: Vec<&str> = lacks.map(|(_, name)| *name).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// Returns a text for [`Features::parse`].
    pub fn to_text(self) -> String {
        format!("{:x}", self.0)
    }

    /// Parses the text of [`Features::to_text`].
    pub fn parse(text: &str) -> Option<Self> {
        u32::from_str_radix(text, 16).ok().map(Self)
    }
}

/// Returns whether a server accepts all these statements, one by one, in a transaction that is
/// rolled back.
fn takes(connection: &mut Connection, statements: &str) -> bool {
    let begun = statements.starts_with("BEGIN") || connection.exec(c"BEGIN").is_ok();
    let taken = statements.split("; ").all(|sql| connection.run(sql).is_ok());
    if begun {
        let _ = connection.exec(c"ROLLBACK");
    }
    taken
}

/// Returns a query for the name and the columns of a table's key.
pub(super) fn key_of(table: &str) -> String {
    format!(
        "SELECT format('%I', conname), pg_get_constraintdef(oid) FROM pg_constraint \
         WHERE contype = 'p' AND conrelid = '{table}'::regclass"
    )
}

/// Returns whether a table can be emptied and filled as [`Session::fill`](super::session::Session)
/// does.
fn fills(connection: &mut Connection) -> bool {
    let key = format!("{}; TRUNCATE {TRIAL}", key_of(TRIAL));
    if connection.exec(c"BEGIN").is_err() {
        return false;
    }
    let filled = connection.run(&key).is_ok()
        && copy::is_taken(connection, TRIAL, "binary, FREEZE")
        && connection.run(&format!("SELECT id FROM {TRIAL}")).is_ok();
    let _ = connection.exec(c"ROLLBACK");
    filled
}

#[cfg(test)]
mod tests {
    use super::{Feature, Features};

    #[test]
    fn what_a_server_offers_is_what_another_process_reads() {
        let mut some = Features(0);
        some.set(Feature::Copy, true);
        some.set(Feature::Fill, false);
        some.set(Feature::Months, true);
        let read = Features::parse(&some.to_text()).unwrap();
        let has =
            [Feature::Copy, Feature::Fill, Feature::Months, Feature::Sessions].map(|o| read.has(o));
        assert_eq!(has, [true, false, true, false]);
        assert_eq!(Features::parse(&Features::ALL.to_text()), Some(Features::ALL));
        assert_eq!(Features::parse("public"), None);
        assert_eq!(Features::ALL.lacking(), None);
        assert!(some.lacking().unwrap().starts_with("ending sessions, synchronous_commit"));
    }
}
