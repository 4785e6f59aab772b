//! Checks the results of a run and the rows that it has left.

use std::collections::HashSet;
use std::sync::Arc;

use embermark_language::{Keep, Sequence, Sql, Work};
use embermark_meter::Measured;
use embermark_model::ResultSet;
use embermark_model::answer::{Answer, Difference};
use embermark_model::fingerprint::Checksum;
use embermark_model::table::Value;

use super::super::client_checks::{self, ClientOperations, ExpectedTable};
use super::super::keep::{self, Calendar};
use super::super::kind::changes_rows;
use super::super::oracle::{Content, RowSet, Touched, print_of};
use super::super::referees::{self, MOST_KEPT, Right};
use super::super::{Found, fingerprint};
use super::{FileBench, TableState};
use crate::strategy::Strategy;
use crate::{CheckError, Passed};

impl FileBench {
    /// Compares the results of a run and the rows that it has left with the oracle.
    pub(super) fn judge(
        &mut self,
        phase: usize,
        answer: &Answer,
        measured: Measured,
    ) -> Result<(), CheckError> {
        let (work, ops) = (self.cell().work(phase), measured.ops);
        match work {
            Work::Keep(keep) => return self.judge_kept(keep),
            Work::Arrive(arrive) => return self.judge_arrived(arrive),
            _ => {}
        }
        let full = self.phases[phase].ops;
        // A mix also ends when it has used up the rows that it inserts.
        let may_end = measured.capped || matches!(work, Work::Mix(_));
        if full != 0 && ops != full && !may_end {
            return Err(Difference(format!("{ops} of {full} operations were done")).into());
        }
        if !self.client_operations.is_empty() {
            return self.judge_clients(phase, answer);
        }
        if let Work::Sequence(sequence) = work {
            return self.judge_in_turn(sequence, measured);
        }
        let tells = self.database.reports_changes();
        let (cell, database) = (&*self.prepared.cell, &*self.database);
        let print = |row: &[Value<'_>]| print_of(cell, database, phase, row);
        for (request, found) in &self.different.answers {
            let same = self.oracle.check(phase, ops, found, tells, &print);
            same.map_err(|Difference(what)| {
                Difference(format!("request {}: {what}", request + 1))
            })?;
        }
        self.oracle.check(phase, ops, &self.found, tells, &print)?;
        let looks = changes_rows(work) || matches!(work, Work::Open { .. });
        match work.table().filter(|_| looks) {
            Some(table) => self.judge_rows(phase, table, measured),
            None => Ok(()),
        }
    }

    /// Checks what several clients did, and the rows that they have left.
    fn judge_clients(&mut self, phase: usize, answer: &Answer) -> Result<(), CheckError> {
        let (cell, database) = (&*self.prepared.cell, &*self.database);
        let (work, clients) = (cell.work(phase), &self.client_operations);
        let is_mix = matches!(work, Work::Mix(_));
        match work {
            Work::Mix(_) => client_checks::check_reads(cell, database, clients)?,
            Work::Range(range) => {
                let print = |row: &[Value<'_>]| print_of(cell, database, phase, row);
                let operations = clients.iter().flat_map(ClientOperations::operations);
                let expected = self.oracle.ranged(phase, range, operations, &print);
                Answer::Checksum(expected).check(answer)?;
            }
            _ => client_checks::check_shared(cell, database, phase, clients, answer)?,
        }
        let expected = client_checks::expected_tables(cell, clients, !is_mix);
        for (table, ExpectedTable { put, touched }) in expected {
            self.compare_rows(table, &touched, put, true)?;
        }
        Ok(())
    }

    /// Checks the rows that a phase of one client has left in its table, and the table's indexes.
    fn judge_rows(
        &mut self,
        phase: usize,
        table: usize,
        measured: Measured,
    ) -> Result<(), CheckError> {
        let (work, ops) = (self.cell().work(phase), measured.ops);
        let touched = self.oracle.touched(phase, ops);
        // A bulk load that was capped can have inserted any of the rows, and so can concurrent
        // requests.
        let any = measured.capped
            && (matches!(work, Work::Insert { requests: Some(_), .. })
                || self.prepared.strategy(phase) == Strategy::Bulk);
        let loaded = self.cell().tables[table].loaded;
        if !touched.is_certain() {
            return self.compare_rows(table, &touched, loaded, true);
        }
        let (expected, put) = match work {
            Work::Insert { .. } if any => (None, loaded),
            Work::Insert { .. } => (Some(self.oracle.first(table, ops as usize)), ops as usize),
            _ => (Some(self.oracle.after(table, &touched)), loaded),
        };
        // Until the rows turn out to be right.
        let state = std::mem::replace(&mut self.table_states[table], TableState::Else);
        match expected {
            Some(expected) if self.sum(table)? == expected => {}
            Some(_) => {
                self.compare_rows(table, &touched, put, true)?;
                return Err(unexpected().into());
            }
            None => self.compare_rows(table, &touched, put, false)?,
        }
        self.table_states[table] = state;
        if let Work::Insert { .. } = work
            && let Some(of) = self.database.lacks_index(table)?
        {
            return Err(Difference(format!("the engine has no index of {of}")).into());
        }
        Ok(())
    }

    /// Returns the error found while rows came and expired, or compares the rows that are left.
    fn judge_kept(&mut self, keep: &Keep) -> Result<(), CheckError> {
        let Some(keep_outcome) = self.keep_outcome.take() else { return Ok(()) };
        if let Some(wrong) = keep_outcome.wrong {
            return Err(wrong.into());
        }
        let cell = Arc::clone(&self.prepared.cell);
        let rows = &cell.tables[keep.table];
        let there = Calendar { keep, rows }.there(keep_outcome.came as usize);
        let mut content = keep::Content::new(rows, there);
        self.database.contents(keep.table, &mut |row| content.see(row))?;
        Ok(content.finish()?)
    }

    /// Checks the rows that a sequence has inserted, and the answers to its questions.
    fn judge_in_turn(&mut self, sequence: &Sequence, measured: Measured) -> Result<(), CheckError> {
        let (mut fresh, mut there) = (None, None);
        if let Some(insert) = sequence.insert {
            self.judge(insert, &Answer::Count(measured.ops), measured)?;
            fresh = self.cell().work(insert).table();
            let by_bulk = self.prepared.strategy(insert) == Strategy::Bulk;
            there = match fresh {
                Some(table) if measured.capped && by_bulk => Some(self.places(table)?),
                _ => Some(RowSet::First(measured.ops as usize)),
            };
        }
        let (cell, database) = (&*self.prepared.cell, &*self.database);
        for (question, (found, different)) in sequence.questions.iter().zip(&self.by_step) {
            let rows = cell.rows_of(*question);
            let loaded = RowSet::First(rows.loaded);
            let is_fresh = fresh.is_some() && cell.work(*question).table() == fresh;
            let there = there.as_ref().filter(|_| is_fresh).unwrap_or(&loaded);
            let print = |row: &[Value<'_>]| print_of(cell, database, *question, row);
            let name = &cell.definition.phases[*question].name;
            let asked = cell.each[*question].len().max(1) as u64;
            for found in different.answers.iter().map(|(_, found)| found).chain([found]) {
                let same = self.oracle.answers(*question, (there, asked), found, &print);
                same.map_err(|Difference(what)| Difference(format!("{name}: {what}")))?;
            }
        }
        Ok(())
    }

    /// Returns the rows that a load which ended early has inserted.
    fn places(&mut self, table: usize) -> Result<RowSet, CheckError> {
        let (cell, touched) = (Arc::clone(&self.prepared.cell), Touched::default());
        let mut content = Content::new(&cell, table, &touched, cell.tables[table].loaded);
        self.database.contents(table, &mut |row| content.see(row))?;
        Ok(RowSet::Marked(content.seen))
    }

    /// Compares the answer to an SQL question with the right one, and stores that of a referee.
    pub(super) fn check_question(&mut self, phase: usize, sql: &Sql) -> Result<Passed, CheckError> {
        let values = std::mem::take(&mut self.found.result);
        let found = ResultSet { columns: self.found.columns, ordered: sql.ordered, values };
        let right = &self.prepared.right[phase];
        let spec = &self.prepared.spec;
        if spec.is_referee {
            let (name, engine) = (self.prepared.names[phase], &*self.cell().engine);
            referees::keep(&spec.rows, name, engine, &found)?;
        } else if *right != Right::Unknown {
            right.check(found)?;
        } else if found.values.len() <= MOST_KEPT {
            return Ok(Passed { by: None, unchecked: Some(found) });
        } else {
            let by = format!("unchecked: an answer of more than {MOST_KEPT} values");
            return Ok(Passed { by: Some(by), unchecked: None });
        }
        Ok(Passed { by: right.by(), unchecked: None })
    }

    /// Returns the checksum of a table's rows.
    pub(super) fn sum(&mut self, table: usize) -> Result<Checksum, CheckError> {
        let mut sum = Checksum::default();
        self.database.contents(table, &mut |row| sum += fingerprint(row.iter().copied()))?;
        Ok(sum)
    }

    /// Compares a table row by row. `all`: whether it must have all rows.
    fn compare_rows(
        &mut self,
        table: usize,
        touched: &Touched,
        put: usize,
        all: bool,
    ) -> Result<(), CheckError> {
        let mut content = Content::new(&self.prepared.cell, table, touched, put);
        self.database.contents(table, &mut |row| content.see(row))?;
        Ok(content.finish(all)?)
    }
}

/// Returns the difference of a table whose checksum is wrong, and none of whose rows is.
pub(super) fn unexpected() -> Difference {
    Difference("the rows of the table are not the rows expected".to_owned())
}

/// The distinct answers to a repeated question.
#[derive(Debug, Default)]
pub struct DistinctAnswers {
    digests: HashSet<u64>,
    /// Each with the number of its request.
    answers: Vec<(usize, Found)>,
}

/// Largest number of answers to keep. A sum computed in another order each time differs each time.
const MOST_DISTINCT: usize = 256;

/// Most values of a short answer.
const SHORT: usize = 64;

impl DistinctAnswers {
    /// Keeps an answer, unless an earlier request had the same. Of answers to SQL questions only
    /// the last is compared.
    #[inline]
    pub(super) fn see(&mut self, work: &Work, request: usize, found: &Found) {
        let is_sql = matches!(work, Work::Sql(_));
        if !is_sql && self.answers.len() < MOST_DISTINCT && self.digests.insert(found.digest()) {
            self.answers.push((request, found.clone()));
        }
    }

    /// Keeps an answer as [`see`](Self::see) does if it is short: to hash a long one would cost the
    /// repetition more than nanoseconds.
    #[inline]
    pub(super) fn see_short(&mut self, work: &Work, request: usize, found: &Found) {
        if found.result.len() <= SHORT {
            self.see(work, request, found);
        }
    }

    /// Forgets all answers.
    pub(super) fn clear(&mut self) {
        self.digests.clear();
        self.answers.clear();
    }
}
