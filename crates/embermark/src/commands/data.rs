//! `embermark data`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use embermark_data::{Log, export, lab, sample, synthetic};
use embermark_model::{Reading, Scale};

use crate::error::Failure;
use crate::output;

/// Number of rows that are made if neither a file nor a scale is given.
const SYNTHETIC_ROWS: u64 = 10_000;

/// The arguments of `embermark data`.
#[derive(Args)]
pub struct DataArgs {
    /// The Intel Berkeley Research Lab log, plain or gzip [default: synthetic rows]
    file: Option<PathBuf>,

    /// Draw this many rows, evenly over sensors and time
    #[arg(short, long, value_name = "ROWS")]
    scale: Option<Scale>,

    /// Seed of synthetic rows
    #[arg(long, value_name = "N", default_value_t = 42, conflicts_with = "file")]
    seed: u64,

    /// Write the rows here: FILE.csv or FILE.parquet
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Describes rows, and converts them if requested.
pub fn data(args: DataArgs) -> Result<ExitCode, Failure> {
    let form = args.out.as_deref().map(form).transpose()?;
    let mut log = read(&args)?;
    if let (Some(_), Some(Scale::Rows(rows))) = (&args.file, args.scale) {
        let wanted = usize::try_from(rows).map_err(Failure::usage)?;
        log.readings = sample::stratified(&log.readings, wanted).map_err(Failure::usage)?;
    }
    let mut text = describe(&log);
    if let Some((path, form)) = args.out.as_deref().zip(form) {
        write(path, form, &log.readings)?;
        let _ = writeln!(text, "written   {} rows to {}", log.readings.len(), path.display());
    }
    output::print(&text)
}

fn read(args: &DataArgs) -> Result<Log, Failure> {
    match (&args.file, args.scale.unwrap_or(Scale::Rows(SYNTHETIC_ROWS))) {
        (Some(file), _) => lab::read(file).map_err(Failure::usage),
        (None, Scale::Rows(rows)) => synthetic::sampled(rows, args.seed).map_err(Failure::usage),
        (None, Scale::Full) => {
            Err(usage!("synthetic rows have no full scale: give a number of rows"))
        }
    }
}

fn describe(log: &Log) -> String {
    let set = &log.dataset;
    let mut text = format!("data      {}\n", set.name);
    if let Some(digest) = &set.sha256 {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(text, "sha256    {digest}");
    }
    let _ = writeln!(text, "rows      {} of {} sensors", set.rows, set.sensors);
    for (reason, count) in &set.dropped {
        let _ = writeln!(text, "not used  {count}: {reason}");
    }
    for (remark, count) in &set.remarks {
        let _ = writeln!(text, "note      {count}: {remark}");
    }
    text
}

/// A form of rows in a file.
#[derive(Clone, Copy)]
enum Form {
    Csv,
    Parquet,
}

/// Returns the form that the name of a file has, after checking that the file can be written.
fn form(path: &Path) -> Result<Form, Failure> {
    let form = match path.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Form::Csv,
        Some("parquet") => Form::Parquet,
        _ => {
            return Err(usage!(
                "{} is neither .csv nor .parquet: name such a file with --out",
                path.display()
            ));
        }
    };
    output::check_writable(path)?;
    Ok(form)
}

fn write(path: &Path, form: Form, rows: &[Reading]) -> Result<(), Failure> {
    let written = match form {
        Form::Csv => {
            let file = File::create(path).map_err(Failure::unwritable(path))?;
            // It writes out its buffer.
            export::to_csv(rows, BufWriter::new(file))
        }
        Form::Parquet => export::to_parquet(rows, path),
    };
    written.map_err(Failure::unwritable(path))
}
