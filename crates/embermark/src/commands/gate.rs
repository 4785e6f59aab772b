//! `embermark gate`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use embermark_model::result::ResultFile;
use embermark_report::gate::{self, Gate};
use embermark_report::{Format, Options, ReportError, render};

use super::compare;
use super::results::load_result;
use super::show::screen_options;
use crate::error::Failure;
use crate::output;

/// The arguments of `embermark gate`.
#[derive(Args)]
pub struct GateArgs {
    /// The result to compare with; with --old and --new, the result that has both columns
    baseline: PathBuf,

    /// The result to judge
    #[arg(required_unless_present = "old", conflicts_with = "old")]
    new: Option<PathBuf>,

    /// Compare with this column of one result, instead of two results
    #[arg(long, value_name = "COLUMN", requires = "new_column")]
    old: Option<String>,

    /// The column to judge
    #[arg(long = "new", id = "new_column", value_name = "COLUMN", requires = "old")]
    new_column: Option<String>,

    /// Judge only these columns of two results
    #[arg(short, long, value_name = "COLUMN,…", value_delimiter = ',', conflicts_with = "old")]
    engines: Vec<String>,

    /// Allowed slowdown
    #[arg(long, default_value = "5%", value_name = "SHARE", value_parser = parse_share)]
    allow: f64,

    /// Judge although the figures are not comparable
    #[arg(long)]
    force: bool,

    /// Leave out the figures of engines whose licence forbids publishing them
    #[arg(long)]
    publishable: bool,

    /// Form of the output
    #[arg(short, long, default_value = "table")]
    format: Form,

    /// Also write a form into a file: junit=gate.xml; may be repeated
    #[arg(short, long, value_name = "FORM=FILE", value_parser = parse_out)]
    out: Vec<(Form, PathBuf)>,
}

/// A form of a gate's verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For a terminal
    Table,
    /// For a comment on a pull request
    Markdown,
    /// JUnit XML, for a build server
    Junit,
    /// The new times as JSON for bencher.dev
    Bencher,
    /// Everything
    Json,
}

/// Judges a result against another, or a column against another. Exit status 1 if something broke
/// or is slower than allowed, 2 if the results do not show it.
pub fn gate(args: GateArgs) -> Result<ExitCode, Failure> {
    for (_, path) in &args.out {
        output::check_writable(path)?;
    }
    let [old, new] = read(&args)?;
    let gate = gate::gate(&old, &new, args.allow);
    let new_path = args.new.as_deref().unwrap_or(&args.baseline);
    compare::comparable(&gate.differences, [&args.baseline, new_path], args.force)?;
    let options = screen_options();
    for (form, path) in &args.out {
        let plain = Options { colour: false, width: output::FILE_WIDTH, ..options };
        let text = render_gate(&gate, &new, *form, &plain).map_err(Failure::runtime)?;
        output::write(path, text)?;
    }
    output::print(&render_gate(&gate, &new, args.format, &options).map_err(Failure::runtime)?)?;
    Ok(ExitCode::from(gate.outcome.status()))
}

/// Reads the two results, or the two columns of one.
fn read(args: &GateArgs) -> Result<[ResultFile; 2], Failure> {
    let file = |path: &Path| load_result(path, args.publishable).map_err(Failure::usage);
    let baseline = file(&args.baseline)?;
    let in_file = |path: &Path| {
        let place = path.display().to_string();
        move |why: String| usage!("{place}: {why}")
    };
    let Some(new) = &args.new else {
        let (old, new) = args.old.as_deref().zip(args.new_column.as_deref()).unwrap_or_default();
        if old == new && !args.force {
            return Err(usage!(
                "--old and --new are one and the same column, so nothing can differ: name two columns, or judge \
                 it anyway with --force"
            ));
        }
        return gate::columns(&baseline, old, new).map_err(in_file(&args.baseline));
    };
    let new_file = file(new)?;
    if baseline.manifest.run_id == new_file.manifest.run_id && !args.force {
        return Err(usage!(
            "{} and {} are of one and the same run, so nothing can differ: measure the new version in a run of its \
             own, compare two columns of one run with --old and --new, or judge them anyway with --force",
            args.baseline.display(),
            new.display()
        ));
    }
    if args.engines.is_empty() {
        return Ok([baseline, new_file]);
    }
    Ok([
        gate::only(baseline, &args.engines).map_err(in_file(&args.baseline))?,
        gate::only(new_file, &args.engines).map_err(in_file(new))?,
    ])
}

fn render_gate(
    gate: &Gate,
    new: &ResultFile,
    form: Form,
    options: &Options<'_>,
) -> Result<String, ReportError> {
    match form {
        Form::Table => Ok(gate::table(gate, options)),
        Form::Markdown => Ok(gate::markdown(gate)),
        Form::Junit => Ok(gate::junit(gate)),
        Form::Bencher => render(new, Format::Bencher, options),
        Form::Json => gate::json(gate),
    }
}

/// Parses `junit=gate.xml`.
fn parse_out(text: &str) -> Result<(Form, PathBuf), String> {
    let wrong = || {
        format!(
            "'{text}' is not a form and a file: write for example junit=gate.xml; the forms are table, markdown, \
             junit, bencher and json"
        )
    };
    let (form, path) =
        text.split_once('=').filter(|(_, path)| !path.is_empty()).ok_or_else(wrong)?;
    let form = Form::from_str(form, false).map_err(|_| wrong())?;
    Ok((form, path.into()))
}

/// Parses `5%` or `0.05` as a share.
fn parse_share(text: &str) -> Result<f64, String> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse().map(|percent: f64| percent / 100.0),
        None => text.parse(),
    };
    share
        .ok()
        .filter(|share| share.is_finite() && *share >= 0.0)
        .ok_or_else(|| format!("'{text}' is not a share: write for example 5% or 0.05"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_is_a_percentage_or_a_share() {
        assert_eq!((parse_share("5%"), parse_share("0.2")), (Ok(0.05), Ok(0.2)));
        for bad in ["", "%", "-1%", "five", "inf", "nan"] {
            assert!(parse_share(bad).unwrap_err().contains("5%"), "{bad}");
        }
    }

    #[test]
    fn a_file_is_named_with_its_form() {
        assert_eq!(parse_out("junit=a=b.xml"), Ok((Form::Junit, "a=b.xml".into())));
        for bad in ["gate.xml", "junit=", "html=gate.html", ""] {
            assert!(parse_out(bad).unwrap_err().contains("junit=gate.xml"), "{bad}");
        }
    }
}
