use std::sync::atomic::Ordering;

use embermark_contract::Reopener;
use embermark_engines::{OpenOptions, registry};
use embermark_meter::{ArrivalSchedule, Measured};
use embermark_model::{Durability, Scale};

use super::super::keep::tests::cell;
use super::super::port::Database;
use super::*;

/// As many rows as possible are held back: half of them.
const FILE: &str = r#"
[table.t]
file = "t.csv"
key = ["id"]
[table.t.columns]
id = "u32"
[phase.write]
do = "insert"
[phase.read]
do = "get"
[phase.live]
mix = { write = "1000/s", read = "1000/s" }
"#;

/// Indexes of the phases.
const WRITE: usize = 0;
const READ: usize = 1;

/// Returns a cell of forty rows and a database with the first twenty.
fn opened() -> (Arc<Cell>, Box<dyn Database>) {
    let dir = tempfile::tempdir().unwrap();
    let rows: Vec<String> = (0..40).map(|row| row.to_string()).collect();
    std::fs::write(dir.path().join("t.csv"), format!("id\n{}\n", rows.join("\n"))).unwrap();
    let cell = Arc::new(cell(FILE, Scale::Full, dir.path()).unwrap());
    assert_eq!((cell.tables[0].loaded, cell.tables[0].staged.rows()), (20, 40));
    let options = OpenOptions::new(dir.path().join("db"), Durability::None, 64 << 20);
    let store = registry::find("memory").unwrap().open(&options).unwrap().store;
    let never = Reopener::new(|_, _| panic!("nobody opens it again"));
    let mut database = family::open(store, never, Arc::clone(&cell)).unwrap();
    database.clear(0).unwrap();
    database.bulk(0, None, &mut Meter::new(None)).unwrap();
    [WRITE, READ].into_iter().for_each(|phase| database.ready(phase, phase).unwrap());
    cell.begin();
    (cell, database)
}

/// Returns the task of a client that does operations of a phase in 30 s, as fast as it can.
fn paced(phase: usize, ops: u64) -> ClientTask {
    let schedule = Some(ArrivalSchedule::new(1e6, 1, 0));
    ClientTask {
        parts: vec![ClientTaskPart { phase, schedule }],
        order: Arc::from([]),
        ops: Some(ops),
        lasts: Some(Duration::from_secs(30)),
        rounds: None,
        client: 0,
        clients: 1,
        is_shared: false,
    }
}

/// The same without a schedule, as in a mix by shares.
fn unpaced(phase: usize, ops: u64) -> ClientTask {
    let parts = vec![ClientTaskPart { phase, schedule: None }];
    ClientTask { parts, order: Arc::from([0]), ..paced(phase, ops) }
}

#[test]
fn rows_that_are_used_up_end_a_mix_with_the_operations_that_were_done() {
    for task_of in [paced, unpaced] {
        let (cell, mut database) = opened();
        let used_up = AtomicBool::new(false);
        let mut done = |task: ClientTask| {
            let (task, meter) = (Arc::new(task), Meter::new(None));
            let meters = task.meters(&meter);
            let done = task.perform(&mut *database, &cell, meters, &used_up).unwrap();
            (done.meters[0].measured().ops, used_up.load(Ordering::Relaxed))
        };
        assert_eq!(done(task_of(READ, 50)), (50, false));
        assert_eq!(done(task_of(WRITE, 50)), (20, true), "as many as were held back");
        assert_eq!(done(task_of(READ, 50)), (0, true), "the other clients end too");
        let shared = ClientTask { is_shared: true, ..task_of(READ, 50) };
        assert_eq!(done(shared), (50, true), "it is no mix");
    }
}

#[test]
fn each_part_of_a_mix_learns_how_often_to_time_its_operations() {
    let mut meter = Meter::new(None);
    meter.set_timed(Measured { ops: 1_000, ..Measured::default() }, &[100; 10]);
    let part = |phase| ClientTaskPart { phase, schedule: None };
    let task = ClientTask { lasts: None, parts: vec![part(WRITE), part(READ)], ..paced(READ, 50) };
    for mut part in task.meters(&meter) {
        part.start();
        assert_eq!(part.each::<EngineError>(10, |_| Ok(())).unwrap(), 10);
        part.stop();
        assert_eq!(part.latency().unwrap().samples, 10, "not every hundredth");
    }
}

#[test]
fn a_mix_by_rates_with_too_few_rows_is_refused_before_it_connects() {
    let (cell, mut database) = opened();
    let reads = || paced(READ, 100);
    assert!(check_rows(&cell, &[paced(WRITE, 20), reads()]).is_ok());
    assert!(check_rows(&cell, &[unpaced(WRITE, 21), reads()]).is_ok(), "it ends when it must");
    let shared = ClientTask { is_shared: true, ..paced(WRITE, 21) };
    assert!(check_rows(&cell, &[shared]).is_ok());
    // Both insert rows of one table.
    let tasks = vec![paced(WRITE, 50), paced(WRITE, 10), reads()];
    let arena = Arc::new(Arena::default());
    let refused = ClientThreads::connect(database.lifecycle(), &cell, &arena, tasks);
    let refused = refused.err().unwrap();
    assert!(refused.is_unsupported(), "{refused}");
    let says = "the mix inserts 60 rows of 't', and 20 are held back for it: write \
                for = \"10s\", a lower rate, or give the table 122 rows";
    assert_eq!(refused.to_string(), says);
}
