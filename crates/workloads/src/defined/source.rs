//! Stages the rows of a workload file for workers: a file per table, and one with the number of
//! rows of each to load.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use embermark_data::table::{Staged as StagedRows, StagedTable, field_names, stage, stage_log};
use embermark_data::{DataError, Log, sample, synthetic};
use embermark_language::{Definition, Mix, Pace, Phase, Work};
use embermark_model::Scale;
use embermark_model::plan::Dataset;
use embermark_model::table::{Column, ColumnType, RowsFrom, Table, Value};
use serde::{Deserialize, Serialize};

use super::kind::conditions_of;
use super::table_rows::Repetition;
use super::{Result, Rows, keep, oracle, referees};
use crate::{Source, WorkloadError};

/// Stages the rows of a workload file.
pub(super) struct FileRows {
    pub definition: &'static Definition,
    /// Folder of the workload file, to which file names are relative.
    pub folder: PathBuf,
    pub seed: u64,
    /// Largest share of a file's rows to skip when they do not match their column types.
    pub lenient: f64,
    /// Sensor log that the run names, instead of a generated one.
    pub log: Option<Log>,
}

/// Staged rows of a table.
#[derive(Serialize, Deserialize)]
struct Staged {
    file: PathBuf,
    loaded: usize,
    /// See [`Rows::extremes`].
    extremes: Vec<Option<(i64, i64)>>,
}

/// One row in this many is held back for the inserts of mixes, where nothing else determines their
/// number.
const HELD_BACK: u64 = 10;

impl Source for FileRows {
    fn stage(&self, scale: Scale, file: &Path) -> Result<Dataset> {
        // Fails before any work is done if an answer cannot be read.
        referees::given(self.definition, &self.folder)?;
        let mut all = Vec::new();
        // References to another generated table are limited to its number of rows.
        let mut tables = self.definition.tables.clone();
        for (table, def) in tables.iter_mut().enumerate() {
            if let (RowsFrom::Made(rows), Some(asked)) = (&mut def.rows, self.asked(table, scale)) {
                *rows = asked;
            }
        }
        keep::spread(self.definition, &mut tables)?;
        let mut dataset = Dataset { name: self.definition.name.clone(), ..Dataset::default() };
        for (table, def) in self.definition.tables.iter().enumerate() {
            let to = file.with_extension(format!("{}.table", def.name));
            let asked = self.asked(table, scale);
            let inserted = inserted(self.definition, table);
            let limit = asked.map(|rows| rows.saturating_add(inserted.with(rows / HELD_BACK)));
            let staged = match def.rows {
                RowsFrom::Log(_) if table == 0 => self.stage_log(def, limit, &to, &mut dataset)?,
                _ => stage(&tables, table, &self.folder, limit, self.seed, self.lenient, &to)
                    .map_err(|error| self.with_lines(table, error))?,
            };
            let [loaded, held] = divide(&def.name, staged.rows, asked, inserted)?;
            if table == 0 {
                dataset.rows = loaded;
            }
            if table == 0 && !matches!(def.rows, RowsFrom::Log(_)) {
                (dataset.file, dataset.sha256) = (staged.file.clone(), staged.sha256.clone());
            }
            let named = |(what, count): (String, u64)| (format!("{}: {what}", def.name), count);
            dataset.dropped.extend(staged.dropped.into_iter().map(named));
            dataset.remarks.extend(staged.remarks.into_iter().map(named));
            if held > 0 {
                let what = format!("{}: a row held back for the inserts of mixes", def.name);
                dataset.remarks.insert(what, held);
            }
            let loaded = loaded as usize;
            let extremes = if held > 0 { extremes(def, &to, loaded)? } else { Vec::new() };
            all.push(Staged { file: to, loaded, extremes });
        }
        let unwritable = |cause| DataError::Unwritable { path: file.to_owned(), cause };
        let text = serde_json::to_string(&all).map_err(|e| unwritable(e.into()))?;
        fs::write(file, text).map_err(unwritable)?;
        let tables = open(self.definition, file)?;
        match self.definition.keep() {
            Some(_) => keep::check_order(&tables)?,
            None => dataset.remarks.extend(unmet(self.definition, &tables).map(|what| (what, 1))),
        }
        Ok(dataset)
    }
}

impl FileRows {
    /// Stages a sensor log: all rows of a file, or a sample.
    fn stage_log(
        &self,
        table: &Table,
        limit: Option<u64>,
        to: &Path,
        dataset: &mut Dataset,
    ) -> Result<StagedRows> {
        let (readings, of) = match (&self.log, limit) {
            (Some(log), None) => (Cow::Borrowed(&log.readings), Cow::Borrowed(&log.dataset)),
            (Some(log), Some(rows)) => {
                let rows = usize::try_from(rows).unwrap_or(usize::MAX);
                let sampled = sample::stratified(&log.readings, rows)?;
                (Cow::Owned(sampled), Cow::Borrowed(&log.dataset))
            }
            (None, Some(rows)) => {
                let Log { readings, dataset } = synthetic::sampled(rows, self.seed)?;
                (Cow::Owned(readings), Cow::Owned(dataset))
            }
            (None, None) => return Err(WorkloadError::Endless),
        };
        *dataset = of.into_owned();
        let mut sensors: Vec<u16> = readings.iter().map(|reading| reading.sensor).collect();
        sensors.sort_unstable();
        sensors.dedup();
        dataset.sensors = sensors.len() as u64;
        let rows = stage_log(table, &readings, to)?;
        Ok(StagedRows { rows, ..StagedRows::default() })
    }

    /// Adds to an error the lines of the workload file whose columns name fields that the rows do
    /// not have.
    fn with_lines(&self, table: usize, error: DataError) -> WorkloadError {
        let DataError::NoField { unknown, .. } = &error else { return error.into() };
        let columns = self.definition.tables[table].columns.iter();
        let is_unknown = |column: &Column| {
            let names = field_names(column);
            unknown.iter().any(|unknown| names.contains(&&*unknown.given))
        };
        let lines = columns.zip(&self.definition.lines[table]);
        let lines = lines.filter(|(column, _)| is_unknown(column)).map(|(_, line)| *line);
        let lines: BTreeSet<usize> = lines.collect();
        let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
        let of = if lines.len() == 1 { "line" } else { "lines" };
        WorkloadError::Unfit(format!("{of} {}: {error}", lines.join(", ")))
    }

    /// Returns how many rows of a table are asked for. `None`: all of its file. The scale counts
    /// the rows of the main table. Other generated tables keep their proportion to it, and other
    /// files are read whole.
    fn asked(&self, table: usize, scale: Scale) -> Option<u64> {
        let made = |table: usize| match self.definition.tables[table].rows {
            RowsFrom::Made(rows) | RowsFrom::Telemetry(rows) => Some(rows),
            RowsFrom::Log(rows) if table > 0 => Some(rows),
            RowsFrom::Log(_) | RowsFrom::File(_) => None,
        };
        let Scale::Rows(rows) = scale else { return made(table) };
        if table == 0 {
            return Some(rows);
        }
        let own = made(table)?;
        let main = made(0).unwrap_or(rows).max(1);
        Some((u128::from(own) * u128::from(rows) / u128::from(main)).max(1) as u64)
    }
}

/// Rows of a table that the mixes of a file insert.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Inserted {
    /// The most that a mix inserts whose number of operations is known.
    most: u64,
    /// Whether only a time limits what another mix inserts.
    endless: bool,
}

impl Inserted {
    /// Returns the rows that all mixes need, if those that only a time limits need this many.
    fn with(self, rows: u64) -> u64 {
        if self.endless { self.most.max(rows) } else { self.most }
    }
}

/// Returns the least and the greatest value of each column of integers or times in the loaded rows
/// of a table.
fn extremes(table: &Table, staged: &Path, loaded: usize) -> Result<Vec<Option<(i64, i64)>>> {
    let rows = StagedTable::open(staged)?;
    let of = |(at, column): (usize, &Column)| {
        if !matches!(column.of, ColumnType::Int { .. } | ColumnType::Timestamp(_)) {
            return None;
        }
        let values = (0..loaded).filter_map(|place| match rows.value(place, at) {
            Value::Int(value) => Some((value, value)),
            _ => None,
        });
        values.reduce(|(least, greatest), (value, _)| (least.min(value), greatest.max(value)))
    };
    Ok(table.columns.iter().enumerate().map(of).collect())
}

/// Returns a remark for each phase whose conditions no loaded row meets: its times are those of
/// finding nothing.
fn unmet(definition: &Definition, tables: &[Rows]) -> impl Iterator<Item = String> {
    let finds_nothing = |phase: &&Phase| {
        let (conditions, table) = (conditions_of(&phase.work), phase.work.table());
        let rows = table.map(|table| &tables[table]).filter(|rows| rows.loaded > 0);
        rows.is_some_and(|rows| !conditions.is_empty() && !oracle::any_met(rows, conditions))
    };
    let phases = definition.phases.iter().filter(finds_nothing);
    phases.map(|phase| format!("phase '{}': no row meets its conditions", phase.name))
}

/// Returns how many of a table's staged rows are loaded, and how many are held back for mixes.
fn divide(name: &str, rows: u64, asked: Option<u64>, inserted: Inserted) -> Result<[u64; 2]> {
    let beyond = asked.map_or(rows / HELD_BACK, |asked| rows.saturating_sub(asked));
    let held = inserted.with(beyond).min(rows / 2);
    let loaded = asked.unwrap_or(u64::MAX).min(rows - held);
    if let Some(asked) = asked.filter(|asked| *asked > loaded) {
        let held =
            if held > 0 { format!(", of which {held} are held back") } else { String::new() };
        return Err(WorkloadError::Unfit(format!(
            "table '{name}' has {rows} rows{held}: fewer than the {asked} asked for"
        )));
    }
    if loaded == 0 {
        return Err(WorkloadError::Unfit(format!("table '{name}' has no rows")));
    }
    Ok([loaded, held])
}

/// Returns the rows of a table that the mixes of a file insert. The parts of a mix share them.
fn inserted(definition: &Definition, table: usize) -> Inserted {
    let mut inserted = Inserted::default();
    for phase in &definition.phases {
        let Work::Mix(Mix { parts, clients, lasts, ops, .. }) = &phase.work else { continue };
        let mut by_mix = 0_u64;
        for part in parts {
            let work = &definition.phases[part.phase].work;
            if !matches!(work, Work::Insert { table: of, .. } if *of == table) {
                continue;
            }
            let needed = match (part.pace, lasts) {
                (Pace::Rate(rate), Some(lasts)) => {
                    ((rate * lasts.as_secs_f64()).ceil() as u64).saturating_add(1)
                }
                // Parts are drawn at random, so there can be some more than the share.
                (Pace::Share(share), None) => {
                    (share * *ops as f64 * 1.2) as u64 + 100 * u64::from(*clients)
                }
                _ => {
                    inserted.endless = true;
                    continue;
                }
            };
            by_mix = by_mix.saturating_add(needed);
        }
        inserted.most = inserted.most.max(by_mix);
    }
    inserted
}

/// Opens the staged rows, in the order of the file's tables.
pub(super) fn open(definition: &'static Definition, file: &Path) -> Result<Vec<Rows>> {
    let unreadable = |cause| DataError::Unreadable { path: file.to_owned(), cause };
    let text = fs::read(file).map_err(unreadable)?;
    let staged: Vec<Staged> = serde_json::from_slice(&text).map_err(|e| unreadable(e.into()))?;
    let tables = definition.tables.iter().zip(staged);
    let tables = tables.map(|(table, Staged { file, loaded, extremes })| {
        let (there, taken) = (loaded.into(), loaded.into());
        let staged = StagedTable::open(&file)?;
        let (repetition, lap) = (None, 0.into());
        Ok(Rows { table, staged, loaded, extremes, there, taken, repetition, lap })
    });
    let mut tables = tables.collect::<Result<Vec<Rows>>>()?;
    if let Some(keep) = definition.keep() {
        let rows = &mut tables[keep.table];
        rows.repetition = Some(Repetition::new(rows, keep.time, keep.step, true)?);
    }
    for arrive in definition.arrivals() {
        let rows = &mut tables[arrive.table];
        rows.repetition = Some(Repetition::new(rows, arrive.time, 1, false)?);
    }
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use embermark_language::parse;

    use super::*;

    const FILE: &str = r#"
[table.t]
rows = "1k"
key = ["id"]
[table.t.columns]
id = { type = "u32", make = "sequence" }
[phase.one]
do = "insert"
[phase.two]
do = "insert"
[phase.read]
do = "get"
"#;

    /// A mix whose operations are known, and one that only a time limits.
    const LIVE: &str = "[phase.live]\nmix = { one = \"200/s\", two = \"100/s\", read = \"2/s\" }\n";
    const TIMED: &str = "[phase.timed]\nmix = { one = 0.5, read = 0.5 }\nfor = \"10s\"\n";

    fn read(mixes: &str) -> &'static Definition {
        let definition = parse("t.toml", &format!("{FILE}{mixes}"), &[]);
        Box::leak(Box::new(definition.unwrap_or_else(|mistakes| panic!("{mistakes}"))))
    }

    #[test]
    fn every_insert_of_a_mix_counts_and_the_mix_with_the_most_decides() {
        let of = |mixes: &str| inserted(read(mixes), 0);
        let most = 6_001 + 3_001;
        assert_eq!(of(LIVE), Inserted { most, endless: false });
        assert_eq!(of(TIMED), Inserted { most: 0, endless: true });
        assert_eq!(of(&format!("{LIVE}{TIMED}")), Inserted { most, endless: true });
        let counted = "[phase.counted]\nmix = { one = 0.1, two = 0.1, read = 0.8 }\nops = 1_000\n";
        assert_eq!(of(counted), Inserted { most: 2 * (120 + 100), endless: false });
        assert_eq!(of(""), Inserted::default());
    }

    #[test]
    fn a_field_that_the_rows_lack_is_named_with_the_line_of_its_column() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("r.csv"), "Id,temp\n1,2\n").unwrap();
        let text = "[table.r]\nfile = \"r.csv\"\nkey = [\"id\"]\n[table.r.columns]\n\
                    id = { type = \"u32\", from = \"ID\" }\ntemp = \"f64\"\ntmp = \"f64\"\n\
                    [phase.one]\ndo = \"insert\"\n";
        let definition = Box::leak(Box::new(parse("r.toml", text, &[]).unwrap()));
        let (folder, staged) = (dir.path().to_owned(), dir.path().join("staged"));
        let rows = FileRows { definition, folder, seed: 3, lenient: 0.0, log: None };
        let refused = rows.stage(Scale::Full, &staged).unwrap_err().to_string();
        assert!(refused.starts_with("lines 5, 7: "), "{refused}");
        assert!(refused.contains("unknown field 'ID', did you mean 'Id'?"), "{refused}");
    }

    #[test]
    fn a_made_table_has_the_rows_that_its_mixes_insert_beside_those_asked_for() {
        for (mixes, held) in [("", 0), (TIMED, 100), (LIVE, 9_002)] {
            let all = [mixes, if held > 100 { TIMED } else { "" }].concat();
            let (dir, definition) = (tempfile::tempdir().unwrap(), read(&all));
            let (folder, staged) = (dir.path().to_owned(), dir.path().join("staged"));
            let rows = FileRows { definition, folder, seed: 3, lenient: 0.0, log: None };
            rows.stage(Scale::Full, &staged).unwrap();
            let tables = open(definition, &staged).unwrap();
            let [rows] = &tables[..] else { panic!("one table") };
            assert_eq!((rows.loaded, rows.staged.rows() - rows.loaded), (1_000, held), "{all}");
            // Conditions and lengths of time count from the rows that are in the database.
            assert_eq!((rows.start(0), rows.end(0)), (0, 999), "{all}");
            assert_eq!(rows.ends_of_all(0), (0, 999 + held as i64), "{all}");
        }
    }

    #[test]
    fn a_phase_whose_conditions_no_row_meets_is_remarked_on() {
        let phases = "[phase.none]\ndo = \"find\"\nwhere = [[\"id\", \">\", 999]]\n\
                      [phase.last]\ndo = \"delete\"\nwhere = [[\"id\", \">\", 998]]\n";
        let (dir, definition) = (tempfile::tempdir().unwrap(), read(phases));
        let (folder, staged) = (dir.path().to_owned(), dir.path().join("staged"));
        let rows = FileRows { definition, folder, seed: 3, lenient: 0.0, log: None };
        let dataset = rows.stage(Scale::Full, &staged).unwrap();
        let says: Vec<String> = dataset.unusual("w").collect();
        assert_eq!(says, ["w: 1 time: phase 'none': no row meets its conditions"]);
    }
}
