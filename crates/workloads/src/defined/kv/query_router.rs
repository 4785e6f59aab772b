//! Which questions go to the pairs of a store that also keeps its tables in columns, to the columns,
//! or to the faster of both.

use std::sync::Arc;

use embermark_contract::kv::mirror::{Decode, Side};
use embermark_contract::kv::{KvStore, Table};
use embermark_contract::sql::{QueryKind, SqlStore};
use embermark_contract::{Result, Scope};
use embermark_language::{Query, Range, Span, Work};

use super::super::access::By;
use super::super::codec::row_decoder::{RowDecoder, order};
use super::super::sql::{self, SqlSession, Statements};
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
        let (rows, work) = (cell.rows_of(phase), cell.work(phase));
        if let Work::Sql(_) = work {
            return Self::Rows;
        }
        let by_time =
            matches!(work, Work::Range(Range { span: Span::Last { .. } | Span::From { .. }, .. }));
        let finds_at_once = match work.query() {
            None if !by_time => true,
            None | Some(Query::Find { .. }) => {
                let access = Access::best(rows.table, &filters(cell, phase, 0));
                access.exact && access.by != By::All
            }
            Some(Query::Group(group)) => {
                knows_count && counts_rows(group, rows, &filters(cell, phase, 0))
            }
            Some(Query::Latest { .. }) => {
                newest_from_end(cell, phase) || newest_by_key(cell, phase)
            }
            Some(Query::Gaps { .. } | Query::Outliers { .. } | Query::Correlate(_)) => false,
        };
        if finds_at_once { Self::Pairs } else { Self::Either }
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
    pub fn new(cell: &Cell, knows_count: bool) -> Self {
        let (mut decoders, mut views) = (Vec::<Arc<dyn Decode>>::new(), String::new());
        for rows in &cell.tables {
            let (table, mut name) = (rows.table, &*rows.table.name);
            if !order(table).eq(0..table.columns.len()) {
                name = cell.free_name(&format!("{name}_by_key")).leak();
                let all: Vec<&str> = table.columns.iter().map(|column| &*column.name).collect();
                let (view, all) = (&table.name, all.join(", "));
                views += &format!(
                    "CREATE OR REPLACE TEMPORARY VIEW {view} AS SELECT {all} FROM {name}; "
                );
            }
            decoders.push(Arc::new(RowDecoder::new(table, name)));
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
        let (statements, arena, written) = (&self.statements, &Arena::default(), &[][..]);
        let buffers = &mut sql::Buffers::default();
        SqlSession { store, cell, statements, arena, written, buffers, batches: false, plan: None }
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
