//! Cost of keeping up with a machine: the resources of each process during a phase, lost and late
//! rows, and the score of the workload's source.

mod disk;
mod grids;
pub mod published;
pub mod score;
mod source;

use embermark_model::plan::{Plan, Rate};
use embermark_model::result::{Cell, DiskCurve, Latency, Observed, Resources, ResultFile, Run};
use embermark_model::{Durability, Extent, Status};
use embermark_published::FORM;
use score::{ScoredResource, Weights};

pub(crate) use grids::grids;

use crate::grid::{self, Annotated};
use crate::statistics::total;
use crate::summary::{self, Comparison, Engine, Group, Phases, Shortfall, Shortfalls};
use crate::text;

/// Returns the source's own tables, each row with its measurement. Empty if nothing of it was
/// measured.
pub(crate) fn source_tables(file: &ResultFile, weights: &Weights) -> Vec<Annotated> {
    let costs = costs(&summary::compare(file, &[]));
    let own = |line: &Cost<'_>| line.variant.ends_with(FORM);
    let is_measured = costs.iter().flat_map(|costs| &costs.lines).any(own);
    if is_measured { source::tables(&costs, weights) } else { Vec::new() }
}

/// Latency of a commit from when it was due to when it ended.
const RESPONSE: &str = "response";

/// Work of a phase that lasts a fixed time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Stores incoming rows.
    Writes,
    /// Reads rows.
    Reads,
    /// Stores and reads.
    Both,
    /// Searches for the highest sustained rate of incoming rows.
    Searches,
}

impl Activity {
    /// Derives the work from what was counted. Older workloads counted nothing and are recognized
    /// by their names.
    fn new(phase: &str, observed: &[&Observed]) -> Self {
        let has = |name: &str| observed.iter().any(|one| one.counts.contains_key(name));
        match (has("sustained-rate"), has("lost"), has("reads"), phase) {
            (true, ..) | (_, false, false, "sustained") => Self::Searches,
            (_, true, true, _) | (_, false, false, "live") => Self::Both,
            (_, false, true, _) => Self::Reads,
            (_, false, false, phase) if phase.starts_with("read") => Self::Reads,
            _ => Self::Writes,
        }
    }
}

/// Resources that one engine used in one phase of a fixed time: medians over the trials.
#[derive(Clone, Debug)]
pub struct Cost<'a> {
    /// The engine.
    pub engine: Engine<'a>,
    /// The tier.
    pub tier: Durability,
    /// How samples are stored.
    pub variant: &'a str,
    /// The phase.
    pub phase: &'a str,
    /// Work of the phase.
    pub activity: Activity,
    /// Whether its cell failed elsewhere. It is not ranked.
    pub tainted: bool,
    /// How the phase ended.
    pub status: Status,
    /// What its cell failed to do. With a shortfall it has no score.
    pub shortfall: Option<Shortfall<'a>>,
    /// Usage in the order of [`ScoredResource::WRITING`]. Absent if not measured.
    pub usage: [Option<f64>; 8],
    /// Windows that were observed.
    observed: Vec<&'a Observed>,
}

impl Cost<'_> {
    /// Returns the usage of a resource.
    pub fn amount(&self, resource: ScoredResource) -> Option<f64> {
        let place = ScoredResource::WRITING.iter().position(|other| *other == resource)?;
        self.usage[place]
    }

    /// Whether it is an engine with its own default settings: `mariadb-defaults`.
    fn is_at_defaults(&self) -> bool {
        self.engine.id.strip_suffix("-defaults") == Some(self.engine.base)
    }

    /// Whether its figures may be compared.
    pub fn competes(&self) -> bool {
        let did = !self.tainted && self.status.has_figures() && self.shortfall.is_none();
        did && self.engine.ranked(self.tier)
    }

    /// Returns the marks that follow its name.
    pub(crate) fn marks(&self) -> String {
        let engine = &self.engine;
        let weaker = !engine.reference && engine.weaker(self.tier).is_some();
        let marks = [
            (engine.broken, grid::BROKEN),
            (engine.reference, grid::REFERENCE),
            (engine.by_url, grid::BY_URL),
            (engine.own_durability.is_some(), grid::OWN_DURABILITY),
            (weaker, grid::WEAKER),
            (self.tainted, grid::TAINTED),
        ];
        marks.iter().filter(|(is, _)| *is).flat_map(|(_, mark)| [" ", mark]).collect()
    }

    /// Returns a count from the trial with the largest.
    pub fn count(&self, name: &str) -> Option<u64> {
        self.observed.iter().filter_map(|observed| observed.counts.get(name).copied()).max()
    }

    /// Returns the median of a count over the trials.
    pub fn median(&self, name: &str) -> Option<f64> {
        let counts = self.observed.iter().map(|observed| observed.counts.get(name).copied());
        let counts: Option<Vec<f64>> = counts.map(|count| Some(count? as f64)).collect();
        crate::statistics::median(&counts?)
    }

    /// Iterates over the disk curves of the trials that wrote.
    fn curves(&self) -> impl Iterator<Item = &DiskCurve> {
        self.observed.iter().filter_map(|observed| observed.disk.as_ref())
    }

    /// Returns the growth of the database in bytes, from before the first sample until the last was
    /// stored. It is the median over the trials.
    pub fn growth(&self) -> Option<f64> {
        let grown: Vec<f64> = self.curves().map(|curve| curve.growth() as f64).collect();
        crate::statistics::median(&grown).filter(|_| grown.len() == self.observed.len())
    }

    /// Names the engine and how samples are stored, and how they were read if that differs.
    fn label(&self) -> String {
        let reader = self.phase.strip_prefix("read_");
        let own = self.variant.strip_suffix(FORM).unwrap_or(self.variant);
        let reader = reader.filter(|reader| *reader != own);
        let reader = reader.map_or_else(String::new, |reader| format!(", read {reader}"));
        text::plain(&format!("{} {}{reader}{}", self.engine.id, self.variant, self.marks()))
    }

    /// Whether commits were timed from when they were due. Results of older versions do not record
    /// it.
    fn is_timed_from_due(&self) -> bool {
        self.observed.iter().any(|observed| observed.latencies.contains_key(RESPONSE))
    }

    /// Returns a percentile in ns from the trial in which it is largest.
    fn latency(&self, name: &str, of: fn(&Latency) -> Option<u64>) -> Option<u64> {
        self.observed.iter().filter_map(|observed| of(observed.latencies.get(name)?)).max()
    }

    /// Iterates over remarks on the figures.
    fn remarks(&self) -> impl Iterator<Item = &str> {
        self.observed.iter().flat_map(|observed| &observed.remarks).map(String::as_str)
    }
}

/// What can be compared: a workload at one scale, within one memory limit, in one tier.
#[derive(Clone, Debug)]
pub struct Costs<'a> {
    /// The workload.
    pub workload: &'a str,
    /// Scale and memory limit.
    pub extent: Extent,
    /// The tier.
    pub durability: Durability,
    /// Number of samples that a writer at the plan's rate stores in warm-up and window. `None` if
    /// the plan does not have all three.
    pub samples: Option<u64>,
    /// Length of the window in ns.
    pub window_ns: u64,
    /// Whether it is the user's own workload. The source's score is for its own workload only.
    pub own: bool,
    /// Lines in the order of the cells and their phases.
    pub lines: Vec<Cost<'a>>,
}

impl Costs<'_> {
    /// Begins the title of a table: workload, extent and tier.
    fn title(&self) -> String {
        let Self { extent, durability, .. } = self;
        format!("{} {extent} · durability {durability}", text::plain(self.workload))
    }
}

/// Returns the costs in a result, group by group.
pub fn costs<'a>(comparison: &Comparison<'a>) -> Vec<Costs<'a>> {
    let plan = &comparison.file.plan;
    let of_group = |group: &Group<'a>| {
        let lines: Vec<Cost<'a>> = group.cells().flat_map(|cell| lines(group, cell)).collect();
        let observed = lines.iter().flat_map(|line| &line.observed);
        Some(Costs {
            workload: group.workload,
            extent: group.extent,
            durability: group.durability,
            samples: samples(plan),
            // Without lines there is nothing to compare.
            window_ns: observed.map(|observed| observed.window_ns).max()?,
            own: plan.workload_files.contains_key(group.workload),
            lines,
        })
    };
    comparison.groups.iter().filter_map(of_group).collect()
}

/// Computes the scores of lines by the source's formula, over the resources that any line measured.
/// Lines that do not `count` have none, nor has a single line, which uses the most of everything.
fn scores(
    lines: &[&Cost<'_>],
    counts: impl Fn(&Cost<'_>) -> bool,
    resources: &[ScoredResource],
    weights: &Weights,
) -> Vec<Option<f64>> {
    let measured = |of: &ScoredResource| lines.iter().any(|line| line.amount(*of).is_some());
    let resources: Vec<ScoredResource> = resources.iter().copied().filter(measured).collect();
    let usage = |line: &&Cost<'_>| resources.iter().map(|of| line.amount(*of)).collect();
    let rows: Vec<Vec<Option<f64>>> = lines.iter().filter(|line| counts(line)).map(usage).collect();
    if rows.len() < 2 {
        return vec![None; lines.len()];
    }
    let mut scores = score::scores(&rows, &resources, weights).into_iter();
    lines.iter().map(|line| if counts(line) { scores.next().flatten() } else { None }).collect()
}

/// Returns the number of samples that a writer at the plan's rate stores in warm-up and window.
pub(crate) fn samples(plan: &Plan) -> Option<u64> {
    let Rate::PerSecond(rate) = plan.rate else { return None };
    let lasts_ms = plan.warm_up_ms?.checked_add(plan.window_ms?)?;
    Some(rate.checked_mul(lasts_ms)? / 1_000)
}

fn lines<'a>(group: &Group<'a>, cell: &'a Cell) -> Vec<Cost<'a>> {
    // A phase that runs until it is steady has no machine rate to keep up with.
    let keeps_up = |run: &Run| run.observed.as_ref().is_some_and(|seen| seen.timeline.is_none());
    let all = cell.trials.iter().flat_map(|trial| &trial.phases);
    let own = all.filter(|part| part.runs.iter().any(keeps_up));
    let phases = text::unique(own.map(|part| part.phase.as_str()));
    let (all, shortfalls) = (Phases::new(cell), Shortfalls::new(cell));
    let facts = group.file.manifest.engines.get(&cell.id.engine);
    let embedded = facts.is_none_or(|facts| facts.kind != "server");
    let line = |phase: &'a str| {
        let engine = group.engines.iter().find(|engine| engine.id == cell.id.engine)?;
        let parts = all.at(phase);
        let status = parts.iter().map(|(_, part)| part.status).reduce(Status::worst);
        let runs = parts.iter().flat_map(|(_, part)| &part.runs);
        let observed: Vec<&Observed> = runs.filter_map(|run| run.observed.as_ref()).collect();
        Some(Cost {
            engine: engine.clone(),
            tier: group.durability,
            variant: &cell.id.variant,
            phase,
            activity: Activity::new(phase, &observed),
            tainted: !(cell.status.has_figures() || cell.status.concerns_only_phase()),
            status: status.unwrap_or(cell.status),
            shortfall: shortfalls.at(Some(phase)),
            usage: usage(
                &observed,
                cell.counted(phase),
                phase,
                embedded,
                cell.id.variant.ends_with(FORM),
                published::effort(engine.base, &cell.id.variant, phase),
            ),
            observed,
        })
    };
    phases.into_iter().filter_map(line).collect()
}

/// Shortest window that shows a rate, in ns. Probes use some of a shorter one.
const LEAST_NS: u64 = 50_000_000;

/// Returns medians over windows. An embedded engine runs in its user's process, so its server and
/// network use are truly zero.
fn usage(
    observed: &[&Observed],
    counted: Option<&Run>,
    phase: &str,
    embedded: bool,
    published: bool,
    effort: Option<f64>,
) -> [Option<f64>; 8] {
    let median = |value: &dyn Fn(&Observed) -> Option<f64>| {
        let values: Vec<f64> = observed.iter().filter_map(|observed| value(observed)).collect();
        crate::statistics::median(&values).filter(|_| values.len() == observed.len())
    };
    let nothing = embedded.then_some(0.0);
    let server = |value: &dyn Fn(&Observed) -> Option<f64>| nothing.or_else(|| median(value));
    let per_second = |amount: f64, observed: &Observed| {
        (observed.window_ns >= LEAST_NS).then(|| amount * 1e9 / observed.window_ns as f64)
    };
    // Processes that talk to the database: the writer, the reader if it is another process, or
    // both.
    let client = |observed: &Observed, of: fn(&Resources) -> Option<u64>| -> Option<f64> {
        let reader = observed.processes.get("reader");
        let writer = observed.processes.get("writer");
        let both = phase == "live" || reader.is_none();
        let used = [reader, writer.filter(|_| both)];
        let all: Option<Vec<u64>> = used.into_iter().flatten().map(of).collect();
        all.map(|all| total(all) as f64)
    };
    let cpu = |ns: f64, observed: &Observed| per_second(ns / 1e9 * 100.0, observed);
    // Bytes to and from a separate block device. Dirty pages are not such bytes. The source counts
    // those instead: its pidstat reads /proc/PID/io of the server.
    let io = match published {
        true => server(&|o| {
            let server = o.processes.get("server")?;
            per_second(server.read_bytes?.saturating_add(server.written_bytes?) as f64, o)
        }),
        false => counted.and_then(|run| {
            let io = run.device_io?;
            let bytes = io.read_bytes.saturating_add(io.written_bytes);
            per_second(bytes as f64, run.observed.as_ref()?)
        }),
    };
    [
        server(&|o| cpu(o.processes.get("server")?.cpu_ns? as f64, o)),
        server(&|o| Some(o.processes.get("server")?.peak_bytes? as f64)),
        io,
        median(&|o| cpu(client(o, |used| used.cpu_ns)?, o)),
        median(&|o| client(o, |used| used.peak_bytes)),
        server(&|o| per_second(o.network_bytes? as f64, o)),
        // The source counts the disk over the whole time, including a warm-up that is otherwise not
        // measured. A server that has written nothing yet has no comparable growth.
        median(&|o| match published {
            true => Some(o.disk.as_ref()?.growth() as f64).filter(|bytes| *bytes > 0.0),
            false => Some(o.disk_growth_bytes?.max(0) as f64),
        }),
        effort,
    ]
}
