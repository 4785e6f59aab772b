//! Kinds of work.

use embermark_language::{
    Change, Commit, Condition, Definition, Keys, KeysOf, Range, Removed, Sequence, Snapshot, Work,
};

/// Returns the columns that each phase sets in rows that meet conditions.
pub(super) fn set_at_once(definition: &Definition) -> Vec<Vec<usize>> {
    let of = |work: &Work| match work {
        Work::UpdateWhere { set, .. } => set.iter().map(|(column, _)| *column).collect(),
        _ => Vec::new(),
    };
    definition.phases.iter().map(|phase| of(&phase.work)).collect()
}

/// Returns whether a phase asks whole questions, repeatedly for a time.
pub(super) const fn is_question(work: &Work) -> bool {
    matches!(work, Work::Ask { .. } | Work::Sql(_) | Work::Sequence(Sequence { insert: None, .. }))
}

/// Returns whether each operation of a phase concerns one row or one range of rows, so that clients
/// can share them.
pub(super) const fn is_point(work: &Work) -> bool {
    !is_question(work)
        && rows_at_once(work) == 1
        && !changes_at_once(work)
        && one_by_one(work).is_none()
        && !matches!(
            work,
            Work::Mix(_)
                | Work::Sequence(_)
                | Work::Keep(_)
                | Work::Arrive(_)
                | Work::Open { .. }
                | Work::Insert { requests: Some(_), .. }
        )
}

/// Returns whether a phase changes all rows that meet its conditions in one operation.
pub(super) const fn changes_at_once(work: &Work) -> bool {
    matches!(
        work,
        Work::UpdateWhere { .. }
            | Work::Delete { removed: Removed::Where { .. } | Removed::Older { .. }, .. }
    ) && one_by_one(work).is_none()
}

/// Returns what a commit covers in a phase that finds the rows that meet its conditions and then
/// changes each.
pub(super) const fn one_by_one(work: &Work) -> Option<Commit> {
    match work {
        Work::UpdateWhere { by: Change::OneByOne(commit), .. }
        | Work::Delete { removed: Removed::Where { by: Change::OneByOne(commit), .. }, .. } => {
            Some(*commit)
        }
        _ => None,
    }
}

/// Returns whether a phase that runs on its own reads everything in one snapshot.
pub(super) const fn is_read_in_one_snapshot(work: &Work) -> bool {
    matches!(
        work,
        Work::Get { snapshot: Snapshot::Phase, .. }
            | Work::Range(Range { snapshot: Snapshot::Phase, .. })
    )
}

/// Returns the keys of a phase whose operations concern rows by their keys.
pub(super) const fn keys_of(work: &Work) -> Option<&Keys> {
    match work {
        Work::Get { keys, .. }
        | Work::Open { keys, .. }
        | Work::Range(Range { keys, .. })
        | Work::Update { keys, .. }
        | Work::Upsert { keys, .. }
        | Work::ReadModifyWrite { keys, .. }
        | Work::Delete { removed: Removed::Keys { keys, .. }, .. } => Some(keys),
        _ => None,
    }
}

/// Returns whether no two operations of a phase concern the same row.
pub(super) fn is_distinct(work: &Work) -> bool {
    let deletes = matches!(work, Work::Delete { .. });
    deletes || keys_of(work).is_some_and(|keys| keys.of == KeysOf::Distinct)
}

/// Returns whether a phase sets columns of rows by their keys.
pub(super) const fn sets_by_key(work: &Work) -> bool {
    matches!(work, Work::Update { .. } | Work::Upsert { .. } | Work::ReadModifyWrite { .. })
}

/// Returns the conditions by which a phase finds or changes rows.
pub(super) fn conditions_of(work: &Work) -> &[Condition] {
    match work {
        Work::Ask { query, .. } => query.conditions(),
        Work::UpdateWhere { conditions, .. }
        | Work::Delete { removed: Removed::Where { conditions, .. }, .. } => conditions,
        Work::Insert { .. }
        | Work::Get { .. }
        | Work::Open { .. }
        | Work::Range(_)
        | Work::Update { .. }
        | Work::Upsert { .. }
        | Work::ReadModifyWrite { .. }
        | Work::Delete { .. }
        | Work::Sql(_)
        | Work::Mix(_)
        | Work::Sequence(_)
        | Work::Keep(_)
        | Work::Arrive(_) => &[],
    }
}

/// Returns the number of adjacent rows that an operation of a phase changes at once.
pub(super) const fn rows_at_once(work: &Work) -> u64 {
    match work {
        Work::Update { keys, .. } | Work::Delete { removed: Removed::Keys { keys, .. }, .. } => {
            keys.rows
        }
        _ => 1,
    }
}

/// Returns whether a phase inserts rows and reads nothing that existed before it.
pub(super) const fn loads(work: &Work) -> bool {
    matches!(
        work,
        Work::Insert { .. }
            | Work::Sequence(Sequence { insert: Some(_), .. })
            | Work::Keep(_)
            | Work::Arrive(_)
    )
}

/// Returns whether a phase changes rows of its table.
pub(super) const fn changes_rows(work: &Work) -> bool {
    matches!(
        work,
        Work::Insert { .. }
            | Work::Arrive(_)
            | Work::Update { .. }
            | Work::UpdateWhere { .. }
            | Work::Upsert { .. }
            | Work::ReadModifyWrite { .. }
            | Work::Delete { .. }
    )
}
