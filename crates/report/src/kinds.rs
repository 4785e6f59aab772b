//! Kinds of the phases of a result. Older results do not record them. For those, they come from the
//! plan or from the published workloads.

use std::collections::HashMap;
use std::sync::LazyLock;

use embermark_language::{Counted, counted};
use embermark_model::result::{Counts, PhaseKind, ResultFile};

use crate::text;

/// The phases of the published workloads.
static PUBLISHED: LazyLock<Vec<Counted>> = LazyLock::new(counted);

/// A workload, its variant and a phase.
pub(crate) type PhaseOf<'a> = (&'a str, &'a str, &'a str);

/// Kinds of the phases of a result.
#[derive(Clone, Debug)]
pub(crate) struct Kinds<'a>(HashMap<PhaseOf<'a>, PhaseKind>);

impl<'a> Kinds<'a> {
    pub(crate) fn new(file: &'a ResultFile) -> Self {
        let mut kinds = HashMap::new();
        for cell in &file.cells {
            for phase in cell.trials.iter().flat_map(|trial| &trial.phases) {
                let of = (&*cell.id.workload, &*cell.id.variant, &*phase.phase);
                kinds
                    .entry(of)
                    .or_insert_with(|| phase.kind.unwrap_or_else(|| unrecorded_kind(file, of)));
            }
        }
        Self(kinds)
    }

    /// Returns the kind of a phase.
    pub(crate) fn at(&self, of: PhaseOf<'_>) -> PhaseKind {
        self.0.get(&of).copied().unwrap_or_default()
    }

    /// Whether the times of a phase count for a criterion.
    pub(crate) fn count(&self, of: PhaseOf<'_>, criterion: Counts) -> bool {
        self.at(of).counts == Some(criterion)
    }

    /// Whether the result has phases that count for a criterion.
    pub(crate) fn have(&self, criterion: Counts) -> bool {
        self.0.values().any(|kind| kind.counts == Some(criterion))
    }
}

/// Returns the kind of a phase that does not record it.
fn unrecorded_kind(file: &ResultFile, (workload, variant, phase): PhaseOf<'_>) -> PhaseKind {
    if let Some(criterion) = file.plan.criterion_of(workload, phase) {
        let known = Counts::ALL.into_iter().find(|(_, id)| *id == criterion);
        let counts = known.map(|(counts, _)| counts);
        let of_rows = matches!(counts, Some(Counts::Ingest | Counts::Point | Counts::Update));
        return PhaseKind { counts, of_rows, ..PhaseKind::default() };
    }
    let is = |of: &&Counted| (of.workload, &*of.variant, &*of.phase) == (workload, variant, phase);
    PUBLISHED.iter().find(is).map(|of| of.kind).unwrap_or_default()
}

/// Returns the published workloads that have phases of a kind.
pub(crate) fn published(is: impl Fn(&PhaseKind) -> bool) -> Vec<&'static str> {
    text::unique(PUBLISHED.iter().filter(|of| is(&of.kind)).map(|of| of.workload))
}

/// Returns the published workloads in which, for every pair in `wanted`, the variant has phases
/// that count for the criterion.
pub(crate) fn with_variants(wanted: &[(&str, Counts)]) -> Vec<&'static str> {
    let has = |of: &str, (variant, counts): &(&str, Counts)| {
        PUBLISHED.iter().any(|phase| {
            (phase.workload, &*phase.variant, phase.kind.counts) == (of, *variant, Some(*counts))
        })
    };
    let all = published(|_| true);
    all.into_iter().filter(|of| wanted.iter().all(|one| has(of, one))).collect()
}

#[cfg(test)]
mod tests {
    use embermark_model::plan::WorkloadFile;
    use embermark_model::result::PhaseResult;

    use super::*;
    use crate::summary::tests::{cell, file, trial};

    /// Makes a result of one phase, which records its kind or not.
    fn result(of: PhaseOf<'_>, kind: Option<PhaseKind>) -> ResultFile {
        let phase = PhaseResult { phase: of.2.to_owned(), kind, ..PhaseResult::default() };
        let mut cell = cell("sqlite", of.1, vec![trial(vec![phase])]);
        of.0.clone_into(&mut cell.id.workload);
        file(vec![cell])
    }

    #[test]
    fn a_phase_is_what_it_says_whatever_it_is_called() {
        let said = PhaseKind { counts: Some(Counts::Update), ..PhaseKind::default() };
        let none = PhaseKind::default();
        for (kind, expected) in [(said, Some(Counts::Update)), (none, None)] {
            let of = ("sensors", "commit-each", "load");
            let file = result(of, Some(kind));
            assert_eq!(Kinds::new(&file).at(of).counts, expected);
        }
    }

    #[test]
    fn one_that_says_nothing_is_what_its_plan_or_the_published_workloads_say() {
        for (of, expected) in [
            (("sensors", "commit-each", "load"), Some(Counts::Ingest)),
            (("machine", "bulk", "write"), Some(Counts::Load)),
            (("machine", "individual-published", "write"), None),
            (("machine", "bulk-published", "read_bulk"), Some(Counts::Analytics)),
            (("own", "as-written", "load"), None),
        ] {
            let file = result(of, None);
            assert_eq!(Kinds::new(&file).at(of).counts, expected, "{of:?}");
        }
        let of = ("own", "bulk", "load");
        let mut file = result(of, None);
        let criteria = [("load".to_owned(), "ingest".to_owned())].into();
        let (text, folder) = (String::new(), "/".into());
        let own = WorkloadFile { text, folder, misfits_per_million: 0, criteria };
        file.plan.workload_files.insert("own".to_owned(), own);
        let kinds = Kinds::new(&file);
        assert!(
            kinds.count(of, Counts::Ingest) && kinds.at(of).of_rows && kinds.have(Counts::Ingest)
        );
        assert!(!kinds.count(("own", "bulk", "read"), Counts::Point));
    }
}
