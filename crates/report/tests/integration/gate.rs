//! The gate: what makes it fail, what it passes, and what it cannot judge.

mod replay;

use std::path::Path;

use embermark_model::result::{Cell, Observed, PhaseResult, ResultFile, Run, Trial};
use embermark_model::{CellId, Durability, Scale, Status};
use embermark_report::gate::{
    Gate, Outcome, Verdict, columns, gate, json, junit, markdown, only, table,
};
use embermark_report::{Format, Options, load, render};

/// A result with these cells.
fn file_of(cells: Vec<Cell>) -> ResultFile {
    let mut file = load(Path::new("tests/fixtures/schema-1.json")).unwrap();
    file.cells = cells;
    file.manifest.drift = None;
    file
}

fn cell(id: CellId, status: Status, trials: Vec<Trial>) -> Cell {
    Cell {
        id,
        status,
        reason: None,
        effective_durability: None,
        own_durability: None,
        reference: false,
        unpublishable: false,
        trials,
        lost_trials: Vec::new(),
        counting: None,
        explaining: None,
    }
}

fn id(engine: &str) -> CellId {
    CellId {
        workload: "sensors".into(),
        scale: Scale::Rows(1_000),
        durability: Durability::Process,
        variant: "single".into(),
        engine: engine.into(),
        memory_limit: None,
        storage: None,
    }
}

/// Makes trials of `load` and `read` whose times differ by a thousandth from one to the next, times
/// a factor for each phase.
fn measured(engine: &str, trials: u32, [load, read]: [f64; 2]) -> Cell {
    let part = |phase: &str, ns: f64| {
        let run = Run { elapsed_ns: (ns * 1e3) as u64, ops: 1_000, ..Run::default() };
        PhaseResult { phase: phase.into(), ops: 1_000, runs: vec![run], ..PhaseResult::default() }
    };
    let trial = |index: u32| {
        let more = 1.0 + f64::from(index % 3) / 1_000.0;
        let phases = vec![part("load", 1_000.0 * load * more), part("read", 500.0 * read * more)];
        Trial { index, phases, ..Trial::default() }
    };
    cell(id(engine), Status::Ok, (0..trials).map(trial).collect())
}

/// Another run of the same plan.
fn later(cells: Vec<Cell>) -> ResultFile {
    let mut file = file_of(cells);
    file.manifest.run_id = "later".into();
    file
}

fn judged(new: [f64; 2]) -> Gate {
    gate(
        &file_of(vec![measured("mine", 5, [1.0; 2])]),
        &later(vec![measured("mine", 5, new)]),
        0.05,
    )
}

fn verdicts(gate: &Gate) -> Vec<Verdict> {
    gate.phases.iter().map(|phase| phase.verdict).collect()
}

#[test]
fn a_result_passes_by_itself_and_by_one_that_is_no_slower_than_allowed() {
    for new in [[1.0, 1.0], [1.04, 1.04], [0.5, 1.0]] {
        let gate = judged(new);
        assert_eq!((gate.outcome, gate.outcome.status()), (Outcome::Passed, 0), "{:?}", gate.why);
        assert_eq!(verdicts(&gate), [Verdict::NotSlower; 2]);
        assert!(gate.finds().unwrap() < 1.06, "{:?}", gate.finds());
    }
    let file = file_of(vec![measured("mine", 5, [1.0; 2])]);
    let same = gate(&file, &file, 0.0);
    assert_eq!((same.outcome, same.wholes[0].ratio), (Outcome::Passed, 1.0));
}

#[test]
fn one_phase_that_is_slower_fails_and_is_named() {
    let gate = judged([1.0, 1.10]);
    assert_eq!((gate.outcome, gate.outcome.status()), (Outcome::Failed, 1));
    assert_eq!(verdicts(&gate), [Verdict::NotSlower, Verdict::Slower]);
    assert!(gate.why.iter().any(|why| why.contains("read took 1.10x")), "{:?}", gate.why);
    assert!(!gate.wholes[0].is_slower, "1.049 of both is allowed");
    assert_eq!(judged([1.10, 1.10]).wholes[0].phases, 2);
    assert!(judged([1.10, 1.10]).wholes[0].is_slower);
}

#[test]
fn what_broke_fails_whatever_the_times_are() {
    let old = file_of(vec![measured("mine", 5, [1.0; 2])]);
    for status in [Status::Wrong, Status::Failed, Status::TimedOut, Status::Disputed] {
        let mut own = measured("mine", 5, [0.5; 2]);
        let part = own.trials[2].phases.last_mut().unwrap();
        (part.status, part.reason) = (status, Some("row 7 differs".into()));
        own.status = status;
        let gate = gate(&old, &later(vec![own]), 0.05);
        assert_eq!(gate.outcome, Outcome::Failed);
        assert!(gate.why[0].contains("row 7 differs"), "{:?}", gate.why);
    }
    let mut lossy = measured("mine", 5, [1.0; 2]);
    let counts = [("samples".to_owned(), 90), ("lost".to_owned(), 10)].into();
    lossy.trials[0].phases[0].runs[0].observed = Some(Observed { counts, ..Observed::default() });
    let behind = gate(&old, &later(vec![lossy]), 0.05);
    assert_eq!(behind.outcome, Outcome::Failed);
    assert_eq!(behind.phases[0].verdict, Verdict::NoLongerKeepsUp);
    assert!(behind.why[0].contains("lost 10 of 100"), "{:?}", behind.why);
}

#[test]
fn more_lost_trials_fail_and_an_engine_without_figures_is_unclear() {
    let both = || vec![measured("mine", 6, [1.0; 2]), measured("other", 6, [1.0; 2])];
    let old = file_of(both());
    let mut new = both();
    new[0].lost_trials = new[0].trials.split_off(3);
    for lost in &mut new[0].lost_trials {
        (lost.status, lost.reason) = (Status::Failed, Some("killed by SIGSEGV".to_owned()));
    }
    let lost = gate(&old, &later(new), 0.05);
    assert_eq!(lost.outcome, Outcome::Failed);
    assert!(lost.why[0].contains("3 of 6 trials, of which one: killed by SIGSEGV"), "{lost:?}");
    // 2 of 20 trials are a smaller share than 1 of 5, and 3 of 10 a larger one.
    let losing = |trials: u32, lost: usize| {
        let mut own = measured("mine", trials, [1.0; 2]);
        own.lost_trials = own.trials.split_off(trials as usize - lost);
        own.lost_trials.iter_mut().for_each(|trial| trial.status = Status::Failed);
        vec![own]
    };
    let from_one_of_five = |new| gate(&file_of(losing(5, 1)), &later(new), 0.05).outcome;
    assert_eq!(from_one_of_five(losing(20, 2)), Outcome::Passed);
    assert_eq!(from_one_of_five(losing(10, 3)), Outcome::Failed);

    let gone = gate(&old, &later(vec![measured("other", 6, [1.0; 2])]), 0.05);
    assert_eq!(gone.outcome, Outcome::Unclear);
    assert!(gone.why[0].contains("mine (it has no cells)"), "{:?}", gone.why);
    // An engine that is new is no reason.
    let more = gate(&file_of(vec![measured("other", 6, [1.0; 2])]), &later(both()), 0.05);
    assert_eq!(more.outcome, Outcome::Passed, "{:?}", more.why);
}

#[test]
fn few_trials_and_trials_that_differ_much_are_unclear_and_do_not_pass() {
    let of = |trials: u32| file_of(vec![measured("mine", trials, [1.0; 2])]);
    let few = gate(&of(2), &later(of(2).cells), 0.05);
    assert_eq!((few.outcome, few.outcome.status()), (Outcome::Unclear, 2));
    assert!(few.why[0].contains("--trials 5"), "{:?}", few.why);
    let noisy = |seed: u32| {
        let mut own = measured("mine", 5, [1.0; 2]);
        for (n, trial) in own.trials.iter_mut().enumerate() {
            let factor = 1 + (n as u64 * 7 + u64::from(seed) * 3) % 5;
            trial.phases.iter_mut().for_each(|part| part.runs[0].elapsed_ns *= factor);
        }
        own
    };
    let noisy = gate(&file_of(vec![noisy(0)]), &later(vec![noisy(1)]), 0.05);
    assert_eq!(noisy.outcome, Outcome::Unclear);
    assert!(noisy.why[0].contains("more trials"), "{:?}", noisy.why);
    let none = gate(&file_of(vec![measured("mine", 5, [1.0; 2])]), &later(Vec::new()), 0.05);
    assert_eq!((none.outcome, none.only_old.len()), (Outcome::Unclear, 1));
}

#[test]
fn a_machine_that_changed_between_two_runs_leaves_it_unclear_but_what_broke_fails() {
    let with = |engine: [f64; 2], reference: f64| {
        let mut memory = measured("memory", 5, [reference; 2]);
        memory.reference = true;
        vec![measured("mine", 5, engine), memory]
    };
    let old = file_of(with([1.0; 2], 1.0));
    for (machine, own) in [(1.2, 1.2), (0.8, 1.0)] {
        let gate = gate(&old, &later(with([own; 2], machine)), 0.05);
        assert_eq!(gate.outcome, Outcome::Unclear, "{:?}", gate.why);
        assert!(gate.why[0].contains("the machine changed"), "{:?}", gate.why);
        assert!(gate.phases.iter().all(|phase| phase.cell.engine == "mine"));
        // No other form calls an engine slower because the machine is.
        assert!(junit(&gate).contains("failures=\"0\" errors=\"1\""), "{}", junit(&gate));
        let shown = table(&gate, &Options { width: 200, ..Options::default() });
        assert!(shown.contains("0 of 2 phases fail"), "{shown}");
        assert!(!shown.contains("slower than allowed"), "{shown}");
    }
    let gate_of = |cells| gate(&old, &later(cells), 0.05);
    assert_eq!(gate_of(with([1.2; 2], 1.01)).outcome, Outcome::Failed);
    let mut broken = with([1.0; 2], 1.2);
    broken[0].trials[0].phases[0].status = Status::Wrong;
    broken[0].status = Status::Wrong;
    assert_eq!(gate_of(broken).outcome, Outcome::Failed);
}

#[test]
fn columns_of_one_run_are_judged_in_pairs() {
    // A machine that becomes slower by a tenth from round to round, in both columns.
    let drifting = |engine: &str, factor: f64| {
        let mut own = measured(engine, 5, [factor; 2]);
        for trial in &mut own.trials {
            let slower = 1.1f64.powi(trial.index as i32);
            for part in &mut trial.phases {
                part.runs[0].elapsed_ns = (part.runs[0].elapsed_ns as f64 * slower) as u64;
            }
        }
        own
    };
    let file = |factor| file_of(vec![drifting("base", 1.0), drifting("mine", factor)]);
    let of = |factor: f64| {
        let [old, new] = columns(&file(factor), "base", "mine").unwrap();
        gate(&old, &new, 0.05)
    };
    let slower = of(1.10);
    assert!(slower.one_run && slower.outcome == Outcome::Failed, "{:?}", slower.why);
    assert!(slower.wholes[0].is_slower && slower.wholes[0].engine == "mine");
    assert!(slower.phases.iter().all(|phase| phase.verdict == Verdict::NotSlower));
    assert_eq!(of(1.0).outcome, Outcome::Passed);
    assert!(slower.differences.incomparable.is_empty() && slower.differences.remarks.is_empty());
    let unknown = columns(&file(1.0), "base", "mind").unwrap_err();
    assert!(unknown.contains("did you mean 'mine'?"), "{unknown}");
}

#[test]
fn other_columns_can_be_left_out() {
    let file = file_of(vec![measured("mine", 5, [1.0; 2]), measured("other", 5, [1.0; 2])]);
    let new = later(vec![measured("mine", 5, [1.0; 2]), measured("other", 5, [2.0; 2])]);
    assert_eq!(gate(&file, &new, 0.05).outcome, Outcome::Failed);
    let own = |file: &ResultFile| only(file.clone(), &["mine".to_owned()]).unwrap();
    assert_eq!(gate(&own(&file), &own(&new), 0.05).outcome, Outcome::Passed);
    assert!(only(file, &["none".to_owned()]).is_err());
}

const HOSTILE: &str = "=1+1\x1b[31m\u{0}]]><script>alert(1)</script>|`\r\n@all #1 \u{ffff}\"'&";

#[test]
fn nothing_in_a_result_is_markup_in_any_form() {
    let hostile = |factor: f64| {
        let mut own = measured(HOSTILE, 5, [1.0, factor]);
        own.id.workload = HOSTILE.into();
        own.id.variant = HOSTILE.into();
        for part in own.trials.iter_mut().flat_map(|trial| &mut trial.phases) {
            part.phase = format!("{}{HOSTILE}", part.phase);
        }
        let mut wrong = measured("wrong", 5, [1.0; 2]);
        if factor > 1.0 {
            (wrong.status, wrong.reason) = (Status::Failed, Some(HOSTILE.into()));
            wrong.trials.clear();
        }
        vec![own, wrong]
    };
    let (old, new) = (file_of(hostile(1.0)), later(hostile(2.0)));
    let gate = gate(&old, &new, 0.05);
    assert_eq!(gate.outcome, Outcome::Failed);
    let options = Options { width: 300, ..Options::default() };
    let bencher = render(&new, Format::Bencher, &options).unwrap();
    for text in [table(&gate, &options), markdown(&gate), junit(&gate), bencher] {
        let obeyed = |c: char| c.is_control() && c != '\n';
        assert_eq!(text.find(obeyed), None, "{text:?}");
    }
    let marked = markdown(&gate).replace("\\<", "");
    assert!(!marked.contains("<script") && !marked.contains("@all"), "{marked}");
    let xml = junit(&gate);
    assert!(!xml.contains("<script") && !xml.contains('\u{ffff}') && !xml.contains("]]>"), "{xml}");
    is_well_formed(&xml);
    serde_json::from_str::<serde_json::Value>(&json(&gate).unwrap()).unwrap();
}

/// Asserts that every element is closed by its own name, and that text between quotes has no quote.
#[track_caller]
fn is_well_formed(xml: &str) {
    let mut open = Vec::new();
    for tag in xml.split('<').skip(1).map(|rest| rest.split_once('>').expect(xml).0) {
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        match (tag.strip_prefix('/'), tag.starts_with('?'), tag.ends_with('/')) {
            (Some(name), ..) => assert_eq!(open.pop(), Some(name), "{xml}"),
            (None, false, false) => open.push(tag.split(' ').next().unwrap()),
            _ => {}
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn junit_counts_what_failed_and_what_was_not_judged() {
    let xml = junit(&judged([1.0, 2.0]));
    let counts = "tests=\"3\" failures=\"2\" errors=\"0\" skipped=\"0\"";
    assert!(xml.contains(counts), "the phase, and with it the whole: {xml}");
    assert!(xml.contains("name=\"read\"><failure message=\"took 2.00x"), "{xml}");
    let few = file_of(vec![measured("mine", 2, [1.0; 2])]);
    let xml = junit(&gate(&few, &later(few.cells.clone()), 0.05));
    let counts = "tests=\"3\" failures=\"0\" errors=\"1\" skipped=\"2\"";
    assert!(xml.contains(counts), "{xml}");
    is_well_formed(&xml);
}

#[test]
fn what_cannot_be_compared_says_so_before_the_verdict() {
    let on = |cpu: &str, mut file: ResultFile| {
        file.manifest.machine.cpu = Some(cpu.into());
        file
    };
    let cells = || vec![measured("mine", 5, [1.0; 2])];
    let gate = gate(&on("one", file_of(cells())), &on("other", later(cells())), 0.05);
    let shown = table(&gate, &Options { width: 120, ..Options::default() });
    assert!(shown.starts_with("NOT COMPARABLE, judged all the same (--force)\n"), "{shown}");
    assert!(markdown(&gate).starts_with("### NOT COMPARABLE"), "{}", markdown(&gate));
    let xml = junit(&gate);
    assert!(xml.contains("name=\"can be compared\"><skipped message=\"NOT COMPARABLE"), "{xml}");
}

#[test]
fn bencher_gets_the_times_of_the_new_result_with_their_intervals() {
    let mut secret = measured("secret", 5, [1.0; 2]);
    secret.unpublishable = true;
    let file = file_of(vec![measured("mine", 5, [1.0; 2]), secret]);
    let text = render(&file, Format::Bencher, &Options::default()).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let latency = &json["mine sensors 1k process single load"]["latency"];
    let [low, value, high] =
        ["lower_value", "value", "upper_value"].map(|name| latency[name].as_f64().unwrap());
    assert!(low <= value && value <= high && (value - 1_001.0).abs() < 1.0, "{text}");
    assert!(!text.contains("secret") && json.as_object().unwrap().len() == 2, "{text}");
}
