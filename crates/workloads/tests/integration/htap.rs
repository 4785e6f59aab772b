//! The workload `htap`: rows are written and counted at the same time in every variant, on every
//! engine of this build.

use std::path::PathBuf;
use std::time::Duration;

use crate::common::{drive_phases, options, spread, store};
use embermark_engines::Reopener;
use embermark_language::{PUBLISHED, parse};
use embermark_model::Scale;
use embermark_model::plan::DataSource;
use embermark_workloads::defined::Defined;
use embermark_workloads::{Spec, Workload, find};

/// The limit of a run's time.
const CAP: Duration = Duration::from_millis(200);

/// Runs the wanted phases of variants with numbers of rows on some engines.
fn runs(workload: &dyn Workload, cells: &[(&str, u64)], wanted: impl Fn(&str) -> bool) {
    let source = workload.source(&DataSource::Synthetic, 42).unwrap();
    for (engine, (variant, rows)) in spread(cells.iter().copied()) {
        let (_dir, mut options) = options();
        let Some(store) = store(engine, &mut options) else { continue };
        let staged = tempfile::tempdir().unwrap();
        let file = staged.path().join("rows");
        source.stage(Scale::Rows(rows), &file).unwrap();
        let cell = workload.prepare(&Spec::of(file, variant, 7)).unwrap();
        let bench = cell.open(store, Reopener::for_engine(engine, options)).unwrap();
        for outcome in drive_phases(bench, 2, Some(CAP), &wanted) {
            let what = format!("{} {variant} {}, {rows} rows", engine.info().id, outcome.name);
            assert_eq!(outcome.wrong, None, "{what}");
            assert!(outcome.measured.iter().all(|measured| measured.ops > 0), "{what}");
        }
    }
}

#[test]
fn every_variant_counts_what_it_has_put_in() {
    let variants = ["commit-each", "single", "bulk"];
    let cells = [1, 300].map(|rows| variants.map(|variant| (variant, rows))).concat();
    runs(find("htap").unwrap(), &cells, |name| name == "insert_count");
}

/// After each run the engine is asked for its indexes.
#[test]
fn every_attribute_has_an_index() {
    let cells = [("indexed", 1), ("indexed", 300)];
    runs(find("htap").unwrap(), &cells, |name| name == "insert_count");
}

#[test]
fn every_index_finds_its_rows() {
    let (_, text) = PUBLISHED.iter().find(|(name, _)| *name == "htap").unwrap();
    let by = |attribute: &str, value: &str| {
        format!(
            "[phase.by_{attribute}]\ndo = \"find\"\nwhere = [[\"{attribute}\", \"=\", {value}]]\n"
        )
    };
    // With so few names, each has rows.
    let text = text.replace("distinct = 3_000", "distinct = 20");
    let questions = by("name", "\"babe\"") + &by("age", "7") + &by("breed", "\"Golden Retriever\"");
    let definition = parse("htap", &format!("{text}\n{questions}"), &[]).unwrap();
    let workload = Defined::leak(definition, PathBuf::new(), 0.0);
    runs(workload, &[("indexed", 300)], |name| name.starts_with("by_"));
}
