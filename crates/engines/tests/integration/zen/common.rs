//! Makes the stand-in and talks to it, and has what the tests do with a store.

use std::collections::BTreeMap;
use std::env;
use std::ffi::CString;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use embermark_engines::kv::{Direction, IndexDef, KvStore, Range, Table, TableDef, beyond};
use embermark_engines::registry::find;
use embermark_engines::{Engine, OpenOptions, Opened, Result, Store};
use embermark_model::Durability;
use libloading::Library;

use crate::scopes::{Bytes, Listed, Reads};

pub type Model = BTreeMap<Bytes, Bytes>;

pub const TIERS: [Durability; 2] = [Durability::None, Durability::Power];
pub const WAYS: [Direction; 2] = [Direction::Forward, Direction::Backward];

/// The sources of the stand-in, below the folder of the package, in which Cargo starts tests.
const SOURCES: [&str; 2] = ["tests/integration/zen/library.rs", "tests/integration/zen/state.rs"];

/// The stand-in, compiled and made known to the adapter.
pub static STAND_IN: LazyLock<Library> = LazyLock::new(|| {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("zen");
    std::fs::create_dir_all(&dir).unwrap();
    let library = dir.join("libbtrieveC.so");
    // The first process compiles it, and the others wait for it.
    let alone = File::create(dir.join("lock")).unwrap();
    alone.lock().unwrap();
    if !is_compiled(&library) {
        compile(&library);
    }
    drop(alone);
    // SAFETY: every test of this process comes through here before anything of it reads the
    // environment other than through the standard library, which takes turns.
    unsafe {
        env::set_var("ZEN_LIB_DIR", &dir);
        env::set_var("ZEN_TRANSACTION_DURABILITY", "on");
    }
    // SAFETY: the stand-in has no initializers.
    unsafe { Library::new(library) }.unwrap()
});

/// Whether it was compiled from its present sources.
fn is_compiled(library: &Path) -> bool {
    let changed = |path: &Path| std::fs::metadata(path)?.modified();
    let sources = SOURCES.map(|source| changed(Path::new(source)).unwrap());
    changed(library).is_ok_and(|made| sources.into_iter().all(|source| source < made))
}

fn compile(library: &Path) {
    let made = library.with_extension("new");
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let compiled = Command::new(compiler)
        .args(["--edition", "2024", "--crate-type", "cdylib", "--crate-name", "btrieveC", "-O"])
        .arg("-o")
        .args([made.as_os_str(), SOURCES[0].as_ref()])
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    std::fs::rename(made, library).unwrap();
}

pub fn zen() -> &'static dyn Engine {
    LazyLock::force(&STAND_IN);
    find("zen").unwrap()
}

/// Returns how many objects the adapter has not freed, on this thread.
pub fn unfreed() -> usize {
    // SAFETY: the stand-in's own function, of this type.
    unsafe { STAND_IN.get::<extern "C" fn() -> usize>("stand_in_things").unwrap()() }
}

/// Returns how often a function was called, on this thread.
pub fn calls(function: &str) -> u64 {
    let name = CString::new(format!("Btrieve{function}")).unwrap();
    type Count = extern "C" fn(*const std::ffi::c_char) -> u64;
    // SAFETY: as above; the name lives through the call.
    unsafe { STAND_IN.get::<Count>("stand_in_calls").unwrap()(name.as_ptr()) }
}

/// Makes the `nth` call of a function fail, on this thread; never, if it is 0. Returns whether an
/// earlier order was still open.
pub fn fail(function: &str, nth: u64, status: i32) -> bool {
    let name = CString::new(format!("Btrieve{function}")).unwrap();
    type Fail = extern "C" fn(*const std::ffi::c_char, u64, i32) -> bool;
    // SAFETY: as above.
    unsafe { STAND_IN.get::<Fail>("stand_in_fail").unwrap()(name.as_ptr(), nth, status) }
}

pub fn opened(tier: Durability, dir: &Path) -> Result<Opened> {
    zen().open(&OpenOptions::new(dir, tier, 16 << 20))
}

pub fn open(tier: Durability, dir: &Path) -> Box<dyn KvStore> {
    match opened(tier, dir).unwrap().store {
        Store::Kv(store) => store,
        _ => panic!("no key-value store"),
    }
}

/// Runs a check on a fresh store of each tier, closes it, and checks that everything was freed.
pub fn on_each(check: impl Fn(&mut dyn KvStore, &str)) {
    for tier in TIERS {
        let dir = tempfile::tempdir().unwrap();
        let mut store = open(tier, dir.path());
        check(store.as_mut(), &tier.to_string());
        store.close().unwrap();
        assert_eq!(unfreed(), 0, "{tier}");
    }
}

/// Keys of two bytes, and two overlapping indexes over the value.
pub const PLACES: &[IndexDef<'static>] =
    &[IndexDef { name: "first", at: 0, length: 1 }, IndexDef { name: "pair", at: 0, length: 2 }];

pub fn table(store: &mut dyn KvStore, name: &str, indexes: &[IndexDef<'_>]) -> Table {
    store.table(&TableDef { name, key_length: Some(2), indexes }).unwrap()
}

pub fn by_index(
    reads: &mut (impl Reads + ?Sized),
    table: Table,
    index: usize,
    bytes: &[u8],
) -> Model {
    let mut found = Vec::new();
    let mut visit = |key: &[u8], value: &[u8]| {
        found.push((key.to_vec(), value.to_vec()));
        ControlFlow::Continue(())
    };
    let beyond = beyond(bytes);
    let range = Range::between(bytes, beyond.as_deref());
    reads.visit_index(table, index, range, &mut visit).unwrap();
    let rows = found.len();
    let found: Model = found.into_iter().collect();
    assert_eq!(found.len(), rows, "a pair was found twice");
    found
}

pub fn bulk(store: &mut dyn KvStore, table: Table, model: &Model) -> Result<u64> {
    store.bulk(table, &mut Listed::of(model))
}

pub fn numbered(rows: u16, value: impl Fn(u16) -> Bytes) -> Model {
    (0..rows).map(|n| (n.to_be_bytes().to_vec(), value(n))).collect()
}

pub fn short(n: u16) -> Bytes {
    vec![n as u8 % 7, n as u8 % 3, n as u8]
}
