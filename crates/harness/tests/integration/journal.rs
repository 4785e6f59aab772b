//! Journals, complete and interrupted.

use std::fs;
use std::path::Path;

use embermark_harness::{HarnessError, JOURNAL, assemble, journal};
use embermark_model::result::SCHEMA;
use embermark_model::{Durability, Status};

use crate::cells::plan;
use crate::trials::{Out, run};

crate::tests!(
    a_journal_says_all_that_the_result_says,
    a_journal_cut_off_anywhere_gives_the_trials_that_ended_whole,
    a_trial_that_was_lost_leaves_the_others_and_a_wrong_one_does_not,
    a_file_that_is_no_journal_is_refused_by_line,
    a_journal_of_the_version_before_is_read,
    every_reason_why_something_was_not_counted_is_kept,
);

fn a_journal_says_all_that_the_result_says() {
    let out = Out::new();
    let result = run(&plan(&["good", "absent", "wrong"]), &out.options()).unwrap();
    let again = assemble(&journal::read(&out.path(JOURNAL)).unwrap());
    let json = |result| serde_json::to_value(result).unwrap();
    assert_eq!(json(again), json(result.clone()));
    let written = fs::read(out.path("result.json")).unwrap();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&written).unwrap(), json(result));
}

fn a_journal_cut_off_anywhere_gives_the_trials_that_ended_whole() {
    let out = Out::new();
    run(&plan(&["good", "wrong"]), &out.options()).unwrap();
    let whole = fs::read(out.path(JOURNAL)).unwrap();
    let ends: Vec<usize> = (0..whole.len()).filter(|i| whole[*i] == b'\n').collect();
    // Head, rows, perhaps warnings, wear and energy; then two trials, the first again, wear, and
    // the end.
    let [.., before, first, second, again, wear, end] = ends[..] else {
        panic!("{} lines", ends.len())
    };
    let cut = out.path("cut.jsonl");
    for (length, trials) in [
        (end, 2),
        (wear, 2),
        (again, 2),
        (second + 1, 2),
        (second, 1),
        (first + 40, 1),
        (before + 1, 0),
        (ends[0] + 1, 0),
    ] {
        fs::write(&cut, &whole[..length]).unwrap();
        let journal = journal::read(&cut).unwrap();
        assert_eq!((journal.trials.len(), journal.finished.is_some()), (trials, false));
        let result = assemble(&journal);
        assert_eq!((result.cells.len(), result.manifest.finished), (2, None));
        let missing = result.cells.iter().filter(|cell| cell.trials.is_empty());
        for cell in missing.clone() {
            assert_eq!(cell.status, Status::NotRun);
            assert!(cell.reason.as_ref().unwrap().contains("interrupted"));
        }
        assert_eq!(missing.count(), 2 - trials);
    }
}

fn a_trial_that_was_lost_leaves_the_others_and_a_wrong_one_does_not() {
    let out = Out::new();
    let mut plan = plan(&["good"]);
    plan.trials = 3;
    run(&plan, &out.options()).unwrap();
    let whole = journal::read(&out.path(JOURNAL)).unwrap();
    for (status, kept) in
        [(Status::Failed, 2), (Status::TimedOut, 2), (Status::Wrong, 3), (Status::Ok, 3)]
    {
        let mut journal = whole.clone();
        (journal.trials[1].trial.status, journal.trials[1].trial.reason) =
            (status, Some("killed by signal 9".to_owned()));
        let cell = assemble(&journal).cells.remove(0);
        assert_eq!((cell.trials.len(), cell.lost_trials.len()), (kept, 3 - kept), "{status}");
        assert_eq!(cell.status, if status == Status::Wrong { status } else { Status::Ok });
        assert_eq!(cell.has_failure(), status.is_failure());
        if let [lost] = &cell.lost_trials[..] {
            assert_eq!((lost.index, cell.reason), (journal.trials[1].trial.index, None));
        }
    }
    // If none ended well, none is lost.
    let mut journal = whole;
    journal.trials.iter_mut().for_each(|ended| ended.trial.status = Status::Failed);
    let cell = assemble(&journal).cells.remove(0);
    assert_eq!((cell.status, cell.trials.len()), (Status::Failed, 3));
}

fn a_file_that_is_no_journal_is_refused_by_line() {
    let out = Out::new();
    run(&plan(&["good"]), &out.options()).unwrap();
    let text = fs::read_to_string(out.path(JOURNAL)).unwrap();
    let file = out.path("other.jsonl");
    let refused = |text: &str, line| {
        fs::write(&file, text).unwrap();
        match journal::read(&file) {
            Err(HarnessError::Journal { line: at, .. }) => assert_eq!(at, line),
            other => panic!("{other:?}"),
        }
    };
    refused("", 1);
    refused("{\"schema\":1}\n", 1);
    refused(&text.replacen('\n', "\nnonsense\n", 1), 2);
    refused(&text.replacen("\"embermark_journal\":3", "\"embermark_journal\":99", 1), 1);
}

fn a_journal_of_the_version_before_is_read() {
    // From a run by two clients at a rate, killed in its third trial.
    let journal = journal::read(Path::new("tests/fixtures/journal-2.jsonl")).unwrap();
    assert_eq!((journal.head.embermark_journal, journal.trials.len()), (2, 2));
    let result = assemble(&journal);
    assert_eq!(result.schema, SCHEMA);
    let plan = &result.plan;
    assert_eq!((plan.warmup_runs, plan.max_run_time_ms), (1, Some(5_000)));
    assert_eq!((plan.target_rate, plan.p99_limit_ms), (Some(2_000), 100));
    assert_eq!(result.manifest.engines["redb"].data_model, "key-value");
    let redb = result.cells.iter().find(|cell| cell.id.engine == "redb").unwrap();
    assert_eq!(redb.effective_durability, Some(Durability::Power));
    assert_eq!(redb.trials[0].background_cpu.unwrap().total_cpu_ns, 5_510_000_000);
    let load = redb.trials[0].phases[0].runs.last().unwrap();
    let schedule = load.schedule.unwrap();
    assert_eq!((schedule.target_rate, schedule.on_time), (2_000.0, 995));
    assert!(schedule.kept_up() && load.maintenance().is_some_and(|m| m.elapsed_ns > 0));
}

fn every_reason_why_something_was_not_counted_is_kept() {
    let out = Out::new();
    run(&plan(&["good"]), &out.options()).unwrap();
    let mut text = fs::read_to_string(out.path(JOURNAL)).unwrap();
    for why in ["there is no disk", "the time was over", "there is no disk"] {
        text += &format!("{{\"not_counted\":\"{why}\"}}\n");
    }
    let more = out.path("more.jsonl");
    fs::write(&more, text).unwrap();
    let why = assemble(&journal::read(&more).unwrap()).manifest.not_counted.unwrap();
    assert!(why.ends_with("there is no disk; the time was over"), "{why}");
}
