//! `embermark storage`.

mod measure;
mod page;
mod try_command;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use embermark_model::Storage;
use embermark_report::format;
use embermark_storage::{Typical, built_in, built_in_toml, names, parse};

use crate::error::Failure;
use crate::output;
use crate::plan::model;

/// The arguments of `embermark storage`.
#[derive(Args)]
pub struct StorageArgs {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand)]
enum Action {
    /// Print the file of a built-in storage, or check a file and show what it amounts to
    Show {
        /// A built-in storage, or a file
        #[arg(value_name = "NAME|FILE.toml")]
        storage: String,
    },
    /// Run a command on an imitated storage, and report how well it kept its times. Needs root
    Try(try_command::TryArgs),
    /// Measure a device, and write a file by which it can be imitated
    Measure(measure::MeasureArgs),
}

/// Lists the built-in storages, or performs the action.
pub fn storage(args: StorageArgs) -> Result<ExitCode, Failure> {
    match args.action {
        None => list(),
        Some(Action::Show { storage }) => show(&storage),
        Some(Action::Try(args)) => try_command::run(&args),
        Some(Action::Measure(args)) => measure::run(&args),
    }
}

/// Size of a request in the tables, in bytes.
const REQUEST: u64 = 4_096;

/// Explains the columns of the table.
const KEY: &str = "\
Times of 4 KiB at a random place, by the likely values; a run uses these. commit: such a write and
its flush; one in a row takes less. In a row: read and written. These are models: measure your own
device to decide for it.

'embermark storage show NAME' prints a file with its sources and ranges, to start from.
'embermark storage measure FOLDER -o FILE.toml' measures a device into such a file (docs/storage.md).
";

fn list() -> Result<ExitCode, Failure> {
    let mut table = output::table(["storage", "read", "write", "commit", "in a row", "cache", ""]);
    for name in names() {
        let storage = built_in(name).map_err(Failure::usage)?;
        let [read, write, commit, rates, cache] = columns(&storage);
        table.add_row([name, &read, &write, &commit, &rates, &cache, &storage.about]);
    }
    output::print(&format!("{}\n\n{KEY}", table.trim_fmt()))
}

/// Returns the times of a read, a write and a write with its flush, the rates, and the cache.
fn columns(storage: &Storage) -> [String; 5] {
    let typical = Typical::new(storage, REQUEST);
    let [read, write, commit] = [typical.read, typical.write, typical.flushed_write];
    let [read, write, commit] = [read, write, commit].map(|ns| format::duration(ns as f64));
    let rates = [storage.read, storage.write].map(|transfer| {
        let bytes = f64::from(transfer.kb_per_s.typical) * 1_000.0;
        format!("{}/s", format::bytes(bytes))
    });
    let cache = match storage.cache_bytes {
        0 => "none".to_owned(),
        bytes => format::bytes(bytes as f64),
    };
    [read, write, commit, rates.join(", "), cache]
}

fn show(given: &str) -> Result<ExitCode, Failure> {
    match built_in_toml(given) {
        Ok(text) => output::print(text),
        Err(_) => output::print(&summary(&find_storage(given)?)),
    }
}

/// Summarizes a storage in lines.
fn summary(storage: &Storage) -> String {
    let typical = Typical::new(storage, REQUEST);
    let [read, write, commit, rates, cache] = columns(storage);
    let [read_row, commit_row] = [typical.sequential_read, typical.sequential_flushed_write]
        .map(|ns| format::duration(ns as f64));
    let flush = format::duration(Typical::flush(storage) as f64);
    let mut lines = vec![
        format!("{}  {}", storage.name, storage.about),
        String::new(),
        format!("read of 4 KiB      {read} anywhere, {read_row} in a row"),
        format!("write of 4 KiB     {write} anywhere"),
        format!("  and its flush    {commit} anywhere, {commit_row} in a row"),
        format!("flush of nothing   {flush}"),
        format!("read, written      {rates} in addition to each request's latency"),
        format!("write cache        {cache}"),
        format!("requests at once   {}", storage.queue_depth),
        format!("sector             {} bytes", storage.sector_bytes),
    ];
    lines.push(match &storage.flash {
        Some(_) => "stalls             by its translation layer".to_owned(),
        None => "stalls             none".to_owned(),
    });
    if let Some(disk) = &storage.disk {
        lines.push(format!("hard disk          {} turns per minute", disk.turns_per_minute));
    }
    lines.join("\n") + "\n"
}

/// Returns the storage with a name or in a file.
fn find_storage(given: &str) -> Result<Storage, Failure> {
    model(("storage", "docs/storage.md"), given, built_in, parse)
}
