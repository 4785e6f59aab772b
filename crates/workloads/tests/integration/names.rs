//! How the workload refuses plans that it cannot follow.

use crate::common::{self, Staged};
use embermark_model::Scale;
use embermark_model::plan::DataSource;
use embermark_workloads::{Spec, WORKLOADS, find};

#[test]
fn workloads_are_found_by_name_and_a_misspelt_one_is_answered_with_the_nearest() {
    assert_eq!(find("sensors").unwrap().id(), "sensors");
    let error = find("sensor").err().unwrap().to_string();
    assert!(error.contains("did you mean 'sensors'?"), "{error}");
}

#[test]
fn every_published_file_is_a_workload() {
    for (name, _) in embermark_language::PUBLISHED {
        assert_eq!(find(name).unwrap().id(), *name);
    }
}

#[test]
fn variants_change_phases_that_there_are() {
    for workload in WORKLOADS {
        let info = workload.info();
        for variant in info.variants {
            for changed in variant.changes {
                assert!(info.phases.iter().any(|phase| phase.name == *changed), "{changed}");
            }
        }
    }
}

#[test]
fn an_unknown_variant_is_answered_with_the_valid_ones() {
    let rows = Staged::synthetic(2).rows.clone();
    let spec = Spec::of(rows, "bluk", 1);
    let error = find("sensors").unwrap().prepare(&spec).err().unwrap().to_string();
    assert!(error.contains("did you mean 'bulk'?") && error.contains("commit-each"), "{error}");
}

#[test]
fn synthetic_rows_have_no_full_scale_and_the_error_says_what_to_give() {
    let dir = tempfile::tempdir().unwrap();
    let source = find("sensors").unwrap().source(&DataSource::Synthetic, 1).unwrap();
    let error = source.stage(Scale::Full, &dir.path().join("rows")).unwrap_err().to_string();
    assert!(error.contains("--data"), "{error}");
    let dataset = source.stage(Scale::Rows(100), &dir.path().join("rows")).unwrap();
    assert_eq!(dataset.rows, 100);
}

#[test]
fn a_scale_of_a_file_counts_its_own_rows_and_sensors() {
    let Some(path) = common::real_rows() else { return };
    let dir = tempfile::tempdir().unwrap();
    let source = find("sensors").unwrap().source(&DataSource::File(path), 1).unwrap();
    let stage = |scale| source.stage(scale, &dir.path().join("rows"));
    let full = stage(Scale::Full).unwrap();
    assert_eq!(full.sensors, 3);
    let two = stage(Scale::Rows(2)).unwrap();
    assert_eq!((two.rows, two.sensors), (2, 2));
    assert!(stage(Scale::Rows(full.rows + 1)).is_err());
}
