//! Data of each phase that is known before it runs: its keys and values, its files, and the names
//! of its parts.

use std::path::Path;

use embermark_data::draw::Draw;
use embermark_language::{Asked, Commit, Definition, Phase, Work};
use embermark_model::table::OwnedValue;

use super::csv::CsvRows;
use super::kind::{is_distinct, keys_of, rows_at_once, set_at_once, sets_by_key};
use super::operation_keys::{self, OperationKeys};
use super::oracle::met;
use super::update_values::UpdateValues;
use super::{Cell, Result, Rows};
use crate::WorkloadError;

/// Returns the cell of a definition, with the keys and values of its operations drawn from a seed.
///
/// # Errors
/// Fails when no key is absent and some are asked for, or when no row has a value to ask about.
pub(super) fn cell(definition: &'static Definition, tables: Vec<Rows>, seed: u64) -> Result<Cell> {
    Ok(Cell {
        operation_keys: draw_keys(definition, &tables, seed)?,
        update_values: UpdateValues::new(seed, longest(definition, &tables)),
        each: each_of(definition, &tables, seed)?,
        set_at_once: set_at_once(definition),
        met: definition.phases.iter().map(|phase| met(phase, &tables)).collect(),
        engine: String::new(),
        appends_only: false,
        commit: None,
        definition,
        tables,
    })
}

/// Draws the keys of each phase, from its own random stream.
fn draw_keys(definition: &Definition, tables: &[Rows], seed: u64) -> Result<Vec<OperationKeys>> {
    let phases = definition.phases.iter().enumerate();
    let drawn = phases.map(|(phase, def)| -> Result<_> {
        let mut draw = Draw::new(seed, 100 + phase as u64);
        let rows = &tables[def.work.table().unwrap_or_default()];
        let Some(keys) = keys_of(&def.work) else { return Ok(OperationKeys::default()) };
        if rows_at_once(&def.work) > 1 {
            return Ok(OperationKeys::ranges(keys, rows, &mut draw));
        }
        let drawn = if is_distinct(&def.work) {
            OperationKeys::distinct(keys, rows, &mut draw)?
        } else {
            let ops = keys.ops.for_rows(rows.loaded as u64).max(mixed(definition, phase));
            OperationKeys::new(keys, ops, rows, &mut draw)?
        };
        Ok(match &def.work {
            Work::Range(range) => drawn.wanting(&range.span, &mut draw),
            _ => drawn,
        })
    });
    drawn.collect()
}

/// Draws the values that each phase asks about, from its own random stream.
///
/// # Errors
/// [`WorkloadError::Unfit`] if no row has a value of that column.
fn each_of(definition: &Definition, tables: &[Rows], seed: u64) -> Result<Vec<Vec<OwnedValue>>> {
    let of = |(phase, def): (usize, &Phase)| match &def.asked {
        Asked::Each { column, values } => {
            let rows = &tables[def.work.table().unwrap_or_default()];
            let mut draw = Draw::new(seed, 50_000 + phase as u64);
            let values = values.for_rows(rows.loaded as u64);
            let drawn = operation_keys::values(rows, *column, values, &mut draw);
            if drawn.is_empty() {
                let (name, of) = (&def.name, &rows.table.columns[*column].name);
                let why = format!("phase '{name}' asks for each '{of}', and no row has one");
                return Err(WorkloadError::Unfit(why));
            }
            Ok(drawn)
        }
        _ => Ok(Vec::new()),
    };
    definition.phases.iter().enumerate().map(of).collect()
}

/// Writes the CSV files that phases load.
pub(super) fn csv_files(
    definition: &Definition,
    tables: &[Rows],
    staged: &Path,
) -> Result<Vec<Option<CsvRows>>> {
    let of = |phase: &Phase| match phase.work {
        Work::Insert { table, commit: Commit::Csv, .. } => {
            CsvRows::write(&tables[table], staged).map(Some)
        }
        _ => Ok(None),
    };
    Ok(definition.phases.iter().map(of).collect::<Result<_, _>>()?)
}

/// Returns the names of the parts of each mix.
pub(super) fn parts(definition: &'static Definition) -> Vec<Vec<&'static str>> {
    let phases = &definition.phases;
    let of = |phase: &'static Phase| match &phase.work {
        Work::Mix(mix) => (mix.parts.iter())
            .map(|part| format!("{}/{}", phase.name, phases[part.phase].name))
            .map(|name| &*name.leak())
            .collect(),
        _ => Vec::new(),
    };
    phases.iter().map(of).collect()
}

/// Returns how many operations of a phase mixes have, as far as that is known. If a time limits
/// them, the number is large enough that repeating them does not matter.
pub(super) fn mixed(definition: &Definition, phase: usize) -> u64 {
    let mixes = definition.phases.iter().filter_map(|phase| match &phase.work {
        Work::Mix(mix) => Some(mix),
        _ => None,
    });
    let with = mixes.filter(|mix| mix.parts.iter().any(|part| part.phase == phase));
    let ops = with.map(|mix| if mix.lasts.is_some() { 100_000 } else { mix.ops });
    ops.max().unwrap_or(0)
}

/// Returns the bytes of the longest text that an update may have to make. Only tables that are
/// updated are read.
fn longest(definition: &Definition, tables: &[Rows]) -> usize {
    let updates = |of: usize| {
        let mut works = definition.phases.iter().map(|phase| &phase.work);
        works.any(|work| sets_by_key(work) && work.table() == Some(of))
    };
    let updated = tables.iter().enumerate().filter(|(table, _)| updates(*table));
    let lengths = updated.flat_map(|(_, rows)| {
        let columns = rows.table.columns.iter().enumerate();
        let texts = columns.filter(|(_, def)| def.of.width().is_none());
        texts.map(move |(column, _)| rows.longest(column, rows.loaded))
    });
    lengths.max().unwrap_or_default()
}
