//! `embermark check`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use embermark_harness::result_bytes;
use embermark_report::check::{self, Anonymous, Checked, Private};

use super::results::load_result;
use super::show::screen_options;
use crate::error::Failure;
use crate::output;

/// The arguments of `embermark check`.
#[derive(Args)]
pub struct CheckArgs {
    /// The results to check
    #[arg(required = true)]
    results: Vec<PathBuf>,

    /// Remove names of computers and users, paths, URLs and devices, and list what is left; with --out
    #[arg(long, requires = "out")]
    anonymous: bool,

    /// Remove the figures of engines whose licence forbids publishing them
    #[arg(long)]
    publishable: bool,

    /// Write the checked result, without what was removed; compressed if the name ends in .gz
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Form of the output
    #[arg(short, long, default_value = "table")]
    format: Form,
}

/// A form of a check's findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For a terminal
    Table,
    /// For a program
    Json,
}

/// Checks results. Exit status 1 if one of them may not be published.
pub fn check(args: &CheckArgs) -> Result<ExitCode, Failure> {
    if args.out.is_some() && args.results.len() > 1 {
        return Err(usage!("--out takes one result: give one"));
    }
    args.out.as_deref().map_or(Ok(()), output::check_writable)?;
    let mut all = Vec::new();
    for path in &args.results {
        let mut file = load_result(path, args.publishable).map_err(Failure::usage)?;
        let answers = check::check(&file);
        let mut left = Vec::new();
        if args.anonymous {
            let made = check::anonymous(&file, &private(path)).map_err(Failure::runtime)?;
            Anonymous { file, left } = made;
        }
        if let Some(out) = &args.out {
            let bytes = result_bytes(out, &file).map_err(Failure::runtime)?;
            output::write(out, bytes)?;
        }
        all.push(Checked::new(path.display().to_string(), answers, left));
    }
    let options = screen_options();
    output::print(&match args.format {
        Form::Table => check::table(&all, &options),
        Form::Json => check::json(&all).map_err(Failure::runtime)?,
    })?;
    Ok(ExitCode::from(u8::from(!all.iter().all(|checked| checked.may_stand))))
}

/// Returns the names of this computer and its user, the folder of the user, and that of the result,
/// which is the folder of the run if nobody moved it. A single letter is left out, because it is a
/// word of many texts.
fn private(result: &Path) -> Private {
    let computer = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let users = ["USER", "LOGNAME", "SUDO_USER"].map(|name| std::env::var(name).ok());
    let names = users.into_iter().chain([computer]).flatten();
    let names = names.map(|name| name.trim().to_owned());
    let names = names.filter(|name| name.len() > 1 && name != "root" && name != "localhost");
    let run = result.canonicalize().ok();
    let run = run.and_then(|path| Some(path.ancestors().find(|at| at.is_dir())?.to_owned()));
    let paths = std::env::var_os("HOME").map(PathBuf::from).into_iter().chain(run);
    let paths = paths.map(|path| path.display().to_string()).collect();
    Private { names: names.collect(), paths }
}
