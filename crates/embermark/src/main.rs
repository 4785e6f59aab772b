//! The command line of embermark.

/// Prints a message to the user on standard error, like [`output::say`].
macro_rules! say {
    ($($words:tt)*) => { $crate::output::say(&format!($($words)*)) };
}

/// Makes the failure of an invalid request from a message, like [`error::Failure::usage`].
macro_rules! usage {
    ($($words:tt)*) => { $crate::error::Failure::usage(format!($($words)*)) };
}

mod commands;
mod error;
mod output;
mod plan;
#[cfg(test)]
mod tests;

use std::env::{self, consts};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use embermark_engines::engine_library::{self, Described};
use embermark_engines::registry;
use embermark_harness::{client_machines, passwords};

use crate::error::Failure;
use commands::{
    advise, check, compare, completions, data, doctor, durability, energy, engines, fleet,
    footprint, gate, init, record, report, reproduce, run, site, snippet, storage, tune, verify,
    workloads,
};

/// Which database belongs on this device, for this work?
///
/// embermark measures databases on this machine, at equal durability, and checks every answer.
#[derive(Parser)]
#[command(name = "embermark", version, long_version = long_version(), max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure engines on workloads; without arguments the work of a device, in five minutes
    Run(Box<run::RunArgs>),
    /// Find the engine settings that are fastest for a workload and keep its durability tier
    Tune(Box<tune::TuneArgs>),
    /// Find the highest rate that engines sustain without losing rows
    ///
    /// The workload is `machine` by default, or a workload file with a phase `arrive`, for example one that
    /// `embermark init` proposes for your rows.
    #[command(mut_arg("rate", |rate| rate.hide(true)))]
    #[command(mut_arg("workloads", |arg| run::with_default(arg, "machine")))]
    #[command(mut_arg("tier", |arg| run::with_default(arg, "process")))]
    #[command(mut_arg("lasts", |arg| run::with_default(arg, "by --effort")))]
    Rate(Box<run::RateArgs>),
    /// Repeat published comparisons as they were run
    Reproduce(Box<reproduce::ReproduceArgs>),
    /// Describe this device, and what would disturb a measurement on it
    Doctor(doctor::DoctorArgs),
    /// List the engines: what they are, whether they are installed, how durable each can be
    Engines(engines::EnginesArgs),
    /// Show what each engine takes while it has nothing to do: files, memory, disk, CPU, time to open
    Footprint(footprint::FootprintArgs),
    /// Read your rows and propose a workload file for them
    Init(init::InitArgs),
    /// Print the code that opens and configures an engine like a measured client
    Snippet(snippet::SnippetArgs),
    /// List the workloads with their phases and variants, or print a workload file
    Workloads(workloads::WorkloadsArgs),
    /// List the storages that embermark can imitate, try one, or measure a device
    Storage(storage::StorageArgs),
    /// Describe, sample and convert the rows of the sensors workload
    Data(data::DataArgs),
    /// Check the answers of engines: every workload on small data, in every variant and tier
    Verify(verify::VerifyArgs),
    /// Kill engines and cut the power during commits, and check what is left
    Durability(durability::DurabilityArgs),
    /// Add results of `durability` to the record that is part of embermark
    #[command(hide = true)]
    DurabilityRecord(record::RecordArgs),
    /// Show a result on one screen, as tables, JSON, CSV, Markdown or Parquet
    Report(report::ReportArgs),
    /// Make a static site of many results, with a choice of engines and machines and a ranking
    Site(site::SiteArgs),
    /// Compare two results of one machine: what became faster or slower
    Compare(compare::CompareArgs),
    /// Fail a build if a result is slower than another by more than allowed
    Gate(gate::GateArgs),
    /// Check whether a result may be published, rule by rule
    Check(check::CheckArgs),
    /// Recommend engines for your needs, from results
    Advise(advise::AdviseArgs),
    /// Add the record of an external power meter to a result: joules of its runs
    Energy(energy::EnergyArgs),
    /// Run one plan on many devices over SSH, with Ansible
    Fleet(fleet::FleetArgs),
    /// Print the completion script of a shell
    Completions(completions::CompletionsArgs),
    /// Print the manual page of embermark or of one of its commands, in troff
    Man(completions::ManArgs),
    /// Run the cell that standard input describes
    #[command(hide = true)]
    Worker,
    /// Do the commits of a durability experiment that standard input describes
    #[command(hide = true)]
    DurabilityWorker {
        /// The library of its engine
        #[arg(long)]
        engine_library: Option<PathBuf>,
    },
    /// Assist the worker of a cell with the task that standard input describes
    #[command(hide = true)]
    Companion,
    /// Be a client machine of a server, with orders from standard input
    #[command(hide = true)]
    ClientMachine {
        /// facts: describe this machine; start: start its process; order: send it orders; serve: be the process
        #[arg(value_parser = ["facts", "start", "order", "serve"])]
        what: String,
        /// The process's folder
        dir: PathBuf,
    },
}

/// Returns the version, and what is built in.
fn long_version() -> String {
    let ids: Vec<&str> = registry::ENGINES.iter().map(|engine| engine.info().id).collect();
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    format!(
        "{}\nbuilt for {} {} ({profile})\nengines built in: {}",
        env!("CARGO_PKG_VERSION"),
        consts::OS,
        consts::ARCH,
        ids.join(", ")
    )
}

/// Loads the library of an engine into this process, under the id that is given with it.
fn load_engine_library(given: &Path) -> Result<(), Failure> {
    let (id, path) = engine_library::split_id(given);
    let described = Described::load(path);
    let described = described.map(|own| id.map_or(own.clone(), |id| own.with_id(id)));
    let added = described.and_then(engine_library::add);
    added.map(drop).map_err(Failure::usage)
}

/// Prints clap's answer to a command line, which repeats words of it: help or an error.
fn print_clap_error(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        say!("{}", error.to_string().trim_end());
    } else if let Err(failed) = error.print()
        // A reader that closes the pipe early is not an error.
        && failed.kind() != io::ErrorKind::BrokenPipe
    {
        say!("embermark: cannot write to standard output: {failed}");
        return ExitCode::from(1);
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

fn main() -> ExitCode {
    // SAFETY: no thread has been started.
    unsafe { passwords::take_from_environment() };
    // An empty TMPDIR counts as not set, also for the programs that this one starts.
    if env::var_os("TMPDIR").is_some_and(|folder| folder.is_empty()) {
        // SAFETY: no thread has been started.
        unsafe { env::remove_var("TMPDIR") };
    }
    let command = match Cli::try_parse() {
        Ok(cli) => cli.command,
        Err(error) => return print_clap_error(&error),
    };
    let done = match command {
        Command::Run(args) => run::run(*args),
        Command::Tune(args) => tune::tune(*args),
        Command::Rate(args) => run::rate(*args),
        Command::Reproduce(args) => reproduce::reproduce(*args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Engines(args) => engines::list(&args),
        Command::Footprint(args) => footprint::show(args),
        Command::Init(args) => init::init(args),
        Command::Snippet(args) => snippet::print(&args),
        Command::Workloads(args) => workloads::list(&args),
        Command::Storage(args) => storage::storage(args),
        Command::Data(args) => data::data(args),
        Command::Verify(args) => verify::verify(args),
        Command::Durability(args) => durability::durability(args),
        Command::DurabilityRecord(args) => record::record(args),
        Command::Report(args) => report::report(args),
        Command::Site(args) => site::site(&args),
        Command::Compare(args) => compare::compare(args),
        Command::Gate(args) => gate::gate(args),
        Command::Check(args) => check::check(&args),
        Command::Advise(args) => advise::advise(args),
        Command::Energy(args) => energy::energy(&args),
        Command::Fleet(args) => fleet::fleet(args),
        Command::Completions(args) => completions::completions(&args, Cli::command()),
        Command::Man(args) => completions::man(&args, Cli::command()),
        Command::Worker => return embermark_harness::worker_main(),
        Command::DurabilityWorker { engine_library } => {
            let opened = engine_library.map_or(Ok(()), |path| load_engine_library(&path));
            opened.map(|()| embermark_durability::worker_main(registry::all()))
        }
        Command::Companion => return embermark_harness::companion_main(),
        Command::ClientMachine { what, dir } => {
            return match &*what {
                "facts" => client_machines::facts(&dir),
                "start" => client_machines::start_machine(&dir),
                "order" => client_machines::order(&dir),
                _ => client_machines::serve_machine(&dir),
            };
        }
    };
    done.unwrap_or_else(|failure| {
        failure.print();
        failure.exit_code()
    })
}
