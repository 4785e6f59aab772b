//! Looks up figures in the results that repeat published comparisons.

use embermark_model::result::{Cell, PhaseResult, ResultFile, Trial};
use embermark_model::{Durability, Scale, Status, StorageName};
use embermark_published::{Measure, Piece, Role, Source, find};

use super::amounts;
use crate::{format, text};

/// Share of the CPUs that other programs may take without a remark at a figure. A run warns above
/// the same share.
const BUSY: f64 = 0.15;

/// Least CPU time for computing a share, in ns. The kernel counts in ticks of 10 ms.
const LEAST_CPU_NS: u64 = 250_000_000;

/// The results that repeat a piece of a source.
pub(super) struct Results<'a>(Vec<RepeatedResult<'a>>);

/// A result that repeats a piece of a source.
struct RepeatedResult<'a> {
    file: &'a ResultFile,
    /// Differences from the published run that its piece does not name.
    deviations: Vec<String>,
}

/// The figure to look up.
#[derive(Clone, Copy)]
pub(super) struct FigureQuery<'a> {
    pub source: &'a Source,
    pub pieces: &'a [String],
    pub engine: &'a str,
    pub column: Option<&'a str>,
    pub variant: Option<&'a str>,
    pub tier: Option<Durability>,
    pub phase: &'a str,
    pub measure: Measure,
}

/// A figure, in one result at one scale.
#[derive(Clone, Debug)]
pub(super) struct FoundFigure {
    pub scale: Scale,
    /// The amount that is compared: ns, bytes, bits per second, or a share.
    pub amount: f64,
    /// The amount as text, with its unit.
    pub shown: String,
    /// ns per operation, if the amount is a time.
    pub each_ns: Option<f64>,
    /// The shortest and the longest of its runs, and how many there were, if the amount is a time.
    pub runs: Option<String>,
    /// Letters of the remarks on what its piece does differently from the source.
    pub ours: Vec<String>,
    /// Differences from the published run that its piece does not name.
    pub deviations: Vec<String>,
    /// Share of the CPUs that other programs took meanwhile. `None` if it is small or unknown.
    pub busy: Option<f64>,
}

impl FoundFigure {
    /// Returns its differences from the published run, and how much other programs took meanwhile.
    pub fn notes(&self) -> Vec<String> {
        let took = |share| format!("other programs took {} of the CPUs", whole(share));
        self.deviations.iter().cloned().chain(self.busy.map(took)).collect()
    }
}

/// Describes the shares of the CPUs that other programs took while the two figures of a ratio were
/// measured. `None` if both are small or unknown.
pub(super) fn busy_pair(above: Option<f64>, below: Option<f64>) -> Option<String> {
    let took = match (above.map(whole), below.map(whole)) {
        (None, None) => return None,
        (Some(above), None) => format!("{above} of the CPUs above the line"),
        (None, Some(below)) => format!("{below} of the CPUs below the line"),
        (Some(above), Some(below)) => {
            format!("{above} of the CPUs above the line and {below} below it")
        }
    };
    Some(format!("other programs took {took}"))
}

/// Formats a share in whole percent: `67 %`.
fn whole(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

impl<'a> Results<'a> {
    pub fn new(all: &'a [ResultFile]) -> Self {
        let repeated = |file: &'a ResultFile| {
            let source = find(&file.plan.repeats.as_ref()?.source)?;
            Some(RepeatedResult { file, deviations: deviations(source, file) })
        };
        Self(all.iter().filter_map(repeated).collect())
    }

    /// Whether a piece of the source is among them.
    pub fn has(&self, source: &Source) -> bool {
        let mut repeats = self.0.iter().filter_map(|own| own.file.plan.repeats.as_ref());
        repeats.any(|of| of.source == source.id)
    }

    /// Iterates over the results of a piece.
    pub fn of_piece(&self, source: &Source, piece: &str) -> impl Iterator<Item = &'a ResultFile> {
        self.repeated(source, piece).map(|repeated| repeated.file)
    }

    fn repeated(&self, source: &Source, piece: &str) -> impl Iterator<Item = &RepeatedResult<'a>> {
        self.0.iter().filter(move |repeated| {
            let repeats = repeated.file.plan.repeats.as_ref();
            repeats.is_some_and(|of| of.source == source.id && of.piece == piece)
        })
    }

    /// Looks a figure up and returns it at each scale that was run.
    ///
    /// # Errors
    /// The reason, if it was found at no scale.
    pub fn find(&self, wanted: &FigureQuery<'_>) -> Result<Vec<FoundFigure>, String> {
        let mut found: Vec<FoundFigure> = Vec::new();
        let mut why = "not run".to_owned();
        for piece in wanted.pieces.iter().filter_map(|piece| wanted.source.piece(piece)) {
            for repeated in self.repeated(wanted.source, &piece.name) {
                let file = repeated.file;
                for cell in file.cells.iter().filter(|cell| wanted.is_met(file, cell)) {
                    match wanted.figure(piece, repeated, cell) {
                        Ok(figure) if found.iter().all(|f| f.scale != figure.scale) => {
                            found.push(figure);
                        }
                        Ok(_) => {}
                        Err(reason) => why = reason,
                    }
                }
            }
        }
        if found.is_empty() { Err(why) } else { Ok(found) }
    }
}

/// Differences from the published run that no piece names: another window, a modified working tree.
fn deviations(source: &Source, file: &ResultFile) -> Vec<String> {
    let published = |piece: &&Piece| piece.role == Role::AsPublished;
    let asked = |key: &str| {
        let mut texts = source.pieces.iter().filter(published).filter_map(|p| p.plan.get(key));
        let asked: jiff::SignedDuration = texts.next()?.as_str()?.parse().ok()?;
        u64::try_from(asked.as_millis()).ok()
    };
    let is_other = |ran: Option<u64>, key| asked(key).is_some_and(|asked| ran != Some(asked));
    let plan = &file.plan;
    let has_other = is_other(plan.window_ms, "window") || is_other(plan.warm_up_ms, "warm-up");
    let is_dirty = file.manifest.tool.commit.as_ref().is_some_and(|of| of.ends_with("-dirty"));
    let window = window_of(file).filter(|_| has_other);
    let dirty = is_dirty.then(|| "from a changed tree".to_owned());
    window.into_iter().chain(dirty).chain(storage_of_device(file)).collect()
}

/// Returns the share of the CPUs that other programs took while a cell was measured. `None` if it
/// is small or unknown. Trials that are too short for a share have that of the whole result.
fn busy(file: &ResultFile, cell: &Cell) -> Option<f64> {
    let all = file.cells.iter().flat_map(|other| &other.trials);
    let share = background_share(cell.trials.iter()).or_else(|| background_share(all));
    share.filter(|share| *share > BUSY)
}

/// Returns the share of the CPUs that other programs took during some trials. `None` if it was not
/// recorded, or if the trials are too short.
fn background_share<'t>(trials: impl Iterator<Item = &'t Trial>) -> Option<f64> {
    let (mut others_ns, mut all_ns) = (0_u64, 0_u64);
    for background in trials.filter_map(|trial| trial.background_cpu) {
        others_ns = others_ns.saturating_add(background.cpu_ns);
        all_ns = all_ns.saturating_add(background.total_cpu_ns);
    }
    (all_ns >= LEAST_CPU_NS).then(|| others_ns as f64 / all_ns as f64)
}

/// Returns where the databases of an emulated device were, according to the result.
fn storage_of_device(file: &ResultFile) -> Option<String> {
    let device = file.manifest.machine.emulates.as_ref()?;
    let names: Vec<&str> = device.storages.iter().map(StorageName::as_str).collect();
    Some(match &names[..] {
        [] => "on this machine's disk".to_owned(),
        names => format!("on an imitated {}", names.join(", ")),
    })
}

/// Describes the window: `a window of 15 min after 5 min`. `None` if its plan has no window.
pub(super) fn window_of(file: &ResultFile) -> Option<String> {
    let of_ms = |ms: u64| format::duration(ms as f64 * 1e6);
    let window = format!("a window of {}", of_ms(file.plan.window_ms?));
    let warm_up = file.plan.warm_up_ms.filter(|ms| *ms > 0);
    Some(warm_up.map_or(window.clone(), |ms| format!("{window} after {}", of_ms(ms))))
}

impl FigureQuery<'_> {
    /// Whether a cell has the engine, the variant and the tier, and ran the phase if it ran at all.
    fn is_met(&self, file: &ResultFile, cell: &Cell) -> bool {
        let mut trials = cell.trials.iter();
        file.plan.engine_of(&cell.id.engine) == self.engine
            && self.column.is_none_or(|column| cell.id.engine == column)
            && self.variant.is_none_or(|variant| cell.id.variant == variant)
            && self.tier.is_none_or(|tier| cell.id.durability == tier)
            && (cell.trials.is_empty() || trials.any(|trial| self.phase_of(trial).is_some()))
    }

    fn phase_of<'t>(&self, trial: &'t Trial) -> Option<&'t PhaseResult> {
        trial.phases.iter().find(|phase| phase.phase == self.phase)
    }

    fn figure(
        &self,
        piece: &Piece,
        repeated: &RepeatedResult<'_>,
        cell: &Cell,
    ) -> Result<FoundFigure, String> {
        let parts = || cell.trials.iter().filter_map(|trial| Some((trial, self.phase_of(trial)?)));
        if cell.trials.is_empty() {
            return Err(because(cell.status, cell.reason.as_deref()));
        }
        if let Some((_, bad)) = parts().find(|(_, phase)| !phase.status.has_figures()) {
            return Err(because(bad.status, bad.reason.as_deref()));
        }
        let phases: Vec<&PhaseResult> = parts().map(|(_, phase)| phase).collect();
        let ops = phases.iter().map(|phase| phase.ops).max().filter(|ops| *ops > 0).unwrap_or(1);
        let time = || amounts::time(&phases, ops, self.source.statistic);
        let (amount, shown) = match self.measure {
            Measure::Time => time(),
            Measure::TimePerRow => time().and_then(|(ns, _)| {
                let Scale::Rows(rows) = cell.id.scale else { return None };
                let each = ns / rows as f64;
                Some((each, format::duration(each)))
            }),
            Measure::Memory => amounts::memory(parts()),
            Measure::Loss => amounts::loss(&phases),
            Measure::Size => {
                let bytes = cell.disk().map(|disk| disk.allocated_bytes as f64);
                bytes.map(|bytes| (bytes, format::bytes(bytes)))
            }
            of_window => amounts::window(&phases, of_window),
        }
        .ok_or("not measured")?;
        let is_time = self.measure == Measure::Time;
        let each_ns = is_time.then_some(amount / ops as f64);
        let runs = is_time.then(|| amounts::runs(&phases)).flatten();
        let (ours, deviations) = (piece.ours.clone(), repeated.deviations.clone());
        // Other programs do not change a size.
        let busy = (self.measure != Measure::Size).then(|| busy(repeated.file, cell)).flatten();
        let scale = cell.id.scale;
        Ok(FoundFigure { scale, amount, shown, each_ns, runs, ours, deviations, busy })
    }
}

fn because(status: Status, reason: Option<&str>) -> String {
    let reason = reason.map(|reason| format!(": {}", text::clipped(reason, 60)));
    format!("{status}{}", reason.unwrap_or_default())
}
