//! Output formats of a result.

mod column;
mod columns;
mod flash;
mod lines;
mod observed;
mod runs;

pub(crate) use runs::csv_written;
pub use runs::{DeviceResult, csv_of, parquet_of};

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use embermark_model::choice::{self, UnknownName};
use embermark_model::result::ResultFile;
use serde::Serialize;

use crate::evidence::{self, TierStanding};
use crate::scaling::{self, Scaling};
use crate::{Options, ReportError, document, summary, text};
use lines::Statistic;

/// An output format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Tables for a terminal.
    Table,
    /// The result file and what is computed from it, on one line.
    Json,
    /// One line per run.
    Csv,
    /// The terminal's tables as Markdown for GitHub.
    Markdown,
    /// One row per run, in columns. This format is binary: see [`crate::parquet_of`].
    Parquet,
    /// Times per operation in the JSON format of bencher.dev.
    Bencher,
}

/// The formats by their names on the command line.
const FORMATS: [(&str, Format); 6] = [
    ("table", Format::Table),
    ("json", Format::Json),
    ("csv", Format::Csv),
    ("markdown", Format::Markdown),
    ("parquet", Format::Parquet),
    ("bencher", Format::Bencher),
];

impl FromStr for Format {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let found = FORMATS.iter().find(|(name, _)| *name == text).map(|(_, format)| *format);
        found.ok_or_else(|| choice::unknown("format", text, FORMATS.map(|(name, _)| name)))
    }
}

/// Formats the report of `file`. The text ends with a line break.
///
/// # Errors
/// If CSV or JSON cannot be written, which no valid result causes, and for [`Format::Parquet`],
/// which is binary.
pub fn render(
    file: &ResultFile,
    format: Format,
    options: &Options<'_>,
) -> Result<String, ReportError> {
    match format {
        Format::Table => Ok(document::terminal(&document::report(file, options), options)),
        Format::Json => json(file, options),
        Format::Csv => {
            let device = options.path.map_or_else(|| file.manifest.run_id.clone(), label);
            runs::csv(&device, file, options.durability)
        }
        Format::Markdown => {
            let options = Options { intervals: true, ..*options };
            Ok(document::markdown(&document::report(file, &options)))
        }
        Format::Parquet => Err(ReportError::NoText),
        Format::Bencher => bencher(file),
    }
}

/// The result and the figures computed from it, which readers of results ignore.
#[derive(Serialize)]
struct ResultWithStatistics<'a> {
    #[serde(flatten)]
    file: &'a ResultFile,
    statistics: Vec<Statistic<'a>>,
    scaling: Scaling<'a>,
    durability_shown: Vec<TierStanding>,
}

/// Returns the result file with the statistics of its phases, on one line.
///
/// # Errors
/// If a value has no JSON form.
fn json(file: &ResultFile, options: &Options<'_>) -> Result<String, ReportError> {
    let (comparison, durability_shown) = evidence::compare(file, &[], options.durability);
    let scaling = scaling::analyze(&comparison, options.explanations);
    let statistics = lines::phase_statistics(&comparison);
    let both = ResultWithStatistics { file, statistics, scaling, durability_shown };
    Ok(serde_json::to_string(&both)? + "\n")
}

/// Longest name that Bencher accepts, in characters.
const LONGEST_NAME: usize = 1024;

/// A measure of Bencher Metric Format, <https://bencher.dev/docs/reference/bencher-metric-format>,
/// with the ends of its interval.
#[derive(Serialize)]
struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

/// Returns the time per operation of every phase of a cell that completed and kept up: the median
/// over the trials with its 95 % interval. References are left out, and so are figures that may not
/// be published, because Bencher is a web site.
///
/// # Errors
/// If a value has no JSON form, which does not happen here.
fn bencher(file: &ResultFile) -> Result<String, ReportError> {
    let file = file.clone().publishable();
    let comparison = summary::compare(&file, &[]);
    let mut benchmarks: BTreeMap<String, BTreeMap<&str, Metric>> = BTreeMap::new();
    for group in &comparison.groups {
        for (row, engine, measured) in group.measured() {
            let is_shown = measured.competes() && !engine.reference;
            let Some(phase) = row.phase.filter(|_| is_shown) else { continue };
            let place = format!("{} {} {}", group.workload, group.extent, group.durability);
            let variant = row.variant.unwrap_or(group.variant);
            let name = format!("{} {place} {variant} {phase}", engine.id);
            let figure = &measured.figure;
            let (lower_value, upper_value) = figure.interval_ns.map(<(f64, f64)>::from).unzip();
            let latency = Metric { value: figure.per_op_ns, lower_value, upper_value };
            let measures = BTreeMap::from([("latency", latency)]);
            benchmarks.insert(text::clipped(&name, LONGEST_NAME), measures);
        }
    }
    document::json(&benchmarks)
}

/// Returns a label for a result from its path: the file's name, or the folder's if the file is
/// called `result`.
pub fn label(path: &Path) -> String {
    let is_compressed = path.extension().is_some_and(|end| end == "gz");
    let plain = if is_compressed { path.with_extension("") } else { path.to_owned() };
    let stem = plain.file_stem().map(|name| name.to_string_lossy().into_owned());
    let folder = || {
        let parent = std::path::absolute(path).ok()?;
        Some(parent.parent()?.file_name()?.to_string_lossy().into_owned())
    };
    stem.filter(|stem| stem != "result").or_else(folder).unwrap_or_else(|| "result".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_named_by_its_file_or_its_folder_compressed_or_not() {
        for (path, name) in [
            ("results/pi/default.json", "default"),
            ("results/pi/default.json.gz", "default"),
            ("results/pi/result.json", "pi"),
            ("results/pi/result.json.gz", "pi"),
            ("pi.gz", "pi"),
        ] {
            assert_eq!(label(Path::new(path)), name, "{path}");
        }
    }

    #[test]
    fn formats_are_found_by_name_and_a_misspelt_one_gets_advice() {
        for (name, format) in FORMATS {
            assert_eq!(name.parse(), Ok(format));
        }
        let error = "markdwon".parse::<Format>().unwrap_err();
        assert!(error.to_string().contains("did you mean 'markdown'?"), "{error}");
    }
}
