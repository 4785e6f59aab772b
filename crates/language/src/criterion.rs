//! The kind of a phase: the criterion of advice that its times count for, and what its operations
//! are.

use embermark_model::result::{Counts, PhaseKind};

use crate::built_in::PUBLISHED;
use crate::definition::{
    Commit, Condition, Definition, Operator, Phase, Query, Removed, Sequence, Work,
};
use crate::file::parse;

impl Definition {
    /// Returns the kind of a phase. `commit` is the setting of a variant for all commits; only
    /// inserts can take [`Commit::Bulk`].
    pub fn kind(&self, phase: &Phase, commit: Option<Commit>) -> PhaseKind {
        let work = &phase.work;
        let inserts = matches!(work, Work::Insert { .. });
        let given = commit.filter(|commit| inserts || *commit != Commit::Bulk);
        let covers = work.commit().map(|own| given.unwrap_or(own));
        PhaseKind {
            counts: self.counts(work, covers).filter(|_| !phase.search),
            of_rows: is_of_rows(work),
            many_in_a_transaction: matches!(covers, Some(Commit::Rows(_) | Commit::All)),
        }
    }

    /// Returns the criterion that a phase counts for. A sequence of queries counts for none if one
    /// of them is also run in its own phase.
    fn counts(&self, work: &Work, commit: Option<Commit>) -> Option<Counts> {
        Some(match work {
            Work::Sequence(Sequence { insert: None, questions })
                if questions.iter().any(|question| self.phases[*question].alone) =>
            {
                return None;
            }
            Work::Arrive(arrive) => {
                let insert = &self.phases[arrive.insert].work;
                let own = commit.or_else(|| insert.commit());
                let each = own == Some(Commit::Each) && arrive.collect.is_none();
                if each { Counts::Ingest } else { Counts::Load }
            }
            Work::Insert { .. } if commit == Some(Commit::Each) => Counts::Ingest,
            Work::Insert { .. } => Counts::Load,
            Work::Open { .. } => Counts::Start,
            Work::Get { .. } | Work::Range(_) => Counts::Point,
            Work::Ask { table, query } => match query {
                Query::Latest { .. } => Counts::Point,
                Query::Find { conditions, .. } if self.looks_up(*table, conditions) => {
                    Counts::Point
                }
                Query::Find { .. }
                | Query::Gaps { .. }
                | Query::Outliers { .. }
                | Query::Correlate(_)
                | Query::Group(_) => Counts::Analytics,
            },
            Work::Update { .. }
            | Work::UpdateWhere { .. }
            | Work::Upsert { .. }
            | Work::ReadModifyWrite { .. }
            | Work::Delete { .. } => Counts::Update,
            Work::Sql(_) | Work::Sequence(Sequence { insert: None, .. }) => Counts::Analytics,
            Work::Mix(_) | Work::Sequence(_) => Counts::Mixed,
            Work::Keep(_) => Counts::SteadyLatency,
        })
    }

    /// Whether all conditions are equalities, and one is on the first column of the key or of an
    /// index.
    fn looks_up(&self, table: usize, conditions: &[Condition]) -> bool {
        let table = &self.tables[table];
        let is_one = |column: &usize| conditions.iter().any(|of| of.column == *column);
        let mut orders = std::iter::once(&table.key).chain(&table.indexes);
        conditions.iter().all(|of| of.operator == Operator::Equal)
            && orders.any(|order| order.first().is_some_and(is_one))
    }

    /// Whether its tables have the same columns as those of `other`. Not every engine can store
    /// rows with other columns, so figures of such a variant would leave engines out.
    pub fn has_the_form_of(&self, other: &Self) -> bool {
        let mut forms = self.tables.iter().zip(&other.tables);
        forms.all(|(own, usual)| own.columns == usual.columns)
    }
}

/// Whether each operation of a phase is on one row and has its own response time.
const fn is_of_rows(work: &Work) -> bool {
    matches!(
        work,
        Work::Insert { .. }
            | Work::Get { .. }
            | Work::Range(_)
            | Work::Update { .. }
            | Work::Upsert { .. }
            | Work::ReadModifyWrite { .. }
            | Work::Delete { removed: Removed::Keys { .. }, .. }
    )
}

/// A phase of a published workload in one of its variants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Name of the workload.
    pub workload: &'static str,
    /// Name of the variant.
    pub variant: String,
    /// Name of the phase.
    pub phase: String,
    /// Kind of the phase.
    pub kind: PhaseKind,
}

/// Returns every phase of the published workloads that runs on its own, in every variant with the
/// usual columns.
///
/// It is for older results, which lack the kinds of their phases, and for workloads without a
/// result.
pub fn counted() -> Vec<Counted> {
    let mut all = Vec::new();
    for &(workload, text) in PUBLISHED {
        let Ok(file) = parse(workload, text, &[]) else { continue };
        let variants = file.variants.iter();
        for variant in variants.filter(|variant| variant.definition.has_the_form_of(&file)) {
            let of = &variant.definition;
            all.extend(of.phases.iter().filter(|phase| phase.alone).map(|phase| Counted {
                workload,
                variant: variant.name.clone(),
                phase: phase.name.clone(),
                kind: of.kind(phase, None),
            }));
        }
    }
    for variant in ["individual", "bulk", "individual-published", "bulk-published"] {
        let phases = ["write", "read_individual", "read_bulk", "read_bulk1", "live", "sustained"];
        all.extend(phases.map(|phase| Counted {
            workload: MACHINE,
            variant: variant.to_owned(),
            phase: phase.to_owned(),
            kind: kind_of_machine(variant, phase),
        }));
    }
    all
}

/// The only published workload that is not a workload file.
const MACHINE: &str = "machine";

/// Returns the kind of a phase of `machine`. Writes in the variants `…-published` count for no
/// criterion: they are compared only with the figures of the source.
pub fn kind_of_machine(variant: &str, phase: &str) -> PhaseKind {
    let counts = match (variant, phase) {
        ("individual", "write") => Some(Counts::Ingest),
        ("bulk", "write") => Some(Counts::Load),
        (_, "read_individual" | "read_bulk" | "read_bulk1") => Some(Counts::Analytics),
        (_, "live") => Some(Counts::Mixed),
        _ => None,
    };
    PhaseKind { counts, ..PhaseKind::default() }
}
