//! Questions in SQL: which engines determine the right answer, and which answers are not checked.

use crate::common::{ProgramOutput, Sandbox, is_here};
use embermark_model::Status;
use embermark_model::result::{PhaseResult, ResultFile};
use embermark_skips::{cases, sampled};

const QUICK: [&str; 7] = ["--runs", "1", "--set", "window=5ms", "--out", "out", "--no-counting"];

/// Runs the workload file. One trial tells as much as two, which are for long campaigns.
fn run(sandbox: &Sandbox, engines: &str) -> ProgramOutput {
    run_trials(sandbox, engines, cases(1, 2))
}

fn run_trials(sandbox: &Sandbox, engines: &str, trials: u32) -> ProgramOutput {
    let trials = trials.to_string();
    let words = ["run", "questions.toml", "-e", engines, "--trials", &trials];
    sandbox.embermark(&[&words[..], &QUICK].concat())
}

/// Returns a workload file with two tables and these phases.
fn file(phases: &str) -> String {
    let tables = r#"
        [table.readings]
        rows = 600
        key = ["id"]
        [table.readings.columns]
        id = { type = "u32", make = "sequence" }
        station = { type = "u16", make = "random", from = 1, to = 9 }
        temp = { type = "f64?", make = "random", from = -10.0, to = 30.0, absent = 0.2 }
        note = { type = "text?", make = "choice", values = ["fine", "wet", ""], absent = 0.5 }
        [table.stations]
        rows = 9
        key = ["id"]
        [table.stations.columns]
        id = { type = "u16", make = "sequence", from = 1 }
        place = { type = "text", make = "words", distinct = 5 }
    "#;
    tables.to_owned() + phases
}

/// Returns the phase of that name in every trial of an engine.
fn phases<'a>(result: &'a ResultFile, engine: &str, name: &str) -> Vec<&'a PhaseResult> {
    let cells = result.cells.iter().filter(|cell| cell.id.engine == engine);
    let trials = cells.flat_map(|cell| &cell.trials);
    trials.flat_map(|trial| &trial.phases).filter(|phase| phase.phase == name).collect()
}

/// Returns the status of a phase on an engine, and the checking engines or the reason. Asserts that
/// all trials agree.
#[track_caller]
fn ended(result: &ResultFile, engine: &str, name: &str) -> (Status, String) {
    let phases = phases(result, engine, name);
    assert_eq!(phases.len() as u64, u64::from(result.plan.trials), "{engine} {name}");
    let said = phases.iter().map(|phase| {
        assert_eq!(phase.unchecked, None);
        let said = phase.reason.clone().or_else(|| phase.checked_by.clone());
        (phase.status, said.unwrap_or_default())
    });
    let said: Vec<_> = said.collect();
    assert!(said.iter().all(|one| *one == said[0]), "{engine} {name}: {said:?}");
    said[0].clone()
}

fn ok(by: &str) -> (Status, String) {
    (Status::Ok, by.to_owned())
}

/// Whether both referees, which every test here needs, are available.
fn referees_are_here() -> bool {
    is_here("sqlite") && is_here("duckdb")
}

#[test]
fn engines_are_held_to_what_referees_say_and_else_are_compared_among_themselves() {
    if !referees_are_here() {
        return;
    }
    let sandbox = Sandbox::new();
    let questions = r#"
        [phase.places]
        sql = "SELECT s.place, COUNT(*), AVG(r.temp), SUM(r.station) FROM readings r JOIN stations s ON s.id = r.station GROUP BY s.place"
        [phase.notes]
        sql = "SELECT note, COUNT(*), COUNT(temp), MIN(temp) FROM readings GROUP BY note ORDER BY note IS NULL, note"
        [phase.middle]
        sql = "SELECT quantile_cont(temp, 0.5) FROM readings"
        sql-postgres = "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY temp) FROM readings"
        sql-mariadb = "SELECT DISTINCT MEDIAN(temp) OVER () FROM readings"
        [phase.highest]
        sql-postgres = "SELECT MAX(temp) FROM readings"
        sql-mariadb = "SELECT MAX(temp) FROM readings"
        [phase.half]
        sql-postgres = "SELECT 7/2"
        sql-mariadb = "SELECT 7/2"
        [phase.lonely]
        sql-postgres = "SELECT COUNT(*) FILTER (WHERE temp > 0) FROM readings"
        [phase.long]
        sql-postgres = "SELECT * FROM readings AS r, generate_series(1, 5)"
    "#;
    sandbox.write("questions.toml", file(questions));
    let ended_well = run(&sandbox, "sqlite,duckdb,postgres,mariadb,lmdb").expect_status(0);
    ended_well.expect_stderr(&[
        "asking sqlite for the right answers",
        "sqlite cannot answer middle: sqlite could not prepare",
    ]);
    let result = sandbox.result("out");
    for engine in ["sqlite", "duckdb", "postgres", "mariadb"].into_iter().filter(|id| is_here(id)) {
        for phase in ["places", "notes"] {
            assert_eq!(
                ended(&result, engine, phase),
                ok("agreed by sqlite and duckdb"),
                "{engine}"
            );
        }
        if engine != "sqlite" {
            assert_eq!(ended(&result, engine, "middle"), ok("only by duckdb"), "{engine}");
        }
    }
    // A query that an engine cannot prepare does not affect its other phases.
    let (status, why) = ended(&result, "sqlite", "middle");
    assert_eq!(status, Status::Unsupported);
    assert!(why.contains("no such function: quantile_cont"), "{why}");
    let sqlite = result.cells.iter().find(|cell| cell.id.engine == "sqlite").unwrap();
    assert_eq!(sqlite.status, Status::Ok);
    let lmdb = phases(&result, "lmdb", "places");
    assert!(lmdb.iter().all(|phase| phase.status == Status::Unsupported));
    let tables = std::fs::read_to_string(sandbox.path("out/tables.txt")).unwrap();
    assert!(tables.contains("only by duckdb: questions middle"), "{tables}");

    // No referee can answer the other questions.
    let (status, why) = ended(&result, "sqlite", "lonely");
    assert_eq!(status, Status::Unsupported);
    assert!(why.contains("neither `sql` nor `sql-sqlite`"), "{why}");
    if !is_here("postgres") || !is_here("mariadb") {
        return;
    }
    for engine in ["postgres", "mariadb"] {
        assert_eq!(ended(&result, engine, "highest"), ok("agreed by 2 engines"));
        let (status, why) = ended(&result, engine, "half");
        assert_eq!((status, &*why), (Status::Disputed, "mariadb says (3.5), postgres says (3)"));
    }
    let alone = ok("unchecked: no other engine has answered");
    assert_eq!(ended(&result, "postgres", "lonely"), alone);
    let long = ok("unchecked: an answer of more than 10000 values");
    assert_eq!(ended(&result, "postgres", "long"), long);
}

const HALVES: &str = "[phase.halves]\nsql = \"SELECT station, SUM(7/2) FROM readings GROUP BY \
                      station\"\n[phase.count]\nsql = \"SELECT COUNT(*) FROM readings\"\n";

#[test]
fn sql_that_no_referee_can_prepare_is_refused_before_the_first_trial() {
    if !referees_are_here() {
        return;
    }
    let sandbox = Sandbox::new();
    let questions = r#"
        [phase.count]
        sql = "SELECT COUNT(*) FROM readings"
        [phase.table]
        sql = "SELECT temp FROM reading"
        [phase.two]
        sql = "SELECT 1; SELECT 2"
        [phase.delete]
        sql = "DELETE FROM readings"
    "#;
    sandbox.write("questions.toml", file(questions));
    run(&sandbox, "sqlite").expect_status(2).expect_stderr(&[
        ": phase.table: no engine",
        "no such table: reading",
        ": phase.two: no engine",
        ": phase.delete: no engine",
    ]);
    assert!(!sandbox.path("out/result.json").exists());
}

#[test]
fn what_the_referees_differ_on_is_disputed_until_a_file_settles_it_also_after_a_resume() {
    if !referees_are_here() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("questions.toml", file(HALVES));
    run_trials(&sandbox, "sqlite,duckdb", 2).expect_status(0);
    let result = sandbox.result("out");
    for engine in ["sqlite", "duckdb"] {
        let (status, why) = ended(&result, engine, "halves");
        assert_eq!(status, Status::Disputed);
        assert!(
            why.starts_with("sqlite answers (1, ") && why.contains(", duckdb answers (1, "),
            "{why}"
        );
        assert_eq!(ended(&result, engine, "count"), ok("agreed by sqlite and duckdb"));
    }
    assert!(result.cells.iter().all(|cell| cell.status == Status::Ok));

    // Imitates a power cut after two trials.
    let journal = sandbox.path("out/journal.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let is_trial = |line: &&str| line.starts_with("{\"cell\"");
    let before: Vec<&str> = text.lines().take_while(|line| !is_trial(line)).collect();
    let trials: Vec<&str> = text.lines().filter(is_trial).collect();
    assert_eq!(trials.len(), 4, "{text}");
    std::fs::write(&journal, [&before[..], &trials[..2]].concat().join("\n") + "\n").unwrap();
    std::fs::remove_file(sandbox.path("out/result.json")).unwrap();
    let resumed = sandbox.embermark(&["run", "--resume", "out"]).expect_status(0);
    resumed.expect_stderr(&["asking duckdb for the right answers", "2 of 4 trials done"]);
    let again = sandbox.result("out");
    for engine in ["sqlite", "duckdb"] {
        for phase in ["halves", "count"] {
            assert_eq!(ended(&again, engine, phase), ended(&result, engine, phase));
        }
    }

    // The answer file has 3.5 for seven divided by two.
    let settled = HALVES.replacen("station\"", "station\"\nanswer = \"right/halves.csv\"", 1);
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("right")).unwrap();
    sandbox.write("questions.toml", file(&settled));
    run(&sandbox, "sqlite,duckdb")
        .expect_status(2)
        .expect_stderr(&["halves.csv", "cannot be read"]);
    let settled = settled.replace("SUM(7/2)", "MIN(7/2)");
    sandbox.write("questions.toml", file(&settled));
    let rows: String = (1..=9).rev().map(|station| format!("{station},3.50\n")).collect();
    sandbox.write("right/halves.csv", format!("station,half\n{rows}"));
    run(&sandbox, "sqlite,duckdb").expect_status(1);
    let result = sandbox.result("out");
    assert_eq!(ended(&result, "duckdb", "halves"), ok("right/halves.csv"));
    let (status, why) = ended(&result, "sqlite", "halves");
    assert_eq!(status, Status::Wrong);
    assert_eq!(why, "expected (1, 3.5), got (1, 3) (right/halves.csv)");
}

/// An error that an engine finds only at a row fails this question and nothing else.
#[test]
fn a_question_that_fails_when_it_is_run_fails_alone() {
    let here = ["duckdb", "firebird", "postgres", "hybrid"].into_iter().filter(|id| is_here(id));
    let engines = sampled(here, 2);
    if engines.is_empty() {
        return;
    }
    let sandbox = Sandbox::new();
    let questions = r#"
        [phase.put]
        do = "insert"
        table = "stations"
        [phase.cast]
        sql = "SELECT SUM(CAST(place AS INTEGER)) FROM stations"
        [phase.get]
        do = "get"
        table = "stations"
        ops = 20
        [phase.beside]
        mix = { get = "50%", cast = "50%" }
        ops = 20
        [phase.count]
        sql = "SELECT COUNT(*) FROM stations"
    "#;
    sandbox.write("questions.toml", file(questions));
    run(&sandbox, &engines.join(",")).expect_status(1);
    let result = sandbox.result("out");
    for engine in engines {
        for phase in ["cast", "beside"] {
            let (status, why) = ended(&result, engine, phase);
            assert_eq!(status, Status::Failed, "{engine} {phase}: {why}");
            assert!(why.contains("SUM(CAST(place AS INTEGER))"), "{engine} {phase}: {why}");
        }
        for phase in ["put", "get", "count"] {
            assert_eq!(ended(&result, engine, phase).0, Status::Ok, "{engine} {phase}");
            assert!(phases(&result, engine, phase).iter().all(|part| !part.runs.is_empty()));
        }
        let cell = result.cells.iter().find(|cell| cell.id.engine == engine).unwrap();
        assert!(cell.status == Status::Ok && cell.has_failure(), "{engine}: {}", cell.status);
    }
}

#[test]
fn what_asks_for_the_session_and_not_for_rows_is_no_question() {
    let engines: Vec<&str> = ["duckdb", "hybrid"].into_iter().filter(|id| is_here(id)).collect();
    if engines.is_empty() {
        return;
    }
    let texts = [
        "DESCRIBE stations",
        "SHOW TABLES",
        "SUMMARIZE stations",
        "SELECT COUNT(*) FROM (DESCRIBE stations)",
        "SELECT current_setting('threads')",
        "SELECT version() FROM stations",
        "SELECT id FROM stations WHERE place < current_database()",
    ];
    // With an answer, the referees are not asked. They would refuse the file.
    let answer = "answer = \"answer.csv\"";
    let phase = |(n, text): (usize, &&str)| format!("[phase.q{n}]\nsql = \"{text}\"\n{answer}\n");
    let phases: String = texts.iter().enumerate().map(phase).collect();
    let sandbox = Sandbox::new();
    sandbox.write("answer.csv", "a\n1\n");
    sandbox.write(
        "questions.toml",
        file(&format!("[phase.put]\ndo = \"insert\"\ntable = \"stations\"\n{phases}")),
    );
    run(&sandbox, &engines.join(",")).expect_status(0);
    let result = sandbox.result("out");
    for engine in engines {
        for (n, text) in texts.iter().enumerate() {
            let (status, why) = ended(&result, engine, &format!("q{n}"));
            assert_eq!(status, Status::Unsupported, "{engine}: {text}: {why}");
            assert!(why.contains("asks for the session"), "{engine}: {text}: {why}");
        }
        assert_eq!(ended(&result, engine, "put").0, Status::Ok);
    }
}
