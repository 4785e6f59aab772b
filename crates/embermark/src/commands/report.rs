//! `embermark report`.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use embermark_model::result::ResultFile;
use embermark_report::cost::score::Weights;
use embermark_report::{Beside, Format, Options, load, parquet, render};

use super::{output, page};
use crate::error::Failure;

/// The arguments of `embermark report`.
#[derive(Args)]
pub struct ReportArgs {
    /// Result files, as `embermark run` writes them; several go into one HTML page
    #[arg(required = true, value_name = "RESULT")]
    results: Vec<PathBuf>,

    /// Write to this file: an HTML page where its name ends in .html, else the form of
    /// --format; Parquet needs one
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    show: ShowArgs,
}

/// How a result is shown on standard output.
#[derive(Args)]
pub struct ShowArgs {
    /// table, json, csv, markdown or parquet (a row a run)
    #[arg(short, long, default_value = "table")]
    format: String,

    /// Latency percentiles too
    #[arg(long)]
    latency: bool,

    /// The 95 % intervals of times and ratios too
    #[arg(long)]
    intervals: bool,

    /// How much each resource counts in the score of machine, as cpu=3,io=2,network=2,memory=1,disk=1,effort=1
    #[arg(long, value_name = "NAME=N,…")]
    weights: Option<Weights>,

    /// Every figure of the workloads' sources too, and not those alone that something measured
    /// stands beside
    #[arg(long)]
    published: bool,

    /// Leave out the figures of engines whose licence forbids publishing them
    #[arg(long)]
    publishable: bool,
}

/// Shows a result file, or makes a page of one or several.
pub fn report(args: ReportArgs) -> Result<ExitCode, Failure> {
    let format = args.show.format()?;
    let is_page = |out: &Path| out.extension().is_some_and(|end| end.eq_ignore_ascii_case("html"));
    let page = args.out.as_deref().filter(|out| is_page(out));
    if page.is_none() && args.results.len() > 1 {
        return Err(Failure::usage(
            "several results are shown in one page alone: name it with -o report.html",
        ));
    }
    let results = args.results.iter().map(|path| load(path));
    let results: Vec<ResultFile> = results.collect::<Result<_, _>>().map_err(Failure::usage)?;
    let results: Vec<ResultFile> =
        results.into_iter().map(|result| args.show.allowed(result)).collect();
    if let Some(page) = page {
        let named: Vec<(&Path, &ResultFile)> =
            args.results.iter().map(PathBuf::as_path).zip(&results).collect();
        page::write(&named, page)?;
        return Ok(ExitCode::SUCCESS);
    }
    // One result is required, and several have been refused.
    let (Some(path), Some(result)) = (args.results.first(), results.first()) else {
        return Err(Failure::usage("give a result file"));
    };
    let Some(out) = args.out else { return args.show.print(result, format, path) };
    let failed = |error: &dyn std::fmt::Display| {
        Failure::runtime(format!("cannot write {}: {error}", out.display()))
    };
    let mut file = File::create(&out).map_err(|error| failed(&error))?;
    if format == Format::Parquet {
        parquet(result, file).map_err(|error| failed(&error))?;
    } else {
        let text = args.show.text(result, format, path, false)?;
        file.write_all(text.as_bytes()).map_err(|error| failed(&error))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Every phase of every workload in the order in which reports show them.
pub fn phase_order() -> Vec<&'static str> {
    let phases = |workload: &&dyn embermark_workloads::Workload| workload.info().phases;
    embermark_workloads::WORKLOADS.iter().flat_map(phases).map(|phase| phase.name).collect()
}

impl ShowArgs {
    /// The format asked for.
    pub fn format(&self) -> Result<Format, Failure> {
        self.format.parse().map_err(Failure::usage)
    }

    /// Prints the result on standard output.
    pub fn print(
        &self,
        result: &ResultFile,
        format: Format,
        path: &Path,
    ) -> Result<ExitCode, Failure> {
        output::print(&self.text(&self.allowed(result.clone()), format, path, output::colour())?)
    }

    /// The result as it may be shown: with --publishable without what may not be published.
    pub fn allowed(&self, result: ResultFile) -> ResultFile {
        if self.publishable { result.publishable() } else { result }
    }

    fn text(
        &self,
        result: &ResultFile,
        format: Format,
        path: &Path,
        colour: bool,
    ) -> Result<String, Failure> {
        let order = phase_order();
        let options = Options {
            weights: self.weights.unwrap_or_default(),
            width: output::width(),
            colour,
            order: &order,
            latency: self.latency,
            intervals: self.intervals,
            published: if self.published { Beside::All } else { Beside::Measured },
            path: Some(path),
        };
        render(result, format, &options).map_err(Failure::usage)
    }
}
