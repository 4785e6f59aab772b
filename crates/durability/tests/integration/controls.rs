//! Experiments that must find a violation, and others that must find none, with real engines and
//! toys.

pub mod full;
mod nosync;
mod toy;

use std::fs::File;

use embermark_blockdev::{Disk, FileSystem};
use embermark_contract::{Engine, Kind};
use embermark_durability::Experiment::{DeviceLies, Kill, PowerCut};
use embermark_durability::{Experiment, Settings, Tested, Verdict, test};
use embermark_engines::registry::ENGINES;
use embermark_model::Durability;
use embermark_skips::is_here;
use libtest_mimic::Trial;
use nix::fcntl::posix_fallocate;
use nosync::without_syncs;
use toy::{Acknowledges, Toy};

use crate::common::{on_devices, settings, some_of, trial};
use crate::tree::FORKS;

static SYNCED: Toy = toy("synced", Acknowledges::Synced);
static WRITTEN: Toy = toy("written", Acknowledges::Written);
static BEFORE: Toy = toy("before", Acknowledges::Before);
static ANYWAY: Toy = toy("anyway", Acknowledges::Anyway);
static IN_PLACE: Toy = toy("in-place", Acknowledges::InPlace);
static UNSOUND: Toy = Toy { finds_fault: true, ..toy("unsound", Acknowledges::Synced) };

const fn toy(id: &'static str, acknowledges: Acknowledges) -> Toy {
    Toy { id, acknowledges, finds_fault: false }
}

/// Every engine that a worker of these tests can open.
pub fn engines() -> Vec<&'static dyn Engine> {
    let toys: [&dyn Engine; 7] = [&SYNCED, &WRITTEN, &BEFORE, &ANYWAY, &IN_PLACE, &UNSOUND, &FORKS];
    toys.into_iter().chain(ENGINES.iter().copied()).collect()
}

/// Engines that have commits in the memory of the process with `none`, as their manuals say about
/// the settings.
const LOSE_IN_NONE: [&str; 7] =
    ["sqlite", "duckdb", "berkeleydb", "rocksdb", "fjall", "redb", "wiredtiger"];
/// Engines that pass each commit to the operating system with `none`, and are said to keep what
/// `process` does.
const KEEP_IN_NONE: [&str; 3] = ["firebird", "lmdb", "leveldb"];
/// Embedded engines whose `none` is not tried here.
const NOT_TRIED_IN_NONE: [&str; 5] = ["mdbx", "parquet", "hybrid", "hybrid-bdb", "zen"];

/// The tests. The slow ones have one engine each: they are campaigns, of which a part runs.
pub fn tests() -> Vec<Trial> {
    let mut tests = vec![
        trial("controls::kills_find_what_the_check_of_the_engine_finds", || {
            kills_find_what_the_check_of_the_engine_finds();
        }),
        // It has the last one in its own memory.
        trial("controls::kills_find_what_is_in_its_own_memory", || {
            kills_break("before", Durability::Process);
        }),
        trial("controls::every_embedded_engine_has_a_place_among_those_of_none", || {
            let lists = [&LOSE_IN_NONE[..], &KEEP_IN_NONE, &NOT_TRIED_IN_NONE].concat();
            for info in ENGINES.iter().map(|engine| engine.info()) {
                let is_embedded = info.kind == Kind::Embedded;
                assert_eq!(lists.contains(&info.id), is_embedded, "{}", info.id);
            }
        }),
        on_devices("controls::a_device_that_does_no_flush_is_seen", || {
            a_device_that_does_no_flush_is_seen();
        }),
        on_devices("controls::what_a_device_that_lies_loses_breaks_no_promise", || {
            what_a_device_that_lies_loses_breaks_no_promise();
        }),
        on_devices("controls::an_engine_is_not_blamed_for_a_full_disk_of_this_machine", || {
            an_engine_is_not_blamed_for_a_full_disk_of_this_machine();
        }),
    ];
    let mut campaign =
        |name: &str, most: usize, of: Vec<Trial>| tests.extend(some_of(name, most, of));
    let named = |name: &str, id: &str| format!("controls::{name}{id}");
    let process = ["sqlite", "lmdb", "redb", "synced", "written"].map(|id| {
        let name = named("kills_lose_nothing_in_process_of_", id);
        trial(name, move || holds(id, Durability::Process, Kill))
    });
    campaign("kills in process", 1, process.into());
    let none = LOSE_IN_NONE.map(|id| {
        let name = named("kills_break_none_of_", id);
        trial(name, move || kills_break(id, Durability::None))
    });
    campaign("kills break none", 1, none.into());
    let handed = KEEP_IN_NONE.map(|id| {
        let name = named("kills_lose_nothing_in_none_of_", id);
        trial(name, move || holds(id, Durability::None, Kill))
    });
    campaign("kills in none", 1, handed.into());
    let sound = ["sqlite", "lmdb", "redb", "synced"];
    let cuts = sound.map(|id| {
        let name = named("cuts_lose_nothing_of_", id);
        on_devices(name, move || holds(id, Durability::Power, PowerCut))
    });
    campaign("cuts", 1, cuts.into());
    let short_works = sound.map(|id| {
        on_devices(named("short_works_find_nothing_in_", id), move || short_works_find_nothing(id))
    });
    campaign("short works", 1, short_works.into());
    let unsound = ["before", "written"];
    let cuts = unsound.map(|id| {
        let name = named("cuts_break_and_what_broke_a_promise_is_kept_", id);
        on_devices(name, move || what_broke_a_promise_is_kept(id))
    });
    campaign("cuts break", 1, cuts.into());
    let short_works = unsound.map(|id| {
        on_devices(named("short_works_break_", id), move || short_works_find_it_alone(id))
    });
    campaign("short works break", 1, short_works.into());
    // MDB_NOSYNC with MDB_WRITEMAP; synchronous=OFF.
    let weaker = [
        ("lmdb", Durability::Process),
        ("sqlite", Durability::Process),
        ("sqlite", Durability::None),
    ]
    .map(|(id, durability)| {
        let name = format!("controls::cuts_break_{durability}_of_{id}");
        on_devices(name, move || is_broken(id, durability, PowerCut))
    });
    campaign("cuts break weaker tiers", 1, weaker.into());
    let no_syncs = ["sqlite", "lmdb", "redb"].map(|id| {
        let name = named("syncs_that_do_nothing_are_seen_in_", id);
        on_devices(name, move || syncs_that_do_nothing_are_seen(id))
    });
    campaign("syncs that do nothing", 1, no_syncs.into());
    tests
}

fn engine(id: &str) -> Option<&'static dyn Engine> {
    engines().into_iter().find(|engine| engine.info().id == id).filter(|engine| is_here(*engine))
}

/// Number of kills.
fn kills() -> u32 {
    embermark_skips::cases(8, 16)
}

/// Largest number of states of a device where something is found, which is in nearly every state.
fn few_states() -> u32 {
    embermark_skips::cases(10, 40)
}

fn tried(
    id: &str,
    durability: Durability,
    experiment: Experiment,
    change: impl FnOnce(&mut Settings),
) -> Option<Tested> {
    let folder = tempfile::tempdir().unwrap();
    let (states, kills) = (embermark_skips::cases(20, 40), kills());
    let mut settings = Settings { seed: 7, states, kills, ..settings(folder.path()) };
    change(&mut settings);
    let tested = test(experiment, engine(id)?, durability, &settings, &|| false, &|_| ()).unwrap();
    println!("{id} {durability} {}: {:?}", experiment.name(), tested.verdicts);
    Some(tested)
}

/// Asserts that an experiment finds no violation.
fn holds(id: &str, durability: Durability, experiment: Experiment) {
    let Some(tested) = tried(id, durability, experiment, |_| ()) else { return };
    let least = if experiment == Kill { kills() } else { 16 };
    assert!(tested.is_promised() && tested.tried >= least, "{tested:?}");
    assert_eq!(tested.violations(), 0, "{tested:?}");
}

fn is_broken(id: &str, durability: Durability, experiment: Experiment) {
    let tested = tried(id, durability, experiment, |s| s.states = few_states());
    let Some(tested) = tested else { return };
    assert_broken(&tested);
}

fn assert_broken(tested: &Tested) {
    assert!(tested.broken() > 0, "{tested:?}");
    // For a setting that promises nothing else this is not a violation.
    assert_eq!(tested.violations() > 0, tested.is_promised());
}

/// When a kill comes is random: if one in seven finds something, sixteen may find nothing. Eight
/// times as many practically always do.
fn kills_break(id: &str, durability: Durability) {
    if engine(id).is_none() {
        return;
    }
    let rounds = 128 / u64::from(kills());
    let found = (0..rounds).any(|round| {
        let tested = tried(id, durability, Kill, |settings| {
            settings.seed += round;
            if id == "sqlite" {
                // So little that it writes pages before the commit, which its journal in memory
                // protects.
                settings.memory = 32 << 10;
            }
        });
        let tested = tested.unwrap();
        assert_eq!(tested.violations() > 0, tested.is_promised() && tested.broken() > 0);
        tested.broken() > 0
    });
    assert!(found, "{id} {durability}: no kill found anything");
}

fn kills_find_what_the_check_of_the_engine_finds() {
    let tested = tried("unsound", Durability::Process, Kill, |_| ()).unwrap();
    let found = tested.examples.iter().find(|e| e.verdict == Verdict::CheckFailed).unwrap();
    assert!(found.message.as_ref().is_some_and(|said| said.contains("it was not closed")));
    let is_every = tested.tried == kills();
    assert!(is_every && tested.violations() > 0 && found.kept.is_some(), "{tested:?}");
}

/// Runs only short works, without other states.
fn short(id: &str, works: u32) -> Option<Tested> {
    let tested = tried(id, Durability::Power, PowerCut, |settings| {
        (settings.states, settings.short_works) = (0, works);
    })?;
    let exhaustive = tested.exhaustive.unwrap();
    assert_eq!((exhaustive.works, exhaustive.states), (works, tested.tried + tested.not_mounted));
    assert!(exhaustive.opened > 0 && exhaustive.opened < exhaustive.states, "{exhaustive:?}");
    println!("  {exhaustive:?}");
    Some(tested)
}

fn short_works_find_nothing(id: &str) {
    let Some(tested) = short(id, 2) else { return };
    assert_eq!(tested.violations(), 0, "{tested:?}");
}

fn short_works_find_it_alone(id: &str) {
    let tested = short(id, 2).unwrap();
    let lost = tested.examples.iter().find(|e| e.verdict == Verdict::LostCommits).unwrap();
    assert!(tested.violations() > 0 && lost.acknowledged <= 2, "{tested:?}");
    assert!(lost.of.starts_with("of the work 'table"), "{lost:?}");
}

fn syncs_that_do_nothing_are_seen(id: &str) {
    let folder = tempfile::tempdir().unwrap();
    let tested = tried(id, Durability::Power, PowerCut, |settings| {
        settings.worker = without_syncs(&settings.worker, folder.path());
        settings.states = few_states();
    });
    let Some(tested) = tested else { return };
    // Only the kernel's own flushes, every five seconds, are left instead of one per commit.
    let io = tested.commit.unwrap();
    assert!(io.flushes < io.commits / 4, "the library is not before libc: {io:?}");
    assert!(tested.violations() > 0 && tested.is_promised(), "{tested:?}");
}

fn a_device_that_does_no_flush_is_seen() {
    // On a busy machine the few states of one work may all be of moments without a new commit.
    let works = (1..=3).map_while(|seed| {
        tried("sqlite", Durability::Power, PowerCut, |settings| {
            settings.seed = seed;
            (settings.obeys_flushes, settings.states) = (false, few_states());
        })
    });
    let mut tried = works.peekable();
    if tried.peek().is_some() {
        assert!(tried.any(|tested| tested.violations() > 0 && tested.loss.is_some()));
    }
}

fn what_a_device_that_lies_loses_breaks_no_promise() {
    let Some(tested) = tried("sqlite", Durability::Power, DeviceLies, |_| ()) else { return };
    assert!(tested.broken() > 0 && !tested.is_promised(), "{tested:?}");
    assert_eq!(tested.violations(), 0);
}

fn what_broke_a_promise_is_kept(id: &str) {
    let folder = tempfile::tempdir().unwrap();
    let violations = folder.path().to_owned();
    let tested = tried(id, Durability::Power, PowerCut, |settings| {
        (settings.violations, settings.states) = (violations, few_states());
    });
    let tested = tested.unwrap();
    assert_broken(&tested);
    let lost = tested.examples.iter().find(|e| e.verdict == Verdict::LostCommits).unwrap();
    let kept = lost.kept.as_ref().unwrap().metadata().unwrap();
    // Sparse: as long as the device, with few allocated blocks.
    use std::os::unix::fs::MetadataExt;
    assert!(kept.len() == 1 << 30 && kept.blocks() * 512 < 100 << 20, "{kept:?}");
}

fn an_engine_is_not_blamed_for_a_full_disk_of_this_machine() {
    let folder = tempfile::tempdir().unwrap();
    let (image, at) = (folder.path().join("image"), folder.path().join("disk"));
    FileSystem::Ext4.make(&image, 32 << 20).unwrap();
    let disk = Disk::mount(&image, &at, FileSystem::Ext4).unwrap();
    // The table and some commits have room.
    let taken = disk.free().unwrap() - (400 << 10);
    let ballast = File::create(at.join("ballast")).unwrap();
    posix_fallocate(&ballast, 0, taken.cast_signed()).unwrap();
    let settings = Settings { seed: 7, kills: 60, ..settings(&at) };
    let engine = engine("synced").unwrap();
    let tested = test(Kill, engine, Durability::Process, &settings, &|| false, &|_| ());
    let error = tested.unwrap_err().to_string();
    assert!(error.contains("the experiment's files has 0 MiB free"), "{error}");
    drop(ballast);
    disk.unmount().unwrap();
}
