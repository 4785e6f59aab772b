//! Which questions go to the pairs of a store that also keeps its tables in columns, to the columns,
//! or to the faster of both.

use std::sync::Arc;

use embermark_contract::kv::mirror::{Decode, Side};
use embermark_contract::kv::{KvStore, Table};
use embermark_contract::sql::{QueryKind, SqlStore};
use embermark_contract::{Result, Scope};
use embermark_language::{Range, Span, Work};

use super::super::access::By;
use super::super::codec::row_decoder::{RowDecoder, order};
use super::super::sql::{SqlSession, Statements};
use super::super::{Access, Arena, Cell, Codec, Found, Session, filters};
use super::native::{counts_rows, newest_by_key, newest_from_end};
use super::session::{Buffers, KvSession};

/// Side of the store that answers a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    /// The pairs, for rows that a key or an index finds at once.
    Pairs,
    /// The columns, for questions that only SQL can express.
    Rows,
    /// The faster of both, for questions that may read the whole table.
    Either,
}

impl Route {
    fn for_phase(cell: &Cell, phase: usize, knows_count: bool) -> Self {
        let rows = cell.rows_of(phase);
        match cell.work(phase) {
            Work::Sql(_) => Self::Rows,
            Work::Group(group) if knows_count && counts_rows(group, rows) => Self::Pairs,
            Work::Group(_) | Work::Gaps { .. } | Work::Outliers { .. } | Work::Correlate(_) => {
                Self::Either
            }
            Work::Latest { .. } if newest_from_end(cell, phase) => Self::Pairs,
            Work::Latest { by, time, .. } if !newest_by_key(rows, *by, *time) => Self::Either,
            Work::Find { .. }
            | Work::Range(Range { span: Span::Last { .. } | Span::From { .. }, .. }) => {
                let access = Access::best(rows.table, &filters(cell, phase, 0));
                if access.exact && access.by != By::All { Self::Pairs } else { Self::Either }
            }
            Work::Latest { .. }
            | Work::Range(_)
            | Work::Insert { .. }
            | Work::Get { .. }
            | Work::Open { .. }
            | Work::Update { .. }
            | Work::UpdateWhere { .. }
            | Work::Upsert { .. }
            | Work::ReadModifyWrite { .. }
            | Work::Delete { .. }
            | Work::Mix(_)
            | Work::Sequence(_)
            | Work::Keep(_)
            | Work::Arrive(_) => Self::Pairs,
        }
    }
}

/// Routes the questions of each phase of a file.
pub(super) struct QueryRouter {
    /// Route of each phase.
    routes: Vec<Route>,
    /// Decoder of each table.
    decoders: Vec<Arc<dyn Decode>>,
    /// Statements for the columns.
    statements: Statements,
    /// Statements that create views of tables whose columns have another order than in the file.
    views: String,
    /// Number of the version of the rows that the statements were prepared for. None after the
    /// database was reopened.
    pub(super) number: Option<u64>,
    /// Questions answered since a phase was ready: by the pairs, and by the columns.
    pub(super) answered: [u64; 2],
}

impl QueryRouter {
    pub fn new(cell: &Cell, codecs: &Arc<[Codec]>, knows_count: bool) -> Self {
        let (mut decoders, mut views) = (Vec::<Arc<dyn Decode>>::new(), String::new());
        for (place, rows) in cell.tables.iter().enumerate() {
            let (table, mut name) = (rows.table, &*rows.table.name);
            if !order(table).eq(0..table.columns.len()) {
                name = cell.free_name(&format!("{name}_by_key")).leak();
                let all: Vec<&str> = table.columns.iter().map(|column| &*column.name).collect();
                let (view, all) = (&table.name, all.join(", "));
                views += &format!(
                    "CREATE OR REPLACE TEMPORARY VIEW {view} AS SELECT {all} FROM {name}; "
                );
            }
            decoders.push(Arc::new(RowDecoder::new(Arc::clone(codecs), place, table, name)));
        }
        let phases = 0..cell.definition.phases.len();
        let routes = phases.map(|phase| Route::for_phase(cell, phase, knows_count)).collect();
        let statements = Statements::new(cell, false);
        Self { routes, decoders, statements, views, number: None, answered: [0; 2] }
    }

    /// Returns whether only the pairs answer a phase.
    pub fn by_pairs(&self, phase: usize) -> bool {
        self.routes[phase] == Route::Pairs
    }

    /// Describes the tables to the store.
    pub fn show(&self, store: &mut dyn KvStore, tables: &[Table]) -> Result<()> {
        let Some(mirror) = store.mirror() else { return Ok(()) };
        let mut each = tables.iter().zip(&self.decoders);
        each.try_for_each(|(table, decode)| mirror.show(*table, Arc::clone(decode)))
    }

    /// Prepares the statements of a phase.
    pub fn ready(&mut self, store: &mut dyn KvStore, cell: &Cell, phase: usize) -> Result<()> {
        self.answered = [0; 2];
        if self.routes[phase] == Route::Pairs {
            return Ok(());
        }
        store.ask_rows(&mut (), &mut |sql, number, ()| self.prepare(sql, number, cell, phase))
    }

    /// Prepares the statements of a phase for this version of the rows.
    fn prepare(
        &mut self,
        sql: &mut dyn SqlStore,
        number: u64,
        cell: &Cell,
        phase: usize,
    ) -> Result<()> {
        if self.number != Some(number) {
            self.statements.forget();
            sql.expect(QueryKind::Analytic)?;
            if !self.views.is_empty() {
                sql.batch(&self.views)?;
            }
            self.number = Some(number);
        }
        self.statements.prepare(sql, cell, phase)
    }

    fn answer(
        &mut self,
        store: &mut dyn SqlStore,
        number: u64,
        cell: &Cell,
        (phase, i): (usize, usize),
        found: &mut Found,
    ) -> Result<()> {
        self.prepare(store, number, cell, phase)?;
        let (statements, arena, looked) = (&self.statements, &Arena::default(), &mut Vec::new());
        let (written, room) = (&[][..], &mut Vec::new());
        SqlSession { store, cell, statements, arena, looked, written, room, batches: false }
            .perform(phase, i, found)
    }
}

/// Operations on a store whose columns can answer questions.
pub(super) struct RoutedSession<'a> {
    pub store: &'a mut dyn KvStore,
    pub cell: &'a Cell,
    pub codecs: &'a [Codec],
    pub tables: &'a [Table],
    pub arena: &'a Arena,
    pub buffers: &'a mut Buffers,
    pub router: &'a mut QueryRouter,
}

impl Session for RoutedSession<'_> {
    /// Only the pairs are changed.
    fn find_rows(&mut self, _: usize) -> Result<usize> {
        Ok(0)
    }

    fn change(&mut self, _: usize, _: usize, _: &mut Found) -> Result<()> {
        Ok(())
    }

    fn perform(&mut self, phase: usize, i: usize, found: &mut Found) -> Result<()> {
        let Self { store, cell, codecs, tables, arena, buffers, router } = self;
        let store = &mut **store;
        match router.routes[phase] {
            Route::Rows => store.ask_rows(found, &mut |sql, number, found| {
                router.answer(sql, number, cell, (phase, i), found)
            }),
            Route::Pairs | Route::Either => {
                let question = &cell.definition.phases[phase].name;
                // The side that is asked second starts from what was found before both.
                let (before, length) = (found.rows, found.result.len());
                let pairs = &mut |store: &mut dyn KvStore, found: &mut Found| {
                    found.rows = before;
                    found.result.truncate(length);
                    store.within(Scope::PerOperation, |operations| {
                        let by_values = true;
                        KvSession { operations, cell, codecs, tables, arena, buffers, by_values }
                            .perform(phase, i, found)
                    })
                };
                let rows = &mut |sql: &mut dyn SqlStore, number, found: &mut Found| {
                    found.rows = before;
                    found.result.truncate(length);
                    router.answer(sql, number, cell, (phase, i), found)
                };
                let side = store.ask(question, found, pairs, rows)?;
                router.answered[usize::from(side == Side::Rows)] += 1;
                Ok(())
            }
        }
    }
}
