//! Workload files: proposals for rows, runs on real engines, and errors that show the mistakes.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::{ProgramOutput, Sandbox, is_here, name_absent, some_embedded};
use embermark_engines::{OpenOptions, Store, registry};
use embermark_model::result::{PhaseResult, ResultFile};
use embermark_model::{Durability, Status};
use embermark_skips::sampled;

const QUICK: [&str; 7] = ["--runs", "2", "--trials", "1", "--out", "out", "--no-counting"];

fn run(sandbox: &Sandbox, words: &[&str]) -> ProgramOutput {
    sandbox.embermark(&[&["run"], words, &QUICK].concat())
}

/// Returns readings of three stations, each with one every ten minutes.
fn readings() -> String {
    let mut text = "station,time,Temp (C),note\n".to_owned();
    for row in 0..900 {
        let (station, time) = (1 + row % 3, 1_700_000_000 + 600 * (row / 3));
        let temp = 15.0 + f64::from(row % 17) - f64::from(row % 5) / 4.0;
        let note = if row % 50 == 0 { "checked" } else { "" };
        let _ = writeln!(text, "{station},{time},{temp},{note}");
    }
    text
}

fn phases<'a>(result: &'a ResultFile, engine: &str) -> Vec<&'a PhaseResult> {
    let cell = result.cells.iter().find(|cell| cell.id.engine == engine).unwrap();
    cell.trials.iter().flat_map(|trial| &trial.phases).collect()
}

#[test]
fn rows_are_looked_at_and_the_file_proposed_runs_as_it_is() {
    let sandbox = Sandbox::new();
    sandbox.write("readings.csv", readings());
    let init = ["init", "readings.csv", "--live", "-o", "weather.toml"];
    sandbox.embermark(&init).expect_status(0).expect_stderr(&[
        "900 rows",
        "key station, time",
        "a row every 3.3 min",
    ]);
    let text = std::fs::read_to_string(sandbox.path("weather.toml")).unwrap();
    for line in ["key = [\"station\", \"time\"]", "from = \"Temp (C)\"", "text?"] {
        assert!(text.contains(line), "no {line} in\n{text}");
    }
    // An existing file is not overwritten.
    sandbox
        .embermark(&["init", "readings.csv", "-o", "weather.toml"])
        .expect_status(2)
        .expect_stderr(&["already exists"]);
    // Runs the mix for half a second instead of half a minute.
    sandbox.write("weather.toml", text.replace("for = \"30s\"", "for = \"500ms\""));
    run(&sandbox, &["weather.toml", "-e", &some_embedded(), "--set", "window=10ms"])
        .expect_status(0);
    let result = sandbox.result("out");
    name_absent(&result);
    for cell in result.cells.iter().filter(|cell| cell.status != Status::Unavailable) {
        assert_eq!(cell.status, Status::Ok, "{}: {:?}", cell.id, cell.reason);
        for phase in cell.trials.iter().flat_map(|trial| &trial.phases) {
            let fine = [Status::Ok, Status::Unsupported].contains(&phase.status);
            assert!(fine, "{} {}: {:?}", cell.id, phase.phase, phase.reason);
        }
    }
    assert_eq!(result.plan.workload_files["weather"].text.lines().count(), text.lines().count());
    let page = std::fs::read_to_string(sandbox.path("out/report.html")).unwrap();
    assert!(page.contains("weather"));
    // Each phase counts for a criterion of advice.
    let words = [
        "advise",
        "--show",
        "tables",
        "out/result.json",
        "--weight",
        "ingest=2,point=1,analytics=1,mixed=1",
    ];
    let advice = sandbox.embermark(&words).expect_status(0).stdout;
    // On a busy machine, fewer than two engines may keep up with a mix. Its times then cannot be
    // compared.
    let kept_up = result.cells.iter().filter(|cell| {
        let phases = cell.trials.iter().flat_map(|trial| &trial.phases);
        // Its parts have separate rates: `live/window`.
        let live = phases.filter(|phase| phase.phase.starts_with("live"));
        let mut runs = live.flat_map(|phase| &phase.runs).peekable();
        runs.peek().is_some() && runs.all(|run| run.schedule.is_none_or(|s| s.kept_up()))
    });
    let kept_up = kept_up.count() > 1;
    // An engine that did not keep up, for example on a busy machine, has no rank in any criterion.
    if !kept_up && advice.contains(" achieved ") {
        return;
    }
    let criteria = ["ingest", "point", "analytics", "mixed"];
    for criterion in &criteria[..criteria.len() - usize::from(!kept_up)] {
        let best = advice.lines().find(|line| line.trim().starts_with(&format!("{criterion}: ")));
        assert!(best.is_some_and(|best| best.contains("at weather full")), "{advice}");
    }
}

#[test]
fn each_part_of_a_mix_has_its_rate_and_its_response_time() {
    let sandbox = Sandbox::new();
    let file = r#"
        [table.t]
        rows = 500
        key = ["id"]
        [table.t.columns]
        id = { type = "u32", make = "sequence" }
        n = { type = "u32", make = "random", from = 0, to = 9 }
        [phase.write]
        do = "insert"
        [phase.read]
        do = "get"
        [phase.sum]
        do = "group"
        by = ["n"]
        compute = ["count"]
        [phase.live]
        mix = { write = "100/s", read = "50/s", sum = "5/s" }
        for = "1s"
        [phase.busy]
        mix = { read = 0.7, write = 0.3 }
        clients = 2
        ops = 200
    "#;
    sandbox.write("mix.toml", file);
    run(&sandbox, &["mix.toml", "-e", "sqlite,lmdb", "--phases", "live,busy"]).expect_status(0);
    let result = sandbox.result("out");
    for engine in ["sqlite", "lmdb"].into_iter().filter(|engine| is_here(engine)) {
        let phases = phases(&result, engine);
        let of = |name: &str| *phases.iter().find(|phase| phase.phase == name).unwrap();
        for (part, rate) in [("live/write", 100.0), ("live/read", 50.0), ("live/sum", 5.0)] {
            let part = of(part);
            let run = &part.runs[0];
            let schedule = run.schedule.unwrap();
            assert_eq!((part.runs.len(), schedule.target_rate), (1, rate));
            assert!(run.ops as f64 <= rate && run.ops > 0, "{part:?}");
            assert!(part.response.is_some() && schedule.response_ns > 0.0);
        }
        let live = of("live");
        let ops: u64 = phases
            .iter()
            .filter(|phase| phase.phase.starts_with("live/"))
            .map(|phase| phase.runs[0].ops)
            .sum();
        assert_eq!(live.runs[0].ops, ops);
        let busy = of("busy").runs.iter().map(|run| run.ops).collect::<Vec<_>>();
        assert_eq!(busy, [200, 200]);
        assert_eq!(of("busy").runs[0].clients.len(), 2);
        let parts = [of("busy/read"), of("busy/write")].map(|part| part.runs[0].ops);
        assert_eq!(parts[0] + parts[1], 200);
        assert!(parts[1] > 20, "{parts:?}");
    }
}

#[test]
fn clients_share_the_operations_of_a_file() {
    let sandbox = Sandbox::new();
    let words = ["ycsb-c", "-e", "sqlite,rocksdb", "-s", "300", "--clients", "3"];
    run(&sandbox, &[&words[..], &["--phases", "load"]].concat()).expect_status(0);
    let result = sandbox.result("out");
    for engine in ["sqlite", "rocksdb"].into_iter().filter(|engine| is_here(engine)) {
        let load = phases(&result, engine)[0];
        assert_eq!((load.phase.as_str(), load.status), ("load", Status::Ok), "{:?}", load.reason);
        assert!(load.runs.iter().all(|run| run.clients.len() == 3 && run.ops == 300));
    }
}

#[test]
fn every_mistake_is_shown_in_its_place_and_nothing_runs() {
    let sandbox = Sandbox::new();
    let file = "[table.t]\nrows = 10\nkey = [\"idd\"]\n[table.t.columns]\n\
                id = { type = \"u32\", make = \"sequence\" }\n[phase.p]\ndo = \"gett\"\n";
    sandbox.write("wrong.toml", file);
    let ended = run(&sandbox, &["wrong.toml"]).expect_status(2);
    let ended =
        ended.expect_stderr(&["wrong.toml:3:8", "'idd'", "'id'", "wrong.toml:7:6", "'gett'"]);
    assert!(!sandbox.path("out").exists(), "{}", ended.stderr);
    run(&sandbox, &["nowhere.toml"]).expect_status(2).expect_stderr(&["nowhere.toml"]);
    run(&sandbox, &["ycsb-z"]).expect_status(2).expect_stderr(&["ycsb-z", "ycsb-a", "FILE.toml"]);
    run(&sandbox, &["sensors", "--lenient", "5%"]).expect_status(2).expect_stderr(&["--lenient"]);
    run(&sandbox, &["ycsb-a", "--lenient", "many"]).expect_status(2).expect_stderr(&["5%"]);
}

#[test]
fn rows_that_do_not_fit_are_counted_and_refused_above_a_share() {
    let sandbox = Sandbox::new();
    let mut rows = readings();
    rows += "9,1700000000,warm,\n9,1700000600,cold,\n";
    for row in 0..20 {
        let _ = writeln!(rows, "{row},x,1.0,");
    }
    sandbox.write("readings.csv", rows);
    let file = "[table.readings]\nfile = \"readings.csv\"\nkey = [\"station\", \"time\"]\n\
                [table.readings.columns]\nstation = \"u16\"\n\
                time = { type = \"timestamp\", unit = \"s\" }\n\
                temp = { type = \"f64\", from = \"Temp (C)\" }\n[phase.load]\ndo = \"insert\"\n\
                commit = \"bulk\"\n";
    sandbox.write("weather.toml", file);
    let refused = run(&sandbox, &["weather.toml", "-e", "sqlite"]).expect_status(2);
    refused.expect_stderr(&["readings.csv", "time", "20", "--lenient"]);
    let shown =
        run(&sandbox, &["weather.toml", "-e", "sqlite", "--lenient", "3%"]).expect_status(0);
    let says = "weather: 22 rows are not used";
    assert!(shown.stdout.contains(says), "{}", shown.stdout);
    let page = std::fs::read_to_string(sandbox.path("out/report.html")).unwrap();
    assert!(page.contains(says));
    let dataset = sandbox.result("out").manifest.datasets["weather"].clone();
    assert_eq!((dataset.rows, dataset.dropped.values().sum::<u64>()), (900, 22), "{dataset:?}");
    let reasons: Vec<&str> = dataset.dropped.keys().map(String::as_str).collect();
    assert!(reasons.iter().any(|reason| reason.contains("temp")), "{reasons:?}");
}

#[test]
fn what_init_proposes_a_run_takes_and_what_it_cannot_propose_it_refuses() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("days")).unwrap();
    for day in 1..4 {
        let hour = |hour| format!("{day:02}.06.2024 {hour:02}:00;S{};{},5\n", hour % 3, hour + day);
        let rows: String = (0..24).map(hour).collect();
        sandbox.write(&format!("days/day{day}.csv"), format!("zeit;ort;temp\n{rows}"));
    }
    sandbox
        .embermark(&["init", "days", "-o", "days.toml"])
        .expect_status(0)
        .expect_stderr(&["72 rows", "semicolons"]);
    run(&sandbox, &["days.toml", "-e", "sqlite", "--set", "window=10ms"]).expect_status(0);
    assert_eq!(sandbox.result("out").manifest.datasets["days"].rows, 72);
    let sql = "SELECT row_number() OVER () AS n, upper(ort) AS ort FROM read_csv('days/*.csv')";
    sandbox
        .embermark(&["init", "--query", sql, "-o", "query.toml"])
        .expect_status(0)
        .expect_stderr(&["72 rows"]);
    // Short lines can be padded, which the message suggests. A line that is too long would lose a
    // value.
    sandbox.write("short.csv", format!("id,name\n{}", "1,a\n2\n".repeat(50)));
    let short = sandbox.embermark(&["init", "short.csv", "-o", "short.toml"]).expect_status(0);
    short.expect_stderr(&["line 3", "too few fields", "null_padding"]);
    sandbox.write("bad.csv", format!("id,name\n{}", "1,a\n2,b,c\n".repeat(50)));
    let refused = sandbox.embermark(&["init", "bad.csv", "-o", "bad.toml"]).expect_status(2);
    refused.expect_stderr(&["nothing is proposed", "too many fields", "line 3", "--lenient"]);
    assert!(!sandbox.path("bad.toml").exists());
    let lenient = ["init", "bad.csv", "--lenient", "60%", "-o", "bad.toml"];
    sandbox.embermark(&lenient).expect_status(0).expect_stderr(&["bad.toml --lenient 60%"]);
    run(&sandbox, &["bad.toml", "-e", "memory", "--lenient", "60%", "--dry-run"]).expect_status(0);
}

#[test]
fn a_table_of_a_database_that_a_run_would_not_take_is_left_out_beside_others() {
    let sandbox = Sandbox::new();
    let folder = sandbox.path("app");
    std::fs::create_dir(&folder).unwrap();
    let options = OpenOptions::new(&folder, Durability::Process, 16 << 20);
    let mut store = registry::find("sqlite").unwrap().open(&options).unwrap().store;
    let Store::Sql(sql) = &mut store else { panic!("no SQL store") };
    let tables = "
        CREATE TABLE good (id INTEGER PRIMARY KEY, v REAL);
        CREATE TABLE mixed (id INTEGER PRIMARY KEY, v);
        CREATE VIEW \"my view\" AS SELECT * FROM good;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        INSERT INTO good SELECT i, i / 2.0 FROM n;
        INSERT INTO mixed SELECT id, CASE id % 2 WHEN 0 THEN v ELSE x'00ff' END FROM good;";
    sql.batch(tables).unwrap();
    store.close().unwrap();
    sandbox.write(
        "log.sql",
        "SELECT max(v) FROM good; SELECT v FROM mixed; SELECT * FROM \"my view\"",
    );
    let init =
        |words: &[&str]| sandbox.embermark(&[&["init", "app/embermark.sqlite"], words].concat());
    init(&["--log", "log.sql", "-o", "good.toml"]).expect_status(0).expect_stderr(&[
        "mixed is left out, because a run would not take its rows",
        "query = 'SELECT * FROM \"my view\"'",
        "2 kinds of statements have no phase",
    ]);
    let text = std::fs::read_to_string(sandbox.path("good.toml")).unwrap();
    assert!(text.contains("[table.good]") && !text.contains("mixed"), "{text}");
    run(&sandbox, &["good.toml", "-e", "sqlite"]).expect_status(0);
    let both = init(&["--lenient", "60%", "-o", "both.toml"]).expect_status(0).stderr;
    assert!(!both.contains("mixed is left out"), "{both}");
    init(&["--zone", "Europe/Berlin"]).expect_status(2).expect_stderr(&["--zone"]);
    sandbox.write("a.csv", "id\n1\n");
    let alone = "needs a proposal of its own: embermark init app/embermark.sqlite";
    init(&["a.csv"]).expect_status(2).expect_stderr(&[alone]);
}

#[test]
fn a_scale_of_no_rows_and_rows_that_are_not_there_are_told() {
    let sandbox = Sandbox::new();
    let file = "[table.t]\nfile = \"t.csv\"\nkey = [\"id\"]\n[table.t.columns]\nid = \"u32\"\n\
                [phase.load]\ndo = \"insert\"\n";
    sandbox.write("own.toml", file);
    let refused = |words: &[&str], says: &[&str]| {
        run(&sandbox, &[words, &["-e", "memory"]].concat()).expect_status(2).expect_stderr(says);
    };
    refused(&["own.toml:0"], &["own.toml:0: a scale of 0 rows"]);
    refused(&["own.toml", "--dry-run"], &["t.csv", "check its path"]);
    sandbox.write("t.csv", "id\n1\n2\n");
    refused(&["own.toml:1M"], &["at scale 1M", "has 2 rows: fewer than the 1000000 asked for"]);
}

#[test]
fn a_run_that_was_cut_off_goes_on_without_the_file() {
    let sandbox = Sandbox::new();
    let file = "[table.t]\nrows = 200\nkey = [\"id\"]\n[table.t.columns]\n\
                id = { type = \"u32\", make = \"sequence\" }\n[phase.load]\ndo = \"insert\"\n\
                [phase.read]\ndo = \"get\"\n";
    sandbox.write("own.toml", file);
    run(&sandbox, &["own.toml", "-e", "sqlite"]).expect_status(0);
    let whole = sandbox.result("out");
    // Imitates a power cut: the journal lacks its last line, and the result does not exist.
    let journal = sandbox.path("out/journal.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let kept = lines.iter().position(|line| line.contains("\"trial\"")).unwrap();
    std::fs::write(&journal, lines[..kept].join("\n") + "\n").unwrap();
    std::fs::remove_file(sandbox.path("out/result.json")).unwrap();
    std::fs::remove_file(sandbox.path("own.toml")).unwrap();
    sandbox.embermark(&["run", "--resume", "out"]).expect_status(0);
    let again = sandbox.result("out");
    assert_eq!(again.plan, whole.plan);
    assert_eq!(phases(&again, "sqlite").len(), 2);
}

#[test]
fn a_built_in_file_is_printed_to_start_from() {
    let sandbox = Sandbox::new();
    let printed = sandbox.embermark(&["workloads", "gateway"]).expect_status(0).stdout;
    sandbox.write("mine.toml", printed.replace("name = \"gateway\"", "name = \"mine\""));
    run(&sandbox, &["mine.toml", "-e", "sqlite", "-s", "500", "--phases", "backfill,latest"])
        .expect_status(0);
    sandbox.embermark(&["workloads", "gatewy"]).expect_status(2).expect_stderr(&["gateway"]);
    let listed = sandbox.embermark(&["workloads"]).expect_status(0).stdout;
    assert!(listed.contains("ycsb-a") && listed.contains("embermark init"), "{listed}");
}

/// Returns positions of vehicles, out of order.
fn positions() -> String {
    let mut lines = vec!["vehicle,time,lat,lon,speed".to_owned()];
    for n in 0..600 {
        let (vehicle, minute) = (1 + n % 7, (n * 37) % 600);
        let speed = if n % 11 == 0 { String::new() } else { format!("{}.5", n % 90) };
        lines.push(format!("{vehicle},{},47.{n:04},13.5,{speed}", 1_700_000_000 + 60 * minute));
    }
    lines.join("\n")
}

#[test]
fn the_example_of_the_readme_runs() {
    let document = include_str!("../../../../README.md");
    let block = document.split("```toml\n").nth(1).and_then(|block| block.split("```").next());
    let text = block.expect("an example").replace("\"1/s\" }", "\"1/s\" }\nfor = \"500ms\"");
    let sandbox = Sandbox::new();
    sandbox.write("positions.csv", positions());
    sandbox.write("fleet.toml", text);
    run(&sandbox, &["fleet.toml", "-e", "sqlite,lmdb", "--set", "window=10ms"]).expect_status(0);
    for engine in ["sqlite", "lmdb"] {
        for phase in phases(&sandbox.result("out"), engine) {
            assert_eq!(phase.status, Status::Ok, "{engine} {}: {:?}", phase.phase, phase.reason);
        }
    }
}

/// Returns 600 rows with a document, one per day. Not every row has every field.
fn metrics() -> String {
    let row = |id: u64| {
        let level = ["info", "error"][usize::from(id.is_multiple_of(7))];
        let data = match id % 3 {
            0 => format!(r#"{{"value": {}.5}}"#, id % 60),
            _ => format!(r#"{{"level": "{level}", "user": "user {}"}}"#, id % 5),
        };
        let time = 1_700_000_000_000 + id * 86_400_000;
        format!("{{\"id\": {id}, \"time\": {time}, \"data\": {data}}}\n")
    };
    (0..600).map(row).collect()
}

#[test]
fn the_examples_of_the_documentation_run() {
    let document = include_str!("../../../../docs/workload-files.md");
    let blocks: Vec<&str> = document
        .split("```toml\n")
        .skip(1)
        .filter_map(|block| block.split("```").next())
        .filter(|block| block.contains("[phase."))
        .collect();
    assert_eq!(blocks.len(), 4);
    for (number, block) in sampled(blocks.into_iter().enumerate(), 2) {
        let sandbox = Sandbox::new();
        let rows = readings().replace("Temp (C)", "temp").replace("note", "Remark (free text)");
        sandbox.write("readings.csv", rows);
        sandbox.write("metrics.json", metrics());
        // Otherwise a mix with rates runs for half a minute.
        let text = block.replace("hourly = \"1/s\" }", "hourly = \"1/s\" }\nfor = \"500ms\"");
        let file = format!("example{number}.toml");
        sandbox.write(&file, text);
        let scale = if number == 0 { "full" } else { "500" };
        run(&sandbox, &[&file, "-e", "sqlite,lmdb", "-s", scale, "--set", "window=10ms"])
            .expect_status(0);
        let result = sandbox.result("out");
        for engine in ["sqlite", "lmdb"].into_iter().filter(|engine| is_here(engine)) {
            for phase in phases(&result, engine) {
                // A key-value store does not support SQL.
                let fine = phase.status == Status::Ok
                    || (phase.status == Status::Unsupported && engine == "lmdb");
                assert!(fine, "{file} {engine} {}: {:?}", phase.phase, phase.reason);
            }
        }
    }
}

#[test]
fn init_proposes_nothing_for_a_file_that_is_written_to_meanwhile() {
    let sandbox = Sandbox::new();
    sandbox.write("log.csv", "id,v\n1,1\n2,2\n");
    let (path, done) = (sandbox.path("log.csv"), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut log = File::options().append(true).open(&path).unwrap();
            for id in 3.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                log.write_all(format!("{id},{id}\n").as_bytes()).unwrap();
                std::thread::sleep(Duration::from_micros(100));
            }
        });
        // In an attempt, nothing may be written while it reads.
        for attempt in 0.. {
            let _ = std::fs::remove_file(sandbox.path("log.toml"));
            let ended = sandbox.embermark(&["init", "log.csv", "-o", "log.toml"]);
            if ended.status == 2 || attempt == 100 {
                done.store(true, Ordering::Relaxed);
                ended.expect_status(2).expect_stderr(&[
                    "log.csv",
                    "changed while it was read",
                    "use a copy of it",
                ]);
                break;
            }
        }
    });
    assert!(!sandbox.path("log.toml").exists());
}
