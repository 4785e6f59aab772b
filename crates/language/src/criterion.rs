//! The criterion of advice that a phase counts for.

use crate::built_in::PUBLISHED;
use crate::definition::{Commit, Condition, Definition, Operator, Phase, Removed, Sequence, Work};
use crate::file::parse;

impl Definition {
    /// The criterion of advice that a phase counts for; none where it asks again what a phase of its own asks.
    pub fn criterion(&self, phase: &Phase) -> Option<&'static str> {
        Some(match &phase.work {
            Work::Sequence(Sequence { insert: None, questions })
                if questions.iter().any(|question| self.phases[*question].alone) =>
            {
                return None;
            }
            Work::Insert { commit: Commit::Each, .. } => "ingest",
            Work::Insert { .. } => "load",
            Work::Open { .. } => "start",
            Work::Get { .. } | Work::Latest { .. } | Work::Range(_) => "point",
            Work::Find { table, conditions, .. } if self.looks_up(*table, conditions) => "point",
            Work::Update { .. }
            | Work::UpdateWhere { .. }
            | Work::Upsert { .. }
            | Work::ReadModifyWrite { .. }
            | Work::Delete { .. } => "update",
            Work::Find { .. }
            | Work::Gaps { .. }
            | Work::Outliers { .. }
            | Work::Correlate(_)
            | Work::Group(_)
            | Work::Sql(_)
            | Work::Sequence(Sequence { insert: None, .. }) => "analytics",
            Work::Mix(_) | Work::Sequence(_) => "mixed",
            Work::Keep(_) => "steady-latency",
        })
    }

    /// Whether the key or an index finds the rows of one value, and nothing else is asked of them.
    fn looks_up(&self, table: usize, conditions: &[Condition]) -> bool {
        let table = &self.tables[table];
        if conditions.iter().any(|of| of.operator != Operator::Equal) {
            return false;
        }
        let is_one = |column: &usize| {
            conditions.iter().any(|of| of.column == *column && of.operator == Operator::Equal)
        };
        let mut orders = std::iter::once(&table.key).chain(&table.indexes);
        orders.any(|order| order.first().is_some_and(is_one))
    }
}

/// Whether the operations of a phase are single rows, each with a response time.
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

/// Whether a transaction covers many operations that change rows.
const fn are_many_in_a_transaction(work: &Work) -> bool {
    let commit = match work {
        Work::Insert { commit, .. }
        | Work::Update { commit, .. }
        | Work::Upsert { commit, .. }
        | Work::ReadModifyWrite { commit, .. }
        | Work::Delete { removed: Removed::Keys { commit, .. }, .. } => commit,
        _ => return false,
    };
    matches!(commit, Commit::Rows(_) | Commit::All)
}

/// A phase of a published file in one of its variants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The file's name.
    pub workload: &'static str,
    /// The variant's.
    pub variant: String,
    /// The phase's.
    pub phase: String,
    /// The criterion of advice that it counts for, if any.
    pub criterion: Option<&'static str>,
    /// Whether its operations are single rows, each with a response time.
    pub of_rows: bool,
    /// Whether it changes row after row, many of them in a transaction.
    pub many_in_a_transaction: bool,
}

/// Every phase of the published files that runs on its own, in every variant.
pub fn counted() -> Vec<Counted> {
    let files =
        PUBLISHED.iter().filter_map(|(name, text)| Some((*name, parse(name, text, &[]).ok()?)));
    let of_file = |(workload, file): (&'static str, Definition)| {
        let of_variant = move |variant: &crate::Variant| {
            let of = &variant.definition;
            let counted = of.phases.iter().filter(|phase| phase.alone).map(|phase| Counted {
                workload,
                variant: variant.name.clone(),
                phase: phase.name.clone(),
                criterion: of.criterion(phase),
                of_rows: is_of_rows(&phase.work),
                many_in_a_transaction: are_many_in_a_transaction(&phase.work),
            });
            counted.collect::<Vec<_>>()
        };
        // Not every engine has rows in another form, so that figures of it would leave some out.
        let is_usual = |variant: &&crate::Variant| {
            let forms = variant.definition.tables.iter().zip(&file.tables);
            forms.into_iter().all(|(own, usual)| own.columns == usual.columns)
        };
        file.variants.iter().filter(is_usual).flat_map(of_variant).collect::<Vec<_>>()
    };
    files.flat_map(of_file).collect()
}
