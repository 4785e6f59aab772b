//! Computes groups, rows and ratios from a result's cells. Engines are in the order of the plan,
//! phases in that in which they ran, and a variant follows the phase that it varies.

use std::collections::{BTreeMap, HashMap};

use embermark_model::result::{Cell, EngineFacts, PhaseResult, ResultFile};
use embermark_model::{CellId, Configuration, Durability, Extent, Status};

use super::{
    Comparison, Engine, Entry, Figure, Group, Measured, Phases, Protocol, Row, Shortfall,
    Shortfalls, Usage, Work, explained, loading, run_figures,
};
use crate::kinds::Kinds;
use crate::statistics::{clamp_to_best, includes_one, is_measure, ratio_interval};
use crate::text;

/// Computes the figures of `file`. Phases named in `order` come first and in that order, the
/// others as they ran.
pub fn compare<'a>(file: &'a ResultFile, order: &[&str]) -> Comparison<'a> {
    let ids = file.cells.iter().map(|cell| &cell.id);
    let keys = text::unique(ids.map(|id| (id.workload.as_str(), id.extent(), id.durability)));
    let kinds = Kinds::new(file);
    let groups = keys.into_iter().map(|key| group(file, &kinds, key, order)).collect();
    Comparison { file, groups, kinds }
}

fn group<'a>(
    file: &'a ResultFile,
    kinds: &Kinds<'_>,
    (workload, extent, durability): (&'a str, Extent, Durability),
    order: &[&str],
) -> Group<'a> {
    let mut group = Group {
        file,
        workload,
        extent,
        durability,
        dataset: file.manifest.datasets.get(workload),
        variant: "",
        engines: Vec::new(),
        rows: Vec::new(),
        usage: Vec::new(),
        sizes: Vec::new(),
        protocol: None,
    };
    let cells: Vec<&Cell> = group.cells().collect();
    let ids = planned(&file.plan.engines, cells.iter().map(|cell| cell.id.engine.as_str()));
    let variants = planned(&file.plan.variants, cells.iter().map(|cell| cell.id.variant.as_str()));
    let engines: Vec<Engine<'_>> = ids.iter().map(|id| engine(file, id, &cells)).collect();
    let find = |variant: &str, engine: &str| {
        cells.iter().copied().find(|cell| cell.id.variant == variant && cell.id.engine == engine)
    };
    // Computed once per cell, not once per row.
    let of_cells: HashMap<&CellId, (Phases<'_>, Shortfalls<'_>)> = (cells.iter().rev())
        .map(|cell| (&cell.id, (Phases::new(cell), Shortfalls::new(cell))))
        .collect();
    let parts = |cell: &Cell, phase: Option<&str>| match (of_cells.get(&cell.id), phase) {
        (Some((phases, _)), Some(phase)) => phases.at(phase),
        _ => &[],
    };
    let shortfall = |cell: &Cell, phase| of_cells.get(&cell.id)?.1.at(phase);
    let row = |(phase, variant): (Option<&'a str>, &'a str)| {
        let cells = || engines.iter().map(|engine| find(variant, engine.id));
        let mut row = Row {
            phase,
            variant: variants.first().is_some_and(|main| *main != variant).then_some(variant),
            per_operation: false,
            entries: cells()
                .map(|cell| {
                    let of_cell = |cell| (cell, parts(cell, phase), shortfall(cell, phase));
                    entry(file, kinds, cell.map(of_cell), phase)
                })
                .collect(),
            loadings: cells().map(|cell| loading(cell?, phase?, parts(cell?, phase))).collect(),
            run_figures: cells().map(|cell| run_figures(parts(cell?, phase))).collect(),
            explained: cells().map(|cell| explained(cell?, phase?)).collect(),
        };
        rank(&mut row, &engines, durability);
        row
    };
    // A user's workload may use the same phase names, so its phases stay in their own order.
    let order = if file.plan.workload_files.contains_key(workload) { &[] } else { order };
    group.rows = rows(&cells, &variants, order).into_iter().map(row).collect();
    group.variant = variants.first().copied().unwrap_or_default();
    let usage = |of: &Engine<'_>| Some(Usage::new(file, find(group.variant, of.id)?, Work::All));
    group.usage = engines.iter().map(|engine| usage(engine).unwrap_or_default()).collect();
    let sizes = |variant| {
        engines.iter().map(|engine| find(variant, engine.id).and_then(Cell::disk)).collect()
    };
    group.sizes = variants.iter().map(|variant| (*variant, sizes(variant))).collect();
    group.protocol = Protocol::from_cells(cells.into_iter());
    Group { engines, ..group }
}

fn engine<'a>(file: &'a ResultFile, id: &'a str, cells: &[&'a Cell]) -> Engine<'a> {
    let mut own = cells.iter().filter(|cell| cell.id.engine == id);
    Engine {
        id,
        base: file.plan.engine_of(id),
        reference: own.clone().any(|cell| cell.reference),
        by_url: file.plan.urls.contains_key(id),
        own_settings: (file.plan.configurations.get(id)).is_some_and(Configuration::has_settings),
        own_durability: own.clone().find_map(|cell| cell.own_durability.as_deref()),
        effective_durability: own
            .find_map(|cell| cell.effective_durability.filter(|tier| *tier != cell.id.durability)),
        broken: false,
    }
}

/// A cell, one of its phases in each trial, and its shortfall.
type OfCell<'p, 'a> = (&'a Cell, &'p [(u32, &'a PhaseResult)], Option<Shortfall<'a>>);

fn entry<'a>(
    file: &ResultFile,
    kinds: &Kinds<'_>,
    cell: Option<OfCell<'_, 'a>>,
    phase: Option<&str>,
) -> Entry<'a> {
    let Some((cell, parts, shortfall)) = cell else { return Entry::Absent };
    let status = parts.iter().map(|(_, part)| part.status).reduce(Status::worst);
    let status = status.unwrap_or(cell.status);
    if !status.has_figures() {
        return Entry::Ended(status);
    }
    // An unsupported phase does not spoil the others, but any other failure does.
    let tainted = !(cell.status.has_figures() || cell.status.concerns_only_phase());
    let commits_each = phase.is_some_and(|phase| commits_each(file, kinds, &cell.id, phase));
    Figure::from_parts(parts).map_or(Entry::Absent, |figure| {
        Entry::Measured(Measured {
            figure,
            tainted,
            lost: cell.lost_trials.len(),
            commits_each,
            shortfall,
            ..Measured::default()
        })
    })
}

/// Returns `embedded`, `server` or `reference`, from the facts or else from the result. In older
/// results an engine with a separate client is a server. `None` if nothing of it ran.
pub(crate) fn kind<'a>(
    file: &'a ResultFile,
    engine: &str,
    facts: &'a BTreeMap<String, EngineFacts>,
) -> Option<&'a str> {
    let cells = || file.cells.iter().filter(|cell| cell.id.engine == engine);
    if cells().any(|cell| cell.reference) {
        return Some("reference");
    }
    if let Some(known) = facts.get(engine).or_else(|| file.manifest.engines.get(engine)) {
        return Some(&known.kind);
    }
    let phases = cells().flat_map(|cell| &cell.trials).flat_map(|trial| &trial.phases);
    let mut runs = phases.flat_map(|part| &part.runs).peekable();
    runs.peek()?;
    Some(if runs.any(|run| run.client.is_some()) { "server" } else { "embedded" })
}

/// Whether an engine without transactions over several rows commits them one by one, in a phase in
/// which others put many into one transaction. Document and series stores have no such
/// transactions.
fn commits_each(file: &ResultFile, kinds: &Kinds<'_>, id: &CellId, phase: &str) -> bool {
    let facts = file.manifest.engines.get(&id.engine);
    facts.is_some_and(|facts| matches!(&*facts.data_model, "document" | "series"))
        && kinds.at((&id.workload, &id.variant, phase)).many_in_a_transaction
}

/// Chooses the row's unit, and computes the ratios of engines that may have one.
pub(crate) fn rank(row: &mut Row<'_>, engines: &[Engine<'_>], tier: Durability) {
    for entry in &mut row.entries {
        if let Entry::Measured(measured) = entry {
            (measured.ratio, measured.ratio_interval) = (None, None);
            (measured.best, measured.not_significant) = (false, false);
        }
    }
    let figures = || row.entries.iter().filter_map(|entry| Some(&entry.measured()?.figure));
    let same_work = figures().all(|figure| Some(figure.ops) == figures().map(|f| f.ops).next());
    let complete = figures().all(|figure| figure.elapsed_ns.is_some());
    row.per_operation = !(same_work && complete);

    let competing = row.entries.iter_mut().zip(engines).filter_map(|(entry, engine)| match entry {
        Entry::Measured(of) if engine.ranked(tier) && of.competes() => Some(of),
        _ => None,
    });
    let mut ranked: Vec<&mut Measured<'_>> = competing.collect();
    // A single engine has nothing to be compared with.
    if ranked.len() < 2 {
        return;
    }
    let times = ranked.iter().map(|measured| &measured.figure);
    let best = times.min_by(|a, b| a.per_op_ns.total_cmp(&b.per_op_ns)).cloned();
    let Some(best) = best.filter(|best| is_measure(best.per_op_ns)) else { return };
    for measured in &mut ranked {
        measured.ratio = Some(measured.figure.per_op_ns / best.per_op_ns);
        measured.best = measured.figure.per_op_ns == best.per_op_ns;
        if !measured.best {
            let trials = &measured.figure.per_trial_ns;
            measured.ratio_interval = ratio_interval(trials, &best.per_trial_ns).map(clamp_to_best);
            measured.not_significant = measured.ratio_interval.is_some_and(includes_one);
        }
    }
    let shared = ranked.iter().any(|measured| measured.not_significant);
    for best in ranked.iter_mut().filter(|measured| measured.best) {
        best.not_significant = shared;
    }
}

/// Returns the names in `present`: those of the plan first and in its order, then the others as
/// they appear.
fn planned<'a>(plan: &'a [String], present: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names = text::unique(present);
    let place = |name: &str| plan.iter().position(|planned| planned == name);
    names.sort_by_key(|name| place(name).unwrap_or(usize::MAX));
    names
}

/// Returns the rows of a group as (phase, variant). A variant whose cells reached no phase has one
/// row without a phase, so that its cells are shown.
fn rows<'a>(
    cells: &[&'a Cell],
    variants: &[&'a str],
    order: &[&str],
) -> Vec<(Option<&'a str>, &'a str)> {
    let of_variants: Vec<(&str, Vec<&str>)> =
        variants.iter().map(|variant| (*variant, phases(cells, variant))).collect();
    let mut all = Vec::new();
    for (_, phases) in &of_variants {
        weave(&mut all, phases.iter().copied());
    }
    all.sort_by_key(|phase| order.iter().position(|name| name == phase).unwrap_or(usize::MAX));
    let mut rows = Vec::new();
    for phase in all {
        let with = of_variants.iter().filter(|(_, phases)| phases.contains(&phase));
        rows.extend(with.map(|(variant, _)| (Some(phase), *variant)));
    }
    let without = of_variants.iter().filter(|(_, phases)| phases.is_empty());
    rows.extend(without.map(|(variant, _)| (None, *variant)));
    rows
}

/// Returns the phases of one variant in the order in which they ran in the first completed trial.
/// Phases of other trials are inserted at their positions.
fn phases<'a>(cells: &[&'a Cell], variant: &str) -> Vec<&'a str> {
    let of_variant = cells.iter().filter(|cell| cell.id.variant == variant);
    let mut trials: Vec<_> = of_variant.flat_map(|cell| &cell.trials).collect();
    trials.sort_by_key(|trial| match trial.status {
        Status::Ok => 0,
        Status::Capped => 1,
        _ => 2,
    });
    let mut known = Vec::new();
    for trial in trials {
        weave(&mut known, trial.phases.iter().map(|part| part.phase.as_str()));
    }
    known
}

/// Inserts the missing `names` into `known`, each after its predecessor.
fn weave<'a>(known: &mut Vec<&'a str>, names: impl Iterator<Item = &'a str>) {
    let mut next = 0;
    for name in names {
        // Trials of one cell nearly always have the same phases.
        let at_once = known.get(next).filter(|other| **other == name).map(|_| next);
        let place = at_once.or_else(|| known.iter().position(|other| *other == name));
        next = match place {
            Some(place) => place + 1,
            None => {
                known.insert(next, name);
                next + 1
            }
        };
    }
}
