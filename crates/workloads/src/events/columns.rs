//! Events in columns: the second copy of a key-value store's table.

use embermark_contract::Result;
use embermark_contract::kv::mirror::{Decode, Row};
use embermark_contract::sql::{Param, SqlStore, TableDef};

use super::pair;
use super::phase::Phase;
use super::queries::{TYPED, Texts};
use super::query_results::QueryResults;
use super::variant::Form;
use crate::mirrored::Mirrored;

/// What the pairs are as rows.
pub(super) struct Columns;

impl Decode for Columns {
    fn rows(&self) -> &TableDef {
        &TYPED
    }

    fn key<'a>(&self, key: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        row.push(Param::Int(pair::id(key)?));
        Some(())
    }

    fn value<'a>(&self, value: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        let event = pair::stored(0, value)?;
        row.extend([Param::Int(event.timestamp), Param::Text(event.bucket)]);
        let [longitude, latitude, co2, span] = event.numbers;
        row.extend([longitude, latitude, co2].map(|n| n.map_or(Param::Null, Param::Float)));
        // An integer, read as every number is.
        row.push(span.map_or(Param::Null, |span| Param::Int(span as i64)));
        row.extend(event.texts.map(|text| text.map_or(Param::Null, Param::Text)));
        Some(())
    }
}

/// The statements of the questions.
pub(super) type Statements = Mirrored<Phase>;

/// Answers a question from the rows, over the connection of a number.
pub(super) fn ask(
    (sql, number): (&mut dyn SqlStore, u64),
    statements: &mut Statements,
    question: Phase,
    found: &mut QueryResults,
) -> Result<()> {
    let statement = statements.statement(sql, number, question, |dialect| {
        Texts::new(dialect, Form::Typed)?.question(question)
    })?;
    sql.query(statement, &[], &mut |row| found.keep(question, row))
}

#[cfg(test)]
mod tests;
