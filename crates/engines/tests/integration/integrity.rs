//! Every engine's integrity check: it finds nothing in a sound database and reports a damaged one.

use std::fs::{self, OpenOptions as Files};
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use embermark_engines::registry::{self, ENGINES};
use embermark_engines::{Checked, Engine, Kind, OpenOptions, Store, Tier};
use embermark_model::Durability;
use embermark_skips::{is_here, sampled, skipped};
use tempfile::TempDir;

mod rows;

use rows::{ROWS, add, fill, read};

/// Engines without a check that a client can reach.
const WITHOUT: [&str; 8] =
    ["duckdb", "fjall", "parquet", "zen", "influxdb", "harperdb", "memory", "null"];

/// Engines whose pages have no checksums: damage within a value cannot be detected.
const WITHOUT_CHECKSUMS: [&str; 7] =
    ["sqlite", "firebird", "berkeleydb", "lmdb", "mdbx", "hybrid", "hybrid-bdb"];

/// Environment variable with the request to the helper process: engine, tier, folder, and action.
const REQUEST_VARIABLE: &str = "EMBERMARK_TEST_INTEGRITY";

/// Prefix of the lines that the helper process prints, among the output of the test program.
const REPORT_PREFIX: &str = "it reports ";

/// Prefix of a fault that the engine did not report: it returned other data than were written, or
/// died.
const UNREPORTED: &str = "nothing";

fn options(dir: &Path, tier: Durability) -> OpenOptions {
    // A private server may run as another user.
    fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).unwrap();
    OpenOptions::new(dir, tier, 64 << 20)
}

/// Returns the engines that can run here, with the tiers they offer.
fn offers() -> impl Iterator<Item = (&'static dyn Engine, Durability)> {
    let here = ENGINES.iter().copied().filter(|engine| is_here(*engine));
    here.flat_map(|engine| Durability::ALL.map(|tier| (engine, tier)))
        .filter(|(engine, tier)| matches!(engine.tier(*tier), Tier::Offered { .. }))
}

/// Returns two engines, as [`sampled`], each in one tier; servers in `process`, since their tiers
/// differ by what they do at a commit.
fn some_offers() -> Vec<(&'static dyn Engine, Durability)> {
    let (servers, embedded): (Vec<_>, Vec<_>) =
        offers().partition(|(engine, _)| engine.info().kind == Kind::Server);
    let of = embedded.chunk_by(|(one, _), (other, _)| one.info().id == other.info().id);
    let some = of.flat_map(|of| sampled(of.iter().copied(), 1));
    sampled(some.chain(servers.into_iter().filter(|(_, tier)| *tier == Durability::Process)), 2)
}

/// Returns whether the check found nothing. Returns false if the engine reports that it has no
/// check.
fn is_sound(store: &mut Store, id: &str) -> bool {
    match store.lifecycle().check() {
        Ok(Checked { by, findings }) => {
            assert!(!WITHOUT.contains(&id), "{id} has a check: {by}");
            assert!(!by.is_empty(), "{id}");
            println!("{id}: nothing found by {by}");
            assert_eq!(findings, Vec::<String>::new(), "{id}, {by}");
            true
        }
        Err(error) => {
            assert!(error.is_unsupported(), "{id}: {error}");
            println!("{error}");
            // PostgreSQL's extension that checks is a separate package.
            if !WITHOUT.contains(&id) {
                assert!(id == "postgres" && error.to_string().contains("amcheck"), "{error}");
                skipped("amcheck", error);
            }
            false
        }
    }
}

#[test]
fn a_sound_database_passes_its_check_and_stays_usable() {
    let (mut checked, mut there) = (0, 0);
    for (engine, tier) in some_offers() {
        let id = engine.info().id;
        if id == "null" {
            continue;
        }
        let name = format!("{id} ({tier})");
        let folder = tempfile::tempdir().unwrap();
        let options = options(folder.path(), tier);
        let mut store = engine.open(&options).unwrap().store;
        is_sound(&mut store, id);
        fill(&mut store).unwrap_or_else(|e| panic!("{name}: {e}"));
        there += usize::from(!WITHOUT.contains(&id));
        checked += usize::from(is_sound(&mut store, id));
        // Changes that no maintenance has processed, then the same tables as before.
        for n in 0..2 {
            let from = ROWS + n * 1000;
            add(&mut store, from, from + 1000).unwrap_or_else(|e| panic!("{name}: {e}"));
            is_sound(&mut store, id);
            let rows = read(&mut store).unwrap_or_else(|e| panic!("{name}: {e}")).unwrap();
            if !matches!(store, Store::Series(_)) {
                assert_eq!(rows, from + 1000, "{name}");
            }
        }
        store.close().unwrap_or_else(|e| panic!("{name}: {e}"));
        // Also after it is opened again, after a close and, where possible, after a crash.
        let again = if engine.info().kind == Kind::Embedded { 2 } else { 0 };
        for rows in [ROWS + 2000, ROWS + 3000].into_iter().take(again) {
            let mut store = engine.open(&options).unwrap().store;
            is_sound(&mut store, id);
            assert_eq!(read(&mut store).unwrap(), Ok(rows), "{name}");
            add(&mut store, rows, rows + 1000).unwrap();
            if let Err(error) = store.lifecycle().crash_on_close() {
                assert!(error.is_unsupported(), "{name}: {error}");
            }
            store.close().unwrap();
        }
    }
    assert!(there == 0 || checked > 0, "none of {there} engines was checked");
}

#[test]
fn a_row_that_an_index_of_postgres_lacks_is_found() {
    let Ok(engine) = registry::find("postgres") else { return };
    if !is_here(engine) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut store = engine.open(&options(folder.path(), Durability::Process)).unwrap().store;
    fill(&mut store).unwrap();
    if is_sound(&mut store, "postgres") {
        let Store::Sql(sql) = &mut store else { panic!("not an SQL store") };
        let ready =
            |is| format!("UPDATE pg_index SET indisready = {is} WHERE indrelid = 't'::regclass");
        // An insertion does not change an index that is not ready.
        for change in [&*ready(false), "INSERT INTO t VALUES (-1, 'x')", &*ready(true)] {
            sql.batch(change).unwrap();
        }
        let found = store.lifecycle().check().unwrap().findings;
        assert!(found.len() == 1 && found[0].contains("lacks matching index tuple"), "{found:?}");
    }
    store.close().unwrap();
}

/// Returns the largest file of a database that is not a log, and how far it is written: LMDB's is
/// longer than that.
fn largest(dir: &Path) -> (PathBuf, u64) {
    let mut found = (PathBuf::new(), 0);
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let (entry, path) =
                entry.map(|entry| (entry.metadata().unwrap(), entry.path())).unwrap();
            let name = path.file_name().unwrap().to_string_lossy().to_lowercase();
            let written = entry.len().min(entry.blocks() * 512);
            if entry.is_dir() {
                folders.push(path);
            } else if written > found.1 && !name.contains("log") && !name.ends_with(".wal") {
                found = (path, written);
            }
        }
    }
    found
}

/// The bytes of a page that are inverted.
const PAGE: Range<u64> = 0..4096;
/// A few bytes in its middle, which belong to a value in most engines' pages.
const VALUE: Range<u64> = 2048..2064;

/// Inverts those bytes of eight pages of 4 KiB, spread over the middle half of a file.
fn damage(file: &Path, written: u64, bytes: &Range<u64>) {
    let opened = Files::new().read(true).write(true).open(file).unwrap();
    for part in 4..12 {
        let at = written * part / 16 / PAGE.end * PAGE.end + bytes.start;
        let mut page = vec![0; (bytes.end - bytes.start) as usize];
        opened.read_exact_at(&mut page, at).unwrap();
        page.iter_mut().for_each(|byte| *byte = !*byte);
        opened.write_all_at(&page, at).unwrap();
    }
}

/// Opens a database in a separate process, which a damaged database may crash, and reads or checks
/// it. Returns the faults that the process reports, or how it died.
fn faults(id: &str, tier: Durability, dir: &Path, doing: &str) -> Vec<String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["integrity::meets_damage", "--exact", "--ignored", "--nocapture"]);
    let request = format!("{id}\n{tier}\n{}\n{doing}", dir.display());
    let output = command.env(REQUEST_VARIABLE, request).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = said.lines().filter_map(|line| Some(line.split_once(REPORT_PREFIX)?.1));
    let mut said: Vec<_> = said.map(str::to_owned).collect();
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        said.push(format!("{UNREPORTED} more, and died: {}: {words}", output.status));
    }
    said
}

/// Returns the faults of a database, found by reading all of it and by the engine's own check.
fn found_in(engine: &dyn Engine, tier: Durability, folder: &Path) -> [Vec<String>; 2] {
    ["read", "check"].map(|doing| faults(engine.info().id, tier, folder, doing))
}

/// Copies the content of a folder, with its holes.
fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().unwrap();
    assert!(copied.success());
}

/// Makes a database, in which nothing is found.
fn sound(engine: &dyn Engine, tier: Durability) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut store = engine.open(&options(folder.path(), tier)).unwrap().store;
    fill(&mut store).unwrap();
    store.close().unwrap();
    let id = engine.info().id;
    assert_eq!(
        found_in(engine, tier, folder.path()),
        [const { Vec::<String>::new() }; 2],
        "{id}: sound"
    );
    folder
}

/// Inverts those bytes of pages of a sound database, and returns its faults.
fn damaged(
    engine: &dyn Engine,
    tier: Durability,
    folder: &Path,
    bytes: &Range<u64>,
) -> [Vec<String>; 2] {
    let id = engine.info().id;
    let (file, written) = largest(folder);
    assert!(written > ROWS * 64, "{id}: {} has {written} bytes", file.display());
    damage(&file, written, bytes);
    let said = found_in(engine, tier, folder);
    println!(
        "{id}, with bytes {bytes:?} of pages inverted, by reading and by its check: {said:#?}"
    );
    said
}

/// Returns engines whose files stay in place, each in the strongest tier that it offers: a private
/// server is made anew each time it is opened. Of those without checksums and of those with them
/// two, as [`sampled`], or all.
fn on_disk() -> Vec<(&'static dyn Engine, Durability)> {
    // Servers are left out first: each is asked for its version, by a process, to know it is here.
    let embedded = ENGINES
        .iter()
        .copied()
        .filter(|engine| engine.info().kind == Kind::Embedded && engine.info().id != "zen");
    let strongest = embedded.filter(|engine| is_here(*engine)).filter_map(|engine| {
        let offered = |tier: &Durability| matches!(engine.tier(*tier), Tier::Offered { .. });
        Some((engine, Durability::ALL.into_iter().rfind(offered)?))
    });
    let (without, with): (Vec<_>, Vec<_>) =
        strongest.partition(|(engine, _)| WITHOUT_CHECKSUMS.contains(&engine.info().id));
    [sampled(without, 2), sampled(with, 2)].concat()
}

#[test]
fn damaged_pages_are_reported_and_changed_values_if_there_are_checksums() {
    for (engine, tier) in on_disk() {
        let (id, made) = (engine.info().id, sound(engine, tier));
        let (folder, kept) = (made.path(), tempfile::tempdir().unwrap());
        copy(folder, kept.path());
        let [by_reading, by_check] = damaged(engine, tier, folder, &PAGE);
        assert!(!by_reading.is_empty() || !by_check.is_empty(), "{id} was silent");
        assert!(WITHOUT.contains(&id) || !by_check.is_empty(), "{id}: its check found nothing");

        fs::remove_dir_all(folder).unwrap();
        fs::create_dir(folder).unwrap();
        copy(kept.path(), folder);
        let [by_reading, by_check] = damaged(engine, tier, folder, &VALUE);
        if WITHOUT_CHECKSUMS.contains(&id) {
            // The damage to the values can be seen by a reader that knows them.
            assert!(!by_reading.is_empty(), "{id}");
            continue;
        }
        let by_engine = |said: &&String| !said.starts_with(UNREPORTED);
        assert!(by_reading.iter().chain(&by_check).any(|said| by_engine(&said)), "{id} was silent");
        assert!(WITHOUT.contains(&id) || by_check.iter().any(|said| by_engine(&said)), "{id}");
    }
}

#[test]
#[ignore = "run in a process of its own by another test"]
fn meets_damage() {
    let request = std::env::var(REQUEST_VARIABLE).unwrap();
    let [id, tier, dir, doing] = request.splitn(4, '\n').collect::<Vec<_>>().try_into().unwrap();
    let options = OpenOptions::new(dir, tier.parse().unwrap(), 64 << 20);
    let mut store = match registry::find(id).unwrap().open(&options) {
        Ok(opened) => opened.store,
        Err(error) => return println!("{REPORT_PREFIX}when it is opened: {error}"),
    };
    if doing == "read" {
        match read(&mut store) {
            Ok(Ok(ROWS)) => {}
            Ok(Ok(rows)) => println!("{REPORT_PREFIX}{UNREPORTED}, and gives {rows} rows"),
            Ok(Err(wrong)) => println!("{REPORT_PREFIX}{UNREPORTED}, and {wrong}"),
            Err(error) => println!("{REPORT_PREFIX}when it is read: {error}"),
        }
    } else {
        match store.lifecycle().check() {
            Ok(checked) => {
                checked.findings.iter().for_each(|found| println!("{REPORT_PREFIX}{found}"))
            }
            Err(error) if error.is_unsupported() => {}
            Err(error) => println!("{REPORT_PREFIX}when it is checked: {error}"),
        }
    }
    // A library that panicked may not close; that is reported above.
    drop(store);
}
