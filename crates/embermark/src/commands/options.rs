//! Options of the commands that execute a plan.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use embermark_harness::energy::EnergyOptions;
use embermark_harness::{RunOptions, device, interrupt};

use super::show::{RESULT as OF_RESULT, ShowArgs};
use crate::error::Failure;
use crate::plan::{CONDITIONS, milliseconds};

/// Options that choose how and where a plan runs.
#[derive(Args)]
pub struct OptionArgs {
    /// Write result, journal and logs to this new folder [default: results/DATE-TIME]
    #[arg(help_heading = OF_RESULT, short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Keep the databases in this folder, on the disk to measure [default: in the result's folder]
    #[arg(help_heading = OF_RESULT, long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Emulate memory and CPU of a device: pi-zero, pi-zero2, pi3, pi3b-plus, pi4, pi5, bananapi-m3
    ///
    /// The result is marked as an emulation. Needs root or a delegated control group (v2).
    #[arg(help_heading = CONDITIONS, long, value_name = "DEVICE")]
    device: Option<String>,

    /// Leave out the trials that count bytes, flushes and sizes
    ///
    /// They run after the timed ones. As root, each has a loop device of its own, which counts the bytes and
    /// flushes that reach a disk. Without root, they only measure the size of a database loaded once.
    #[arg(help_heading = CONDITIONS, hide_short_help = true, long)]
    pub no_counting: bool,

    /// Mark the run for an external power meter with a load pattern before and after it
    ///
    /// Start the meter first, stop it last. `embermark energy` finds the run in its record by the pattern.
    #[arg(help_heading = CONDITIONS, hide_short_help = true, long)]
    metered: bool,

    /// Time to measure the idle power before the first trial, if the machine has a power sensor
    /// [default: 10s]
    #[arg(help_heading = CONDITIONS, hide_short_help = true, long, value_name = "TIME")]
    idle: Option<String>,

    #[command(flatten)]
    pub show: ShowArgs,
}

impl OptionArgs {
    /// Returns the options for a run in the folder `out`.
    pub fn run_options(&self, out: &Path) -> Result<RunOptions, Failure> {
        let device = self.device.as_deref().map(device::find).transpose();
        let mut energy = EnergyOptions { metered: self.metered, ..EnergyOptions::default() };
        if let Some(idle) = &self.idle {
            energy.idle = Duration::from_millis(milliseconds("--idle", idle)?);
        }
        Ok(RunOptions {
            energy,
            data: self.dir.clone(),
            device: device.map_err(Failure::usage)?,
            count: !self.no_counting,
            explain: self.show.explains(),
            interrupt: interrupt::on_signals()?,
            ..RunOptions::new(out)?
        })
    }
}

/// Returns the folder of --dir, which must exist, or else the system's temporary folder.
pub fn databases_folder(dir: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let dir = dir.unwrap_or_else(std::env::temp_dir);
    match dir.is_dir() {
        true => Ok(dir),
        false => Err(usage!("{} is not a folder; name an existing one with --dir", dir.display())),
    }
}

/// Returns a new folder for each run, named by the time in UTC.
pub fn default_out() -> PathBuf {
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    PathBuf::from("results").join(now.strftime("%Y-%m-%d-%H%M%S").to_string())
}
