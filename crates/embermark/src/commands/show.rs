//! Options that choose how to show a result, and facts of this build that reports need.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use embermark_engines::registry;
use embermark_model::Explained;
use embermark_model::durability_result::Outcome;
use embermark_model::plan::Plan;
use embermark_model::result::ResultFile;
use embermark_report::cost::score::Weights;
use embermark_report::evidence::Record;
use embermark_report::{Files, Format, Options, PublishedDetail, load_durability, render, screen};
use embermark_workloads::WORKLOADS;

use super::rate;
use super::record::may_be_published;
use crate::error::Failure;
use crate::output;

/// Page that a run writes next to its result.
pub const PAGE: &str = "report.html";

/// All tables as text, which a run writes next to its result.
pub const TABLES: &str = "tables.txt";

/// The heading of options about the result.
pub const RESULT: &str = "Result";

/// Additional content of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Detail {
    Tables,
    Latency,
    Intervals,
    Explain,
    Published,
}

/// Options for showing a result on standard output.
#[derive(Args, Default)]
pub struct ShowArgs {
    /// Show all tables instead of the one screen, with: latency, intervals, explain, published
    ///
    /// tables: without additions. latency: with percentiles. intervals: with the 95 % intervals of times and
    /// ratios. explain: with system calls, page faults, context switches and flushes per operation;
    /// `embermark run` then counts them in trials after the timed ones. published: with every figure of the
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
    pub publishable: bool,
}

/// Facts about workloads and engines that are in this build and not in a result.
pub struct ReportFacts {
    /// Every phase of every workload, in the order in which reports show them.
    pub order: Vec<&'static str>,
    /// Explanations of engines' conspicuous costs from their adapters, by id.
    pub explanations: Vec<(&'static str, &'static [Explained])>,
    /// Findings about the engines' durability.
    pub durability: Record,
    /// The reader's rows per day, if given.
    pub rows_per_day: Option<f64>,
}

impl ReportFacts {
    /// Collects the facts, with findings of the reader's own runs of `embermark durability`.
    pub fn new(own: Vec<Outcome>) -> Self {
        let phases = WORKLOADS.iter().flat_map(|workload| workload.info().phases);
        let explained = registry::all().iter().map(|engine| (engine.info().id, engine.explained()));
        Self {
            order: phases.map(|phase| phase.name).collect(),
            explanations: explained.collect(),
            durability: Record::with(own),
            rows_per_day: None,
        }
    }
}

/// Returns the options of tables on standard output.
pub fn screen_options() -> Options<'static> {
    let colour = output::colour(&io::stdout());
    Options { width: output::width(), colour, ..Options::default() }
}

impl ShowArgs {
    /// Options that show all tables.
    pub fn all_tables() -> Self {
        Self { show: vec![Detail::Tables], ..Self::default() }
    }

    fn shows(&self, detail: Detail) -> bool {
        self.show.contains(&detail)
    }

    /// Whether to show the system calls and other costs of an operation.
    pub fn explains(&self) -> bool {
        self.shows(Detail::Explain)
    }

    /// Returns the requested format. `None` is the screen.
    pub fn format(&self) -> Result<Option<Format>, Failure> {
        let format = self.format.as_deref().map(str::parse).transpose().map_err(Failure::usage)?;
        // Details that only tables have select the tables.
        let detail = !self.show.is_empty() || self.rows_per_day.is_some() || self.weight.is_some();
        let is_data =
            matches!(format, Some(Format::Json | Format::Csv | Format::Parquet | Format::Bencher));
        if is_data && detail && !self.explains() {
            return Err(usage!(
                "the options of tables have no effect on json, csv, parquet and bencher: leave them out, or \
                 leave out --format"
            ));
        }
        Ok(format.or(detail.then_some(Format::Table)))
    }

    /// Refuses --format in a command whose output has one form.
    pub fn refuse_format(&self) -> Result<(), Failure> {
        match self.format {
            None => Ok(()),
            Some(_) => Err(usage!(
                "--format has no effect on the comparison with the source: leave it out, and read the \
                 parts' results with `embermark report`"
            )),
        }
    }

    /// Refuses options without effect on results of these plans.
    pub fn check_effect(&self, plans: &[&Plan]) -> Result<(), Failure> {
        let scored = WORKLOADS.iter().map(|workload| workload.info()).filter(|info| info.lasts);
        let scored: Vec<&str> = scored.map(|info| info.id).collect();
        let is_scored = |plan: &&Plan| plan.workloads.iter().any(|id| scored.contains(&&**id));
        if self.weight.is_some() && !plans.iter().any(is_scored) {
            return Err(usage!(
                "--weight applies only to the score of the workload {}, which was not measured: leave it out",
                scored.join(" or ")
            ));
        }
        let has_flash = |plan: &&Plan| {
            !plan.cards.is_empty() || plan.storages.iter().flatten().any(|one| one.flash.is_some())
        };
        if self.rows_per_day.is_some() && !plans.iter().any(has_flash) {
            return Err(usage!(
                "--rows-per-day: no card was modelled (run --card or --storage): leave it out"
            ));
        }
        Ok(())
    }

    /// Reads runs of `embermark durability`. With --publishable, keeps only what may be published.
    pub fn read_durability(&self, paths: &[PathBuf]) -> Result<Vec<Outcome>, Failure> {
        let own = paths.iter().map(|path| load_durability(path)).collect::<Result<_, _>>();
        let own: Vec<Outcome> = own.map_err(Failure::usage)?;
        Ok(if self.publishable {
            own.into_iter().map(|run| run.only(may_be_published)).collect()
        } else {
            own
        })
    }

    /// Prints the result in the file `path` on standard output.
    pub fn print(
        &self,
        known: &ReportFacts,
        result: &ResultFile,
        format: Option<Format>,
        path: &Path,
    ) -> Result<ExitCode, Failure> {
        let colour = output::colour(&io::stdout());
        let options = Options { colour, ..self.options(known, path, output::width()) };
        output::print(&match format {
            Some(format) => render(result, format, &options).map_err(Failure::usage)?,
            None => {
                let file = |name: &str| path.parent().map(|dir| dir.join(name));
                let existing_file = |name: &str| file(name).filter(|path| path.exists());
                let (page, tables) = (existing_file(PAGE), existing_file(TABLES));
                let files = Files { page: page.as_deref(), tables: tables.as_deref() };
                screen(result, &options, &files)
            }
        })
    }

    /// Returns the result. With --publishable, leaves out figures that may not be published.
    pub fn without_forbidden(&self, result: ResultFile) -> ResultFile {
        if self.publishable { result.publishable() } else { result }
    }

    /// Formats the result for a file.
    pub fn text(
        &self,
        known: &ReportFacts,
        result: &ResultFile,
        format: Format,
        path: &Path,
    ) -> Result<String, Failure> {
        render(result, format, &self.options(known, path, output::FILE_WIDTH))
            .map_err(Failure::usage)
    }

    fn options<'a>(&self, known: &'a ReportFacts, path: &'a Path, width: usize) -> Options<'a> {
        Options {
            explanations: &known.explanations,
            weights: self.weight.unwrap_or_default(),
            width,
            colour: false,
            order: &known.order,
            latency: self.shows(Detail::Latency),
            intervals: self.shows(Detail::Intervals),
            explain: self.explains(),
            published: if self.shows(Detail::Published) {
                PublishedDetail::All
            } else {
                PublishedDetail::Measured
            },
            rows_per_day: known.rows_per_day,
            path: Some(path),
            durability: &known.durability,
        }
    }
}
