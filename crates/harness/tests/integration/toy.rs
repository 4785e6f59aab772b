//! A workload of three phases and engines with one fault each.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

use embermark_engines::kv::{
    Change, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work,
};
use embermark_engines::{
    Availability, DataModel, Engine, EngineError, Info, Kind, Lifecycle, OpenOptions, Opened,
    Reopener, Result, Scope, Store, Tier,
};
use embermark_harness::Catalog;
use embermark_meter::{Measured, Meter};
use embermark_model::answer::Answer;
use embermark_model::plan::{DataSource, Dataset};
use embermark_model::result::{Execution, PhaseKind};
use embermark_model::{Durability, Scale};
use embermark_workloads::{
    Bench, BenchPhase, CheckError, Info as WorkloadInfo, Outcome, Passed, PhaseInfo, Prepared,
    Protocol, Repeat, Source, Spec, VariantInfo, Workload, WorkloadError,
};
use nix::sys::signal::{Signal, raise};

/// The toy workload, and an engine for each fault.
pub static CATALOG: Catalog = Catalog::new(ENGINES, &[&Squares]);

static ENGINES: &[&dyn Engine] = &[
    &Toy("good", Fault::None),
    &Toy("chatty", Fault::Prints),
    &Toy("wrong", Fault::WrongValue),
    &Toy("failing", Fault::Error),
    &Toy("killed", Fault::Killed),
    &Toy("panicking", Fault::Panics),
    &Toy("quitting", Fault::Exits),
    &Toy("hanging", Fault::Hangs),
    &Toy("slow", Fault::Slow),
    &Toy("delayed", Fault::Delays),
    &Toy("leaking", Fault::Leaks),
    &Toy("tardy", Fault::OpensSlowly),
    &Toy("sloppy", Fault::ErrsAtTimes),
    &Toy("lazy", Fault::SlowMaintenance),
    &Toy("restless", Fault::NoMaintenance),
    &Toy("server", Fault::Server),
    &Toy("stubborn", Fault::StubbornServer),
    &Toy("absent", Fault::Absent),
    &Toy("secret", Fault::Forbids),
    &Toy("null", Fault::WrongValue),
    &Toy("opened", Fault::Library),
    &Toy("weakening", Fault::Weakens),
];

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// Its licence forbids publishing figures.
    Forbids,
    Prints,
    WrongValue,
    Error,
    Killed,
    Panics,
    Exits,
    Hangs,
    Slow,
    /// Takes known times: 2 ms for most reads, 10 for some, 40 for a few. It records them.
    Delays,
    /// Keeps 1 MB of every read.
    Leaks,
    /// Takes half a second to open.
    OpensSlowly,
    /// Fails at every thousandth call.
    ErrsAtTimes,
    /// Takes a while for its maintenance, and then has a smaller file.
    SlowMaintenance,
    /// Has no maintenance.
    NoMaintenance,
    /// Starts a server that burns CPU during requests, and stops it at the end.
    Server,
    /// Starts a server in its own session that ignores SIGTERM, and hangs.
    StubbornServer,
    Absent,
    /// Its library is a directory with its version in a file. It syncs from version 2.0 on.
    Library,
    /// Changes its settings after 150 reads.
    Weakens,
}

/// The variable that names the directory of its library.
pub const LIBRARY: &str = "EMBERMARK_TOY_LIB_DIR";

struct Toy(&'static str, Fault);

impl Engine for Toy {
    fn info(&self) -> Info {
        let kind = match self.1 {
            Fault::Server | Fault::StubbornServer => Kind::Server,
            _ if self.0 == "null" => Kind::Reference,
            _ => Kind::Embedded,
        };
        Info { id: self.0, name: self.0, kind, family: DataModel::KeyValue, licence: "-" }
    }

    fn availability(&self) -> Availability {
        match self.1 {
            Fault::Absent => {
                Availability::Missing { why: "not here".into(), remedy: "apt install it".into() }
            }
            _ => match self.version() {
                Ok(version) => Availability::Ready { version },
                Err(why) => Availability::Missing { why, remedy: "make one".into() },
            },
        }
    }

    fn library(&self) -> Option<&'static str> {
        (self.1 == Fault::Library).then_some(LIBRARY)
    }

    fn forbids_publishing(&self) -> bool {
        self.1 == Fault::Forbids
    }

    fn has_maintenance(&self) -> bool {
        self.1 != Fault::NoMaintenance
    }

    fn tier(&self, durability: Durability) -> Tier {
        match (self.0, durability) {
            ("null", _) => offered(Durability::None, "nothing"),
            (_, Durability::Power) if self.version().is_ok_and(|version| version == "2.0") => {
                offered(Durability::Power, "synced")
            }
            (_, Durability::None | Durability::Process) => offered(Durability::Process, "kept"),
            (_, Durability::Power) => Tier::Unsupported { why: "it never syncs" },
        }
    }

    fn open(&self, site: &OpenOptions) -> Result<Opened> {
        fs::write(site.dir.join("database"), vec![1; 8192])
            .map_err(|error| EngineError::failed("toy", "create its file", error))?;
        let server = match self.1 {
            Fault::Server => Some(self.serve(
                "read line; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 600",
            )?),
            Fault::StubbornServer => Some(self.serve("trap '' TERM; while :; do sleep 600; done")?),
            Fault::OpensSlowly => {
                std::thread::sleep(OPENING);
                None
            }
            _ => None,
        };
        Ok(Opened {
            store: Store::Kv(Box::new(Map {
                pairs: BTreeMap::new(),
                fault: self.1,
                gets: 0,
                server,
                leaked: Vec::new(),
                file: site.dir.join("database"),
                delays: Vec::new(),
            })),
            version: self.version().map_err(|why| EngineError::failed("toy", "open", why))?,
            settings: vec![("mode".into(), "toy".into())],
            server,
        })
    }
}

const fn offered(effective_durability: Durability, setting: &'static str) -> Tier {
    Tier::Offered { effective_durability, setting, manual: "" }
}

impl Toy {
    fn version(&self) -> std::result::Result<String, String> {
        let Some(folder) = self.library().and_then(env::var_os) else { return Ok("1.0".into()) };
        let file = Path::new(&folder).join("version");
        fs::read_to_string(&file).map_err(|_| format!("no {}", file.display()))
    }

    fn serve(&self, script: &str) -> Result<u32> {
        Command::new("sh")
            .args(["-c", script])
            .process_group(0)
            .stdin(Stdio::null())
            .spawn()
            .map(|child| child.id())
            .map_err(|error| EngineError::failed("toy", "start its server", error))
    }
}

struct Map {
    pairs: BTreeMap<Vec<u8>, Vec<u8>>,
    fault: Fault,
    gets: u64,
    server: Option<u32>,
    leaked: Vec<Vec<u8>>,
    file: PathBuf,
    delays: Vec<u128>,
}

/// Time that the engine which opens slowly takes for it.
pub const OPENING: Duration = Duration::from_millis(2_000);

/// Time that the engine with slow maintenance takes for it.
pub const MAINTENANCE: Duration = Duration::from_millis(1_000);

/// Bytes that the leaking engine keeps of every read.
pub const LEAK: usize = 1_000_000;

impl Lifecycle for Map {
    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        let has_changed = self.fault == Fault::Weakens && self.gets >= 150;
        let mode = if has_changed { "loose" } else { "toy" };
        Ok(vec![("mode".into(), mode.into()), ("told_at_the_end".into(), "alone".into())])
    }

    fn maintain(&mut self) -> Result<()> {
        if self.fault == Fault::SlowMaintenance {
            std::thread::sleep(MAINTENANCE);
            fs::write(&self.file, vec![1; 4096])
                .map_err(|error| EngineError::failed("toy", "shrink its file", error))?;
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        if self.fault == Fault::Delays {
            writeln!(std::io::stderr(), "delays: {:?}", self.delays).expect("a log");
        }
        if let Some(server) = self.server {
            let group = nix::unistd::Pid::from_raw(server as i32);
            nix::sys::signal::killpg(group, Signal::SIGKILL)
                .map_err(|error| EngineError::failed("toy", "stop its server", error))?;
            let _ = nix::sys::wait::waitpid(group, None);
        }
        Ok(())
    }
}

impl KvStore for Map {
    fn table(&mut self, _: &TableDef<'_>) -> Result<Table> {
        Ok(Table(0))
    }

    fn clear(&mut self, _: Table) -> Result<()> {
        self.pairs.clear();
        Ok(())
    }

    fn bulk(&mut self, _: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        while let Some((key, value)) = pairs.next() {
            self.pairs.insert(key.into(), value.into());
        }
        Ok(self.pairs.len() as u64)
    }

    fn transact(&mut self, _: Scope, work: &mut Work<'_>) -> Result<()> {
        work(self)
    }
}

impl Operations for Map {
    fn get(&mut self, _: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.gets += 1;
        // In the second run of the read phase at 100 rows.
        if self.gets == 150 {
            match self.fault {
                Fault::Prints => println!("{{\"event\":\"finished\"}}"),
                Fault::WrongValue => return Ok(Some(b"12345678")),
                Fault::Error => return Err(EngineError::failed("toy", "get a row", "bad luck")),
                Fault::Killed => raise(Signal::SIGKILL).expect("a signal"),
                Fault::Panics => panic!("page 7 is gone"),
                Fault::Exits => {
                    writeln!(std::io::stderr(), "licence expired").expect("a log");
                    std::process::exit(0);
                }
                Fault::Hangs | Fault::StubbornServer => loop {
                    std::thread::sleep(Duration::from_secs(600));
                },
                _ => {}
            }
        }
        match self.fault {
            Fault::Slow => std::thread::sleep(Duration::from_millis(5)),
            Fault::Delays => {
                let began = Instant::now();
                std::thread::sleep(Duration::from_millis(match self.gets % 100 {
                    0..89 => 2,
                    89..97 => 10,
                    _ => 40,
                }));
                self.delays.push(began.elapsed().as_nanos());
            }
            Fault::Leaks => self.leaked.push(vec![7; LEAK]),
            Fault::ErrsAtTimes if self.gets.is_multiple_of(1_000) => {
                return Err(EngineError::failed("toy", "get a row", "try again"));
            }
            _ => {}
        }
        Ok(self.pairs.get(key).map(|value| &**value))
    }

    fn put(&mut self, _: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.pairs.insert(key.into(), value.into());
        Ok(())
    }

    fn modify(&mut self, _: Table, _: &[u8], _: &mut Change<'_>) -> Result<bool> {
        Err(EngineError::unsupported("toy", "changes in place"))
    }

    fn delete(&mut self, _: Table, key: &[u8]) -> Result<bool> {
        Ok(self.pairs.remove(key).is_some())
    }

    fn scan(&mut self, _: Table, _: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        for (key, value) in &self.pairs {
            if visit(key, value).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// The squares of the first numbers: written, read, summed up, and changed in place, which no
/// engine here supports.
pub struct Squares;

struct Rows;

const PHASES: [&str; 4] = ["load", "read", "total", "change"];

impl Workload for Squares {
    fn info(&self) -> WorkloadInfo {
        WorkloadInfo {
            id: "squares",
            about: "squares of numbers",
            phases: &[
                PhaseInfo { name: "load", about: "puts them" },
                PhaseInfo { name: "read", about: "reads them" },
                PhaseInfo { name: "total", about: "adds them up" },
                PhaseInfo { name: "change", about: "changes one" },
            ],
            variants: &[
                VariantInfo { name: "single", about: "one by one", changes: &["load"] },
                VariantInfo { name: "other", about: "another way", changes: &["load"] },
            ],
            overview: Protocol::of(&[5], &["single"]),
            usual: Protocol::of(&[5], &["single"]),
            clients: 1,
            ..WorkloadInfo::default()
        }
    }

    fn source(
        &self,
        _: &DataSource,
        _: u64,
    ) -> std::result::Result<Box<dyn Source>, WorkloadError> {
        Ok(Box::new(Rows))
    }

    fn prepare(&self, spec: &Spec) -> std::result::Result<Box<dyn Prepared>, WorkloadError> {
        let rows = fs::read_to_string(&spec.rows).expect("staged rows");
        Ok(Box::new(Ready(rows.trim().parse().expect("a number"))))
    }
}

impl Source for Rows {
    fn stage(&self, scale: Scale, file: &Path) -> std::result::Result<Dataset, WorkloadError> {
        let rows = match scale {
            Scale::Rows(rows) => rows,
            Scale::Full => 1_000,
        };
        fs::write(file, rows.to_string()).map_err(|cause| {
            embermark_data::DataError::Unwritable { path: file.to_owned(), cause }
        })?;
        Ok(Dataset {
            name: "squares".into(),
            file: None,
            sha256: None,
            rows,
            sensors: 0,
            dropped: BTreeMap::new(),
            remarks: BTreeMap::new(),
        })
    }
}

struct Ready(u64);

impl Prepared for Ready {
    fn open(self: Box<Self>, store: Store, _: Reopener) -> Result<Box<dyn Bench>> {
        let Store::Kv(store) = store else {
            return Err(EngineError::unsupported("toy", "other data models"));
        };
        let kind = PhaseKind::default();
        let phase = |name, ops| BenchPhase { name, ops, execution: Execution::Native, kind };
        let [load, read, total, change] = PHASES;
        let phases = [phase(load, self.0), phase(read, self.0), phase(total, 1), phase(change, 1)];
        Ok(Box::new(Numbers { rows: self.0, phases, store }))
    }
}

struct Numbers {
    rows: u64,
    phases: [BenchPhase; 4],
    store: Box<dyn KvStore>,
}

const TABLE: Table = Table(0);

fn number(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(bytes.try_into().expect("eight bytes"))
}

impl Bench for Numbers {
    fn phases(&self) -> &[BenchPhase] {
        &self.phases
    }

    fn ready(&mut self, phase: usize) -> Result<()> {
        self.store.clear(TABLE)?;
        if phase > 0 {
            (0..self.rows).try_for_each(|i| self.put(i))?;
        }
        Ok(())
    }

    fn run(&mut self, phase: usize, meter: &mut Meter) -> Result<Outcome> {
        let mut sum = 0_u64;
        meter.start();
        match phase {
            0 => {
                sum = meter.each(self.rows, |i| self.put(i as u64))?;
            }
            1 => {
                let rows = self.rows;
                self.store.within(Scope::Snapshot, |snapshot| {
                    meter.each(rows, |i| {
                        let value = snapshot.get(TABLE, &(i as u64).to_be_bytes())?;
                        sum = sum.wrapping_add(value.map_or(0, number));
                        Ok::<_, EngineError>(())
                    })
                })?;
            }
            2 => meter.once(|| {
                self.store.within(Scope::Snapshot, |snapshot| {
                    snapshot.scan(TABLE, Range::default(), &mut |_, value| {
                        sum = sum.wrapping_add(number(value));
                        std::ops::ControlFlow::Continue(())
                    })
                })
            })?,
            _ => {
                let change = |each: &mut dyn Operations| each.modify(TABLE, &[], &mut |_| ());
                meter.once(|| self.store.within(Scope::PerOperation, change))?;
            }
        }
        meter.stop();
        let answer = Answer::Count(sum);
        // The execution is reported when the sum was made.
        let execution = (phase == 2).then_some(Execution::ClientSide);
        Ok(Outcome { answer, execution, ..Outcome::default() })
    }

    fn check(
        &mut self,
        phase: usize,
        outcome: &Outcome,
        measured: Measured,
    ) -> std::result::Result<Passed, CheckError> {
        let squares = |n: u64| (0..n).map(|i| i * i).sum::<u64>();
        let expected = match phase {
            0 => measured.ops,
            1 => squares(measured.ops),
            _ => squares(self.rows),
        };
        Answer::Count(expected).check(&outcome.answer)?;
        Ok(Passed::default())
    }

    fn repeat(&self, phase: usize) -> Repeat {
        if phase == 2 { Repeat::Reads } else { Repeat::Never }
    }

    fn user_bytes(&self, phase: usize, ops: u64) -> Option<u64> {
        (phase == 0).then_some(16 * ops)
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        self.store.tier_settings()
    }

    fn maintain_as_left(&mut self) -> Result<()> {
        self.store.maintain()
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}

impl Numbers {
    fn put(&mut self, i: u64) -> Result<()> {
        let (key, value) = (i.to_be_bytes(), (i * i).to_be_bytes());
        self.store.within(Scope::PerOperation, |each| each.put(TABLE, &key, &value))
    }
}
