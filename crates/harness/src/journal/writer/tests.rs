use std::collections::BTreeMap;

use embermark_model::Configurations;
use embermark_model::plan::{DataSource, Plan, Rate};

use super::super::VERSION;
use super::*;
use crate::manifest;

#[test]
fn a_full_disk_is_noticed_at_the_line_that_did_not_fit() {
    let path = Path::new("/dev/full");
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    let plan = Plan {
        workloads: vec![],
        engines: vec![],
        configurations: Configurations::new(),
        engine_libraries: Default::default(),
        workload_files: Default::default(),
        scales: vec![],
        durabilities: vec![],
        variants: vec![],
        phases: None,
        data: DataSource::Synthetic,
        runs: 1,
        warmup_runs: 0,
        trials: 1,
        max_run_time_ms: None,
        timeout_ms: Some(1),
        cards: Vec::new(),
        budget_ms: None,
        disk_bytes: None,
        seed: 1,
        memory_bytes: 1,
        urls: BTreeMap::new(),
        repeats: None,
        window_ms: None,
        warm_up_ms: None,
        memory_limits: Vec::new(),
        cold: false,
        rate: Rate::default(),
        clients: 1,
        target_rate: None,
        p99_limit_ms: 100,
        overview: false,
        own_trials: false,
        accepted_licences: Vec::new(),
    };
    let manifest = manifest::begin("id", Path::new("/"));
    let (databases, counts, explains, cells) = (None, false, false, vec![]);
    let head =
        Head { embermark_journal: VERSION, manifest, plan, databases, counts, explains, cells };
    let journal = Journal::of(head);
    let mut writer = Writer { path: path.to_owned(), file, journal };
    let error = writer.add(Line::End { finished: "now".to_owned() }).unwrap_err();
    assert!(matches!(error, HarnessError::DiskFull { .. }), "{error}");
    assert_eq!(writer.finished, None);
}
