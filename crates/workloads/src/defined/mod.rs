//! Workload files: somebody's own tables and the work on them. One implementation of every verb a family;
//! what a file says is a [`Definition`].

mod access;
mod aggregate;
mod arena;
mod arrive;
mod bench;
mod by_client;
mod cell;
mod codec;
mod correlate;
mod crew;
mod csv;
mod document;
mod documents;
mod draws;
mod family;
mod fresh;
mod gaps;
mod keep;
mod kind;
mod kv;
mod limits;
mod mix;
mod mixed;
mod month;
mod newest;
mod oracle;
mod outliers;
mod port;
mod posted;
mod prepared;
mod referees;
mod row;
mod rows;
mod series;
mod source;
mod sql;
mod statements;
mod table_rows;
#[cfg(test)]
mod tables;
mod until_steady;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use embermark_contract::Store;
use embermark_data::draw::Draw;
use embermark_data::lab;
use embermark_language::{
    Asked, Commit, Definition, Keys, KeysOf, Mix, Phase, Removed, Sequence, Usual, Variant, Work,
};
use embermark_meter::Recorder;
use embermark_model::choice;
use embermark_model::plan::DataSource;
use embermark_model::result::PhaseKind;
use embermark_model::table::{ColumnType, OwnedValue, RowsFrom};

use crate::arrivals::{self, SENSOR};
use crate::http;
use crate::{
    Info, PhaseInfo, Prepared, Protocol, Source, Spec, VariantInfo, Workload, WorkloadError,
};
use arena::Arena;
use cell::Cell;
use csv::CsvRows;
use draws::Draws;
use fresh::Fresh;
use kind::{changes_at_once, is_point, is_question, one_by_one};
use prepared::PreparedCell;
use table_rows::Rows;

/// The variant that runs a file as it is, of one that says nothing of variants.
const AS_WRITTEN: &str = "as-written";

/// The variants of such a file, and what each makes of commits.
const VARIANTS: [(&str, &str, Option<Commit>); 4] = [
    (AS_WRITTEN, "commits as the file says", None),
    ("commit-each", "one commit an operation", Some(Commit::Each)),
    ("single", "transactions of 10,000 operations", Some(Commit::Rows(10_000))),
    ("bulk", "inserts by the engine's fastest path", Some(Commit::Bulk)),
];

/// A workload that a file describes.
pub struct Defined {
    info: Info,
    definition: &'static Definition,
    folder: PathBuf,
    lenient: f64,
}

impl Defined {
    /// The workload of a definition, whose files are named from a folder; of those at most the share
    /// `lenient` of the rows may not fit. It lives as long as the process.
    pub fn leak(definition: Definition, folder: PathBuf, lenient: f64) -> &'static dyn Workload {
        let definition: &'static Definition = Box::leak(Box::new(definition));
        let alone = definition.phases.iter().filter(|phase| phase.alone);
        let phases: Vec<PhaseInfo> =
            alone.map(|phase| PhaseInfo { name: &phase.name, about: &phase.about }).collect();
        let variants = variants(definition);
        let rows = &definition.tables[0].rows;
        let all = match rows {
            RowsFrom::Made(rows) | RowsFrom::Log(rows) | RowsFrom::Telemetry(rows) => vec![*rows],
            RowsFrom::File(_) => Vec::new(),
        };
        let protocol = |usual: &'static Usual| {
            let chosen = usual.variants.iter().map(|place| variants[*place].name);
            let mut chosen: Vec<&str> = chosen.collect();
            if chosen.is_empty() {
                chosen.push(variants[0].name);
            }
            let scales = if usual.scales.is_empty() { &all } else { &usual.scales };
            Protocol {
                memory_limit: usual.memory_limit,
                ..Protocol::of(Vec::leak(scales.clone()), Vec::leak(chosen))
            }
        };
        let (mut overview, mut usual) =
            (protocol(&definition.overview), protocol(&definition.usual));
        let keep = definition.keep();
        if let Some(keep) = keep {
            let lasts = |protocol, window| Protocol { window, trials: Some(1), ..protocol };
            (overview, usual) = (lasts(overview, keep::SHORT), lasts(usual, keep.at_most));
        }
        let whole = matches!(rows, RowsFrom::File(_));
        let timed = definition.phases.iter().filter_map(|phase| match &phase.work {
            Work::Mix(Mix { lasts: Some(_), .. }) | Work::Keep(_) | Work::Arrive(_) => {
                Some(&*phase.name)
            }
            _ => None,
        });
        let questions = definition.phases.iter();
        let questions = questions.filter(|phase| {
            let is_asked = is_question(&phase.work) && !phase.per_row;
            is_asked && phase.asked == Asked::ForTime || matches!(phase.work, Work::Keep(_))
        });
        let windowed = Vec::leak(questions.map(|phase| &*phase.name).collect());
        let mut alone = definition.phases.iter().filter(|phase| phase.alone);
        let gets = alone.find(|phase| matches!(phase.work, Work::Get { .. }));
        let points = points(definition);
        let arrive = |search: bool| {
            let arrive = definition.phases.iter().filter(move |phase| {
                matches!(phase.work, Work::Arrive(_)) && phase.search == search
            });
            Vec::leak(arrive.map(|phase| &*phase.name).collect())
        };
        let apart = definition.phases.iter().filter(|phase| phase.apart);
        let info = Info {
            id: &definition.name,
            about: &definition.about,
            phases: Vec::leak(phases),
            variants: Vec::leak(variants),
            overview,
            usual,
            reads_files: matches!(rows, RowsFrom::Log(_)),
            whole,
            lasts: false,
            until_steady: keep.is_some(),
            cold: keep.is_none() && reads(definition),
            searches: arrive(true),
            arrivals: arrive(false),
            apart: Vec::leak(apart.map(|phase| &*phase.name).collect()),
            timed: Vec::leak(timed.collect()),
            windowed,
            clients: clients(definition),
            gets: gets.map(|phase| &*phase.name),
            joins: !points.is_empty(),
            points: Vec::leak(points),
        };
        Box::leak(Box::new(Self { info, definition, folder, lenient }))
    }

    /// The file as a variant has it, and what the variant makes of all its commits.
    fn variant(&self, name: &str) -> Result<(&'static Definition, Option<Commit>), WorkloadError> {
        let own = &self.definition.variants;
        if let Some(variant) = own.iter().find(|variant| variant.name == name) {
            return Ok((&variant.definition, None));
        }
        let known = VARIANTS.iter().find(|(known, ..)| own.is_empty() && *known == name);
        let names = self.info.variants.iter().map(|variant| variant.name);
        let (.., commit) = known.ok_or_else(|| choice::unknown("variant", name, names))?;
        Ok((self.definition, *commit))
    }
}

impl Workload for Defined {
    fn info(&self) -> Info {
        self.info
    }

    fn source(&self, data: &DataSource, seed: u64) -> Result<Box<dyn Source>, WorkloadError> {
        let (definition, folder) = (self.definition, self.folder.clone());
        let log = match (&definition.tables[0].rows, data) {
            (RowsFrom::Log(_), DataSource::File(path)) => Some(lab::read(path)?),
            _ => None,
        };
        Ok(Box::new(source::FileRows { definition, folder, seed, lenient: self.lenient, log }))
    }

    fn questions(&self) -> Vec<&'static str> {
        let asked = |phase: &&'static Phase| match &phase.work {
            Work::Sql(sql) => phase.alone && sql.answer.is_none(),
            _ => false,
        };
        self.definition.phases.iter().filter(asked).map(|phase| &*phase.name).collect()
    }

    fn prepare(&self, spec: &Spec) -> Result<Box<dyn Prepared>, WorkloadError> {
        let (definition, commit) = self.variant(&spec.variant)?;
        let tables = source::open(definition, &spec.rows)?;
        keep::check_order(&tables)?;
        let draws = Self::draws_of(definition, &tables, spec.seed)?;
        let fresh = Fresh::new(spec.seed, longest(definition, &tables));
        let each = Self::each_of(definition, &tables, spec.seed);
        let (engine, appends_only) = (spec.engine.clone(), spec.appends_only);
        let set_at_once = kind::set_at_once(definition);
        let met = definition.phases.iter().map(|phase| oracle::met(phase, &tables)).collect();
        let cell = Cell {
            definition,
            tables,
            draws,
            fresh,
            set_at_once,
            met,
            each,
            engine,
            appends_only,
            commit,
        };
        let right = referees::right(definition, &self.folder, spec)?;
        let csv = csv_files(definition, &cell.tables, &spec.rows)?;
        let mut prepared = PreparedCell {
            cell: Arc::new(cell),
            names: self.definition.phases.iter().map(|phase| &*phase.name).collect(),
            kinds: self.kinds_of(definition, commit),
            window: spec.window.max(Duration::from_millis(1)),
            target_rate: spec.target_rate,
            rate: spec.rate,
            p99_limit: spec.p99_limit,
            clients: spec.clients,
            seed: spec.seed,
            own_clients: spec.own_clients.clone(),
            is_guest: false,
            csv,
            parts: parts(definition),
            right,
            keeps: spec.is_referee.then(|| spec.rows.clone()),
            cold: spec.cold,
            companions: spec.companions.clone(),
            program: spec.program.clone(),
            recorder: definition.keep().map(|_| Recorder::new()),
            arena: Arena::default(),
        };
        prepared.arena = Arena::with_room(prepared.room());
        Ok(Box::new(prepared))
    }

    fn companion(
        &self,
        role: &str,
        task: &str,
        store: Option<Store>,
        out: File,
    ) -> Result<(), Box<dyn Error>> {
        match store {
            None => companion(role, task, out),
            Some(_) => Err("a workload file has no process with the database".into()),
        }
    }
}

/// What a process does that takes part in the work of any file, in `role`, as
/// [`Workload::companion`] has it.
///
/// # Errors
/// Whatever keeps it from its task.
pub fn companion(role: &str, task: &str, out: File) -> Result<(), Box<dyn Error>> {
    match role {
        by_client::ROLE => Err(embermark_clients::become_program(task, out).into()),
        http::CLIENT => http::client(task, out),
        SENSOR => {
            let (task, shape) = serde_json::from_str(task)?;
            arrivals::run_sensor(task, shape, |_, _| (), out)
        }
        _ => Err(format!("a workload file has no process in the role of '{role}'").into()),
    }
}

/// The variants of a file: its own, or what can be made of any.
fn variants(definition: &'static Definition) -> Vec<VariantInfo> {
    if definition.variants.is_empty() {
        return VARIANTS
            .map(|(name, about, commit)| {
                let changes = changed_by(definition, commit);
                VariantInfo { name, about, changes }
            })
            .to_vec();
    }
    // One that says nothing of phases has them as they stand, which the others change.
    let all: HashSet<usize> =
        definition.variants.iter().flat_map(|variant| variant.changes.iter().copied()).collect();
    let of = |variant: &'static Variant| {
        let places = 0..definition.phases.len();
        let changes = places.filter(|place| match variant.changes.is_empty() {
            true => all.contains(place) && !definition.phases[*place].apart,
            false => variant.changes.contains(place),
        });
        let changes = changes.map(|place| &definition.phases[place]).filter(|phase| phase.alone);
        let changes = changes.map(|phase| &*phase.name).collect();
        VariantInfo { name: &variant.name, about: &variant.about, changes: Vec::leak(changes) }
    };
    definition.variants.iter().map(of).collect()
}

/// The phases of each variant that clients can share: of single rows, each a commit.
fn points(definition: &'static Definition) -> Vec<(&'static str, &'static [&'static str])> {
    let plain = definition.variants.is_empty();
    let own = definition.variants.iter().map(|own| (own.name.as_str(), &own.definition));
    let all: Vec<_> = match plain {
        true => vec![(AS_WRITTEN, definition)],
        false => own.collect(),
    };
    let of = |(variant, of): (&'static str, &'static Definition)| {
        let alone = of.phases.iter().filter(|phase| phase.alone && is_point(&phase.work));
        // In transactions of many operations there is one client.
        let each = alone.filter(|phase| match &phase.work {
            Work::Insert { commit, .. }
            | Work::Update { commit, .. }
            | Work::Upsert { commit, .. }
            | Work::ReadModifyWrite { commit, .. }
            | Work::Delete { removed: Removed::Keys { commit, .. }, .. } => {
                plain || *commit == Commit::Each
            }
            _ => true,
        });
        let names: Vec<&str> = each.map(|phase| &*phase.name).collect();
        (!names.is_empty()).then(|| (variant, &*Vec::leak(names)))
    };
    let mut points: Vec<_> = all.into_iter().filter_map(of).collect();
    // The first is the usual one: that in which clients can share most.
    points.sort_by_key(|(_, phases)| Reverse(phases.len()));
    points
}

/// The phases that another commit changes.
fn changed_by(definition: &'static Definition, commit: Option<Commit>) -> &'static [&'static str] {
    let phases = definition.phases.iter().filter(|phase| phase.alone);
    let changed = phases.filter(|phase| match (&phase.work, commit) {
        (Work::Insert { .. } | Work::Sequence(Sequence { insert: Some(_), .. }), _) => true,
        (Work::Keep(_) | Work::Arrive(_), by) => by == Some(Commit::Each),
        (work, Some(_)) if changes_at_once(work) || one_by_one(work).is_some() => false,
        (
            Work::Update { .. }
            | Work::UpdateWhere { .. }
            | Work::Upsert { .. }
            | Work::ReadModifyWrite { .. }
            | Work::Delete { .. },
            by,
        ) => by != Some(Commit::Bulk),
        _ => false,
    });
    Vec::leak(changed.map(|phase| &*phase.name).collect())
}

impl Defined {
    /// By phase of a variant, what it is. One with rows in another form than the file's counts for no criterion.
    fn kinds_of(&self, definition: &Definition, commit: Option<Commit>) -> Vec<PhaseKind> {
        let is_usual = definition.has_the_form_of(self.definition);
        let kind = |phase| {
            let kind = definition.kind(phase, commit);
            PhaseKind { counts: kind.counts.filter(|_| is_usual), ..kind }
        };
        definition.phases.iter().map(kind).collect()
    }

    /// What is drawn for each phase, from a stream of its own.
    fn draws_of(
        definition: &Definition,
        tables: &[Rows],
        seed: u64,
    ) -> Result<Vec<Draws>, WorkloadError> {
        let phases = definition.phases.iter().enumerate();
        let drawn = phases.map(|(phase, def)| {
            let mut draw = Draw::new(seed, 100 + phase as u64);
            let rows = &tables[def.work.table().unwrap_or_default()];
            let many = |keys: &Keys| keys.ops.of(rows.loaded as u64).max(mixed(definition, phase));
            let drawn = |keys: &Keys, draw: &mut Draw| match keys.of {
                KeysOf::Distinct => Draws::distinct(keys, rows, draw),
                _ => Draws::of(keys, many(keys), rows, draw),
            };
            match &def.work {
                Work::Update { keys, .. }
                | Work::Delete { removed: Removed::Keys { keys, .. }, .. }
                    if keys.rows > 1 =>
                {
                    Ok(Draws::ranges(keys, rows, &mut draw))
                }
                Work::Get { keys, .. }
                | Work::Open { keys, .. }
                | Work::Update { keys, .. }
                | Work::Upsert { keys, .. }
                | Work::ReadModifyWrite { keys, .. } => drawn(keys, &mut draw),
                Work::Range(range) => {
                    Ok(drawn(&range.keys, &mut draw)?.wanting(&range.span, &mut draw))
                }
                Work::Delete { removed: Removed::Keys { keys, .. }, .. } => {
                    Draws::distinct(keys, rows, &mut draw)
                }
                _ => Ok(Draws::default()),
            }
        });
        drawn.collect()
    }
}

/// Whether a phase reads what was there before it.
fn reads(definition: &Definition) -> bool {
    definition.phases.iter().filter(|phase| phase.alone).any(|phase| {
        !matches!(
            phase.work,
            Work::Insert { .. } | Work::Sequence(Sequence { insert: Some(_), .. })
        )
    })
}

impl Defined {
    /// By phase, the values of whose rows it is asked one after the other, from a stream of its own.
    fn each_of(definition: &Definition, tables: &[Rows], seed: u64) -> Vec<Vec<OwnedValue>> {
        let of = |(phase, def): (usize, &Phase)| match &def.asked {
            Asked::Each { column, values } => {
                let rows = &tables[def.work.table().unwrap_or_default()];
                let mut draw = Draw::new(seed, 50_000 + phase as u64);
                draws::values(rows, *column, values.of(rows.loaded as u64), &mut draw)
            }
            _ => Vec::new(),
        };
        definition.phases.iter().enumerate().map(of).collect()
    }
}

/// By phase, the CSV file that it loads.
fn csv_files(
    definition: &Definition,
    tables: &[Rows],
    staged: &Path,
) -> Result<Vec<Option<CsvRows>>, WorkloadError> {
    let of = |phase: &Phase| match phase.work {
        Work::Insert { table, commit: Commit::Csv, .. } => {
            CsvRows::write(&tables[table], staged).map(Some)
        }
        _ => Ok(None),
    };
    Ok(definition.phases.iter().map(of).collect::<Result<_, _>>()?)
}

/// By phase, of a mix: what its parts are called.
fn parts(definition: &'static Definition) -> Vec<Vec<&'static str>> {
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

/// How many operations of a phase mixes have, as far as that is known; where a time says it, so many
/// that to begin again is no matter.
fn mixed(definition: &Definition, phase: usize) -> u64 {
    let mixes = definition.phases.iter().filter_map(|phase| match &phase.work {
        Work::Mix(mix) => Some(mix),
        _ => None,
    });
    let with = mixes.filter(|mix| mix.parts.iter().any(|part| part.phase == phase));
    let ops = with.map(|mix| if mix.lasts.is_some() { 100_000 } else { mix.ops });
    ops.max().unwrap_or(0)
}

/// Clients that the mixes of a file have at the same time, and the one that watches.
fn clients(definition: &Definition) -> u32 {
    let clients = definition.phases.iter().map(|phase| match &phase.work {
        Work::Mix(Mix { parts, clients, .. }) if mix::by_rates(parts) => {
            (*clients).max(parts.len() as u32) + 1
        }
        Work::Mix(Mix { clients, .. }) if *clients > 1 => clients + 1,
        _ => 1,
    });
    clients.max().unwrap_or(1)
}

/// Bytes of the longest text that an update may have to make: of tables that nobody updates none is read.
fn longest(definition: &Definition, tables: &[Rows]) -> usize {
    let updates = |of: usize| {
        definition.phases.iter().any(|phase| {
            matches!(phase.work, Work::Update { table, .. }
                | Work::Upsert { table, .. }
                | Work::ReadModifyWrite { table, .. } if table == of)
        })
    };
    let mut longest = 0;
    for (_, rows) in tables.iter().enumerate().filter(|(table, _)| updates(*table)) {
        for (column, def) in rows.table.columns.iter().enumerate() {
            if !matches!(def.of, ColumnType::Text | ColumnType::Bytes) {
                continue;
            }
            longest = longest.max(rows.longest(column, rows.loaded));
        }
    }
    longest
}
