//! Cells of plans.

use embermark_harness::Catalog;
use embermark_harness::cells::planned;
use embermark_model::plan::{DataSource, Plan};
use embermark_model::{Durability, MemoryLimit, Scale, ServerUrl, Status};

use crate::toy::CATALOG;

crate::tests!(
    cells_come_in_plan_order_and_a_further_variant_runs_what_it_changes,
    a_tier_an_engine_cannot_make_and_an_engine_that_is_absent_are_cells_with_a_reason,
    what_a_setting_really_keeps_is_recorded_where_it_differs,
    an_engine_that_forbids_publishing_runs_for_who_accepts_that_and_its_cells_say_so,
    where_a_plan_leaves_it_open_a_workload_has_scales_and_variants_of_its_own,
    phases_can_be_chosen,
    a_phase_apart_runs_where_its_variant_is_asked_for_and_nowhere_else,
    unknown_names_are_answered_with_the_nearest,
    plans_that_make_no_sense_are_refused,
    each_limit_of_memory_has_cells_of_its_own_and_no_reference_takes_part,
);

/// Two runs of one trial, 100 rows.
pub fn plan(engines: &[&str]) -> Plan {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    Plan {
        workloads: words(&["squares"]),
        engines: words(engines),
        scales: vec![Scale::Rows(100)],
        durabilities: vec![Durability::Process],
        variants: words(&["single"]),
        phases: Some(words(&["load", "read", "total"])),
        runs: 3,
        trials: 1,
        max_run_time_ms: None,
        timeout_ms: Some(60_000),
        memory_bytes: 1 << 20,
        ..Plan::default()
    }
}

fn cells_come_in_plan_order_and_a_further_variant_runs_what_it_changes() {
    let mut plan = plan(&["good", "slow", "good"]);
    plan.scales.push(Scale::Rows(10));
    plan.variants = vec!["other".into(), "single".into()];
    let cells = planned(&plan, &CATALOG).unwrap();
    let names: Vec<String> = cells.iter().map(|cell| cell.id.to_string()).collect();
    assert_eq!(
        names,
        [
            "good squares 100 process other",
            "slow squares 100 process other",
            "good squares 100 process single",
            "slow squares 100 process single",
            "good squares 10 process other",
            "slow squares 10 process other",
            "good squares 10 process single",
            "slow squares 10 process single",
        ]
    );
    assert_eq!(cells[0].phases, ["load", "read", "total"]);
    assert_eq!(cells[2].phases, ["load"]);
}

fn a_tier_an_engine_cannot_make_and_an_engine_that_is_absent_are_cells_with_a_reason() {
    let mut plan = plan(&["good", "absent"]);
    plan.durabilities = vec![Durability::Process, Durability::Power];
    let cells = planned(&plan, &CATALOG).unwrap();
    let skips: Vec<_> = cells
        .iter()
        .map(|cell| cell.skip.as_ref().map(|skip| (skip.status, skip.reason.as_str())))
        .collect();
    let absent = Some((Status::Unavailable, "not here; apt install it"));
    let never = Some((Status::Unsupported, "it never syncs"));
    assert_eq!(skips, [None, absent, never, absent]);
}

fn what_a_setting_really_keeps_is_recorded_where_it_differs() {
    let mut plan = plan(&["good", "null"]);
    plan.durabilities = vec![Durability::None, Durability::Process];
    let cells = planned(&plan, &CATALOG).unwrap();
    let effective: Vec<_> =
        cells.iter().map(|cell| (cell.effective_durability, cell.reference)).collect();
    let (stronger, weaker) = (Some(Durability::Process), Some(Durability::None));
    assert_eq!(effective, [(stronger, false), (None, true), (None, false), (weaker, true)]);
}

fn an_engine_that_forbids_publishing_runs_for_who_accepts_that_and_its_cells_say_so() {
    let mut plan = plan(&["secret", "good"]);
    let cells = planned(&plan, &CATALOG).unwrap();
    let skip = cells[0].skip.clone().unwrap();
    assert_eq!(skip.status, Status::Unavailable);
    assert!(skip.reason.contains("--accept-license secret"), "{}", skip.reason);
    plan.accepted_licences = vec!["secret".into()];
    let cells = planned(&plan, &CATALOG).unwrap();
    let marks: Vec<_> = cells.iter().map(|c| (c.skip.is_some(), c.unpublishable)).collect();
    assert_eq!(marks, [(false, true), (false, false)]);
}

fn where_a_plan_leaves_it_open_a_workload_has_scales_and_variants_of_its_own() {
    let mut plan = plan(&["good"]);
    (plan.scales, plan.variants) = (vec![], vec![]);
    let names = |plan: &Plan| -> Vec<String> {
        planned(plan, &CATALOG).unwrap().iter().map(|cell| cell.id.to_string()).collect()
    };
    assert_eq!(names(&plan), ["good squares 5 process single"]);
    plan.overview = true;
    assert_eq!(names(&plan).len(), 1, "an overview has scales of its own too");
}

fn each_limit_of_memory_has_cells_of_its_own_and_no_reference_takes_part() {
    let mut plan = plan(&["good", "null"]);
    plan.memory_limits = vec![None, Some(MemoryLimit(64 << 20)), None];
    let cells = planned(&plan, &CATALOG).unwrap();
    let names: Vec<String> = cells.iter().map(|cell| cell.id.to_string()).collect();
    assert_eq!(
        names,
        [
            "good squares 100 process single",
            "null squares 100 process single",
            "good squares 100 within 64 MiB process single",
            "null squares 100 within 64 MiB process single",
        ]
    );
    assert_eq!(cells[2].id.slug(), "good-squares-100-within-64-MiB-process-single");
    let skipped: Vec<bool> = cells.iter().map(|cell| cell.skip.is_some()).collect();
    assert_eq!(skipped, [false, false, false, true]);
    // A server given by URL cannot be limited.
    plan.engines = vec!["server".into()];
    plan.urls.insert("server".into(), ServerUrl::from("toy://elsewhere"));
    let skip = planned(&plan, &CATALOG).unwrap()[1].skip.clone().unwrap();
    assert_eq!(skip.status, Status::Unsupported);
}

fn phases_can_be_chosen() {
    let mut plan = plan(&["good"]);
    plan.phases = Some(vec!["read".into()]);
    plan.variants = vec!["single".into(), "other".into()];
    let cells = planned(&plan, &CATALOG).unwrap();
    // The other variant changes nothing that is requested.
    assert_eq!(cells.len(), 1);
    assert_eq!(cells[0].phases, ["read"]);

    plan.phases = None;
    assert_eq!(planned(&plan, &CATALOG).unwrap()[0].phases.len(), 4);
}

fn a_phase_apart_runs_where_its_variant_is_asked_for_and_nowhere_else() {
    let runs = |variants: &[&str]| -> Vec<(String, Vec<String>)> {
        let plan = Plan {
            workloads: vec!["events".into()],
            variants: variants.iter().map(|name| (*name).to_owned()).collect(),
            phases: None,
            ..plan(&["memory"])
        };
        let cells = planned(&plan, &Catalog::default()).unwrap().into_iter();
        cells.map(|cell| (cell.id.variant, cell.phases)).collect()
    };
    let own = runs(&[]);
    let [(_, whole)] = own.as_slice() else { panic!("{own:?}") };
    assert_eq!(whole.len(), 7);
    let apart = |name: &str, phase: &str| (name.to_owned(), vec![phase.to_owned()]);
    let http = apart("http", "insert_http");
    assert_eq!(runs(&["http"]), std::slice::from_ref(&http));
    let log = apart("large-log", "open_large_log");
    assert_eq!(
        runs(&["http", "none", "large-log"]),
        [http, ("none".to_owned(), whole.clone()), log],
        "the first that is not apart runs the rest"
    );
    assert!(!whole.contains(&"insert_http".to_owned()));

    // A phase that is requested by name adds its variant, unless variants are named too.
    let named = |variants: &[&str]| {
        let variants = variants.iter().map(|name| (*name).to_owned()).collect();
        let phases = Some(vec!["insert_http".to_owned()]);
        let plan = Plan { workloads: vec!["events".into()], variants, phases, ..plan(&["memory"]) };
        planned(&plan, &Catalog::default())
    };
    let cells = named(&[]).unwrap();
    assert_eq!((cells.len(), &*cells[0].id.variant), (1, "http"));
    let error = named(&["none"]).unwrap_err().to_string();
    assert!(error.contains("runs only in the variant 'http'"), "{error}");
}

fn unknown_names_are_answered_with_the_nearest() {
    type Change = fn(&mut Plan);
    let changes: &[(Change, &str)] = &[
        (|plan| plan.engines.push("goood".into()), "engine 'goood', did you mean 'good'?"),
        (|plan| plan.workloads.push("sqares".into()), "did you mean 'squares'?"),
        (|plan| plan.variants.push("singel".into()), "did you mean 'single'?"),
        (|plan| plan.phases = Some(vec!["raed".into()]), "did you mean 'read'?"),
        (
            |plan| drop(plan.urls.insert("servr".into(), ServerUrl::from(""))),
            "did you mean 'server'?",
        ),
    ];
    for &(change, says) in changes {
        let mut plan = plan(&["good"]);
        change(&mut plan);
        let error = planned(&plan, &CATALOG).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains(says), "{error}");
    }
}

fn plans_that_make_no_sense_are_refused() {
    type Change = fn(&mut Plan);
    let changes: &[(Change, &str)] = &[
        (|plan| plan.memory_limits.push(Some(MemoryLimit(1 << 20))), "at least 16MiB"),
        (|plan| plan.cold = true, "reads of squares cannot be cold"),
        (|plan| plan.accepted_licences.push("good".into()), "need not be accepted"),
        (|plan| plan.data = DataSource::File("rows.txt".into()), "makes its own rows"),
        (|plan| plan.engines.clear(), "no engine"),
        (|plan| plan.trials = 0, "--trials 0"),
        (|plan| plan.trials = 1_001, "give --trials 1 to 1000"),
        (|plan| plan.runs = 0, "--runs 0"),
        (|plan| plan.runs = 1_001, "give --runs 1 to 1000"),
        (|plan| plan.warmup_runs = 3, "give at least 4 runs"),
        (|plan| plan.max_run_time_ms = Some(0), "longest run time of 0"),
        (
            |plan| drop(plan.urls.insert("good".into(), ServerUrl::from(""))),
            "'good', which is not a server",
        ),
    ];
    for &(change, says) in changes {
        let mut plan = plan(&["good"]);
        change(&mut plan);
        let error = planned(&plan, &CATALOG).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains(says), "{error}");
    }
}
