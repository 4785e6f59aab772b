//! `embermark report`.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use embermark_model::result::ResultFile;
use embermark_report::{Beside, Format, Options, load, parquet, render};

use super::output;
use crate::error::Failure;

/// The arguments of `embermark report`.
#[derive(Args)]
pub struct ReportArgs {
    /// A result file, as `embermark run` writes it
    result: PathBuf,

    /// Write to this file; Parquet needs one
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
    weights: Option<String>,

    /// Every figure of the workloads' sources too, and not those alone that something measured
    /// stands beside
    #[arg(long)]
    published: bool,

    /// Leave out the figures of engines whose licence forbids publishing them
    #[arg(long)]
    publishable: bool,
}

/// Shows a result file.
pub fn report(args: ReportArgs) -> Result<ExitCode, Failure> {
    let format = args.show.format()?;
    let result = load(&args.result).map_err(Failure::usage)?;
    let result = if args.show.publishable { result.publishable() } else { result };
    let Some(out) = args.out else { return args.show.print(&result, format, &args.result) };
    let failed = |error: &dyn std::fmt::Display| {
        Failure::runtime(format!("cannot write {}: {error}", out.display()))
    };
    let mut file = File::create(&out).map_err(|error| failed(&error))?;
    if format == Format::Parquet {
        parquet(&result, file).map_err(|error| failed(&error))?;
    } else {
        let text = args.show.text(&result, format, &args.result, false)?;
        file.write_all(text.as_bytes()).map_err(|error| failed(&error))?;
    }
    Ok(ExitCode::SUCCESS)
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
        let publishable = self.publishable.then(|| result.clone().publishable());
        let result = publishable.as_ref().unwrap_or(result);
        output::print(&self.text(result, format, path, output::colour())?)
    }

    fn text(
        &self,
        result: &ResultFile,
        format: Format,
        path: &Path,
        colour: bool,
    ) -> Result<String, Failure> {
        let order: Vec<&str> = embermark_workloads::WORKLOADS
            .iter()
            .flat_map(|workload| workload.info().phases.iter().map(|phase| phase.name))
            .collect();
        let weights =
            self.weights.as_deref().map(str::parse).transpose().map_err(Failure::usage)?;
        let options = Options {
            weights: weights.unwrap_or_default(),
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
