//! One phase at its measured scales, and the engines that may be compared in it.

use std::collections::HashMap;

use embermark_model::result::{PhaseKind, ResultFile};
use embermark_model::{Client, Durability, Scale};

use super::{SeriesId, Within};
use crate::summary::{self, Comparison, Engine, Figure, Group, Row};

/// One phase in one variant, with the smallest scale first.
pub(super) struct Series<'a, 'c> {
    pub id: SeriesId<'a>,
    pub kind: PhaseKind,
    pub points: Vec<Point<'a, 'c>>,
}

/// One scale of a phase.
pub(super) struct Point<'a, 'c> {
    pub scale: Scale,
    pub rows: u64,
    /// Whether the phase inserts rows.
    pub inserts: bool,
    /// Times of engines whose cell did its work, or failed in another phase.
    pub times: Vec<Time<'a, 'c>>,
}

/// The time of one engine.
pub(super) struct Time<'a, 'c> {
    pub engine: &'a str,
    pub figure: &'c Figure<'a>,
    /// Whether it is compared with others.
    pub ranked: bool,
    /// Whether its cell failed in another phase.
    pub tainted: bool,
    /// Whether it may be a surprise. References and servers given by their URL may not.
    pub candidate: bool,
    /// Durability of its commits.
    pub effective: Durability,
    /// Engines that are the closest comparison. Absent if the result does not record what the
    /// engine is.
    pub family: Option<Family<'a>>,
}

/// Where an engine runs, its data model, and its client's language if it has one: `embedded`,
/// `SQL`, `None`.
pub(super) type Family<'a> = (&'a str, &'a str, Option<&'a str>);

impl Point<'_, '_> {
    pub fn time(&self, engine: &str) -> Option<&Time<'_, '_>> {
        self.times.iter().find(|time| time.engine == engine)
    }

    /// Returns the time of a whole run per existing row, in ns. In this unit, phases with a fixed
    /// number of operations and phases with one per row grow alike. A closed loop of a fixed time
    /// has no whole run, so one operation is taken.
    pub fn per_row_ns(&self, time: &Time<'_, '_>) -> f64 {
        time.figure.per_op_ns * time.figure.ops.max(1) as f64 / self.rows as f64
    }

    /// Returns the number of decades of rows between two scales.
    pub fn decades_from(&self, smaller: &Self) -> f64 {
        (self.rows as f64 / smaller.rows as f64).log10()
    }
}

/// Returns every series of a comparison, in the order of its tables.
pub(super) fn all_series<'a, 'c>(comparison: &'c Comparison<'a>) -> Vec<Series<'a, 'c>> {
    let mut all: Vec<Series<'a, 'c>> = Vec::new();
    let (mut places, file) = (HashMap::new(), comparison.file);
    for group in &comparison.groups {
        let Some(rows) = group.row_count().filter(|rows| *rows > 0) else { continue };
        // Computed once per engine, not once per figure.
        let families = group.engines.iter().map(|engine| (engine.id, family(file, engine.id)));
        let families: HashMap<&str, Option<Family<'_>>> = families.collect();
        for row in &group.rows {
            let Some(phase) = row.phase else { continue };
            let variant = row.variant.unwrap_or(group.variant);
            let user_bytes = row.loadings.iter().flatten().map(|of| of.get("user_bytes"));
            let inserts = user_bytes.flatten().any(|bytes| bytes > 0.0);
            let times = times(&families, group, row);
            let point = Point { scale: group.extent.scale, rows, inserts, times };
            let main = row.variant.is_none();
            let id = SeriesId { within: Within::new(group), variant, main, phase };
            let key = |id: &SeriesId<'a>| (id.within, id.variant, id.phase);
            let place = *places.entry(key(&id)).or_insert(all.len());
            match all.get_mut(place) {
                // All rows of the data, and the same number given as a scale, are one scale.
                Some(series) if series.points.iter().any(|one| one.rows == rows) => {}
                Some(series) => series.points.push(point),
                None => {
                    let kind = comparison.kinds.at((group.workload, variant, phase));
                    all.push(Series { id, kind, points: vec![point] });
                }
            }
        }
    }
    all.iter_mut().for_each(|series| series.points.sort_by_key(|point| point.rows));
    all
}

fn times<'a, 'c>(
    families: &HashMap<&str, Option<Family<'a>>>,
    group: &Group<'a>,
    row: &'c Row<'a>,
) -> Vec<Time<'a, 'c>> {
    let ranks = |engine: &Engine<'_>| engine.ranked(group.durability);
    let entries = group.engines.iter().zip(&row.entries);
    let measured = entries.filter_map(|(engine, entry)| Some((engine, entry.measured()?)));
    let whole = measured.filter(|(_, measured)| measured.shortfall.is_none());
    let time = whole.map(|(engine, measured)| Time {
        engine: engine.id,
        figure: &measured.figure,
        ranked: ranks(engine) && !measured.tainted,
        tainted: measured.tainted,
        candidate: !engine.reference && !engine.by_url && engine.own_durability.is_none(),
        effective: engine.effective_durability.unwrap_or(group.durability),
        family: families.get(engine.id).copied().flatten().filter(|_| ranks(engine)),
    });
    time.collect()
}

fn family<'a>(file: &'a ResultFile, engine: &str) -> Option<Family<'a>> {
    let facts = &file.manifest.engines;
    let of = facts.get(engine)?;
    let client = of.configuration.as_ref().and_then(|own| own.client.as_ref());
    Some((summary::kind(file, engine, facts)?, &of.data_model, client.map(Client::language)))
}
