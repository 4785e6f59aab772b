//! The second copy of a key-value store's table, as its workload asks it.

use std::sync::Arc;

use embermark_contract::Result;
use embermark_contract::kv::mirror::{Decode, Side};
use embermark_contract::kv::{KvStore, Table};
use embermark_contract::sql::{Dialect, QueryKind, SqlStore, Statement};
use embermark_model::result::Execution;

/// What a client knows of a store's mirror, if there is one: statements by what they ask, and who
/// answered since a run began.
pub(crate) struct Mirrored<Q> {
    /// The connection's number that the statements are of; none before the first.
    number: Option<u64>,
    prepared: Vec<(Q, Statement)>,
    /// Whether the store has a mirror.
    is_there: bool,
    /// How many questions the rows answered,
    by_rows: u64,
    /// and how many the pairs.
    by_pairs: u64,
}

impl<Q: Copy + PartialEq> Mirrored<Q> {
    /// Shows a table that was just opened, where its store has a mirror.
    pub(crate) fn show(
        store: &mut dyn KvStore,
        table: Table,
        decode: impl Decode + 'static,
    ) -> Result<Self> {
        let mirror = store.mirror();
        let is_there = mirror.is_some();
        if let Some(mirror) = mirror {
            mirror.show(table, Arc::new(decode))?;
        }
        Ok(Self { number: None, prepared: Vec::new(), is_there, by_rows: 0, by_pairs: 0 })
    }

    /// The statement of a question on the connection of that number, prepared when it is first asked.
    pub(crate) fn statement(
        &mut self,
        sql: &mut dyn SqlStore,
        number: u64,
        question: Q,
        text: impl FnOnce(&'static dyn Dialect) -> Result<String>,
    ) -> Result<Statement> {
        if self.number != Some(number) {
            self.prepared.clear();
            sql.expect(QueryKind::Analytic)?;
            self.number = Some(number);
        }
        if let Some((_, statement)) = self.prepared.iter().find(|(known, _)| *known == question) {
            return Ok(*statement);
        }
        let statement = sql.prepare(&text(sql.dialect())?)?;
        self.prepared.push((question, statement));
        Ok(statement)
    }

    /// A run begins.
    pub(crate) const fn begin(&mut self) {
        (self.by_rows, self.by_pairs) = (0, 0);
    }

    /// A side has answered.
    pub(crate) const fn answered(&mut self, side: Side) {
        match side {
            Side::Rows => self.by_rows += 1,
            Side::Pairs => self.by_pairs += 1,
        }
    }

    /// Who answered most of the questions since the run began, where there are two sides that could
    /// have: the engine from its rows, or whoever asks its `pairs`.
    pub(crate) fn answered_by(&self, pairs: Execution) -> Option<Execution> {
        let asked = self.is_there && self.by_rows + self.by_pairs > 0;
        asked.then_some(if self.by_rows > self.by_pairs { Execution::Native } else { pairs })
    }
}
