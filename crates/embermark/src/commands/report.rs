//! `embermark report`.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use embermark_engines::registry;
use embermark_model::Explained;
use embermark_model::durability_result::Outcome;
use embermark_model::plan::Plan;
use embermark_model::result::ResultFile;
use embermark_report::cost::score::Weights;
use embermark_report::shown::Record;
use embermark_report::{
    Beside, Files, Format, OfDevice, Options, ReportError, csv_of, label, load, load_durability,
    overview, parquet, parquet_of, render, reproduction,
};
use embermark_workloads::WORKLOADS;

use super::record::may_be_published;
use super::{measure, output, page, rate, repeat};
use crate::error::Failure;

/// The arguments of `embermark report`.
#[derive(Args)]
pub struct ReportArgs {
    /// Result files, as `embermark run` writes them, folders of which every result below is taken, and
    /// patterns such as 'results/**/*.json'. Several go into one HTML page, or with -o and --format csv or
    /// parquet into one table, for which no more than one of them is in memory
    #[arg(required = true, value_name = "RESULT")]
    results: Vec<PathBuf>,

    /// The published comparisons headline by headline, in Markdown, from the results of
    /// `embermark reproduce`
    #[arg(long)]
    reproduction: bool,

    /// Write to this file: an HTML page where its name ends in .html, else the form of
    /// --format; Parquet needs one
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Results of `embermark durability` on this machine, each its folder or its file: what they show
    /// wins over what embermark knows itself. Once for each
    #[arg(long, value_name = "FILE")]
    durability: Vec<PathBuf>,

    #[command(flatten)]
    show: ShowArgs,
}

/// The heading of options about the result.
pub const RESULT: &str = "Result";

/// What tables hold beside the usual.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Detail {
    Tables,
    Latency,
    Intervals,
    Explain,
    Published,
}

/// How a result is shown on standard output.
#[derive(Args, Default)]
pub struct ShowArgs {
    /// Show all tables in place of the one screen, with: latency, intervals, explain, published
    ///
    /// tables: as they are. latency: with percentiles. intervals: with the 95 % intervals of times and
    /// ratios. explain: with system calls, page faults, context switches and flushes per operation, which
    /// `embermark run` then counts in trials after the timed ones. published: with every figure of the
    /// workloads' sources.
    #[arg(help_heading = RESULT, long, value_enum, value_delimiter = ',', value_name = "WHAT,…",
          hide_possible_values = true)]
    show: Vec<Detail>,

    /// Print table (all tables), json, csv, markdown, parquet (a row per run) or bencher [default: one screen]
    #[arg(help_heading = RESULT, short, long)]
    format: Option<String>,

    /// Weigh the resources in the score of `machine`: cpu=3,io=2,network=2,memory=1,disk=1,effort=1
    #[arg(help_heading = RESULT, hide_short_help = true, long, value_name = "NAME=N,…")]
    weight: Option<Weights>,

    /// Show how many years each card of --card lasts at this many rows per day: 86400, 100k, 8.64M
    #[arg(help_heading = RESULT, hide_short_help = true, long, value_name = "ROWS", value_parser = rate::rows)]
    pub rows_per_day: Option<f64>,

    /// Leave out the figures of engines whose licence forbids publishing them
    #[arg(help_heading = RESULT, hide_short_help = true, long)]
    publishable: bool,
}

/// Shows a result file, or makes a page of one or several.
pub fn report(args: ReportArgs) -> Result<ExitCode, Failure> {
    let format = args.show.format()?;
    let is_page = |out: &Path| out.extension().is_some_and(|end| end.eq_ignore_ascii_case("html"));
    if args.reproduction {
        return reproduced(&args);
    }
    args.out.as_deref().map_or(Ok(()), output::can_be_written)?;
    let page = args.out.as_deref().filter(|out| is_page(out));
    let paths = results_below(&args.results)?;
    if page.is_none() && paths.len() > 1 {
        return table_of_all(&args, &paths, format);
    }
    let results = paths.iter().map(|path| load(path));
    let results: Vec<ResultFile> = results.collect::<Result<_, _>>().map_err(Failure::usage)?;
    let results: Vec<ResultFile> =
        results.into_iter().map(|result| args.show.allowed(result)).collect();
    args.show.has_effect(&results.iter().map(|result| &result.plan).collect::<Vec<_>>())?;
    let known = Known::with(args.show.own(&args.durability)?).at(args.show.rows_per_day);
    if let Some(page) = page {
        let named: Vec<(&Path, &ResultFile)> =
            paths.iter().map(PathBuf::as_path).zip(&results).collect();
        page::write(&named, page, &known)?;
        return Ok(ExitCode::SUCCESS);
    }
    // There is one: several have been shown.
    let (Some(path), Some(result)) = (paths.first(), results.first()) else {
        return Err(Failure::usage("there is no result there: give a result file"));
    };
    let Some(out) = args.out else {
        let beside = |name: &str| path.parent().map(|dir| dir.join(name)).filter(|p| p.exists());
        let (page, tables) = (beside(measure::PAGE), beside(measure::TABLES));
        let files = Files { page: page.as_deref(), tables: tables.as_deref() };
        return args.show.print(&known, result, format, path, &files);
    };
    let format = format.unwrap_or(Format::Table);
    let mut file = File::create(&out).map_err(Failure::unwritable(&out))?;
    if format == Format::Parquet {
        let device = embermark_report::label(path);
        parquet(&device, result, &known.durability, file).map_err(Failure::unwritable(&out))?;
    } else {
        let text = args.show.text(&known, result, format, path, output::width())?;
        file.write_all(text.as_bytes()).map_err(Failure::unwritable(&out))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes every run of several results into one table.
fn table_of_all(
    args: &ReportArgs,
    paths: &[PathBuf],
    format: Option<Format>,
) -> Result<ExitCode, Failure> {
    let (Some(out), Some(format @ (Format::Csv | Format::Parquet))) = (&args.out, format) else {
        return Err(Failure::usage(format!(
            "{} results go into one page, with -o report.html, or into one table of all runs, with \
             --format csv or parquet and -o FILE; `embermark fleet report` compares many devices",
            paths.len()
        )));
    };
    let known = Known::with(args.show.own(&args.durability)?);
    let read = |path: &Path| load(path).map(|result| args.show.allowed(result));
    write_runs(&of_paths(paths), read, &known.durability, format, out)
}

/// Writes every run of these results into `out`, as CSV or Parquet.
pub fn write_runs(
    all: &[OfDevice],
    read: impl Fn(&Path) -> Result<ResultFile, ReportError>,
    durability: &Record,
    format: Format,
    out: &Path,
) -> Result<ExitCode, Failure> {
    let file = BufWriter::new(File::create(out).map_err(Failure::unwritable(out))?);
    let written = match format {
        Format::Parquet => parquet_of(all, read, durability, file),
        _ => csv_of(all, read, durability, file),
    };
    written.map_err(|error| match error {
        ReportError::Csv(_) | ReportError::Parquet(_) => Failure::runtime(error),
        // A result that cannot be read.
        _ => Failure::usage(error),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Each result with a name that no other one has: its own, or where others have that too its whole path.
pub fn of_paths(paths: &[PathBuf]) -> Vec<OfDevice> {
    let labels: Vec<String> = paths.iter().map(|path| label(path)).collect();
    let mut times: HashMap<&str, u32> = HashMap::new();
    for label in &labels {
        *times.entry(label).or_default() += 1;
    }
    let named = paths.iter().zip(&labels).map(|(path, label)| {
        let device = match times[label.as_str()] {
            1 => label.clone(),
            _ => path.display().to_string(),
        };
        OfDevice { device, path: path.clone() }
    });
    named.collect()
}

/// Writes or prints what the results say of the published comparisons.
fn reproduced(args: &ReportArgs) -> Result<ExitCode, Failure> {
    let files = results_below(&args.results)?;
    let results = files.iter().map(|path| load(path)).collect::<Result<Vec<_>, _>>();
    let results = results.map_err(Failure::usage)?.into_iter();
    let results: Vec<ResultFile> = results.map(|result| args.show.allowed(result)).collect();
    if results.iter().all(|result| result.plan.repeats.is_none()) {
        return Err(Failure::usage(
            "none of these results repeats a published comparison: `embermark reproduce` makes \
             them",
        ));
    }
    let text = reproduction::markdown(&results);
    match &args.out {
        Some(out) => {
            fs::write(out, text).map_err(Failure::unwritable(out))?;
            Ok(ExitCode::SUCCESS)
        }
        None => output::print(&text),
    }
}

/// The files that are named, those that a pattern names, and every result below the folders that are.
pub fn results_below(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    let mut left: Vec<PathBuf> = Vec::new();
    for path in named {
        left.extend(matching(path)?);
    }
    left.reverse();
    while let Some(path) = left.pop() {
        if !path.is_dir() {
            files.push(path);
            continue;
        }
        let unreadable = |error| Failure::usage(format!("cannot read {}: {error}", path.display()));
        let entries = fs::read_dir(&path).map_err(unreadable)?;
        let mut below: Vec<PathBuf> =
            entries.map(|entry| Ok(entry?.path())).collect::<Result<_, _>>().map_err(unreadable)?;
        below.retain(|path| path.is_dir() || is_named_as_result(path));
        below.sort_unstable_by(|a, b| b.cmp(a));
        left.extend(below);
    }
    Ok(files)
}

/// Whether a file below a folder is taken for a result by its name: `*.json` or `*.json.gz`.
fn is_named_as_result(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let text = name.to_string_lossy();
    (text.ends_with(".json") || text.ends_with(".json.gz")) && name != repeat::PARTS
}

/// What a pattern names; a path that is there, or has nothing of a pattern, names itself.
fn matching(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let text = path.to_string_lossy();
    if path.exists() || !text.contains(['*', '?', '[']) {
        return Ok(vec![path.to_owned()]);
    }
    let found = glob::glob(&text);
    let found =
        found.map_err(|error| Failure::usage(format!("'{text}' is no pattern: {error}")))?;
    let found: Vec<PathBuf> = found.collect::<Result<_, _>>().map_err(Failure::usage)?;
    if found.is_empty() {
        return Err(Failure::usage(format!("no file is named by '{text}'")));
    }
    Ok(found)
}

/// What this build knows of workloads and engines, beside what a result says.
pub struct Known {
    /// Every phase of every workload in the order in which reports show them.
    pub order: Vec<&'static str>,
    /// What adapters say of costs of their engines that stand out, by id.
    pub explanations: Vec<(&'static str, &'static [Explained])>,
    /// What was shown of their durability.
    pub durability: Record,
    /// The rate at which a reader puts rows in, where they say so.
    pub rows_per_day: Option<f64>,
}

impl Known {
    /// All of it, with what runs of `embermark durability` of the reader's own have shown.
    pub fn with(own: Vec<Outcome>) -> Self {
        let phases = WORKLOADS.iter().flat_map(|workload| workload.info().phases);
        let explained = registry::all().iter().map(|engine| (engine.info().id, engine.explained()));
        Self {
            order: phases.map(|phase| phase.name).collect(),
            explanations: explained.collect(),
            durability: Record::with(own),
            rows_per_day: None,
        }
    }

    /// The same for a reader who puts so many rows in a day.
    pub fn at(self, rows_per_day: Option<f64>) -> Self {
        Self { rows_per_day, ..self }
    }
}

impl ShowArgs {
    /// All tables.
    pub fn all_tables() -> Self {
        Self { show: vec![Detail::Tables], ..Self::default() }
    }

    fn shows(&self, detail: Detail) -> bool {
        self.show.contains(&detail)
    }

    /// Whether what an operation asked of the system is to be shown.
    pub fn explains(&self) -> bool {
        self.shows(Detail::Explain)
    }

    /// The format asked for; `None` is the one screen.
    pub fn format(&self) -> Result<Option<Format>, Failure> {
        let format = self.format.as_deref().map(str::parse).transpose().map_err(Failure::usage)?;
        // What is in the tables alone calls for them.
        let detail = !self.show.is_empty() || self.rows_per_day.is_some() || self.weight.is_some();
        let is_data =
            matches!(format, Some(Format::Json | Format::Csv | Format::Parquet | Format::Bencher));
        if is_data && detail && !self.explains() {
            return Err(Failure::usage(
                "the options of tables have no effect on json, csv, parquet and bencher: leave them out, or \
                 leave out --format",
            ));
        }
        Ok(format.or(detail.then_some(Format::Table)))
    }

    /// Refuses what shows nothing of results of these plans.
    pub fn has_effect(&self, plans: &[&Plan]) -> Result<(), Failure> {
        let scored = WORKLOADS.iter().map(|workload| workload.info()).filter(|info| info.lasts);
        let scored: Vec<&str> = scored.map(|info| info.id).collect();
        let is_there = |plan: &&Plan| plan.workloads.iter().any(|id| scored.contains(&&**id));
        if self.weight.is_some() && !plans.iter().any(is_there) {
            return Err(Failure::usage(format!(
                "--weight: they are for the score of the workload {}, which is not there: leave them out",
                scored.join(" or ")
            )));
        }
        let has_flash = |plan: &&Plan| {
            !plan.cards.is_empty() || plan.storages.iter().flatten().any(|one| one.flash.is_some())
        };
        if self.rows_per_day.is_some() && !plans.iter().any(has_flash) {
            return Err(Failure::usage(
                "--rows-per-day: no card was modelled (run --card or --storage): leave it out",
            ));
        }
        Ok(())
    }

    /// What these runs of `embermark durability` hold, as it may be shown.
    fn own(&self, paths: &[PathBuf]) -> Result<Vec<Outcome>, Failure> {
        let own = paths.iter().map(|path| load_durability(path)).collect::<Result<_, _>>();
        let own: Vec<Outcome> = own.map_err(Failure::usage)?;
        Ok(if self.publishable {
            own.into_iter().map(|run| run.only(may_be_published)).collect()
        } else {
            own
        })
    }

    /// Prints the result on standard output.
    pub fn print(
        &self,
        known: &Known,
        result: &ResultFile,
        format: Option<Format>,
        path: &Path,
        files: &Files<'_>,
    ) -> Result<ExitCode, Failure> {
        let options =
            Options { colour: output::colour(), ..self.options(known, path, output::width()) };
        output::print(&match format {
            Some(format) => render(result, format, &options).map_err(Failure::usage)?,
            None => overview(result, &options, files),
        })
    }

    /// The result as it may be shown: with --publishable without what may not be published.
    pub fn allowed(&self, result: ResultFile) -> ResultFile {
        if self.publishable { result.publishable() } else { result }
    }

    /// The result in a form that is no screen, without colours.
    pub fn text(
        &self,
        known: &Known,
        result: &ResultFile,
        format: Format,
        path: &Path,
        width: usize,
    ) -> Result<String, Failure> {
        render(result, format, &self.options(known, path, width)).map_err(Failure::usage)
    }

    fn options<'a>(&self, known: &'a Known, path: &'a Path, width: usize) -> Options<'a> {
        Options {
            explanations: &known.explanations,
            weights: self.weight.unwrap_or_default(),
            width,
            colour: false,
            order: &known.order,
            latency: self.shows(Detail::Latency),
            intervals: self.shows(Detail::Intervals),
            explain: self.explains(),
            published: if self.shows(Detail::Published) { Beside::All } else { Beside::Measured },
            rows_per_day: known.rows_per_day,
            path: Some(path),
            durability: &known.durability,
        }
    }
}
