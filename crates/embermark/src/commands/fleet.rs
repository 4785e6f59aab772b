//! `embermark fleet`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use embermark_fleet::{DeviceOutcome, FleetError, RunOptions};
use embermark_model::plan::Plan;
use embermark_report::evidence::Record;
use embermark_report::fleet::Fleet;
use embermark_report::{DeviceResult, Format, html};

use super::report::write_runs;
use super::results::{device_results, find_results, load_result};
use crate::error::Failure;
use crate::output;
use crate::plan::PlanArgs;

mod clients;

/// The arguments of `embermark fleet`.
#[derive(Args)]
pub struct FleetArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Write a new fleet: an inventory and a plan for you to edit, and the Ansible playbook
    Init(InitArgs),
    /// Run the plan on every device that has no result of it yet, and fetch the results
    Run(RunArgs),
    /// Make one page of all devices, or one table of all runs
    Report(ReportArgs),
}

#[derive(Args)]
struct InitArgs {
    /// The fleet's folder, new or empty
    #[arg(default_value = "fleet")]
    folder: PathBuf,
    /// Copy the packages for devices, made by `make dist`, from this folder:
    /// embermark-VERSION-linux-ARCHITECTURE.tar.zst
    #[arg(long, value_name = "DIR")]
    packages: Option<PathBuf>,
}

#[derive(Args)]
struct RunArgs {
    /// The fleet's folder
    #[arg(default_value = "fleet")]
    folder: PathBuf,
    /// Run only on devices that match this Ansible pattern: roof,kitchen or a group or '*.example'
    #[arg(long, value_name = "PATTERN")]
    limit: Option<String>,
    /// Use all devices together as clients of one server: ENGINE=URL, or a URL such as postgres://user@db/bench
    ///
    /// The plan's engines are ignored. Of its workloads only the point operations of `sensors`, `contacts`
    /// and `events` run. `clients` counts for each device, `rate` for all together. The password may be in
    /// the environment, as EMBERMARK_PASSWORD_ENGINE.
    #[arg(long, value_name = "ENGINE=URL")]
    clients_of: Option<String>,
    /// Folder for the result of --clients-of [default: clients/TIME in the fleet's folder]
    #[arg(long, value_name = "DIR", requires = "clients_of")]
    out: Option<PathBuf>,
    /// Seconds between two checks of the devices
    #[arg(long, value_name = "SECONDS", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=3600))]
    look_every: u64,
    /// Set a variable of the role (roles/embermark/defaults/main.yml): embermark_space_mb=500; may be repeated
    #[arg(short = 'V', long = "variable", value_name = "NAME=VALUE")]
    variables: Vec<String>,
}

#[derive(Args)]
struct ReportArgs {
    /// The fleet's folder, or results of other devices: files, folders, patterns such as 'results/**/*.json'
    #[arg(default_value = "fleet", value_name = "FOLDER|FILE")]
    of: Vec<PathBuf>,
    /// Write to this file: a page (.html), or every run with its device (.csv, .parquet) [default:
    /// fleet.html in the fleet's folder, or in this one]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Leave out the figures of engines whose licence forbids publishing them
    #[arg(long)]
    publishable: bool,
}

/// Runs one plan on many devices.
pub fn fleet(args: FleetArgs) -> Result<ExitCode, Failure> {
    match args.what {
        What::Init(args) => init(&args),
        What::Run(args) => run(args),
        What::Report(args) => report(&args),
    }
}

fn report(args: &ReportArgs) -> Result<ExitCode, Failure> {
    let fleet = match &args.of[..] {
        [folder] if folder.join(PLAN).is_file() => Some(folder),
        _ => None,
    };
    let default = || fleet.map_or_else(PathBuf::new, PathBuf::clone).join("fleet.html");
    let out = args.out.clone().unwrap_or_else(default);
    let end = out.extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default();
    if !matches!(end.as_str(), "html" | "csv" | "parquet") {
        return Err(usage!(
            "{}: unknown form: the file's name must end in .html, .csv or .parquet",
            out.display()
        ));
    }
    output::check_writable(&out)?;
    let (devices, lacking) = match fleet {
        Some(folder) => fleet_results(folder)?,
        None => (device_results(&find_results(&args.of)?), Vec::new()),
    };
    if devices.is_empty() && lacking.is_empty() {
        return Err(usage!("no device has a result yet: embermark fleet run"));
    }
    let read = |path: &Path| load_result(path, args.publishable);
    let record = Record::with(Vec::new());
    match end.as_str() {
        "csv" => write_runs(&devices, read, &record, Format::Csv, &out)?,
        "parquet" => write_runs(&devices, read, &record, Format::Parquet, &out)?,
        _ => {
            let mut fleet = Fleet::default();
            for DeviceResult { device, path } in &devices {
                fleet.add(device, &read(path).map_err(Failure::usage)?, &record);
            }
            for one in &lacking {
                fleet.lacks(&one.device, &one.outcome.to_string());
            }
            let page = html::fleet_data(fleet).html().map_err(Failure::runtime)?;
            output::write(&out, page)?;
            ExitCode::SUCCESS
        }
    };
    say!("{} of {} devices in {}", devices.len(), devices.len() + lacking.len(), out.display());
    Ok(ExitCode::SUCCESS)
}

/// Returns the devices of a fleet with a result, and those without.
fn fleet_results(fleet: &Path) -> Result<(Vec<DeviceResult>, Vec<DeviceOutcome>), Failure> {
    let measured = embermark_fleet::measured_devices(fleet)?;
    let last = embermark_fleet::last_run(fleet)?;
    let reported = last.into_iter().flat_map(|last| last.devices);
    let lacking = reported.filter(|one| !measured.contains_key(&one.device)).collect();
    let result = |(device, path)| DeviceResult { device, path };
    Ok((measured.into_iter().map(result).collect(), lacking))
}

impl From<FleetError> for Failure {
    fn from(error: FleetError) -> Self {
        if error.is_usage() { Self::usage(error) } else { Self::runtime(error) }
    }
}

fn init(args: &InitArgs) -> Result<ExitCode, Failure> {
    let packages = embermark_fleet::init(&args.folder, args.packages.as_deref())?;
    let folder = args.folder.display();
    say!("wrote {folder}: name the devices in {folder}/inventory.ini, and what they measure in");
    say!("{folder}/{PLAN}, then: embermark fleet run {}", output::word(&args.folder));
    if packages == 0 {
        say!(
            "before that copy the packages for the devices' architectures, as `make dist` makes them, \
             into {folder}/packages"
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn run(args: RunArgs) -> Result<ExitCode, Failure> {
    if args.clients_of.is_none() {
        // Before any device reads it.
        plan_in(&args.folder, read_plan(&args.folder)?)?;
    }
    let options = RunOptions {
        limit: args.limit,
        look_every: Duration::from_secs(args.look_every),
        variables: args.variables,
    };
    if let Some(server) = &args.clients_of {
        return clients::run(&args.folder, server, args.out, &options);
    }
    let last = embermark_fleet::run(&args.folder, &options, |device, says| {
        say!("{device}: {says}");
    })?;
    let width = last.devices.iter().map(|one| one.device.len()).max().unwrap_or_default();
    say!("");
    for one in &last.devices {
        say!("{:<width$}  {}", one.device, one.outcome);
    }
    let here = last.devices.iter().filter(|one| one.outcome.has_result()).count();
    let of = last.devices.len();
    say!("\n{here} of {of} devices have a result of plan {}", last.plan);
    if here < of {
        let folder = output::word(&args.folder);
        say!("the others: embermark fleet run {folder}, which repeats nothing that is done");
    }
    let well = last.devices.iter().all(|one| one.outcome.is_well());
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Path of the plan in a fleet's folder.
const PLAN: &str = "plan/plan.toml";

/// Reads the plan of a fleet.
fn read_plan(fleet: &Path) -> Result<PlanArgs, Failure> {
    let path = fleet.join(PLAN);
    if !path.is_file() {
        return Err(usage!(
            "{} is not the folder of a fleet, as it has no {PLAN}: make one with `embermark fleet init`",
            fleet.display()
        ));
    }
    PlanArgs::read(&path)
}

/// Returns the plan of these arguments, whose paths are relative to the folder of a fleet's plan.
fn plan_in(fleet: &Path, args: PlanArgs) -> Result<Plan, Failure> {
    let here = env::current_dir().map_err(Failure::runtime)?;
    env::set_current_dir(fleet.join("plan")).map_err(Failure::runtime)?;
    let plan = args.plan();
    env::set_current_dir(here).map_err(Failure::runtime)?;
    plan
}
