//! `embermark run`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use embermark_harness::cells::{self, PlannedCell};
use embermark_harness::energy::EnergyOptions;
use embermark_harness::{Catalog, RESULT, RunOptions, device, interrupt};
use embermark_model::CellId;
use embermark_model::plan::{Plan, Rate};
use embermark_report::Files;

use super::measure::{How, Measured, PAGE, TABLES, exit_status, measure, write_beside};
use super::output;
use super::repeat::{self, RepeatArgs};
use super::report::{Known, ShowArgs};
use crate::error::Failure;
use crate::plan::{PlanArgs, milliseconds, urls};

/// Exit status of a run that a signal ended, as shells count it: 128 + SIGINT.
pub const INTERRUPTED: u8 = 130;

/// The arguments of `embermark run`.
#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    plan: PlanArgs,

    #[command(flatten)]
    repeat: RepeatArgs,

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
    #[arg(hide_short_help = true, long, value_name = "DEVICE")]
    device: Option<String>,

    /// Leave out the trials after the timed ones that count the bytes and flushes which reach a disk
    /// (as root, on a loop device of their own) and the size of a database loaded once
    #[arg(hide_short_help = true, long)]
    no_counting: bool,

    /// An external power meter records: makes a load pattern before the first trial and after the last one,
    /// by which `embermark energy` finds the run in the meter's record, and measures the idle draw. Begin
    /// to record before, and end after
    #[arg(hide_short_help = true, long)]
    metered: bool,

    /// How long the idle draw is measured before the first trial, where something measures it
    /// [default: 10s]
    #[arg(hide_short_help = true, long, value_name = "TIME")]
    idle: Option<String>,

    /// Go on with the run in this folder that was cut off, by Ctrl-C, a crash or a power cut: what
    /// ended is not repeated. It keeps its plan
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    resume: Option<PathBuf>,

    /// Show what would run, and measure nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    show: ShowArgs,
}

/// Measures, and shows the result.
pub fn run(args: RunArgs) -> Result<ExitCode, Failure> {
    let format = args.show.format()?;
    let out = args.resume.clone().or(args.out).unwrap_or_else(default_out);
    let device = args.device.map(|name| device::find(&name)).transpose();
    let mut energy = EnergyOptions { metered: args.metered, ..EnergyOptions::default() };
    if let Some(idle) = &args.idle {
        energy.idle = Duration::from_millis(milliseconds("--idle", idle)?);
    }
    // All that a resumed run may lack, since its journal has no secrets.
    let only_urls = PlanArgs { url: args.plan.url.clone(), ..PlanArgs::default() };
    let urls_alone = args.plan == only_urls;
    let resumed = args.resume.is_some() && urls_alone;
    let options = RunOptions {
        urls: if resumed { urls(&args.plan.url)? } else { BTreeMap::new() },
        energy,
        data: args.dir,
        device: device.map_err(Failure::usage)?,
        count: !args.no_counting,
        explain: args.show.explain,
        interrupt: interrupt::on_signals()?,
        ..RunOptions::new(&out)?
    };
    if args.repeat.is_given() {
        if args.file.is_some() || args.resume.is_some() {
            return Err(Failure::usage(
                "--as-published has plans of its own, and is gone on with by --resume alone",
            ));
        }
        return repeat::begin(&args.repeat, &args.plan, options, &args.show);
    }
    if args.resume.is_some() && repeat::is_repeated(&out) {
        if args.plan != PlanArgs::default() || args.file.is_some() {
            return Err(Failure::usage("it keeps its plans: leave out the options of a plan"));
        }
        return repeat::go_on(&options, &args.show);
    }
    // Beside --resume a plan need not be given; where it is, it must be the run's own.
    let asked = args.resume.is_none() || !urls_alone || args.file.is_some();
    let plan = asked.then(|| plan(args.plan, args.file)).transpose()?;
    if args.dry_run {
        let plan = plan.ok_or_else(|| Failure::usage("--resume goes on with a plan of its own"))?;
        return output::print(&shown(&plan, &options)?);
    }
    if args.no_counting && plan.as_ref().is_some_and(|plan| !plan.cards.is_empty()) {
        return Err(Failure::usage(
            "--card models what the trials record that --no-counting leaves out: leave out one of them",
        ));
    }
    if let Some(plan) = plan.as_ref().filter(|_| args.resume.is_none()) {
        args.show.has_effect(&[plan])?;
    }
    let how = match &plan {
        Some(plan) if args.resume.is_none() => How::Begin(plan),
        plan => How::GoOn(plan.as_ref()),
    };
    let (result, status) = match measure(how, &options)? {
        Measured::Complete(result) => {
            let status = exit_status(&result);
            (result, status)
        }
        Measured::Interrupted(Some(result)) => {
            say!(
                "embermark: interrupted; the trials that had ended are kept; go on with \
                 'embermark run --resume {}'",
                out.display()
            );
            (result, ExitCode::from(INTERRUPTED))
        }
        Measured::Interrupted(None) => {
            say!("embermark: interrupted before a trial had ended");
            return Ok(ExitCode::from(INTERRUPTED));
        }
    };
    // All is kept: from here on a signal ends the program at once, also while the page is made.
    options.interrupt.set();
    let result = args.show.allowed(result);
    let known = Known::with(Vec::new()).at(args.show.rows_per_day);
    write_beside(&result, &out, &args.show, &known);
    let beside = |name: &str| Some(out.join(name)).filter(|path| path.exists());
    let (page, tables) = (beside(PAGE), beside(TABLES));
    let files = Files { page: page.as_deref(), tables: tables.as_deref() };
    args.show.print(&known, &result, format, &out.join(RESULT), &files)?;
    Ok(status)
}

/// What a plan measures: a line for each table, and how long it takes, as far as that is known.
fn shown(plan: &Plan, options: &RunOptions) -> Result<String, Failure> {
    let catalog = options.catalog.with_files(plan).map_err(Failure::usage)?;
    let cells = cells::planned(plan, &catalog).map_err(Failure::usage)?;
    let mut text = String::new();
    let table = |cell: &PlannedCell| CellId { engine: String::new(), ..cell.id.clone() };
    for own in cells.chunk_by(|a, b| table(a) == table(b)) {
        let (CellId { workload, durability, variant, .. }, extent) =
            (&own[0].id, own[0].id.extent());
        let (runs, left): (Vec<_>, Vec<_>) = own.iter().partition(|cell| cell.skip.is_none());
        let engines: Vec<&str> = runs.iter().map(|cell| cell.id.engine.as_str()).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{workload} {extent} {durability} {variant}: {}\n  phases   {}",
            engines.join(", "),
            own[0].phases.join(", ")
        );
        if !left.is_empty() {
            let left: Vec<&str> = left.iter().map(|cell| cell.id.engine.as_str()).collect();
            let _ = writeln!(text, "  left out {}", left.join(", "));
        }
    }
    let runnable = cells.iter().filter(|cell| cell.skip.is_none()).count();
    let _ = match plan.lasts_ms.map(Duration::from_millis) {
        Some(lasts) => {
            writeln!(text, "\n{runnable} cells, in {} s (--for)", lasts.as_secs_f64())
        }
        None => writeln!(text, "\n{runnable} cells, {} trials each (--trials)", plan.trials),
    };
    Ok(text)
}

/// The plan, of which every option has an effect.
fn plan(args: PlanArgs, file: Option<PathBuf>) -> Result<Plan, Failure> {
    let from_file = file.map_or_else(|| Ok(PlanArgs::default()), |path| PlanArgs::read(&path))?;
    let given = args.or(from_file)?;
    let plan = given.clone().or_default()?.plan()?;
    if given.p99_limit.is_some() && plan.rate != Rate::Max {
        return Err(Failure::usage("--p99-limit is for --rate max: give both"));
    }
    let catalog = Catalog::default().with_files(&plan).map_err(Failure::usage)?;
    // What the default plan says is for the workloads that it has.
    let asked =
        Plan { window_ms: plan.window_ms.filter(|_| given.window.is_some()), ..plan.clone() };
    cells::check_effects(&asked, &catalog)?;
    Ok(plan)
}

/// A folder of its own for each run, named by the time in UTC.
pub fn default_out() -> PathBuf {
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    PathBuf::from("results").join(now.strftime("%Y-%m-%d-%H%M%S").to_string())
}
