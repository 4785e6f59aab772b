//! The command line of embermark.

mod commands;
mod error;
mod plan;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use embermark_engines::registry;

use commands::{
    advise, compare, data, durability, engines, init, record, report, run, verify, workloads,
};

/// Which database belongs on this device, for this work?
///
/// Measures databases on the machine it runs on, at equal durability, with every answer checked.
#[derive(Parser)]
#[command(name = "embermark", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure engines on workloads; with no arguments the embedded engines at small scales
    Run(Box<run::RunArgs>),
    /// List the engines: what they are, whether they are here, how durable each can be
    Engines(engines::EnginesArgs),
    /// Look at your rows and propose a workload file for them
    Init(init::InitArgs),
    /// List the workloads with their phases and variants, or print one that is a file
    Workloads(workloads::WorkloadsArgs),
    /// Describe, sample and convert the rows of the sensors workload
    Data(data::DataArgs),
    /// Check the answers of engines: every workload on small data, in every variant and tier
    Verify(verify::VerifyArgs),
    /// Kill engines and cut the power under them, in the middle of commits, and look what is left
    Durability(durability::DurabilityArgs),
    /// Write the record of durability that is part of embermark, from results of `durability`
    #[command(hide = true)]
    DurabilityRecord(record::RecordArgs),
    /// Show a result on one screen, as tables, JSON, CSV, Markdown or Parquet
    Report(report::ReportArgs),
    /// Compare two results of one machine: what became faster or slower
    Compare(compare::CompareArgs),
    /// Say which engines fit a need, from results
    Advise(advise::AdviseArgs),
    /// Run one cell, as told on standard input
    #[command(hide = true)]
    Worker,
    /// Do the commits of a durability experiment, as told on standard input
    #[command(hide = true)]
    DurabilityWorker,
    /// Take part in a cell beside its worker, as told on standard input
    #[command(hide = true)]
    Companion,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => run::run(*args),
        Command::Engines(args) => engines::list(&args),
        Command::Init(args) => init::init(args),
        Command::Workloads(args) => workloads::list(&args),
        Command::Data(args) => data::data(args),
        Command::Verify(args) => verify::verify(args),
        Command::Durability(args) => durability::durability(args),
        Command::DurabilityRecord(args) => record::record(args),
        Command::Report(args) => report::report(args),
        Command::Compare(args) => compare::compare(args),
        Command::Advise(args) => advise::advise(args),
        Command::Worker => return embermark_harness::worker_main(),
        Command::DurabilityWorker => return embermark_durability::worker_main(registry::ENGINES),
        Command::Companion => return embermark_harness::companion_main(),
    };
    done.unwrap_or_else(|failure| {
        eprintln!("embermark: {failure}");
        failure.exit_code()
    })
}
