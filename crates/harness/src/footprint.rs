//! Resources that an engine uses for an empty database that is opened and left idle.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::thread::sleep;
use std::time::{Duration, Instant};

use embermark_engines::{OpenOptions, Opened, Tier};
use embermark_model::{Configuration, Configurations, Durability};
use serde::{Deserialize, Serialize};

use crate::outdir::readable_folder;
use crate::probe::{Probe, resident_bytes, resident_of};
use crate::protocol::{IdleRequest, Request};
use crate::system::read_lossy;
use crate::worker_command::WorkerCommand;
use crate::{Catalog, HarnessError, Interrupt, Result, disk, engine_library, heap, processes};

/// Time limit for creating and opening the database, in addition to the idle time.
const PATIENCE: Duration = Duration::from_secs(600);

/// Resources of an idle engine. `None` for figures that cannot be read on this system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Footprint {
    /// Version of the engine, as it reports itself.
    pub version: String,
    /// Programs and shared libraries that were loaded for the engine and not for embermark, with
    /// their sizes in bytes. Empty for an engine that is compiled in.
    pub files: Vec<(PathBuf, u64)>,
    /// Time to open an existing empty database in ns. For a server it includes its start.
    pub open_ns: u64,
    /// Growth of the client process's resident memory by opening the database, in bytes. For an
    /// embedded engine this is all of its memory.
    pub client_bytes: Option<u64>,
    /// Memory of the server's processes in bytes, with shared memory counted once. `None` for an
    /// embedded engine.
    pub server_bytes: Option<u64>,
    /// Size of the empty database on disk in bytes, while it is open.
    pub disk_bytes: u64,
    /// Duration of the idle time in ns.
    pub idle_ns: u64,
    /// CPU time of its processes in the idle time, in ns.
    pub cpu_ns: Option<u64>,
    /// Bytes that its processes wrote to storage in the idle time.
    pub written_bytes: Option<u64>,
}

/// Options for opening the idle database.
#[derive(Clone, Copy, Debug)]
pub struct Conditions<'a> {
    /// The durability tier.
    pub tier: Durability,
    /// Cache memory in bytes.
    pub cache_bytes: u64,
    /// Duration of the idle time.
    pub idle: Duration,
    /// An existing folder for the databases, which are removed at the end.
    pub dir: &'a Path,
    /// The request to stop.
    pub interrupt: &'a Interrupt,
}

/// Measures the footprint of an engine or a configuration: creates an empty database, opens it in
/// another process and leaves it idle.
///
/// # Errors
/// If no process can be started, or after an interrupt. The inner error is the reason why this
/// engine has no footprint: it is not installed, does not offer the tier, or fails.
pub fn footprint(
    column: &str,
    configurations: &Configurations,
    conditions: Conditions<'_>,
    worker: &WorkerCommand,
    catalog: &Catalog,
) -> Result<Result<Footprint, String>> {
    let Conditions { tier, cache_bytes, idle, dir, interrupt } = conditions;
    let own = configurations.get(column).cloned();
    let own = own.unwrap_or_else(|| Configuration::new(column));
    let folder = readable_folder(dir, "embermark-footprint-")?;
    let ask = |idle: Duration| -> Result<Result<Footprint, String>> {
        let idling = IdleRequest {
            engine: own.engine.clone(),
            engine_library: engine_library::find(&own.engine),
            folder: folder.path().to_owned(),
            tier,
            cache_bytes,
            settings: own.pairs(),
            idle_ms: u64::try_from(idle.as_millis()).unwrap_or(u64::MAX),
        };
        let patience = PATIENCE + idle;
        let library = catalog.library_of(&own);
        let request = Request::Idle(Box::new(idling));
        let answer = worker.ask(library, &request, (patience, interrupt))?;
        if interrupt.is_set() {
            return Err(HarnessError::Interrupted { result: None });
        }
        Ok(answer.unwrap_or_else(|why| Err(format!("the process that opened it {why}"))))
    };
    // The first process creates the files. The second opens them, as a device does at each start.
    match ask(Duration::ZERO)? {
        Ok(_) => ask(idle),
        Err(why) => Ok(Err(why)),
    }
}

impl IdleRequest {
    /// Opens the database in this process. Returns its footprint, or why it was not opened.
    pub fn answer(&self, catalog: &Catalog) -> Result<Footprint, String> {
        let this = process::id();
        // The first reading is discarded. It loads the measuring code, whose pages would otherwise
        // count as the engine's.
        let _ = (mapped_code(&[this]), Probe::process(this).begin(), disk::size_of(&self.folder));
        heap::trim();
        // Read before the engine is asked for its version, which may load its library.
        let (code, resident) = (mapped_code(&[this]), resident_bytes(this));
        let catalog = catalog.with_described(self.engine_library.as_ref());
        let catalog = catalog.map_err(|error| error.to_string())?;
        let engine = catalog.engine(&self.engine).map_err(|error| error.to_string())?;
        if let Tier::Unsupported { why } = engine.tier(self.tier) {
            return Err(format!("it does not offer the tier '{}': {why}", self.tier));
        }
        let options = OpenOptions::new(self.folder.clone(), self.tier, self.cache_bytes);
        let options = OpenOptions { settings: self.settings.clone(), ..options };

        let began = Instant::now();
        let Opened { store, version, server, .. } =
            engine.open(&options).map_err(|error| error.to_string())?;
        let open_ns = began.elapsed().as_nanos() as u64;

        let probes = server.map(Probe::tree).into_iter().chain([Probe::process(this)]);
        let probes: Vec<_> = probes.map(|probe| (probe, probe.begin())).collect();
        let idle = Instant::now();
        sleep(Duration::from_millis(self.idle_ms));
        let idle_ns = idle.elapsed().as_nanos() as u64;
        let used: Vec<_> = probes.into_iter().map(|(probe, before)| probe.end(before)).collect();

        let serving = server.map(processes::tree).unwrap_or_default();
        let loaded = mapped_code(&[&serving[..], &[this]].concat());
        let sized = |path: &PathBuf| Some((path.clone(), fs::metadata(path).ok()?.len()));
        // A library that embermark is linked with was loaded before.
        let linked = engine.origin().and_then(|origin| library_name(origin.path()?));
        let is_linked = |path: &PathBuf| linked.as_ref().is_some_and(|name| is_version(path, name));
        let own = loaded.iter().filter(|path| !code.contains(*path) || is_linked(path));
        let resident_now = resident_bytes(this);
        let footprint = Footprint {
            version,
            files: own.filter_map(sized).collect(),
            open_ns,
            client_bytes: resident_now.zip(resident).map(|(now, then)| now.saturating_sub(then)),
            server_bytes: server.and_then(|_| resident_of(&serving)),
            disk_bytes: disk::size_of(&self.folder)
                .map_err(|error| format!("its files cannot be counted: {error}"))?
                .allocated_bytes,
            idle_ns,
            cpu_ns: used.iter().map(|used| used.cpu_ns).sum(),
            written_bytes: used.iter().map(|used| used.written_bytes).sum(),
        };
        store.close().map_err(|error| error.to_string())?;
        Ok(footprint)
    }
}

/// Returns the files whose code these processes have mapped: programs and shared libraries.
fn mapped_code(pids: &[u32]) -> BTreeSet<PathBuf> {
    let maps = |pid: &u32| read_lossy(format!("/proc/{pid}/maps")).unwrap_or_default();
    pids.iter().flat_map(|pid| parse_maps(&maps(pid))).collect()
}

/// Parses the text of `/proc/PID/maps` (`proc_pid_maps(5)`): address, permissions, offset, device,
/// inode, path.
fn parse_maps(maps: &str) -> BTreeSet<PathBuf> {
    let mapped = |line: &str| {
        let mut fields = line.splitn(6, ' ');
        let permissions = fields.nth(1)?;
        let path = fields.nth(3)?.trim_start();
        (permissions.contains('x') && path.starts_with('/')).then(|| PathBuf::from(path))
    };
    maps.lines().filter_map(mapped).collect()
}

/// Returns the name of a shared library without its version: `libdb` for `libdb.so`.
fn library_name(path: &Path) -> Option<String> {
    let (name, _) = path.file_name()?.to_str()?.split_once(".so")?;
    Some(name.to_owned())
}

/// Whether a file is a version of a shared library: `libdb.so.5`, `libdb-5.3.so`.
fn is_version(path: &Path, library: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.strip_prefix(library).is_some_and(|rest| rest.starts_with(['.', '-']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linked_library_is_found_under_the_name_of_its_version() {
        let name = library_name(Path::new("libdb.so")).unwrap();
        assert!(is_version(Path::new("/usr/lib/libdb-5.3.so"), &name));
        assert!(is_version(Path::new("/usr/lib/libdb.so.5"), &name));
        assert!(!is_version(Path::new("/usr/lib/libdbus-1.so.3"), &name));
        assert_eq!(library_name(Path::new("/opt/mongod")), None);
    }

    #[test]
    fn code_is_what_is_mapped_to_be_executed_from_a_file() {
        let maps = "\
7f00-7f01 r-xp 00001000 fd:00 12                         /usr/lib/libdb-5.3.so
7f01-7f02 r--p 00002000 fd:00 12                         /usr/lib/libdb-5.3.so
7f02-7f03 rw-p 00000000 fd:00 13                         /tmp/a map
7f03-7f04 r-xp 00000000 fd:00 14                         /opt/my engine/lib.so
7ffd-7ffe r-xp 00000000 00:00 0                          [vdso]
7fff-8000 rwxp 00000000 00:00 0
";
        let found: Vec<PathBuf> = parse_maps(maps).into_iter().collect();
        let expected = ["/opt/my engine/lib.so", "/usr/lib/libdb-5.3.so"].map(PathBuf::from);
        assert_eq!(found, expected);
    }
}
