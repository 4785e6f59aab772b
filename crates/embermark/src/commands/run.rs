//! `embermark run`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use embermark_harness::{HarnessError, RESULT, RunOptions, device, interrupt, progress, try_out};
use embermark_model::plan::Plan;
use embermark_model::result::ResultFile;
use embermark_report::{Files, Format};

use super::page;
use super::report::{Known, ShowArgs};
use crate::error::Failure;
use crate::plan::PlanArgs;

/// Exit status of a run that a signal ended, as shells count it: 128 + SIGINT.
pub const INTERRUPTED: u8 = 130;

/// The page that a run leaves beside its result.
pub const PAGE: &str = "report.html";

/// All tables as text, which a run leaves beside its result.
pub const TABLES: &str = "tables.txt";

/// How wide these are.
const TABLES_WIDTH: usize = 120;

/// The arguments of `embermark run`.
#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    plan: PlanArgs,

    /// A plan file: TOML with these options as keys; the command line wins over it
    #[arg(long = "plan", value_name = "FILE.toml")]
    file: Option<PathBuf>,

    /// Folder for the result, its journal and logs; must not hold another run
    /// [default: results/DATE-TIME]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Folder on the disk to measure, for the databases [default: inside the result's folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Run engines and servers with no more memory and CPU time than a small device has: pi-zero,
    /// pi-zero2, pi3, pi4, pi5. An emulation, and marked as one; needs root or a delegated cgroup v2
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,

    /// Leave out the trials after the timed ones that count the bytes and flushes which reach a disk
    /// (as root, on a loop device of their own) and the size of a database loaded once
    #[arg(long)]
    no_counting: bool,

    /// Go on with the run in this folder that was cut off, by Ctrl-C, a crash or a power cut: what
    /// ended is not repeated. It keeps its plan
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    resume: Option<PathBuf>,

    #[command(flatten)]
    show: ShowArgs,
}

/// Measures, and shows the result.
pub fn run(args: RunArgs) -> Result<ExitCode, Failure> {
    let format = args.show.format()?;
    // Beside --resume a plan need not be given; where it is, it must be the run's own.
    let asked = args.resume.is_none() || args.plan != PlanArgs::default() || args.file.is_some();
    let plan = asked.then(|| plan(args.plan, args.file)).transpose()?;
    let out = args.resume.clone().or(args.out).unwrap_or_else(default_out);
    let device = args.device.map(|name| device::find(&name)).transpose();
    let options = RunOptions {
        data: args.dir,
        device: device.map_err(Failure::usage)?,
        count: !args.no_counting,
        explain: args.show.explain,
        interrupt: interrupt::on_signals()?,
        ..RunOptions::new(&out)?
    };

    if let (Some(plan), None) = (&plan, &args.resume) {
        let dir = options.data.clone().unwrap_or_else(std::env::temp_dir);
        let RunOptions { worker, catalog, .. } = &options;
        let tried = try_out(&plan.configurations, &plan.durabilities, &dir, worker, catalog)?;
        tried.iter().for_each(|says| eprintln!("{says}"));
    }
    let mut progress = progress::on_stderr();
    let outcome = match &plan {
        Some(plan) if args.resume.is_none() => {
            embermark_harness::run(plan, &options, progress.as_mut())
        }
        plan => embermark_harness::resume(plan.as_ref(), &options, progress.as_mut()),
    };
    let (result, status) = match outcome {
        Ok(result) => {
            let status = exit_status(&result);
            (result, status)
        }
        Err(HarnessError::Interrupted { result: Some(result) }) => {
            eprintln!(
                "embermark: interrupted; the trials that had ended are kept; go on with \
                 'embermark run --resume {}'",
                out.display()
            );
            (*result, ExitCode::from(INTERRUPTED))
        }
        Err(error @ HarnessError::Interrupted { .. }) => {
            eprintln!("embermark: {error}");
            return Ok(ExitCode::from(INTERRUPTED));
        }
        Err(error) => return Err(error.into()),
    };
    let result = args.show.allowed(result);
    // The measuring is done and kept: a file that cannot be made of it is a note and no failure.
    let path = out.join(RESULT);
    let made = |name: &str, made: Result<(), Failure>| match made {
        Ok(()) => Some(out.join(name)),
        Err(failure) => {
            eprintln!("embermark: no {name}: {failure}");
            None
        }
    };
    let known = Known::with(Vec::new());
    let page = made(PAGE, page::write(&[(&path, &result)], &out.join(PAGE), &known));
    let tables = made(TABLES, write_tables(&args.show, &known, &result, &path, &out.join(TABLES)));
    let files = Files { page: page.as_deref(), tables: tables.as_deref() };
    args.show.print(&known, &result, format, &path, &files)?;
    Ok(status)
}

fn write_tables(
    show: &ShowArgs,
    known: &Known,
    result: &ResultFile,
    path: &Path,
    file: &Path,
) -> Result<(), Failure> {
    let text = show.text(known, result, Format::Table, path, TABLES_WIDTH)?;
    fs::write(file, text).map_err(Failure::unwritable(file))
}

fn plan(args: PlanArgs, file: Option<PathBuf>) -> Result<Plan, Failure> {
    let from_file = file.map_or_else(|| Ok(PlanArgs::default()), |path| PlanArgs::read(&path))?;
    args.or(from_file)?.plan()
}

/// A folder of its own for each run, named by the time in UTC.
pub fn default_out() -> PathBuf {
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    PathBuf::from("results").join(now.strftime("%Y-%m-%d-%H%M%S").to_string())
}

/// 1 when a cell is wrong, failed or timed out.
fn exit_status(result: &ResultFile) -> ExitCode {
    ExitCode::from(u8::from(result.cells.iter().any(|cell| cell.status.is_failure())))
}
