//! `embermark durability`.

mod medium;
mod table;
mod told;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Args;
use embermark_durability::journal::{Head, Journal, NotTried, SCHEMA};
use embermark_durability::{
    Experiment, FileSystem, SHORT_WORKS, Settings, Subject, TestError, WorkerProgram, own_mounts,
    test,
};
use embermark_engines::{Availability, Engine, Kind, Tier, engine_library, registry};
use embermark_harness::{
    Catalog, Interrupt, JOURNAL, RESULT, WorkerCommand, cells, interrupt, try_out,
};
use embermark_model::{Configuration, Durability, EngineLibrary};
use embermark_report::shown::full_disk_markdown;

use super::measure::PAGE;
use super::run::{INTERRUPTED, default_out};
use super::{output, page};
use crate::error::Failure;
use crate::plan::{columns, configurations, engine_libraries, ids_or, or_else, parsed, storages};
use medium::Media;
use told::Told;

/// States to look at, where nothing is said: of an embedded engine, and of a server.
const STATES: [u32; 2] = [300, 60];
/// The hidden command of a worker.
const WORKER: &str = "durability-worker";
/// The folder of databases and devices, in that of the run; gone with it.
const WORK: &str = "work";
/// The tables, beside the result, and their columns.
const TABLES: (&str, usize) = ("table.txt", 120);
/// What engines did when their disk was full, in Markdown.
const FULL_DISK: &str = "full-disk.md";
const MIB: u64 = 1 << 20;

/// The arguments of `embermark durability`.
#[derive(Args)]
pub struct DurabilityArgs {
    /// Engines to try: ids, embedded or servers. One that is named by its id is tried in tiers, too, that
    /// it is not offered in [default: embedded, or those of --engine-library]
    #[arg(value_name = "ENGINE", conflicts_with = "resume")]
    engines: Vec<String>,

    /// A shared library that is an engine (docs/engine-library.md). Once for each
    #[arg(long, value_name = "PATH", conflicts_with = "resume")]
    engine_library: Vec<PathBuf>,

    /// An engine with other settings: NAME=ENGINE:setting=value,… . It promises the tier that it is tried
    /// in, and is tried alone where no engine is named. ENGINE-defaults among the engines has an engine's
    /// own defaults
    #[arg(
        long,
        value_name = "NAME=ENGINE:SETTING=VALUE,…",
        value_parser = parsed,
        conflicts_with = "resume"
    )]
    configuration: Vec<(String, Configuration)>,

    /// Tiers [default: process,power]
    #[arg(short, long, value_delimiter = ',', value_name = "TIER,…", conflicts_with = "resume")]
    tier: Vec<String>,

    /// States of a disk after a power cut to look at, for each engine and tier; every fourth is cut
    /// a second time. 0: none [default: 300; of a server, which starts and stops for each, 60: about
    /// two minutes, and a minute for each two that it does not answer]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    states: Option<u32>,

    /// Short works of which every state is looked at, beside these, where the tier promises to survive a
    /// power cut: 14 have up to two operations after the making of the table, 25 up to three. 0: none
    #[arg(long, value_name = "N", default_value_t = SHORT_WORKS, conflicts_with = "resume")]
    short_works: u32,

    /// Kills, for each engine and tier
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "resume")]
    kills: u32,

    /// Clients that commit at the same time, each judged by its own commits [default: 1; of a
    /// server in a tier above none 4]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=64),
        conflicts_with = "resume"
    )]
    clients: Option<u32>,

    /// Engines whose licence forbids publishing what a test found, and which you accept: they are
    /// tried, and what is found is for you alone
    #[arg(
        long = "accept-license",
        value_delimiter = ',',
        value_name = "ENGINE,…",
        conflicts_with = "resume"
    )]
    accept_license: Vec<String>,

    /// File system under a database whose power is cut: ext4, xfs, btrfs, f2fs
    #[arg(long, value_name = "NAME", default_value = "ext4", conflicts_with = "resume")]
    fs: String,

    /// Cuts the power of a device, too, that does every second flush alone, or loses an erase block
    /// around a write. No tier promises anything there
    #[arg(long, conflicts_with = "resume")]
    device_lies: bool,

    /// Stretches the commits before a power cut over so many seconds: for the window of loss of tiers that
    /// leave writing to the kernel, which takes its time
    #[arg(long, value_name = "SECONDS", default_value_t = 0, conflicts_with = "resume")]
    over: u64,

    /// Fills disks, too: a file system of a fixed size, by commits, to the last block. What the engine does
    /// then, whether it goes on when there is room, and whether anything acknowledged is lost. As root
    #[arg(long, conflicts_with = "resume")]
    full_disk: bool,

    /// Disks to fill, for each engine and tier
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        value_parser = clap::value_parser!(u32).range(1..),
        requires = "full_disk"
    )]
    fills: u32,

    /// Size of a disk that is filled, in MiB, a third of it for the work: a server has 512 more, to start with
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 96,
        value_parser = clap::value_parser!(u32).range(32..=4096),
        requires = "full_disk"
    )]
    disk_mib: u32,

    /// Put the databases whose processes are killed on an imitated storage, by name or file: sd-a1, FILE.toml
    /// [default: this machine's own disk]
    ///
    /// docs/storage.md lists the names. A slow commit is under way for longer, so more kills hit one. No power is cut
    /// then: that takes a device that records every write, and how long a write takes changes nothing that is
    /// promised. Needs root and FUSE.
    #[arg(long, value_name = "STORAGE", conflicts_with = "resume")]
    storage: Option<String>,

    /// Seed of the work, and of what is cut and killed when
    #[arg(long, value_name = "N", default_value_t = 42, conflicts_with = "resume")]
    seed: u64,

    /// Folder for the result, the journal and what broke a promise [default: results/DATE-TIME]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Goes on with a run that was cut off, in its folder; an experiment that ended is not repeated
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    resume: Option<PathBuf>,
}

/// Kills and cuts, and shows what was left.
pub fn durability(args: DurabilityArgs) -> Result<ExitCode, Failure> {
    let (out, mut journal) = match &args.resume {
        Some(out) => {
            let path = out.join(JOURNAL);
            let failed =
                |error| Failure::usage(format!("cannot go on with {}: {error}", path.display()));
            (out.clone(), Journal::open(&path).map_err(failed)?)
        }
        None => {
            let head = head(&args)?;
            let out = args.out.unwrap_or_else(default_out);
            fs::create_dir_all(&out).map_err(Failure::unwritable(&out))?;
            let path = out.join(JOURNAL);
            let failed =
                |error| Failure::usage(format!("cannot begin {}: {error}", path.display()));
            (out, Journal::begin(&path, head).map_err(failed)?)
        }
    };
    let out = out.canonicalize().map_err(Failure::unwritable(&out))?;
    let work = out.join(WORK);
    let interrupt = interrupt::on_signals()?;
    remove(&work)?;
    let ended = try_all(&mut journal, &out, &work, &interrupt);
    remove(&work)?;
    ended?;

    let outcome = &journal.outcome;
    let json = serde_json::to_vec_pretty(outcome).map_err(Failure::runtime)?;
    let (tables, width) = TABLES;
    let tables = (tables, table::text(outcome, width).into_bytes());
    let markdown = full_disk_markdown(outcome).map(|text| (FULL_DISK, text.into_bytes()));
    for (name, content) in [(RESULT, json), tables].into_iter().chain(markdown) {
        let path = out.join(name);
        fs::write(&path, content).map_err(Failure::unwritable(&path))?;
    }
    // The trying is done and kept: a page that cannot be made of it is a note and no failure.
    let page = match page::write_durability(outcome, &out.join(PAGE)) {
        Ok(()) => format!("  page    {}\n", out.join(PAGE).display()),
        Err(failure) => {
            say!("embermark: no {PAGE}: {failure}");
            String::new()
        }
    };
    let text = table::text(outcome, output::width());
    output::print(&format!("{text}\n  result  {}\n{page}", out.join(RESULT).display()))?;
    if interrupt.is_set() {
        let out = out.display();
        say!("embermark: interrupted; go on with 'embermark durability --resume {out}'");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    Ok(ExitCode::from(u8::from(outcome.is_failure())))
}

fn head(args: &DurabilityArgs) -> Result<Head, Failure> {
    let storage = storages(args.storage.as_slice())?.into_iter().flatten().next();
    if storage.is_some() {
        for_kills_alone(args)?;
    }
    let engine_libraries = engine_libraries(&args.engine_library)?;
    let words = match args.configuration.is_empty() {
        true => ids_or(args.engines.clone(), &args.engine_library, "embedded")?,
        false => args.engines.clone(),
    };
    let configurations = configurations(args.configuration.clone(), &words)?;
    let mut engines = columns(&words, &configurations)?;
    engines.retain(|id| {
        let is_reference = |e: &dyn Engine| e.info().kind == Kind::Reference;
        words.contains(id) || !registry::find(id).is_ok_and(is_reference)
    });
    for id in &args.accept_license {
        if !registry::find(id).map_err(Failure::usage)?.forbids_publishing() {
            return Err(Failure::usage(format!(
                "the licence of '{id}' need not be accepted: leave it out of --accept-license"
            )));
        }
    }
    let cuts = storage.is_none();
    let usual = STATES.map(|states| if cuts { states } else { 0 });
    let [states, server_states] = usual.map(|states| args.states.unwrap_or(states));
    let durabilities = or_else(args.tier.clone(), &["process", "power"]);
    let durabilities = durabilities.iter().map(|name| name.parse::<Durability>());
    let durabilities = durabilities.collect::<Result<Vec<_>, _>>().map_err(Failure::usage)?;
    let (dir, catalog) = (std::env::temp_dir(), Catalog::default());
    cells::check_configurations(&configurations, &catalog)?;
    let tried = try_out(
        &configurations,
        &durabilities,
        &dir,
        &WorkerCommand::of_this_program()?,
        &catalog,
    )?;
    tried.iter().for_each(|says| say!("{says}"));
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
        fills: if args.full_disk { args.fills } else { 0 },
        disk_bytes: args.full_disk.then(|| u64::from(args.disk_mib) * MIB),
        storage,
        seed: args.seed,
    })
}

/// Refuses what cannot be tried on an imitated storage.
fn for_kills_alone(args: &DurabilityArgs) -> Result<(), Failure> {
    let others = [
        ("--states", args.states.is_some_and(|states| states > 0)),
        ("--device-lies", args.device_lies),
        ("--over", args.over > 0),
        ("--full-disk", args.full_disk),
    ];
    if let Some((option, _)) = others.into_iter().find(|(_, given)| *given) {
        return Err(Failure::usage(format!(
            "--storage is for kills: power is cut, and disks are filled, on devices of their own, where times change \
             nothing that is promised; leave out {option}, or --storage"
        )));
    }
    match args.kills {
        0 => Err(Failure::usage("--storage is for kills: leave out --kills 0, or --storage")),
        _ => Ok(()),
    }
}

fn file_system(name: &str) -> Result<FileSystem, Failure> {
    FileSystem::ALL.into_iter().find(|fs| fs.name() == name).ok_or_else(|| {
        let valid = FileSystem::ALL.map(FileSystem::name).join(", ");
        Failure::usage(format!("unknown file system '{name}'; valid are {valid}"))
    })
}

/// Makes every experiment that the journal does not have.
fn try_all(
    journal: &mut Journal,
    out: &Path,
    work: &Path,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let head = journal.outcome.head.clone();
    let program = std::env::current_exe().map_err(Failure::runtime)?;
    let mut settings = Settings {
        folder: work.to_owned(),
        seed: head.seed,
        clients: head.clients,
        states: head.states,
        short_works: head.short_works,
        kills: head.kills,
        file_system: file_system(&head.file_system)?,
        over: Duration::from_secs(head.over_s),
        fills: head.fills,
        disk: head.disk_bytes.unwrap_or(0),
        ..Settings::new(out, WorkerProgram { program, args: Vec::new(), library: None })
    };
    let needs_devices = head.states.max(head.server_states).max(head.fills) > 0;
    let no_devices = thread::spawn(own_mounts).join().ok().and_then(Result::err);
    let no_devices = no_devices.map(|error| error.to_string()).filter(|_| needs_devices);
    match &no_devices {
        Some(why) => say!("no power is cut, and no disk filled: {why}"),
        None if needs_devices => settings.file_system.is_here().map_err(Failure::runtime)?,
        None => {}
    }
    let media = head
        .storage
        .as_ref()
        .map(|storage| Media::begin(storage, settings.file_system, &work.join("storage")));
    if let Some(Err(why)) = &media {
        say!("nothing is killed: {why}");
    }
    for library in head.engine_libraries.values() {
        same_library(library)?;
    }
    let catalog = Catalog::default()
        .with_libraries(&head.configurations, &WorkerCommand::of_this_program()?)?;
    for id in &head.engines {
        let configuration = head.configurations.get(id);
        let engine = catalog.engine_of(&head.configurations, id).map_err(Failure::usage)?;
        let library = configuration.and_then(|own| catalog.library_of(own));
        settings.worker.library = library.map(|(name, path)| (name, path.to_owned()));
        settings.worker.args = worker_args(engine.info().id);
        let subject = Subject { engine, configuration: configuration.map(|own| (&**id, own)) };
        settings.states = match engine.info().kind {
            Kind::Server => head.server_states,
            Kind::Embedded | Kind::Reference => head.states,
        };
        for durability in &head.durabilities {
            let lies = head.device_lies.then_some(Experiment::DeviceLies);
            let others = lies.into_iter().chain([Experiment::FullDisk]);
            for experiment in [Experiment::Kill, Experiment::PowerCut].into_iter().chain(others) {
                let asked = match experiment {
                    Experiment::Kill => head.kills,
                    Experiment::PowerCut | Experiment::DeviceLies => settings.states,
                    Experiment::FullDisk => head.fills,
                };
                if asked == 0 || journal.outcome.has(id, *durability, experiment) {
                    continue;
                }
                if interrupt.is_set() {
                    return Ok(());
                }
                let told =
                    Told { what: format!("{id} {durability}, {}", experiment.name()), asked };
                let takes_a_device = experiment != Experiment::Kill;
                let medium = media.as_ref().filter(|_| !takes_a_device);
                let cannot = cannot(subject, *durability, &head)
                    .or_else(|| no_devices.clone().filter(|_| takes_a_device))
                    .or_else(|| medium?.as_ref().err().cloned());
                let ended = match cannot {
                    Some(why) => Err((why, false)),
                    None => {
                        let (stop, progress) = (|| interrupt.is_set(), |n| told.progress(n));
                        let try_in = |folder: &Path| {
                            let own = Settings { folder: folder.to_owned(), ..settings.clone() };
                            test(experiment, subject, *durability, &own, &stop, &progress)
                        };
                        let made = match medium {
                            Some(Ok(media)) => {
                                let failed = |why: String| Failure::runtime(why);
                                let mounted = media.mount().map_err(failed)?;
                                let made = try_in(&mounted.at);
                                mounted.unmount().map_err(|e| failed(e.to_string()))?;
                                made
                            }
                            _ => try_in(work),
                        };
                        match made {
                            Err(TestError::Interrupted) => return Ok(()),
                            made => made.map_err(|error| (error.to_string(), true)),
                        }
                    }
                };
                told.ended(&ended);
                let written = match ended {
                    Ok(tested) => journal.tested(tested),
                    Err((why, failed)) => {
                        let (engine, durability) = (id.clone(), *durability);
                        journal.not_tried(NotTried { engine, durability, experiment, why, failed })
                    }
                };
                written.map_err(Failure::unwritable(&out.join(JOURNAL)))?;
            }
        }
    }
    Ok(())
}

/// Checks that a library is the one that the run was begun with.
fn same_library(library: &EngineLibrary) -> Result<(), Failure> {
    let now = engine_libraries(std::slice::from_ref(&library.path))?;
    if now.values().any(|now| now == library) {
        return Ok(());
    }
    Err(Failure::usage(engine_library::unusable(
        &library.path,
        "it is another one than when the run was begun: put that one back, or begin a new run",
    )))
}

/// The arguments of the worker of an engine.
pub(super) fn worker_args(engine: &str) -> Vec<String> {
    let library = engine_library::of(engine).into_iter();
    let library = library.flat_map(|described| {
        // It is UTF-8, as a plan's is.
        let path = described.library.path.to_string_lossy().into_owned();
        ["--engine-library".to_owned(), path]
    });
    [WORKER.to_owned()].into_iter().chain(library).collect()
}

/// Why an engine is not tried in a tier of those asked for.
fn cannot(subject: Subject<'_>, durability: Durability, head: &Head) -> Option<String> {
    let engine = subject.engine;
    let (id, accepted) = (engine.info().id, &head.accepted_licences);
    match (engine.availability(), engine.tier(durability)) {
        (Availability::Missing { why, remedy }, _) => Some(format!("{why}; {remedy}")),
        _ if engine.forbids_publishing() && accepted.iter().all(|other| other != id) => {
            Some(format!(
                "its licence forbids publishing what is found without its vendor's consent; if you \
                 have accepted it, say so with --accept-license {id}"
            ))
        }
        // The settings of a configuration may be another thing in each tier, and keep one that the
        // engine's own do not.
        _ if subject.has_settings() => None,
        (_, Tier::Unsupported { .. }) if head.named.iter().any(|name| name == id) => None,
        (_, Tier::Unsupported { why }) => {
            Some(format!("{why}; to try it all the same name it: embermark durability {id}"))
        }
        (_, tier) => {
            let mut stronger = head.durabilities.iter().filter(|other| **other > durability);
            let same = stronger.find(|other| engine.tier(**other) == tier);
            same.map(|other| format!("the same setting as {other}"))
        }
    }
}

fn remove(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::runtime(format!("cannot remove {}: {error}", folder.display())))
        }
        _ => Ok(()),
    }
}
