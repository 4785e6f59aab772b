//! `embermark report`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use embermark_model::result::ResultFile;
use embermark_report::{Beside, Format, Options, load, render};

use super::output;
use crate::error::Failure;

/// The arguments of `embermark report`.
#[derive(Args)]
pub struct ReportArgs {
    /// A result file, as `embermark run` writes it
    result: PathBuf,

    #[command(flatten)]
    show: ShowArgs,
}

/// How a result is shown on standard output.
#[derive(Args)]
pub struct ShowArgs {
    /// table, json, csv or markdown
    #[arg(short, long, default_value = "table")]
    format: String,

    /// Latency percentiles too
    #[arg(long)]
    latency: bool,

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
    args.show.print(&result, format, &args.result)
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
        let order: Vec<&str> = embermark_workloads::WORKLOADS
            .iter()
            .flat_map(|workload| workload.info().phases.iter().map(|phase| phase.name))
            .collect();
        let options = Options {
            width: output::width(),
            colour: std::io::stdout().is_terminal()
                && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
            order: &order,
            latency: self.latency,
            published: if self.published { Beside::All } else { Beside::Measured },
            path: Some(path),
        };
        let publishable = self.publishable.then(|| result.clone().publishable());
        let result = publishable.as_ref().unwrap_or(result);
        let mut text = render(result, format, &options).map_err(Failure::runtime)?;
        if !text.ends_with('\n') {
            text.push('\n');
        }
        output::print(&text)
    }
}
