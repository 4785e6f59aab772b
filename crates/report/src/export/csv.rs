//! One line per run, every line complete in itself. A cell, a trial or a phase without runs has a
//! line too, with the columns below it empty: nothing that was asked for is missing. The statistics
//! of a phase stand on each of its lines.

use ::csv::Writer;
use embermark_model::Status;
use embermark_model::result::{Cell, Execution, PhaseResult, ResultFile, Run, Trial};

use super::columns::{self, At, Column};
use super::sharing;
use super::statistics::{self, Statistic};
use crate::{ReportError, summary, text};

/// The first columns; then [`AMPLIFICATIONS`], and those of [`columns`].
const HEADER: [&str; 43] = [
    "run_id",
    "workload",
    "scale",
    "durability",
    "variant",
    "engine",
    "reference",
    "effective_durability",
    "cell_status",
    "trial",
    "order",
    "version",
    "trial_status",
    "phase",
    "how",
    "phase_status",
    "phase_ops",
    "reason",
    "run",
    "discarded",
    "capped",
    "elapsed_ns",
    "ops",
    "cpu_ns",
    "peak_bytes",
    "read_bytes",
    "written_bytes",
    "client_cpu_ns",
    "client_peak_bytes",
    "publishable",
    "client_read_bytes",
    "client_written_bytes",
    "counting",
    "per_op_median_ns",
    "per_op_mean_ns",
    "per_op_low_ns",
    "per_op_high_ns",
    "outlier",
    "ratio",
    "ratio_low",
    "ratio_high",
    "not_significant",
    "shortfall",
];

/// A figure of a run.
type Ratio = fn(&Run) -> Option<f64>;

/// Bytes written for each byte of the rows' values: see [`Run`].
const AMPLIFICATIONS: [(&str, Ratio); 2] = [
    ("write_amplification", Run::write_amplification),
    ("amplification_with_maintenance", Run::amplification_with_maintenance),
];

/// What a line is about, as deep as it goes.
#[derive(Clone, Copy)]
struct Line<'a> {
    run_id: &'a str,
    cell: &'a Cell,
    trial: Option<&'a Trial>,
    phase: Option<&'a PhaseResult>,
    run: Option<(usize, &'a Run)>,
}

/// # Errors
/// When the CSV writer fails, which it does not on memory.
pub(super) fn render(file: &ResultFile) -> Result<String, ReportError> {
    let mut writer = Writer::from_writer(Vec::new());
    let columns = columns::of(file);
    let first = HEADER
        .into_iter()
        .chain(sharing::HEADER)
        .chain(AMPLIFICATIONS.map(|(name, _)| name))
        .map(str::to_owned);
    writer.write_record(first.chain(columns.iter().map(|column| text::plain(&column.name))))?;
    let comparison = summary::compare(file, &[]);
    let statistics = statistics::of(&comparison);
    for line in lines(file) {
        let of_phase = line.phase.and_then(|phase| {
            statistics.iter().find(|known| known.is_of(&line.cell.id, &phase.phase))
        });
        let own = line.record().into_iter().chain(line.statistics(of_phase));
        let shared = sharing::columns(line.phase, line.run.map(|(_, run)| run));
        writer.write_record(own.chain(shared).chain(line.measured(&columns)))?;
    }
    let bytes = writer.into_inner().map_err(|error| ::csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn lines(file: &ResultFile) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for cell in &file.cells {
        let of_cell =
            Line { run_id: &file.manifest.run_id, cell, trial: None, phase: None, run: None };
        if cell.trials.is_empty() {
            lines.push(of_cell);
        }
        for trial in cell.trials.iter().chain(cell.counting.as_deref()) {
            let of_trial = Line { trial: Some(trial), ..of_cell };
            if trial.phases.is_empty() {
                lines.push(of_trial);
            }
            for phase in &trial.phases {
                let of_phase = Line { phase: Some(phase), ..of_trial };
                if phase.runs.is_empty() {
                    lines.push(of_phase);
                }
                let runs = phase.runs.iter().enumerate();
                lines.extend(runs.map(|run| Line { run: Some(run), ..of_phase }));
            }
        }
    }
    lines
}

impl Line<'_> {
    fn record(&self) -> [String; 33] {
        let Self { run_id, cell, trial, phase, run } = self;
        let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        let status = |value: Option<Status>| value.map(slug).unwrap_or_default();
        let engine = run.map(|(_, run)| run.engine).unwrap_or_default();
        let client = run.and_then(|(_, run)| run.client).unwrap_or_default();
        let how = phase.map(|phase| match phase.execution {
            Execution::Native => "native",
            Execution::ClientSide => "client-side",
        });
        let flag = |value: Option<bool>| value.map(|value| value.to_string()).unwrap_or_default();
        [
            text::plain(run_id),
            text::plain(&cell.id.workload),
            cell.id.scale.to_string(),
            cell.id.durability.to_string(),
            text::plain(&cell.id.variant),
            text::plain(&cell.id.engine),
            cell.reference.to_string(),
            cell.effective_durability.map(|tier| tier.to_string()).unwrap_or_default(),
            slug(cell.status),
            number(trial.map(|trial| trial.index.into())),
            number(trial.map(|trial| trial.order.into())),
            text::plain(trial.and_then(|trial| trial.version.as_deref()).unwrap_or_default()),
            status(trial.map(|trial| trial.status)),
            text::plain(phase.map(|phase| phase.phase.as_str()).unwrap_or_default()),
            how.unwrap_or_default().to_owned(),
            status(phase.map(|phase| phase.status)),
            number(phase.map(|phase| phase.ops)),
            self.reason(),
            number(run.map(|(index, _)| index as u64)),
            flag(run.map(|(_, run)| run.discarded)),
            flag(run.map(|(_, run)| run.capped)),
            number(run.map(|(_, run)| run.elapsed_ns)),
            number(run.map(|(_, run)| run.ops)),
            number(engine.cpu_ns),
            number(engine.peak_bytes),
            number(engine.read_bytes),
            number(engine.written_bytes),
            number(client.cpu_ns),
            number(client.peak_bytes),
            (!cell.unpublishable).to_string(),
            number(client.read_bytes),
            number(client.written_bytes),
            flag(trial.map(|trial| cell.is_counting(trial))),
        ]
    }

    /// The statistics of the line's phase, and whether its trial stands apart.
    fn statistics(&self, of: Option<&Statistic<'_>>) -> [String; 10] {
        let timed = |trial: &Trial| !self.cell.is_counting(trial);
        let Some(of) = of.filter(|_| self.trial.is_none_or(timed)) else {
            return Default::default();
        };
        let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let end = |ends: Option<[f64; 2]>, end: usize| number(ends.map(|ends| ends[end]));
        let outlier = self.trial.map(|trial| of.outliers.contains(&trial.index).to_string());
        [
            number(Some(of.median_ns)),
            number(Some(of.mean_ns)),
            end(of.interval_ns, 0),
            end(of.interval_ns, 1),
            outlier.unwrap_or_default(),
            number(of.ratio),
            end(of.ratio_interval, 0),
            end(of.ratio_interval, 1),
            of.ratio.map(|_| of.not_significant.to_string()).unwrap_or_default(),
            of.shortfall.clone().unwrap_or_default(),
        ]
    }

    /// What else was measured.
    fn measured(&self, columns: &[Column]) -> Vec<String> {
        let run = self.run.map(|(_, run)| run);
        let at = At { trial: self.trial, phase: self.phase, run };
        let ratio = |of: Ratio| run.and_then(of).map(|ratio| ratio.to_string());
        let ratios = AMPLIFICATIONS.map(|(_, of)| ratio(of));
        let numbers = columns.iter().map(|column| Some(column.of(&at)?.to_string()));
        ratios.into_iter().chain(numbers).map(Option::unwrap_or_default).collect()
    }

    /// The reason nearest to what the line is about.
    fn reason(&self) -> String {
        let of_phase = self.phase.and_then(|phase| phase.reason.as_deref());
        let of_trial =
            self.trial.filter(|_| self.phase.is_none()).and_then(|t| t.reason.as_deref());
        let of_cell = self.cell.reason.as_deref().filter(|_| self.phase.is_none());
        text::plain(of_phase.or(of_trial).or(of_cell).unwrap_or_default())
    }
}

/// The status as the result file writes it: one word.
fn slug(status: Status) -> String {
    status.name().replace(' ', "-")
}
