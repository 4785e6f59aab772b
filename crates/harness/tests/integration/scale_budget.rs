//! Runs that increase the scale within a budget.

use std::fs;

use embermark_harness::progress::Silent;
use embermark_harness::{JOURNAL, resume};
use embermark_model::plan::Plan;
use embermark_model::result::ResultFile;
use embermark_model::{Scale, Status};

use crate::cells::plan;
use crate::trials::{Out, run};

crate::tests!(
    a_budget_that_is_spent_leaves_the_larger_scales_out_and_says_so,
    a_budget_with_time_left_runs_every_scale_from_the_smallest_up,
    a_run_cut_off_between_scales_goes_on_within_its_budget,
);

fn budget_plan(budget_ms: u64) -> Plan {
    let scales = [1_000, 10, 100].map(Scale::Rows).to_vec();
    Plan { scales, trials: 2, budget_ms: Some(budget_ms), ..plan(&["good", "chatty"]) }
}

/// The statuses of the cells of a scale, all of which are the same.
fn ended(result: &ResultFile, rows: u64) -> Status {
    let own = result.cells.iter().filter(|cell| cell.id.scale == Scale::Rows(rows));
    let mut all: Vec<Status> = own.map(|cell| cell.status).collect();
    all.dedup();
    assert_eq!(all.len(), 1, "{all:?}");
    all[0]
}

fn a_budget_that_is_spent_leaves_the_larger_scales_out_and_says_so() {
    let result = run(&budget_plan(1), &Out::new().options()).unwrap();
    let statuses = [10, 100, 1_000].map(|rows| ended(&result, rows));
    assert_eq!(statuses, [Status::Ok, Status::Skipped, Status::Skipped]);
    for cell in result.cells.iter().filter(|cell| cell.status == Status::Skipped) {
        assert!(cell.trials.is_empty() && cell.counting.is_none());
        let reason = cell.reason.as_deref().unwrap();
        assert!(reason.contains("100 would take about") && reason.contains("--for"), "{reason}");
    }
    assert!(result.manifest.finished.is_some(), "it came to the end that it was given");
}

fn a_budget_with_time_left_runs_every_scale_from_the_smallest_up() {
    let result = run(&budget_plan(600_000), &Out::new().options()).unwrap();
    assert_eq!([10, 100, 1_000].map(|rows| ended(&result, rows)), [Status::Ok; 3]);
    let trials = result
        .cells
        .iter()
        .flat_map(|cell| cell.trials.iter().map(|trial| (trial.order, cell.id.scale)));
    let mut order: Vec<_> = trials.collect();
    order.sort_unstable();
    assert_eq!(order.len(), 12);
    assert!(order.is_sorted_by_key(|(_, scale)| *scale), "{order:?}");
    assert!(order.iter().map(|(place, _)| *place).eq(0..12), "{order:?}");
}

fn a_run_cut_off_between_scales_goes_on_within_its_budget() {
    let out = Out::new();
    run(&budget_plan(1), &out.options()).unwrap();
    let whole = fs::read_to_string(out.path(JOURNAL)).unwrap();
    // With only the first scale. What is decided after it is decided again, with the same result.
    let decision = whole.find("{\"not_begun\"").unwrap();
    for end in [decision, whole[decision..].find('\n').unwrap() + decision + 1] {
        let left = Out::new();
        fs::create_dir_all(left.path("")).unwrap();
        fs::write(left.path(JOURNAL), &whole[..end]).unwrap();
        let result = resume(None, &left.options(), &mut Silent).unwrap();
        let statuses = [10, 100, 1_000].map(|rows| ended(&result, rows));
        assert_eq!(statuses, [Status::Ok, Status::Skipped, Status::Skipped]);
        let again = fs::read_to_string(left.path(JOURNAL)).unwrap();
        assert_eq!(again.matches("{\"not_begun\"").count(), 1);
    }
}
