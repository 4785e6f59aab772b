//! `embermark compare`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use embermark_model::result::ResultFile;
use embermark_report::{Format, Options, compare, load};

use super::output;
use crate::error::Failure;

/// The arguments of `embermark compare`.
#[derive(Args)]
pub struct CompareArgs {
    /// The result to compare with
    old: PathBuf,

    /// The result that is compared
    new: PathBuf,

    /// How much slower counts as a regression, where the interval shows it
    #[arg(long, default_value = "5%", value_name = "SHARE")]
    threshold: String,

    /// Look at the figures although they are not comparable
    #[arg(long)]
    force: bool,

    /// Leave out the figures of engines whose licence forbids publishing them
    #[arg(long)]
    publishable: bool,

    /// table, json, csv or markdown
    #[arg(short, long, default_value = "table")]
    format: String,
}

/// Compares two results; exit status 1 on a regression.
pub fn compare(args: CompareArgs) -> Result<ExitCode, Failure> {
    let format: Format = args.format.parse().map_err(Failure::usage)?;
    let threshold = threshold(&args.threshold)?;
    let file = |path| {
        let shown = |file: ResultFile| if args.publishable { file.publishable() } else { file };
        load(path).map(shown).map_err(Failure::usage)
    };
    let (old, new) = (file(&args.old)?, file(&args.new)?);
    let changes = compare::compare(&old, &new, threshold);
    let reasons = &changes.differences.incomparable;
    if !reasons.is_empty() && !args.force {
        return Err(Failure::usage(format!(
            "{} and {} cannot be compared (--force looks all the same):\n  {}",
            args.old.display(),
            args.new.display(),
            reasons.join("\n  ")
        )));
    }
    let options =
        Options { width: output::width(), colour: output::colour(), ..Options::default() };
    let text = match format {
        Format::Table => Ok(compare::table(&changes, &options)),
        Format::Markdown => Ok(compare::markdown(&changes)),
        Format::Json => compare::json(&changes),
        Format::Csv => compare::csv(&changes),
        Format::Parquet => {
            return Err(Failure::usage("a comparison is shown as table, json, csv or markdown"));
        }
    };
    output::print(&text.map_err(Failure::runtime)?)?;
    Ok(ExitCode::from(u8::from(changes.regressed())))
}

/// `5%` or `0.05` as a share.
fn threshold(text: &str) -> Result<f64, Failure> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse().map(|percent: f64| percent / 100.0),
        None => text.parse(),
    };
    share.ok().filter(|share| share.is_finite() && *share >= 0.0).ok_or_else(|| {
        Failure::usage(format!("--threshold '{text}' is not a share: write for example 5% or 0.05"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_a_percentage_or_a_share() {
        assert_eq!(threshold("5%").unwrap(), 0.05);
        assert_eq!(threshold("0.2").unwrap(), 0.2);
        for bad in ["", "%", "-1%", "five", "inf", "nan"] {
            let error = threshold(bad).unwrap_err().to_string();
            assert!(error.contains("--threshold"), "{bad}: {error}");
        }
    }
}
