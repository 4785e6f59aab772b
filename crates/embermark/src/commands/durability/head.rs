//! What a run tests: its options, checked.

use std::fs;

use embermark_durability::FileSystem;
use embermark_durability::journal::{Head, SCHEMA};
use embermark_harness::{Catalog, WorkerCommand, check_settings};
use embermark_model::Durability;

use super::args::DurabilityArgs;
use crate::error::Failure;
use crate::plan::{direct_columns, engine_libraries, or_else, storages};

/// Default number of disk states: for an embedded engine, and for a server.
const STATES: [u32; 2] = [300, 60];
const MIB: u64 = 1 << 20;

/// Checks the options and returns the head of the run's journal.
pub(super) fn head(args: &DurabilityArgs) -> Result<Head, Failure> {
    let storage = storages(args.storage.as_slice())?.into_iter().flatten().next();
    if storage.is_some() {
        check_kills_only(args)?;
    }
    let engine_libraries = engine_libraries(&args.engine_library)?;
    let DurabilityArgs { engines, engine_library, configuration, accept_license, .. } = args;
    let (words, configurations, engines) =
        direct_columns("durability", engines, engine_library, configuration, accept_license)?;
    let cuts = storage.is_none();
    let usual = STATES.map(|states| if cuts { states } else { 0 });
    let [states, server_states] = usual.map(|states| args.states.unwrap_or(states));
    let durabilities = or_else(args.tier.clone(), &["process", "power"]);
    let durabilities = durabilities.iter().map(|name| name.parse::<Durability>());
    let durabilities = durabilities.collect::<Result<Vec<_>, _>>().map_err(Failure::usage)?;
    let (dir, catalog) = (std::env::temp_dir(), Catalog::default());
    let tried = check_settings(
        &configurations,
        &durabilities,
        &dir,
        &WorkerCommand::this_program()?,
        &catalog,
    )?;
    tried.iter().for_each(|says| say!("{says}"));
    let fills = if args.full_disk { args.fills } else { 0 };
    if args.kills.max(states).max(server_states).max(fills) == 0 {
        return Err(usage!(
            "nothing would be tested: give --kills or --states at least 1 (short works are a part of the states), or \
             --full-disk"
        ));
    }
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Ok(Head {
        schema: SCHEMA.to_owned(),
        begun: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        embermark: env!("CARGO_PKG_VERSION").to_owned(),
        kernel: format!("Linux {}", kernel.trim()),
        named: engines.iter().filter(|id| words.contains(id)).cloned().collect(),
        engines,
        engine_libraries,
        configurations,
        durabilities,
        states,
        server_states,
        short_works: if cuts { args.short_works } else { 0 },
        kills: args.kills,
        clients: args.clients.unwrap_or(0),
        accepted_licences: args.accept_license.clone(),
        file_system: file_system(&args.fs)?.name().to_owned(),
        device_lies: args.device_lies,
        over_s: args.over,
        fills,
        disk_bytes: args.full_disk.then(|| u64::from(args.disk_mib) * MIB),
        storage,
        seed: args.seed,
    })
}

/// Refuses what cannot be tested on an imitated storage.
fn check_kills_only(args: &DurabilityArgs) -> Result<(), Failure> {
    let others = [
        ("--states", args.states.is_some_and(|states| states > 0)),
        ("--device-lies", args.device_lies),
        ("--over", args.over > 0),
        ("--full-disk", args.full_disk),
    ];
    if let Some((option, _)) = others.into_iter().find(|(_, given)| *given) {
        return Err(usage!(
            "--storage is only for kills, because power cuts and full disks use devices of their own: \
             leave out {option}, or --storage"
        ));
    }
    match args.kills {
        0 => Err(usage!("--storage is only for kills: leave out --kills 0, or --storage")),
        _ => Ok(()),
    }
}

/// Returns the file system with this name.
pub(super) fn file_system(name: &str) -> Result<FileSystem, Failure> {
    FileSystem::ALL.into_iter().find(|fs| fs.name() == name).ok_or_else(|| {
        let valid = FileSystem::ALL.map(FileSystem::name).join(", ");
        usage!("unknown file system '{name}'; valid are {valid}")
    })
}
