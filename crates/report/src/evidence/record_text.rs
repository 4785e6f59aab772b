//! The text of a record of durability results.

use std::path::PathBuf;

use embermark_model::durability_result::{Head, Outcome, Tested};

use super::Record;
use crate::ReportError;

impl Record {
    /// Returns the text of a record that can be part of embermark: the runs of an earlier
    /// `record`, which stay as they are, followed by `runs` without the engines that
    /// `may_be_published` rejects. A run that the record has already replaces itself. With
    /// `replaces` the record also loses what it has of their engines in the same version and tier.
    ///
    /// # Errors
    /// If a value has no JSON form, which does not happen here.
    pub fn text(
        mut record: Vec<Outcome>,
        runs: Vec<Outcome>,
        replaces: bool,
        may_be_published: impl Fn(&str) -> bool,
    ) -> Result<String, ReportError> {
        let runs: Vec<Outcome> =
            runs.into_iter().map(|run| published(run, &may_be_published)).collect();
        for old in &mut record {
            let newer = runs.iter().filter(|new| replaces || is_same(&new.head, &old.head));
            let newer: Vec<&Tested> = newer.flat_map(|new| &new.tested).collect();
            old.tested.retain(|one| !newer.iter().any(|other| is_of(one, other)));
        }
        let all = record.into_iter().map(only_tested).chain(runs);
        let lines = all.filter(|run| !run.tested.is_empty());
        // One run per line, so that two records can be compared by eye.
        let lines = lines.map(|run| serde_json::to_string(&run)).collect::<Result<Vec<_>, _>>()?;
        Ok(format!("[\n{}\n]\n", lines.join(",\n")))
    }
}

/// Whether two heads are of one run, which may have been continued.
fn is_same(one: &Head, other: &Head) -> bool {
    one.begun == other.begun && one.file_system == other.file_system
}

/// Whether two tests are of the same version and tier of an engine.
fn is_of(one: &Tested, other: &Tested) -> bool {
    one.subject() == other.subject()
        && one.version == other.version
        && one.durability == other.durability
}

/// Removes engines that were not tested.
fn only_tested(run: Outcome) -> Outcome {
    let tested: Vec<String> = run.tested.iter().map(|one| one.engine.clone()).collect();
    run.only(|id| tested.iter().any(|one| one == id))
}

/// Removes what does not belong into a record.
fn published(run: Outcome, may_be_published: impl Fn(&str) -> bool) -> Outcome {
    let mut run = only_tested(run.only(&may_be_published));
    run.not_tried.clear();
    run.tested.iter_mut().for_each(|one| one.examples.clear());
    run.head.engine_libraries.retain(|id, _| may_be_published(id));
    for library in run.head.engine_libraries.values_mut() {
        library.path = library.path.file_name().map(PathBuf::from).unwrap_or_default();
    }
    run
}
