//! `embermark compare`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use embermark_report::compare::Differences;
use embermark_report::{Format, compare};

use super::results::load_result;
use super::show::screen_options;
use crate::error::Failure;
use crate::output;

/// The arguments of `embermark compare`.
#[derive(Args)]
pub struct CompareArgs {
    /// The result to compare with
    old: PathBuf,

    /// The result to compare
    new: PathBuf,

    /// Compare although the figures are not comparable
    #[arg(long)]
    force: bool,

    /// Leave out the figures of engines whose licence forbids publishing them
    #[arg(long)]
    publishable: bool,

    /// table, json, csv or markdown
    #[arg(short, long, default_value = "table")]
    format: String,
}

/// Shows two results side by side.
pub fn compare(args: CompareArgs) -> Result<ExitCode, Failure> {
    let format: Format = args.format.parse().map_err(Failure::usage)?;
    let file = |path: &Path| load_result(path, args.publishable).map_err(Failure::usage);
    let (old, new) = (file(&args.old)?, file(&args.new)?);
    let changes = compare::compare(&old, &new);
    comparable(&changes.differences, [&args.old, &args.new], args.force)?;
    let options = screen_options();
    let text = match format {
        Format::Table => Ok(compare::table(&changes, &options)),
        Format::Markdown => Ok(compare::markdown(&changes)),
        Format::Json => compare::json(&changes),
        Format::Csv => compare::csv(&changes),
        Format::Parquet | Format::Bencher => {
            return Err(usage!("a comparison is shown as table, json, csv or markdown"));
        }
    };
    output::print(&text.map_err(Failure::runtime)?)
}

/// Refuses two results whose figures cannot be compared, with every reason.
pub fn comparable(
    differences: &Differences,
    [old, new]: [&Path; 2],
    force: bool,
) -> Result<(), Failure> {
    let reasons = &differences.incomparable;
    if reasons.is_empty() || force {
        return Ok(());
    }
    Err(usage!(
        "{} and {} cannot be compared (--force compares anyway):\n  {}",
        old.display(),
        new.display(),
        reasons.join("\n  ")
    ))
}
