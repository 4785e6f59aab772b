//! `parquet`: rows in Parquet files, as many loggers store them. Each commit is a file, and small
//! files are merged. DuckDB writes the files and answers questions about them.

mod folder;
mod store;
mod table;

use embermark_model::result::Counts;
use embermark_model::{CostAnomaly, Durability, Explained};

use crate::duckdb;
use crate::settings::lines;
use crate::{Candidate, Embedded, Info, Setting, SettingValues, Settings, TierSetting, TierTable};

const ID: &str = "parquet";
const COPY: &str = "https://duckdb.org/docs/stable/sql/statements/copy";

/// Whether a commit syncs its file and its folder.
const TIERS: TierTable<bool> = TierTable { none: UNSYNCED, process: UNSYNCED, power: SYNCED };
const UNSYNCED: TierSetting<bool> = TierSetting::new(
    Durability::Process,
    false,
    "no fsync: a commit is a file in the operating system's page cache, which a killed process does not \
     take along",
    COPY,
);
const SYNCED: TierSetting<bool> = TierSetting::new(
    Durability::Power,
    true,
    "a commit is a file: written, fsync, renamed, fsync of the folder",
    "https://man7.org/linux/man-pages/man2/fsync.2.html",
);

/// Settings of the compression of files, the rows per row group, and the number of commits with
/// their own file before these are merged.
const COMPRESSION: &str = "COMPRESSION";
const ROW_GROUP_SIZE: &str = "ROW_GROUP_SIZE";
const FILES: &str = "files_before_merge";
const SETTINGS: Settings = Settings {
    known: &[
        Setting::new(
            COMPRESSION,
            SettingValues::Word(&["uncompressed", "snappy", "zstd", "lz4_raw"]),
        ),
        Setting::new(ROW_GROUP_SIZE, SettingValues::Number),
        Setting::new(FILES, SettingValues::Number),
    ],
    others: duckdb::SETTINGS.others,
    reserved: duckdb::SETTINGS.reserved,
    candidates: &[
        Candidate::new(&[(COMPRESSION, "zstd")], "processor time for each file", COPY),
        Candidate::new(&[(COMPRESSION, "uncompressed")], "larger files", COPY),
        Candidate::new(&[(FILES, "1000")], "questions open more files", COPY),
    ],
    written: |set| {
        lines("-- COPY … TO … (FORMAT parquet, …)", set, |name, value| {
            format!("{name} {value}")
        })
    },
};

const EXPLAINED: &[Explained] = &[
    explained(
        &[Counts::Point, Counts::Analytics],
        "each question looks for its files, opens them and is planned anew",
        "DuckDB's own profile and strace: planning is 47 % of a read, its operators 24 %; 55 system calls",
    ),
    explained(
        &[Counts::Ingest],
        "a commit writes, closes and renames a file, and every hundred files are merged",
        "strace: 160 system calls a commit; of 1,000 commits 909 files are merged and removed",
    ),
    explained(
        &[Counts::Start],
        "opening is DuckDB's, which then looks at the files of each table",
        "DuckDB's own opening: 18.7 of 23.9 ms",
    ),
];

const fn explained(
    counts: &'static [Counts],
    why: &'static str,
    evidence: &'static str,
) -> Explained {
    let section = "docs/engines/parquet.md#what-measurements-show";
    Explained { how: CostAnomaly::Lag, counts, phases: &[], why, evidence, section }
}

pub(crate) static ENGINE: Embedded<bool> = Embedded {
    library: duckdb::ENGINE.library,
    origin: duckdb::ENGINE.origin,
    settings: SETTINGS,
    explained: EXPLAINED,
    is_append_only: true,
    ..Embedded::new(
        Info::sql(ID, "Parquet files by DuckDB", "MIT"),
        || TIERS,
        duckdb::ENGINE.availability,
        store::open,
    )
};
