//! The workload `htap` where every attribute is indexed: on every engine of this build.

use std::time::Duration;

use crate::common::{drive, options, some_candidates, store};
use embermark_engines::Reopener;
use embermark_model::Scale;
use embermark_model::plan::DataSource;
use embermark_workloads::{Spec, find};

/// Most that a run takes.
const CAP: Duration = Duration::from_millis(200);

#[test]
fn every_attribute_has_an_index_that_finds_its_rows() {
    let workload = find("htap").unwrap();
    for engine in some_candidates() {
        for rows in [1, 300] {
            let (_dir, mut options) = options();
            let Some(store) = store(engine, &mut options) else { continue };
            let staged = tempfile::tempdir().unwrap();
            let file = staged.path().join("rows");
            let source = workload.source(&DataSource::Synthetic, 42).unwrap();
            source.stage(Scale::Rows(rows), &file).unwrap();
            let cell = workload.prepare(&Spec::of(file, "indexed", 7)).unwrap();
            let bench = cell.open(store, Reopener::of(engine, options)).unwrap();
            for outcome in drive(bench, 2, Some(CAP)) {
                assert_eq!(outcome.wrong, None, "{}, {rows} rows", engine.info().id);
                assert!(outcome.measured.iter().all(|measured| measured.ops > 0));
            }
        }
    }
}
