//! `embermark run --as-published`: the published comparisons, part by part. A part is a piece of a
//! source at one scale, a run of its own in a folder of its own below the one of the whole.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use embermark_harness::{JOURNAL, RESULT, RunOptions, device};
use embermark_model::result::ResultFile;
use embermark_report::{load, reproduction};

use super::measure::{How, Measured, is_failure, measure, write_beside};
use super::output;
use super::report::{Known, ShowArgs};
use super::run::INTERRUPTED;
use crate::error::Failure;
use crate::plan::PlanArgs;

mod parts;
mod within;

use parts::Part;
use within::span;

/// What is to be repeated, in the folder of the whole.
pub const PARTS: &str = "as-published.json";

/// The document that is made of the results.
const DOCUMENT: &str = "reproduction.md";

/// The options of `embermark run` that repeat published comparisons.
#[derive(Args)]
pub struct RepeatArgs {
    /// Repeat published comparisons as they were run, with the scales, settings, clients and
    /// repetitions of each: ulb, mcknight, highfreq, marending, harperdb, or all. Of the options of a
    /// plan --data, --scale, --runs, --warmup-runs, --trials, --window, --warm-up, --max-run-time,
    /// --timeout, --memory, --seed and --accept-license win over theirs; with --device only the pieces
    /// that emulate it
    #[arg(long, value_delimiter = ',', value_name = "SOURCE,…")]
    as_published: Vec<String>,

    /// Of --as-published only these pieces, by the names that docs/reproduction.md has
    #[arg(
        hide_short_help = true,
        long,
        value_delimiter = ',',
        value_name = "PIECE,…",
        requires = "as_published"
    )]
    pieces: Vec<String>,

    /// The time for --as-published, such as 2h: what is expected not to fit is named and left out
    /// beforehand, the longest first
    #[arg(hide_short_help = true, long, value_name = "TIME", requires = "as_published")]
    within: Option<String>,
}

impl RepeatArgs {
    /// Whether something is to be repeated.
    pub fn is_given(&self) -> bool {
        !self.as_published.is_empty()
    }
}

/// Whether the folder is one of a whole repetition.
pub fn is_repeated(out: &Path) -> bool {
    out.join(PARTS).exists()
}

/// Begins a repetition in the folder of `options`, or adds to the one there.
pub fn begin(
    asked: &RepeatArgs,
    given: &PlanArgs,
    options: RunOptions,
    show: &ShowArgs,
) -> Result<ExitCode, Failure> {
    let all = parts::of(&asked.as_published, &asked.pieces, given, options.device)?;
    let within = asked.within.as_deref().map(within::parsed).transpose()?;
    // What was repeated there before stands.
    let (stand, all): (Vec<Part>, Vec<Part>) =
        all.into_iter().partition(|part| ended(&options.out.join(&part.folder)).is_some());
    let repetition = within::fitted(all, within);
    if repetition.parts.is_empty() && stand.is_empty() {
        return Err(Failure::usage(format!(
            "nothing fits into the time of --within: {}",
            within::announced(&repetition).trim_end()
        )));
    }
    // Every plan is checked before the first is carried out.
    for part in &repetition.parts {
        part.plan()?;
    }
    let out = &options.out;
    if !is_repeated(out) && fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Failure::usage(format!(
            "{} holds something else: name another folder with --out",
            out.display()
        )));
    }
    fs::create_dir_all(out).map_err(Failure::unwritable(out))?;
    say!("{}", within::announced(&repetition).trim_end());
    let mut all = if is_repeated(out) { kept(out)? } else { Vec::new() };
    all.retain(|part| repetition.parts.iter().all(|new| new.folder != part.folder));
    all.extend(repetition.parts.iter().cloned());
    let file = out.join(PARTS);
    let text = serde_json::to_vec_pretty(&all).map_err(Failure::runtime)?;
    fs::write(&file, text).map_err(Failure::unwritable(&file))?;
    carry_out(&repetition.parts, repetition.within_s, &options, show)
}

/// Goes on with the repetition in the folder of `options`.
pub fn go_on(options: &RunOptions, show: &ShowArgs) -> Result<ExitCode, Failure> {
    carry_out(&kept(&options.out)?, None, options, show)
}

/// The parts that the folder of a whole names.
fn kept(out: &Path) -> Result<Vec<Part>, Failure> {
    let file = out.join(PARTS);
    let text = fs::read(&file)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", file.display())))?;
    serde_json::from_slice(&text)
        .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))
}

/// Runs the parts that have not ended, and makes the document of all that have.
fn carry_out(
    parts: &[Part],
    within_s: Option<u64>,
    options: &RunOptions,
    show: &ShowArgs,
) -> Result<ExitCode, Failure> {
    let began = Instant::now();
    let known = Known::with(Vec::new());
    let mut failed = false;
    let count = parts.len();
    for (number, part) in (1..).zip(parts) {
        let out = options.out.join(&part.folder);
        if ended(&out).is_some() {
            continue;
        }
        if let Some(left) = within::too_late(part, within_s, began.elapsed()) {
            say!("{}: left out, {left}", part.folder);
            failed = true;
            continue;
        }
        say!("\n{} ({number} of {count}): {}", part.folder, part.about);
        match carried_out(part, &out, options) {
            Ok(Measured::Complete(result)) => {
                failed |= is_failure(&result);
                write_beside(&show.allowed(result), &out, show, &known);
            }
            Ok(Measured::Interrupted(_)) => {
                say!(
                    "embermark: interrupted; go on with 'embermark run --resume {}'",
                    options.out.display()
                );
                return Ok(ExitCode::from(INTERRUPTED));
            }
            Err(failure) => {
                say!("{}: {failure}", part.folder);
                failed = true;
            }
        }
    }
    say!("\nthe parts took {}", span(began.elapsed().as_secs()));
    let all = kept(&options.out)?.into_iter();
    let results = all.filter_map(|part| ended(&options.out.join(part.folder)));
    let results: Vec<ResultFile> = results.map(|result| show.allowed(result)).collect();
    let document = options.out.join(DOCUMENT);
    let text = reproduction::markdown(&results);
    fs::write(&document, text).map_err(Failure::unwritable(&document))?;
    output::print(&format!(
        "{}\n  all of it  {}\n",
        reproduction::text(&results, output::width()),
        document.display()
    ))?;
    Ok(ExitCode::from(u8::from(failed)))
}

/// The result of a part that came to its end.
fn ended(out: &Path) -> Option<ResultFile> {
    let result = load(&out.join(RESULT)).ok()?;
    result.manifest.finished.is_some().then_some(result)
}

/// Runs a part, or goes on with it.
fn carried_out(part: &Part, out: &Path, options: &RunOptions) -> Result<Measured, Failure> {
    let device = part.device.as_deref().map(device::find).transpose().map_err(Failure::usage)?;
    let out = PathBuf::from(out);
    let goes_on = out.join(JOURNAL).exists();
    let options = RunOptions { out, device, count: part.counting, ..options.clone() };
    let plan = part.plan()?;
    let how = if goes_on { How::GoOn(None) } else { How::Begin(&plan) };
    measure(how, &options)
}
