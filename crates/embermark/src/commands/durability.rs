//! `embermark durability`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use comfy_table::{Table, TableStyle};
use embermark_durability::{
    Experiment, FileSystem, Settings, Tested, Verdict, WorkerProgram, test,
};
use embermark_engines::{Availability, Engine, Tier, registry};
use embermark_harness::interrupt;
use embermark_model::Durability;

use crate::error::Failure;
use crate::plan::or_else;

/// Cache memory of every engine: little, so that it writes what it has changed.
const MEMORY: u64 = 4 << 20;

/// The arguments of `embermark durability`.
#[derive(Args)]
pub struct DurabilityArgs {
    /// Engines to try: ids, or embedded [default: embedded]
    #[arg(value_name = "ENGINE")]
    engines: Vec<String>,

    /// Tiers
    #[arg(
        short = 'd',
        long,
        value_delimiter = ',',
        value_name = "TIER,…",
        default_value = "process,power"
    )]
    durability: Vec<String>,

    /// States of a disk after a power cut to look at, for each engine and tier
    #[arg(long, value_name = "N", default_value_t = 300)]
    states: u32,

    /// Kills, for each engine and tier
    #[arg(long, value_name = "N", default_value_t = 100)]
    kills: u32,

    /// Seed of the work, and of what is cut and killed when
    #[arg(long, value_name = "N", default_value_t = 42)]
    seed: u64,

    /// Folder for databases and devices [default: the system's for temporary files]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// File for the result as JSON
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Kills and cuts, and shows what was left.
pub fn durability(args: DurabilityArgs) -> Result<ExitCode, Failure> {
    let durabilities = args.durability.iter().map(|name| name.parse::<Durability>());
    let durabilities = durabilities.collect::<Result<Vec<_>, _>>().map_err(Failure::usage)?;
    let words = or_else(args.engines, &["embedded"]);
    let engines = words.iter().map(|word| registry::select(word));
    let engines = engines.collect::<Result<Vec<_>, _>>().map_err(Failure::usage)?.concat();
    let program = std::env::current_exe().map_err(Failure::runtime)?;
    let folder = args.dir.unwrap_or_else(std::env::temp_dir);
    let folder = tempfile::Builder::new().prefix("embermark-durability-").tempdir_in(folder);
    let folder = folder.map_err(Failure::runtime)?;
    let settings = Settings {
        folder: folder.path().to_owned(),
        worker: WorkerProgram { program, args: vec!["durability-worker".to_owned()] },
        seed: args.seed,
        states: args.states,
        kills: args.kills,
        file_system: FileSystem::default(),
        memory: MEMORY,
    };
    let interrupt = interrupt::on_signals()?;
    let stop = || interrupt.is_set();
    let mut all = Vec::new();
    for engine in engines {
        for durability in &durabilities {
            for experiment in [Experiment::Kill, Experiment::PowerCut] {
                let name = format!("{} {durability} {}", engine.info().id, experiment.name());
                if let Some(why) = cannot(engine, *durability) {
                    eprintln!("{name}: {why}");
                    continue;
                }
                let begun = Instant::now();
                match test(experiment, engine, *durability, &settings, &stop, &|_| ()) {
                    Ok(tested) => {
                        let (tried, seconds) = (tested.tried, begun.elapsed().as_secs_f64());
                        eprintln!("{name}: {tried} tried in {seconds:.1} s");
                        all.push(tested);
                    }
                    Err(error) => eprintln!("{name}: {error}"),
                }
            }
        }
    }
    print!("{}", table(&all));
    if let Some(path) = args.out {
        let json = serde_json::to_vec_pretty(&all).map_err(Failure::runtime)?;
        std::fs::write(&path, json).map_err(Failure::unwritable(&path))?;
    }
    let broken = all.iter().any(|tested| tested.violations() > 0);
    Ok(ExitCode::from(u8::from(broken)))
}

fn cannot(engine: &dyn Engine, durability: Durability) -> Option<String> {
    match (engine.availability(), engine.tier(durability)) {
        (Availability::Missing { why, remedy }, _) => Some(format!("{why}; {remedy}")),
        (_, Tier::Unsupported { why }) => Some(why.to_owned()),
        _ => None,
    }
}

fn table(all: &[Tested]) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_header([
        "engine",
        "tier",
        "experiment",
        "tried",
        "broken",
        "how",
        "loss",
        "opens in",
        "a commit",
    ]);
    for tested in all {
        let broken = tested.verdicts.iter().filter(|(verdict, _)| **verdict != Verdict::Holds);
        let how: Vec<String> =
            broken.map(|(verdict, count)| format!("{count} {}", verdict.name())).collect();
        let loss = tested.loss.map_or_else(String::new, |loss| {
            format!(
                "{} ({} at worst, {:.1} ms)",
                loss.median_commits, loss.worst_commits, loss.worst_ms
            )
        });
        let commit = tested.commit.map_or_else(String::new, |io| {
            let each = |n: u64| n as f64 / io.commits.max(1) as f64;
            format!("{:.0} B, {:.2} flushes", each(io.bytes), each(io.flushes))
        });
        table.add_row([
            tested.engine.clone(),
            tested.durability.to_string(),
            tested.experiment.name().to_owned(),
            tested.tried.to_string(),
            tested.broken().to_string(),
            how.join(", "),
            loss,
            tested.open_ns.map_or_else(String::new, |ns| format!("{:.1} ms", ns as f64 / 1e6)),
            commit,
        ]);
    }
    format!("{table}\n")
}
