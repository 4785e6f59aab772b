//! `embermark report`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use embermark_model::result::ResultFile;
use embermark_report::evidence::Record;
use embermark_report::{DeviceResult, Format, ReportError, csv_of, parquet_of, reproduction};

use super::page;
use super::results::{device_results, find_results, load_result, load_results};
use super::show::{ReportFacts, ShowArgs};
use crate::error::Failure;
use crate::output;

/// The arguments of `embermark report`.
#[derive(Args)]
pub struct ReportArgs {
    /// Result files of `embermark run`, folders with results, and patterns such as 'results/**/*.json'
    ///
    /// embermark reads every result in a folder and below it. Several results go into one HTML page (-o
    /// FILE.html) or into one table of all runs (-o FILE.csv or FILE.parquet).
    #[arg(required = true, value_name = "RESULT")]
    results: Vec<PathBuf>,

    /// Compare the results of `embermark reproduce` with the published headlines, in Markdown
    #[arg(long)]
    reproduction: bool,

    /// Write to this file; .html, .csv, .json, .md or .parquet choose the form [default: standard output]
    ///
    /// .html is a page. With another ending the form is that of --format, or all tables.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Result of `embermark durability` on this machine, a file or its folder; may be repeated
    ///
    /// Its findings take precedence over those that come with embermark.
    #[arg(long, value_name = "FILE")]
    durability: Vec<PathBuf>,

    #[command(flatten)]
    show: ShowArgs,
}

/// Shows a result file, or makes a page of one or several.
pub fn report(args: ReportArgs) -> Result<ExitCode, Failure> {
    let by_name = args.out.as_deref().and_then(format_by_name);
    let format = args.show.format()?.or(by_name);
    let is_page = |out: &Path| out.extension().is_some_and(|end| end.eq_ignore_ascii_case("html"));
    if args.reproduction {
        return write_reproduction(&args);
    }
    args.out.as_deref().map_or(Ok(()), output::check_writable)?;
    let page = args.out.as_deref().filter(|out| is_page(out));
    let paths = find_results(&args.results)?;
    if page.is_none() && paths.len() > 1 {
        return write_table_of_all(&args, &paths, format);
    }
    let results = load_results(&paths, args.show.publishable)?;
    args.show.check_effect(&results.iter().map(|result| &result.plan).collect::<Vec<_>>())?;
    let known = ReportFacts::new(args.show.read_durability(&args.durability)?);
    let known = ReportFacts { rows_per_day: args.show.rows_per_day, ..known };
    if let Some(page) = page {
        let named: Vec<(&Path, &ResultFile)> =
            paths.iter().map(PathBuf::as_path).zip(&results).collect();
        page::write(&named, page, &known)?;
        return Ok(ExitCode::SUCCESS);
    }
    // Exactly one is left, because several were handled above.
    let (path, result) = (&paths[0], &results[0]);
    let Some(out) = args.out else {
        return args.show.print(&known, result, format, path);
    };
    let format = format.unwrap_or(Format::Table);
    if format == Format::Parquet {
        let one = DeviceResult { device: embermark_report::label(path), path: path.clone() };
        parquet_of(&[one], |_| Ok(result), &known.durability, &out)
            .map_err(Failure::unwritable(&out))?;
    } else {
        // Made before the file is opened, so that an error leaves an existing file as it is.
        output::write(&out, args.show.text(&known, result, format, path)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the form that a file's name asks for by its ending.
fn format_by_name(out: &Path) -> Option<Format> {
    match out.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "csv" => Some(Format::Csv),
        "json" => Some(Format::Json),
        "md" => Some(Format::Markdown),
        "parquet" => Some(Format::Parquet),
        _ => None,
    }
}

/// Writes every run of several results into one table.
fn write_table_of_all(
    args: &ReportArgs,
    paths: &[PathBuf],
    format: Option<Format>,
) -> Result<ExitCode, Failure> {
    let (Some(out), Some(format @ (Format::Csv | Format::Parquet))) = (&args.out, format) else {
        return Err(usage!(
            "{} results go into one page, with -o report.html, or into one table of all runs, with -o \
             runs.csv or -o runs.parquet; `embermark fleet report` compares many devices",
            paths.len()
        ));
    };
    let known = ReportFacts::new(args.show.read_durability(&args.durability)?);
    let read = |path: &Path| load_result(path, args.show.publishable);
    write_runs(&device_results(paths), read, &known.durability, format, out)
}

/// Writes every run of these results into `out`, as CSV or Parquet.
pub fn write_runs(
    all: &[DeviceResult],
    read: impl Fn(&Path) -> Result<ResultFile, ReportError>,
    durability: &Record,
    format: Format,
    out: &Path,
) -> Result<ExitCode, Failure> {
    let written = match format {
        Format::Parquet => parquet_of(all, read, durability, out),
        _ => csv_of(all, read, durability, BufWriter::new(LateFile { path: out, file: None })),
    };
    written.map_err(|error| match error {
        ReportError::Csv(_) | ReportError::Parquet(_) => Failure::unwritable(out)(error),
        // An unreadable result.
        _ => Failure::usage(error),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// A file that its first write creates. An error before that leaves an existing file as it is.
struct LateFile<'a> {
    path: &'a Path,
    file: Option<File>,
}

impl Write for LateFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(File::create(self.path)?),
        };
        file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), File::flush)
    }
}

/// Writes or prints the comparison of results with published ones.
fn write_reproduction(args: &ReportArgs) -> Result<ExitCode, Failure> {
    let results = load_results(&find_results(&args.results)?, args.show.publishable)?;
    if results.iter().all(|result| result.plan.repeats.is_none()) {
        return Err(usage!(
            "none of these results repeats a published comparison: `embermark reproduce` makes \
             them"
        ));
    }
    let text = reproduction::markdown(&results);
    match &args.out {
        Some(out) => {
            output::write(out, text)?;
            Ok(ExitCode::SUCCESS)
        }
        None => output::print(&text),
    }
}
