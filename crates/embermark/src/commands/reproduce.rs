//! `embermark reproduce`: repeats published comparisons, part by part. A part is a piece of a
//! source at one scale. It is a run in its own folder, below that of the repetition.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use embermark_harness::{JOURNAL, RESULT, RunOptions, device};
use embermark_model::result::ResultFile;
use embermark_report::{load, reproduction};

use super::measure::{RunStart, is_failure, measure, write_reports};
use super::options::{OptionArgs, default_out};
use super::show::{RESULT as RESULT_HEADING, ReportFacts, ShowArgs};
use crate::error::{Failure, INTERRUPTED};
use crate::output;
use crate::plan::{CONDITIONS, ENGINES, PlanArgs, TIME, WORK};

mod parts;
mod time_budget;

use parts::Part;
use time_budget::span;

/// File with the parts to repeat, in the folder of the repetition.
pub const PARTS: &str = "as-published.json";

/// Document that is made from the results.
const DOCUMENT: &str = "reproduction.md";

/// The arguments of `embermark reproduce`.
#[derive(Args)]
pub struct ReproduceArgs {
    /// Published comparisons: ulb, mcknight, highfreq, marending, harperdb, or all
    ///
    /// Each has its published scales, settings, clients and repetitions. Options override them. With --device,
    /// only the pieces that emulate this device run. `embermark run --resume` continues an interrupted
    /// repetition.
    #[arg(required = true, value_delimiter = ',', value_name = "SOURCE")]
    sources: Vec<String>,

    /// Repeat only these pieces, by their names in docs/reproduction.md [default: all]
    #[arg(help_heading = WORK, long, value_delimiter = ',', value_name = "PIECE,…")]
    pieces: Vec<String>,

    /// Rows [default: as published]
    #[arg(help_heading = WORK, short, long, value_delimiter = ',', value_name = "ROWS,…")]
    scale: Vec<String>,

    /// Read the rows of `sensors` from this file, plain or gzip [default: synthetic rows]
    #[arg(help_heading = WORK, long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Time for everything, such as 2h; selects pieces behind headlines first, and names those left out
    #[arg(help_heading = TIME, long = "for", value_name = "TIME")]
    within: Option<String>,

    /// Fresh processes per cell [default: as published]
    #[arg(help_heading = TIME, long, value_name = "N")]
    trials: Option<u32>,

    /// Runs of each phase in a trial [default: as published]
    #[arg(help_heading = TIME, long, value_name = "N")]
    runs: Option<u32>,

    /// Run engines whose licence forbids publishing benchmark results; you accept the licence
    #[arg(help_heading = ENGINES, long, value_delimiter = ',', value_name = "ENGINE,…")]
    accept_license: Vec<String>,

    /// Cache memory of each engine [default: as published]
    #[arg(help_heading = CONDITIONS, long, value_name = "SIZE")]
    cache: Option<String>,

    /// Set a key of the plan file: max-run-time, timeout, window, warm-up, warmup-runs, seed
    #[arg(help_heading = RESULT_HEADING, long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    #[command(flatten)]
    options: OptionArgs,
}

/// Begins a repetition, or adds to the one in its folder.
pub fn reproduce(args: ReproduceArgs) -> Result<ExitCode, Failure> {
    let show = &args.options.show;
    show.refuse_format()?;
    let options =
        args.options.run_options(&args.options.out.clone().unwrap_or_else(default_out))?;
    let given = PlanArgs {
        scale: args.scale.clone(),
        data: args.data.clone(),
        trials: args.trials,
        runs: args.runs,
        accept_license: args.accept_license.clone(),
        cache: args.cache.clone(),
        ..PlanArgs::default()
    };
    let given = given.or(PlanArgs::from_settings(&args.set)?)?;
    let all = parts::select(&args.sources, &args.pieces, &given, options.device)?;
    let within = args.within.as_deref().map(time_budget::parse).transpose()?;
    // Parts that have completed there are kept.
    let (completed, all): (Vec<Part>, Vec<Part>) = all
        .into_iter()
        .partition(|part| completed_result(&options.out.join(&part.folder)).is_some());
    let repetition = time_budget::select(all, within);
    if repetition.parts.is_empty() && completed.is_empty() {
        return Err(usage!(
            "nothing fits into the time of --for: {}",
            time_budget::announcement(&repetition)
        ));
    }
    // Every plan is checked before the first one runs.
    let plans = completed.iter().chain(&repetition.parts).map(Part::plan);
    let plans = plans.collect::<Result<Vec<_>, _>>()?;
    show.check_effect(&plans.iter().collect::<Vec<_>>())?;
    let out = &options.out;
    if !is_reproduction(out) && has_other_files(out) {
        return Err(usage!("{} has other files: name another folder with --out", out.display()));
    }
    output::create_folder(out)?;
    say!("{}", time_budget::announcement(&repetition));
    let mut all = if is_reproduction(out) { read_parts(out)? } else { Vec::new() };
    let asked = || completed.iter().chain(&repetition.parts);
    all.retain(|part| asked().all(|new| new.folder != part.folder));
    all.extend(asked().cloned());
    output::write(&out.join(PARTS), serde_json::to_vec_pretty(&all).map_err(Failure::runtime)?)?;
    run_parts(&repetition.parts, repetition.within_s, &options, show)
}

/// Whether a folder has a repetition.
pub fn is_reproduction(out: &Path) -> bool {
    out.join(PARTS).exists()
}

/// Whether a folder has something other than folders of sources, which have only kept results.
fn has_other_files(out: &Path) -> bool {
    let is_source = |entry: fs::DirEntry| {
        let name = entry.file_name();
        embermark_published::all().iter().any(|source| name == *source.id)
    };
    fs::read_dir(out).is_ok_and(|mut all| !all.all(|entry| entry.is_ok_and(is_source)))
}

/// Resumes the repetition in the folder of `options`.
pub fn resume(options: &RunOptions, show: &ShowArgs) -> Result<ExitCode, Failure> {
    show.refuse_format()?;
    let parts = read_parts(&options.out)?;
    let device = options.device.map(|device| device.name);
    if device.is_some() && parts.iter().any(|part| part.device.as_deref() != device) {
        return Err(usage!("its pieces name the devices that they emulate: leave out --device"));
    }
    run_parts(&parts, None, options, show)
}

/// Returns the parts that the folder of a repetition names.
fn read_parts(out: &Path) -> Result<Vec<Part>, Failure> {
    let file = out.join(PARTS);
    let text =
        fs::read(&file).map_err(|error| usage!("cannot read {}: {error}", file.display()))?;
    serde_json::from_slice(&text).map_err(|error| usage!("{}: {error}", file.display()))
}

/// Runs the parts that have not completed, and makes the document of all that have.
fn run_parts(
    parts: &[Part],
    within_s: Option<u64>,
    options: &RunOptions,
    show: &ShowArgs,
) -> Result<ExitCode, Failure> {
    let began = Instant::now();
    let known = ReportFacts::new(Vec::new());
    let (mut failed, mut interrupted) = (false, false);
    let count = parts.len();
    for (number, part) in (1..).zip(parts) {
        let out = options.out.join(&part.folder);
        if completed_result(&out).is_some() {
            continue;
        }
        if let Some(left) = time_budget::too_late(part, within_s, began.elapsed()) {
            say!("{}: left out, {left}", part.folder);
            failed = true;
            continue;
        }
        say!("\n{} ({number} of {count}): {}", part.folder, part.about);
        match run_part(part, &out, options) {
            Ok(Some(result)) if result.manifest.finished.is_some() => {
                failed |= is_failure(&result);
                write_reports(&show.without_forbidden(result), &out, show, &known);
            }
            Ok(_) => {
                say!(
                    "embermark: interrupted; continue with: embermark run --resume {}",
                    output::word(&options.out)
                );
                interrupted = true;
                break;
            }
            Err(failure) => {
                say!("{}: {failure}", part.folder);
                failed = true;
            }
        }
    }
    say!("\nthe parts took {}", span(began.elapsed().as_secs()));
    let all = read_parts(&options.out)?.into_iter();
    let results = all.filter_map(|part| completed_result(&options.out.join(part.folder)));
    let results: Vec<ResultFile> = results.map(|result| show.without_forbidden(result)).collect();
    let document = options.out.join(DOCUMENT);
    output::write(&document, reproduction::markdown(&results))?;
    output::print(&format!(
        "{}\n  all of it  {}\n",
        reproduction::text(&results, output::width()),
        document.display()
    ))?;
    Ok(ExitCode::from(if interrupted { INTERRUPTED } else { u8::from(failed) }))
}

/// Returns the result of a part that completed.
fn completed_result(out: &Path) -> Option<ResultFile> {
    let result = load(&out.join(RESULT)).ok()?;
    result.manifest.finished.is_some().then_some(result)
}

/// Runs or resumes a part.
fn run_part(part: &Part, out: &Path, options: &RunOptions) -> Result<Option<ResultFile>, Failure> {
    let device = part.device.as_deref().map(device::find).transpose().map_err(Failure::usage)?;
    let out = PathBuf::from(out);
    let is_begun = out.join(JOURNAL).exists();
    let count = part.counting && options.count;
    let options = RunOptions { out, device, count, ..options.clone() };
    let plan = part.plan()?;
    let start = if is_begun { RunStart::Resume(None) } else { RunStart::Begin(&plan) };
    measure(start, &options)
}
