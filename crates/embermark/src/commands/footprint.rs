//! `embermark footprint`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use embermark_engines::registry;
use embermark_harness::footprint::{Conditions, Footprint, footprint};
use embermark_harness::{Catalog, HarnessError, WorkerCommand, interrupt};
use embermark_model::{Configuration, Configurations, Durability};
use embermark_report::format;
use serde::Serialize;

use super::options::databases_folder;
use crate::error::{Failure, INTERRUPTED};
use crate::output;
use crate::plan::{cache, direct_columns, milliseconds, not_accepted, parse_configuration};

/// The arguments of `embermark footprint`.
#[derive(Args)]
pub struct FootprintArgs {
    /// Engines: ids, or embedded, servers, all [default: embedded, or those of --engine-library]
    #[arg(value_name = "ENGINE")]
    engines: Vec<String>,

    /// Durability tier: none, process or power
    #[arg(short, long, value_name = "TIER", default_value = "process")]
    tier: Durability,

    /// Also show an engine with other settings (docs/configurations.md); may be repeated
    #[arg(long, value_name = "NAME=ENGINE:SETTING=VALUE,…", value_parser = parse_configuration)]
    configuration: Vec<(String, Configuration)>,

    /// Cache memory of each engine
    #[arg(long, value_name = "SIZE", default_value = "64MiB")]
    cache: String,

    /// How long each engine is left idle
    #[arg(long, value_name = "TIME", default_value = "5s")]
    idle: String,

    /// Add an engine of your own, a shared library (docs/engine-library.md); ID renames it; may be repeated
    #[arg(long, value_name = "[ID=]PATH")]
    engine_library: Vec<PathBuf>,

    /// Open engines whose licence forbids publishing benchmark results; you accept the licence
    #[arg(long, value_delimiter = ',', value_name = "ENGINE,…")]
    accept_license: Vec<String>,

    /// Folder of the databases [default: the system's temporary folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Form of the output
    #[arg(short, long, value_enum, default_value_t = Form::Table)]
    format: Form,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    Table,
    Json,
}

/// Smallest file in bytes that has a line of its own below the table.
const LARGE: u64 = 1_000_000;

/// A line of the table.
#[derive(Serialize)]
struct Line {
    /// The engine's id, or the name of a configuration.
    engine: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    footprint: Option<Footprint>,
    /// Lines of embermark's own code for this engine only.
    #[serde(skip_serializing_if = "Option::is_none")]
    adapter_lines: Option<u32>,
    /// Why there is no footprint.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// Opens an empty database of each engine, leaves it idle, and shows its footprint. Exit status 1
/// if a named engine or configuration has none. After an interrupt, shows those that were measured.
pub fn show(args: FootprintArgs) -> Result<ExitCode, Failure> {
    let idle = Duration::from_millis(milliseconds("--idle", &args.idle)?);
    let cache_bytes = cache(&args.cache)?;
    let FootprintArgs { engines, engine_library, configuration, accept_license, .. } = &args;
    let (words, configurations, names) =
        direct_columns("footprint", engines, engine_library, configuration, accept_license)?;
    let dir = databases_folder(args.dir)?;
    let catalog = Catalog::default();
    let worker = WorkerCommand::this_program()?;
    let interrupt = interrupt::on_signals()?;
    let (mut lines, mut not_shown) = (Vec::new(), Vec::new());
    for name in names {
        if interrupt.is_set() {
            not_shown.push(name);
            continue;
        }
        let engine = catalog.engine_of(&configurations, &name).map_err(Failure::usage)?;
        let found = match not_accepted(engine, &args.accept_license) {
            Some(why) => Err(why),
            None => {
                let (tier, dir, interrupt) = (args.tier, &*dir, &interrupt);
                let conditions = Conditions { tier, cache_bytes, idle, dir, interrupt };
                match footprint(&name, &configurations, conditions, &worker, &catalog) {
                    Err(HarnessError::Interrupted { .. }) => {
                        not_shown.push(name);
                        continue;
                    }
                    found => found?,
                }
            }
        };
        let adapter_lines = registry::adapter_lines(engine.info().id);
        let (footprint, why) = found.map_or_else(|why| (None, Some(why)), |own| (Some(own), None));
        lines.push(Line { engine: name, footprint, adapter_lines, why });
    }
    match args.format {
        Form::Table if lines.is_empty() => ExitCode::SUCCESS,
        Form::Table => output::print(&table(&lines, args.tier, idle, &configurations))?,
        Form::Json => output::print_json(&lines)?,
    };
    if !not_shown.is_empty() {
        say!("embermark: interrupted: not shown: {}", not_shown.join(", "));
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let own = args.configuration.iter().map(|(name, _)| name);
    let named: Vec<&String> = words.iter().chain(own).collect();
    let lacking = lines.iter().any(|line| line.why.is_some() && named.contains(&&line.engine));
    Ok(ExitCode::from(u8::from(lacking)))
}

fn table(
    lines: &[Line],
    tier: Durability,
    idle: Duration,
    configurations: &Configurations,
) -> String {
    let mut table = output::table([
        "engine",
        "version",
        "files",
        "in the client",
        "server",
        "empty database",
        "opens in",
        "CPU, idle",
        "written, idle",
        "adapter",
    ]);
    let mut notes = Vec::new();
    for Line { engine, footprint, adapter_lines, why } in lines {
        if let Some(configuration) = configurations.get(engine) {
            notes.push(format!("{engine}: {configuration}"));
        }
        if let Some(why) = why {
            notes.push(format!("{engine}: not opened: {why}"));
        }
        let size = |bytes: u64| format::bytes(bytes as f64);
        let of = |show: &dyn Fn(&Footprint) -> Option<String>| {
            format::or_dash(footprint.as_ref().and_then(show), |text| text)
        };
        let files = footprint.iter().flat_map(|own| &own.files);
        let (large, small): (Vec<_>, Vec<_>) = files.partition(|(_, bytes)| *bytes >= LARGE);
        for (path, bytes) in large {
            notes.push(format!("{engine}, {}: {}", path.display(), size(*bytes)));
        }
        if !small.is_empty() {
            let (count, sum) = (small.len() as u64, small.iter().map(|(_, bytes)| bytes).sum());
            notes.push(format!(
                "{engine}, {} of less than a megabyte: {}",
                format::counted(count, "file"),
                size(sum)
            ));
        }
        table.add_row([
            engine.clone(),
            of(&|own| Some(own.version.clone())),
            of(&|own| {
                let sum = own.files.iter().map(|(_, bytes)| bytes).sum();
                Some(if own.files.is_empty() { "compiled in".to_owned() } else { size(sum) })
            }),
            of(&|own| own.client_bytes.map(size)),
            of(&|own| own.server_bytes.map(size)),
            of(&|own| Some(size(own.disk_bytes))),
            of(&|own| Some(format::duration(own.open_ns as f64))),
            of(&|own| {
                let share = own.cpu_ns? as f64 / own.idle_ns as f64;
                Some(format!("{:.2} %", 100.0 * share))
            }),
            of(&|own| own.written_bytes.map(size)),
            format::or_dash(*adapter_lines, |lines| format::counted(u64::from(lines), "line")),
        ]);
    }
    let mut text = format!("{}\n\n{}", table.trim_fmt(), key(tier, idle));
    for note in notes {
        text.push_str(&format!("{note}\n"));
    }
    text
}

/// Explains the columns.
fn key(tier: Durability, idle: Duration) -> String {
    format!(
        "\
tier {tier}; an existing empty database, opened and left idle for {idle:?}
files: programs and shared libraries loaded for this engine, on the disk; what embermark and the system had loaded before is not counted
in the client: additional resident memory of the program that opens it · server: memory of its processes, shared pages counted once
opens in: time until it can be used, including the start of a server · CPU, idle: of one processor
written, idle: bytes written to storage while idle · adapter: embermark's code only for this engine, without comments and tests
"
    )
}
