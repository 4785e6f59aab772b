//! Checks the results of a run and the rows that it has left.

use std::sync::Arc;

use embermark_language::{Keep, Sequence, Sql, Work};
use embermark_meter::Measured;
use embermark_model::ResultSet;
use embermark_model::answer::{Answer, Difference};
use embermark_model::fingerprint::Checksum;
use embermark_model::table::Value;

use super::super::client_checks::{self, ExpectedTable};
use super::super::keep::{self, Calendar};
use super::super::kind::changes_rows;
use super::super::oracle::{Content, RowSet, Touched, print_of};
use super::super::port::fingerprint;
use super::super::referees::{self, MOST_KEPT, Right};
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
        if let Work::Keep(keep) = work {
            return self.judge_kept(keep);
        }
        if let Work::Arrive(arrive) = work {
            return self.judge_arrived(arrive);
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
        for (request, found) in self.different.answers() {
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
        let (cell, database, clients) = (self.cell(), &*self.database, &self.client_operations);
        let is_mix = matches!(cell.work(phase), Work::Mix(_));
        match is_mix {
            true => client_checks::check_reads(cell, database, clients)?,
            false => client_checks::check_shared(cell, database, phase, clients, answer)?,
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
            && match work {
                Work::Insert { requests, .. } => {
                    requests.is_some() || self.prepared.strategy(phase) == Strategy::Bulk
                }
                _ => false,
            };
        let loaded = self.cell().tables[table].loaded;
        if !touched.is_certain() {
            return self.compare_rows(table, &touched, loaded, true);
        }
        let (expected, put) = match work {
            Work::Insert { .. } if any => (None, loaded),
            Work::Insert { .. } => (Some(self.oracle.first(table, ops as usize)), ops as usize),
            _ => (Some(self.oracle.after(table, &touched)), loaded),
        };
        let same = self.compare(table, expected, &touched, put);
        if same.is_err() {
            self.table_states[table] = TableState::Else;
        }
        same?;
        let lacks =
            if let Work::Insert { .. } = work { self.database.lacks_index(table)? } else { None };
        match lacks {
            Some(of) => Err(Difference(format!("the engine has no index of {of}")).into()),
            None => Ok(()),
        }
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
            for found in different.answers().iter().map(|(_, found)| found).chain([found]) {
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
        Ok(RowSet::Marked(content.seen()))
    }

    /// Compares the answer to an SQL question with the right one, and stores that of a referee.
    pub(super) fn check_question(&mut self, phase: usize, sql: &Sql) -> Result<Passed, CheckError> {
        let values = std::mem::take(&mut self.found.result);
        let found = ResultSet { columns: self.found.columns, ordered: sql.ordered, values };
        let right = &self.prepared.right[phase];
        if let Some(rows) = &self.prepared.keeps {
            let (name, engine) = (self.prepared.names[phase], &*self.cell().engine);
            referees::keep(rows, name, engine, &found)?;
            return Ok(Passed { by: right.by(), unchecked: None });
        }
        if *right != Right::Unknown {
            right.check(found)?;
            return Ok(Passed { by: right.by(), unchecked: None });
        }
        let unchecked = Some(found).filter(|found| found.values.len() <= MOST_KEPT);
        let too_long = || format!("unchecked: an answer of more than {MOST_KEPT} values");
        Ok(Passed { by: unchecked.is_none().then(too_long), unchecked })
    }

    /// Compares a table with its expected rows: by a checksum, and if that differs row by row.
    fn compare(
        &mut self,
        table: usize,
        expected: Option<Checksum>,
        touched: &Touched,
        put: usize,
    ) -> Result<(), CheckError> {
        if let Some(expected) = expected {
            let mut got = Checksum::default();
            self.database.contents(table, &mut |row| got += fingerprint(row.iter().copied()))?;
            if got == expected {
                return Ok(());
            }
        }
        if expected.is_none() {
            return self.compare_rows(table, touched, put, false);
        }
        self.compare_rows(table, touched, put, true)?;
        Err(Difference("the rows of the table are not the rows expected".to_owned()).into())
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
