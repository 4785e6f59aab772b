//! Several clients, and operations at a target rate, on an engine with a known delay.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use embermark_engines::kv::{
    Change, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work,
};
use embermark_engines::{
    Availability, ClientOpener, DataModel, Engine, Info, Kind, Lifecycle, OpenOptions, Opened,
    Result, Scope, Store, Tier,
};
use embermark_harness::{Catalog, HarnessError, RunOptions, WorkerCommand};
use embermark_model::plan::Plan;
use embermark_model::result::{PhaseResult, ResultFile, SCHEMA};
use embermark_model::{Durability, Scale, Status};
use embermark_workloads::WORKLOADS;

use crate::cells::plan;
use crate::trials::{Out, run, until};

crate::tests!(
    a_client_below_its_target_rate_is_behind_and_its_response_times_tell,
    a_client_that_keeps_up_answers_in_the_time_that_the_engine_takes,
    several_clients_wait_for_the_engine_at_the_same_time_and_each_is_told_of,
    an_engine_with_one_client_is_unsupported_with_its_reason,
    a_plan_whose_clients_have_nothing_to_share_is_refused_with_what_they_could,
    a_variant_of_a_shared_plan_runs_the_point_operations_that_it_has,
);

/// Time that the engine takes for a read.
const DELAY: Duration = Duration::from_millis(5);

/// An engine that takes [`DELAY`] for every read of each client, and one that has only one client.
pub static CATALOG: LazyLock<Catalog> =
    LazyLock::new(|| Catalog::new(&[&Slow("slow", true), &Slow("lonely", false)], &WORKLOADS));

struct Slow(&'static str, bool);

impl Engine for Slow {
    fn info(&self) -> Info {
        let (kind, family) = (Kind::Embedded, DataModel::KeyValue);
        Info { id: self.0, name: self.0, kind, family, licence: "-" }
    }

    fn availability(&self) -> Availability {
        Availability::Ready { version: "1".into() }
    }

    fn tier(&self, keeps: Durability) -> Tier {
        Tier::Offered { effective_durability: keeps, setting: "in memory only", manual: "" }
    }

    fn open(&self, _: &OpenOptions) -> Result<Opened> {
        let map = Map { pairs: Arc::default(), several: self.1, value: Vec::new() };
        let store = Store::Kv(Box::new(map));
        Ok(Opened { store, version: "1".into(), settings: Vec::new(), server: None })
    }
}

struct Map {
    pairs: Arc<Mutex<BTreeMap<Vec<u8>, Vec<u8>>>>,
    several: bool,
    value: Vec<u8>,
}

impl Lifecycle for Map {
    fn maintain(&mut self) -> Result<()> {
        Ok(())
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        if !self.several {
            let what = "a second client: it is lonely";
            return Err(embermark_engines::EngineError::unsupported("lonely", what));
        }
        let pairs = Arc::clone(&self.pairs);
        Ok(ClientOpener::new(move || {
            Ok(Store::Kv(Box::new(Self { pairs, several: true, value: Vec::new() })))
        }))
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl KvStore for Map {
    fn table(&mut self, _: &TableDef<'_>) -> Result<Table> {
        Ok(Table(0))
    }

    fn clear(&mut self, _: Table) -> Result<()> {
        self.pairs.lock().unwrap().clear();
        Ok(())
    }

    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let mut rows = 0;
        while let Some((key, value)) = pairs.next() {
            self.put(table, key, value)?;
            rows += 1;
        }
        Ok(rows)
    }

    fn transact(&mut self, _: Scope, work: &mut Work<'_>) -> Result<()> {
        work(self)
    }
}

impl Operations for Map {
    fn get(&mut self, _: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        std::thread::sleep(DELAY);
        let Some(value) = self.pairs.lock().unwrap().get(key).cloned() else { return Ok(None) };
        self.value = value;
        Ok(Some(&self.value))
    }

    fn put(&mut self, _: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.pairs.lock().unwrap().insert(key.into(), value.into());
        Ok(())
    }

    fn modify(&mut self, _: Table, key: &[u8], new: &mut Change<'_>) -> Result<bool> {
        Ok(self.pairs.lock().unwrap().get_mut(key).map(|value| new(value)).is_some())
    }

    fn delete(&mut self, _: Table, key: &[u8]) -> Result<bool> {
        Ok(self.pairs.lock().unwrap().remove(key).is_some())
    }

    fn scan(&mut self, _: Table, _: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        for (key, value) in self.pairs.lock().unwrap().iter() {
            if visit(key, value).is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn asked(engine: &str, clients: u32, target_rate: Option<u64>) -> Plan {
    Plan {
        workloads: vec!["sensors".to_owned()],
        scales: vec![Scale::Rows(100)],
        variants: Vec::new(),
        phases: Some(vec!["read".to_owned()]),
        runs: 2,
        clients,
        target_rate,
        ..plan(&[engine])
    }
}

fn measured(plan: &Plan) -> ResultFile {
    let out = Out::new();
    let options = RunOptions::new(out.path("")).unwrap();
    let args = vec!["worker-of-sharing".to_owned()];
    let worker = WorkerCommand { args, ..options.worker.clone() };
    run(plan, &RunOptions { worker, catalog: *CATALOG, ..options }).unwrap()
}

fn read(result: &ResultFile) -> &PhaseResult {
    let cell = &result.cells[0];
    assert_eq!((cell.status, cell.reason.as_deref()), (Status::Ok, None), "{}", cell.id);
    &cell.trials[0].phases[0]
}

const MS: u64 = 1_000_000;

fn a_client_below_its_target_rate_is_behind_and_its_response_times_tell() {
    let result = measured(&asked("slow", 1, Some(400)));
    assert_eq!(result.schema, SCHEMA);
    let read = read(&result);
    let (service, response) = (read.latency.as_ref().unwrap(), read.response.as_ref().unwrap());
    let schedule = read.runs[1].schedule.unwrap();
    assert!((schedule.target_rate - 400.0).abs() < 1e-9);
    assert!(!schedule.kept_up() && schedule.achieved_rate < 205.0, "{schedule:?}");
    assert!(service.p50 >= 5 * MS && service.p50 * 50 <= read.runs[1].elapsed_ns, "{service:?}");
    // Operation n of 100 is scheduled after n × 2.5 ms and starts after n × 5 ms at the earliest.
    assert!(response.p50 >= 50 * 5 * MS / 2 && response.max >= 99 * 5 * MS / 2, "{response:?}");
    assert!(schedule.response_ns >= 120.0 * MS as f64, "{schedule:?}");
    assert_eq!((service.samples, response.samples), (100, 100));
}

fn a_client_that_keeps_up_answers_in_the_time_that_the_engine_takes() {
    // On a busy machine it may fall behind, but not repeatedly.
    until(|| {
        let result = measured(&asked("slow", 1, Some(50)));
        let read = read(&result);
        let (service, response) = (read.latency.as_ref().unwrap(), read.response.as_ref().unwrap());
        let run = &read.runs[1];
        assert!(service.p50 >= 5 * MS && response.p50 >= service.p50, "{service:?} {response:?}");
        assert!(run.elapsed_ns >= 1_980 * MS && run.clients.is_empty(), "{run:?}");
        if run.schedule.unwrap().kept_up() && response.p50 < service.p50 * 3 / 2 {
            return Ok(());
        }
        Err(format!("{:?} {response:?}", run.schedule))
    });
}

fn several_clients_wait_for_the_engine_at_the_same_time_and_each_is_told_of() {
    let alone = measured(&asked("slow", 1, None));
    assert_eq!((alone.schema, &read(&alone).response), (SCHEMA, &None));
    let alone = &read(&alone).runs[1];
    assert!(alone.elapsed_ns > 500 * MS, "{alone:?}");
    // One after the other they take as long as one alone, which a busy machine may have them do.
    until(|| {
        let result = measured(&asked("slow", 4, None));
        let run = &read(&result).runs[1];
        assert_eq!((run.ops, run.clients.len(), run.schedule), (100, 4, None));
        for client in &run.clients {
            assert_eq!(client.ops, 25);
            assert!((125 * MS..=run.elapsed_ns).contains(&client.elapsed_ns), "{client:?}");
        }
        match run.elapsed_ns < 500 * MS {
            true => Ok(()),
            false => Err(format!("{run:?}")),
        }
    });
}

fn an_engine_with_one_client_is_unsupported_with_its_reason() {
    let result = measured(&asked("lonely", 2, None));
    let cell = &result.cells[0];
    assert_eq!(cell.status, Status::Unsupported);
    let reason = cell.reason.as_deref().unwrap();
    assert_eq!(reason, "lonely does not support a second client: it is lonely");
    // With one client it has a rate like any other.
    assert!(read(&measured(&asked("lonely", 1, Some(100)))).response.is_some());
}

fn a_plan_whose_clients_have_nothing_to_share_is_refused_with_what_they_could() {
    let refused = |plan: &Plan| {
        let error: HarnessError = embermark_harness::cells::check(plan, &CATALOG).unwrap_err();
        assert!(error.is_usage(), "{error}");
        error.to_string()
    };
    let other = Plan { workloads: vec!["htap".to_owned()], ..asked("slow", 2, None) };
    let text = refused(&Plan { phases: None, ..other.clone() });
    assert!(text.contains("'htap'") && text.contains("run sensors"), "{text}");
    let text = refused(&Plan { phases: None, clients: 1, target_rate: Some(5), ..other });
    assert!(text.contains("at a rate") && text.contains("run sensors"), "{text}");
    let question = Some(vec!["avg_sensor".to_owned()]);
    let text = refused(&Plan { phases: question, ..asked("slow", 2, None) });
    assert!(text.contains("only point operations"), "{text}");
    let bulk = vec!["bulk".to_owned()];
    let update = Some(vec!["update".to_owned()]);
    let text = refused(&Plan { variants: bulk, phases: update, ..asked("slow", 2, None) });
    assert!(text.contains("load, read, update, delete in commit-each"), "{text}");
    for clients in [0, 257] {
        assert!(refused(&asked("slow", clients, None)).contains("1 to 256"));
    }
    assert!(refused(&asked("slow", 1, Some(0))).contains("1 to 10000000"));
}

fn a_variant_of_a_shared_plan_runs_the_point_operations_that_it_has() {
    let of = |variants: &[&str], clients| {
        let variants = variants.iter().map(|&name| name.to_owned()).collect();
        let plan = Plan { variants, phases: None, ..asked("slow", clients, None) };
        let cells = embermark_harness::cells::planned(&plan, &CATALOG).unwrap();
        cells.into_iter().map(|cell| (cell.id.variant, cell.phases.join(" "))).collect::<Vec<_>>()
    };
    let cell = |variant: &str, phases: &str| (variant.to_owned(), phases.to_owned());
    assert_eq!(of(&[], 2), [cell("commit-each", "load read update delete")]);
    assert_eq!(
        of(&["single", "commit-each"], 2),
        [cell("single", "read"), cell("commit-each", "load update delete")]
    );
    assert_eq!(of(&["single"], 1)[0].1.split(' ').count(), 13);
}
