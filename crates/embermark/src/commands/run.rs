//! `embermark run`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::StyledStr;
use clap::{Arg, Args};
use embermark_harness::cells::{self, PlannedCell};
use embermark_harness::{Catalog, PlanPreview, RESULT, RunOptions, preview};
use embermark_model::CellId;
use embermark_model::plan::{Plan, Rate};
use embermark_report::format::counted;
use embermark_report::{Format, has_runs};
use embermark_workloads::{Info, WORKLOADS};

use super::measure::{RunStart, is_failure, measure, write_reports};
use super::options::{OptionArgs, default_out};
use super::reproduce;
use super::show::{RESULT as OF_RESULT, ReportFacts};
use crate::error::{Failure, INTERRUPTED};
use crate::output;
use crate::plan::{PlanArgs, check_rows, urls};

/// The arguments of `embermark run`.
#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    plan: PlanArgs,

    #[command(flatten)]
    file: FileArgs,

    /// Show what would run and how long it takes, and measure nothing
    #[arg(help_heading = OF_RESULT, long)]
    dry_run: bool,

    /// Continue the interrupted run in this folder
    ///
    /// Finished trials are not repeated. The run keeps its plan.
    #[arg(help_heading = OF_RESULT, long, value_name = "DIR", conflicts_with_all = ["out", "dry_run"])]
    resume: Option<PathBuf>,

    #[command(flatten)]
    options: OptionArgs,
}

/// The arguments of `embermark rate`.
#[derive(Args)]
pub struct RateArgs {
    /// Largest allowed 99th percentile of commit latency [default: 100ms]
    #[arg(long, value_name = "TIME", conflicts_with = "resume")]
    p99_limit: Option<String>,

    #[command(flatten)]
    run: RunArgs,
}

/// Where a plan is read from.
#[derive(Args)]
pub struct FileArgs {
    /// Read options from a plan file; the command line wins
    ///
    /// TOML with the long names of options as keys, except --device, --no-counting, --metered, --idle
    /// and those under Result. `embermark workloads default` prints one.
    #[arg(help_heading = OF_RESULT, long, value_name = "FILE.toml")]
    pub plan: Option<PathBuf>,

    /// Set a key of the plan file: --set max-run-time=1s
    ///
    /// Keys without an option: max-run-time, the longest time of one run of a phase, or none [default: 20s].
    /// timeout, of one trial [default: 30m]. window, the time of a phase of fixed length [default: 100ms,
    /// machine 30s, retention 10m]. warm-up, of machine before its window [default: 5s]. warmup-runs, which
    /// are not counted [default: 1]. p99-limit. disk-size, of the file system of retention. seed, of
    /// synthetic rows and all orders [default: 42].
    #[arg(help_heading = OF_RESULT, long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// Replaces the default in the help of an argument.
pub fn with_default(arg: Arg, default: &str) -> Arg {
    let replaced = |help: Option<&StyledStr>| {
        let help = help?.to_string();
        let (head, tail) = help.split_once("[default: ")?;
        let (_, tail) = tail.split_once(']')?;
        Some(format!("{head}[default: {default}]{tail}"))
    };
    let (short, long) = (replaced(arg.get_help()), replaced(arg.get_long_help()));
    let arg = short.into_iter().fold(arg, Arg::help);
    long.into_iter().fold(arg, Arg::long_help)
}

/// Finds the highest sustained rate. Without a workload, uses the first one that searches for a
/// rate.
pub fn rate(args: RateArgs) -> Result<ExitCode, Failure> {
    let mut run = args.run;
    if run.resume.is_none() {
        let set = PlanArgs::from_settings(&run.file.set)?;
        let given = [("--rate", &run.plan.rate), ("--set rate", &set.rate)];
        if let Some((option, _)) = given.iter().find(|(_, rate)| rate.is_some()) {
            return Err(usage!(
                "`embermark rate` finds the rate: leave out {option}, or measure at it with `embermark run`"
            ));
        }
        run.plan.rate = Some(Rate::Max.to_string());
        run.plan.p99_limit = args.p99_limit;
        if run.plan.workloads.is_empty() && run.file.plan.is_none() {
            let searches = |info: &Info| !info.searches.is_empty();
            let first = WORKLOADS.iter().map(|workload| workload.info()).find(searches);
            run.plan.workloads = first.iter().map(|info| info.id.to_owned()).collect();
        }
    }
    self::run(run)
}

/// Measures a plan, and shows the result.
pub fn run(args: RunArgs) -> Result<ExitCode, Failure> {
    let out = args.resume.clone().or(args.options.out.clone()).unwrap_or_else(default_out);
    let given = args.plan.or(PlanArgs::from_settings(&args.file.set)?)?;
    let args = RunArgs { plan: given, ..args };
    let show = &args.options.show;
    let format = show.format()?;
    if format == Some(Format::Parquet) {
        return Err(usage!(
            "Parquet is not text: leave out --format, and convert the result with `embermark report`"
        ));
    }
    // A resumed run may lack only these, because its journal has no secrets.
    let only_urls = PlanArgs { url: args.plan.url.clone(), ..PlanArgs::default() };
    let has_only_urls = args.plan == only_urls;
    let resumed = args.resume.is_some() && has_only_urls;
    let options = RunOptions {
        urls: if resumed { urls(&args.plan.url)? } else { BTreeMap::new() },
        ..args.options.run_options(&out)?
    };
    if args.resume.is_some() && reproduce::is_reproduction(&out) {
        if args.plan != PlanArgs::default() || args.file.plan.is_some() {
            return Err(usage!("it keeps its plans: leave out the options of a plan"));
        }
        return reproduce::resume(&options, show);
    }
    // With --resume a plan is optional. If it is given, it must be that of the run.
    let asked = args.resume.is_none() || !has_only_urls || args.file.plan.is_some();
    let plan = asked.then(|| plan(args.plan, args.file.plan)).transpose()?;
    if args.options.no_counting && plan.as_ref().is_some_and(|plan| !plan.cards.is_empty()) {
        return Err(usage!(
            "--card models what the trials record that --no-counting leaves out: leave out one of them"
        ));
    }
    let start = match &plan {
        Some(plan) if args.resume.is_none() => {
            show.check_effect(&[plan])?;
            if args.dry_run {
                check_rows(plan)?;
                return output::print(&shown(plan, &options)?);
            }
            RunStart::Begin(plan)
        }
        plan => RunStart::Resume(plan.as_ref()),
    };
    let Some(result) = measure(start, &options)? else {
        say!("embermark: interrupted before a trial had ended");
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let is_interrupted = result.manifest.finished.is_none();
    let is_empty = !has_runs(&result);
    let status = match is_interrupted {
        true => INTERRUPTED,
        false => u8::from(is_empty || is_failure(&result)),
    };
    // Everything is saved. From here on a signal ends the program at once, even while the page is
    // made.
    options.interrupt.set();
    let result = show.without_forbidden(result);
    let known = ReportFacts { rows_per_day: show.rows_per_day, ..ReportFacts::new(Vec::new()) };
    write_reports(&result, &out, show, &known);
    show.print(&known, &result, format, &out.join(RESULT))?;
    if is_interrupted {
        // Printed below the screen, where it stays visible.
        say!(
            "embermark: interrupted; the finished trials are kept; continue with: embermark run --resume {}",
            output::word(&out)
        );
    } else if is_empty {
        say!("embermark: nothing was measured; the reasons are above");
    }
    Ok(ExitCode::from(status))
}

/// Describes what a plan measures, one line per table, and how long it takes as far as that is
/// known.
fn shown(plan: &Plan, options: &RunOptions) -> Result<String, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::runtime)?;
    let preview = preview(plan, options, folder.path()).map_err(Failure::usage)?;
    let PlanPreview { cells, device_storage } = preview;
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
            let why = left.iter().find_map(|cell| cell.lacks_storage());
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            let left: Vec<&str> = left.iter().map(|cell| cell.id.engine.as_str()).collect();
            let _ = writeln!(text, "  left out {}{why}", left.join(", "));
        }
    }
    let runnable: Vec<_> = cells.into_iter().filter(|cell| cell.skip.is_none()).collect();
    let cells = counted(runnable.len() as u64, "cell");
    let catalog = options.catalog.with_files(plan).map_err(Failure::usage)?;
    let _ = match plan.lasts_ms.map(Duration::from_millis) {
        Some(lasts) => {
            let may = cells::may_exceed(plan, &runnable, &catalog)?;
            let may = may.map_or_else(
                || "; runs that would take longer are stopped".to_owned(),
                |why| format!(" or longer: {why}"),
            );
            writeln!(text, "\n{cells}, in {} s (--for){may}", lasts.as_secs_f64())
        }
        None => {
            let trials = counted(u64::from(plan.trials), "trial");
            writeln!(text, "\n{cells}, {trials} each (--trials)")
        }
    };
    if let Some((device, storage)) = options.device.zip(device_storage) {
        let name = device.name;
        let _ = match storage {
            Ok(card) => writeln!(
                text,
                "{name} takes the storage {card}, which is imitated; --storage names another one, and none for this \
                 machine's disk"
            ),
            Err(why) => writeln!(
                text,
                "the databases are on this machine's disk, because the card that {name} usually has cannot be imitated here: \
                 {why}"
            ),
        };
    }
    Ok(text)
}

/// Returns the plan, after checking that every option has an effect.
fn plan(args: PlanArgs, file: Option<PathBuf>) -> Result<Plan, Failure> {
    let from_file = file.map_or_else(|| Ok(PlanArgs::default()), |path| PlanArgs::read(&path))?;
    let given = args.or(from_file)?;
    let plan = given.clone().or_default()?.plan()?;
    if given.p99_limit.is_some() && plan.rate != Rate::Max {
        return Err(usage!("p99-limit is for `embermark rate`: leave it out"));
    }
    let catalog = Catalog::default().with_files(&plan).map_err(Failure::usage)?;
    // Settings of the default plan apply only to workloads that have them.
    let asked =
        Plan { window_ms: plan.window_ms.filter(|_| given.window.is_some()), ..plan.clone() };
    cells::check_effects(&asked, &catalog)?;
    Ok(plan)
}
