//! `embermark energy`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use embermark_harness::energy::meter::{MeterOptions, Metered, Record, apply};
use embermark_harness::{RESULT, write_result};
use embermark_report::{format, load};

use super::measure::write_reports;
use super::show::{ReportFacts, ShowArgs};
use crate::error::Failure;
use crate::output;

/// The arguments of `embermark energy`.
#[derive(Args)]
pub struct EnergyArgs {
    /// The result of a run, best made with `embermark run --metered`
    result: PathBuf,

    /// The meter's record: CSV with a header, and columns of time and watts, or of time, volts and amperes
    #[arg(long, value_name = "FILE.csv")]
    meter: PathBuf,

    /// Seconds to add to the meter's times to get the device's [default: found by the load pattern of
    /// --metered; without a pattern, 0]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    offset: Option<f64>,

    /// Power of the idle device [default: the meter's record of the idle time before the first trial]
    #[arg(long, value_name = "WATTS", allow_negative_numbers = true)]
    idle_watts: Option<f64>,

    /// Write the result with its energy to this file [default: RESULT itself, and its page and tables]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Adds the record of a power meter to a result.
pub fn energy(args: &EnergyArgs) -> Result<ExitCode, Failure> {
    if args.offset.is_some_and(|offset| !offset.is_finite()) {
        return Err(usage!("--offset is a number of seconds, such as -3.5"));
    }
    if args.idle_watts.is_some_and(|watts| !(watts >= 0.0 && watts.is_finite())) {
        return Err(usage!("--idle-watts is a power in watts, such as 2.4"));
    }
    let mut result = load(&args.result).map_err(Failure::usage)?;
    let record = Record::read(&args.meter)?;
    let options = MeterOptions { offset: args.offset, idle_watts: args.idle_watts };
    let metered = apply(&mut result, &record, &args.meter, options)?;
    let out = args.out.as_deref().unwrap_or(&args.result);
    write_result(out, &result)?;
    if args.out.is_none() && out.file_name().is_some_and(|name| name == RESULT) {
        let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
        let known = ReportFacts::new(Vec::new());
        write_reports(&result, folder.unwrap_or(Path::new(".")), &ShowArgs::default(), &known);
    }
    output::print(&summary(&metered, out))
}

/// Describes what was added.
fn summary(metered: &Metered, out: &Path) -> String {
    let source = &metered.source;
    let idle = match (source.idle_watts, source.idle_spread_watts) {
        (Some(watts), Some(spread)) => {
            format!("{}, standard deviation {}", format::watts(watts), format::watts(spread))
        }
        (Some(watts), None) => format!("{}, given with --idle-watts", format::watts(watts)),
        (None, _) => {
            "unknown, so only total energies: measure with --metered, or give --idle-watts"
                .to_owned()
        }
    };
    let clock = source.aligned.as_deref().unwrap_or_default();
    let runs = metered.known;
    let mut text = format!("clock   {clock}\nidle    {idle}\nruns    {runs} with their energy\n");
    // Writing to a String cannot fail.
    for (why, count) in &metered.unknown {
        let _ = writeln!(text, "        {count} without: {why}");
    }
    let _ = writeln!(text, "result  {}", out.display());
    text
}
