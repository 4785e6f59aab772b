//! A Node.js program that does the work in place of this one, as some comparisons were run: it inserts the rows
//! of a table and counts them, by its own clock.

mod process;

use std::rc::Rc;

use embermark_contract::{EngineError, NodeClient, Result};
use embermark_language::{Aggregate, Compute, Group, Work};
use embermark_meter::Measured;
use embermark_meter::Meter;
use embermark_model::answer::Value;
use embermark_model::table::ColumnType;

use super::bench::FileBench;
use super::cell::Cell;
use crate::{Companions, PhaseObserver, Strategy};
use process::{Done, NodeProcess};
pub(super) use process::{ROLE, become_program};

/// The program, on an open database.
pub(super) struct Node {
    pub client: NodeClient,
    /// Starts processes, where somebody can.
    pub companions: Option<Rc<dyn Companions>>,
}

/// Why the program cannot do a phase, if it cannot.
pub(super) fn refused(cell: &Cell, phase: usize) -> Option<EngineError> {
    let does = "inserts the rows of a table and counts its key, as one phase";
    let only = || Some(EngineError::impossible(format!("the Node.js program {does}")));
    let Work::Sequence(sequence) = cell.work(phase) else { return only() };
    let (Some(insert), &[question]) = (sequence.insert, &sequence.questions[..]) else {
        return only();
    };
    let (Work::Group(group), Some(table)) = (cell.work(question), cell.work(insert).table()) else {
        return only();
    };
    let of = cell.tables[table].table;
    if !counts_key(group, table, &of.key) {
        return only();
    }
    if of.columns.iter().any(|column| column.of == ColumnType::Bytes) {
        return Some(EngineError::impossible("JSON, in which it is given rows, has no bytes"));
    }
    None
}

/// Whether a question is how many keys of one column a table has, and nothing else.
fn counts_key(group: &Group, table: usize, key: &[usize]) -> bool {
    let plain = group.conditions.is_empty() && group.by.is_empty() && group.having.is_empty();
    let &[Compute { aggregate: Aggregate::Count, column: Some(column) }] = &group.compute[..]
    else {
        return false;
    };
    plain && group.table == table && *key == [column]
}

impl FileBench {
    /// Has the program do a phase while the database is closed here, where it has to be.
    pub(super) fn by_node(
        &mut self,
        phase: usize,
        meter: &mut Meter,
        observer: &mut dyn PhaseObserver,
    ) -> Result<()> {
        let Some(insert) = self.prepared.cell.insert_of(phase) else { return Ok(()) };
        let together = self.prepared.strategy(insert) != Strategy::CommitEach;
        let Self { prepared, database, node: Some(node), found, by_step, told, .. } = self else {
            return Ok(());
        };
        let Some(companions) = &node.companions else {
            let what = "starting processes that take part in a phase";
            return Err(EngineError::unsupported("this program", what));
        };
        let (rows, most, mut done) = (prepared.cell.rows_of(insert), meter.cap(), None);
        let (client, timed_by) = (&node.client, &mut told.timed_by);
        database.reopen_after(&mut || {
            let mut process = NodeProcess::start(&**companions, client, rows, together, most)?;
            observer.process(ROLE, process.pid());
            observer.open();
            done = Some(process.go()?);
            observer.close();
            *timed_by = Some(process.version.clone());
            process.end()
        })?;
        let Some(Done { inserted, counted, ns }) = done else {
            return Err(EngineError::failed("the store", "be closed for a while", "it was not"));
        };
        found.changed = inserted;
        if let Some(step) = by_step.first_mut() {
            step.result = vec![Value::Int(counted.cast_signed())];
        }
        let capped = inserted < rows.loaded as u64;
        meter.lasted(Measured { elapsed_ns: ns, ops: inserted, capped });
        Ok(())
    }
}
