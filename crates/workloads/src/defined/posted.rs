//! Rows of a workload file that another process posts over HTTP as JSON. A row is read from a
//! request, and found by its key among the rows to insert.

use std::io;

use embermark_contract::{EngineError, Result, Scope};
use embermark_language::Work;
use embermark_meter::Meter;
use embermark_model::table::{Column, ColumnType, Value};
use serde_json::{Map, Value as Json};
use smallvec::SmallVec;

use super::Rows;
use super::bench::FileBench;
use super::table_rows::Values;
use crate::http::{self, Client};

/// Returns the bodies to post for each loaded row of a table: its columns, with fields of documents
/// within their documents.
///
/// # Errors
/// Unsupported for a table with bytes.
pub(super) fn bodies(rows: &Rows) -> Result<Vec<String>> {
    if rows.table.columns.iter().any(|column| column.of == ColumnType::Bytes) {
        return Err(EngineError::impossible("rows are posted as JSON, which has no bytes"));
    }
    Ok((0..rows.loaded).map(|place| body(rows, place)).collect())
}

fn body(rows: &Rows, place: usize) -> String {
    let mut object = Map::new();
    for (column, value) in rows.table.columns.iter().zip(rows.row(place)) {
        let json = match value {
            Value::Int(value) => value.into(),
            Value::Float(value) => value.into(),
            Value::Text(text) => text.into(),
            Value::Null | Value::Bytes(_) => continue,
        };
        match column.within.as_deref() {
            None => drop(object.insert(column.name.clone(), json)),
            Some(within) => {
                let document = object.entry(within.document.clone());
                if let Json::Object(document) = document.or_insert_with(|| Map::new().into()) {
                    document.insert(within.field.clone(), json);
                }
            }
        }
    }
    Json::Object(object).to_string()
}

/// Returns the value of a column in a body.
fn value<'a>(object: &'a Json, column: &Column) -> Option<Value<'a>> {
    let json = match column.within.as_deref() {
        Some(within) => object.get(&within.document).and_then(|own| own.get(&within.field)),
        None => object.get(&column.name),
    };
    match (json, column.of) {
        (None | Some(Json::Null), _) => Some(Value::Null),
        (Some(json), ColumnType::Text) => json.as_str().map(Value::Text),
        (Some(json), ColumnType::Float) => json.as_f64().map(Value::Float),
        (Some(json), _) => json.as_i64().map(Value::Int),
    }
}

/// Parses the body of a request. Returns the position of its row, which must have exactly these
/// values.
fn read(rows: &Rows, body: &[u8]) -> io::Result<usize> {
    let none = || io::Error::other("it is not a row of the table");
    let object: Json = serde_json::from_slice(body)?;
    let columns = &rows.table.columns;
    let posted = columns.iter().map(|column| value(&object, column));
    let posted: SmallVec<[Value<'_>; 12]> = posted.collect::<Option<_>>().ok_or_else(none)?;
    let key: Values<'_> = rows.table.key.iter().map(|column| posted[*column]).collect();
    let place = rows.staged.find(&key).map(|nth| rows.staged.nth_by_key(nth));
    let is_it = |place: &usize| *place < rows.loaded && rows.row(*place).eq(posted.iter().copied());
    place.ok().filter(is_it).ok_or_else(none)
}

impl FileBench {
    /// Starts the process that posts the rows of a phase, if the phase has one.
    pub(super) fn client_of(&self, phase: usize) -> Result<Option<Client>> {
        let Work::Insert { table, requests: Some(requests), .. } = self.prepared.cell.work(phase)
        else {
            return Ok(None);
        };
        let bodies = bodies(&self.prepared.cell.tables[*table])?;
        let companions = self.prepared.spec.companions.as_deref();
        Client::start(companions, bodies, *requests as usize).map(Some)
    }

    /// Inserts rows as that process posts them. Each is committed before its request is answered.
    pub(super) fn by_http(
        &mut self,
        phase: usize,
        client: Client,
        meter: &mut Meter,
    ) -> Result<()> {
        let Self { prepared, database, found, .. } = self;
        let rows = prepared.cell.rows_of(phase);
        http::insert(client, rows.loaded, meter, |streams, meter| {
            let mut served = None;
            database.within(phase, Scope::PerOperation, &mut |session| {
                let commit = &mut |place: usize| session.perform(phase, place, found);
                let read = &|body: &[u8]| read(rows, body);
                served = Some(http::serve(streams, read, commit, meter)?);
                Ok(())
            })?;
            database.flush()?;
            let never = || EngineError::failed("the engine", "enter a scope", "it did not");
            served.ok_or_else(never)
        })
    }
}

#[cfg(test)]
mod tests {
    use embermark_model::Scale;

    use super::super::keep::tests::cell;
    use super::*;

    #[test]
    fn every_row_is_found_by_what_is_posted_of_it_and_nothing_else_is_a_row() {
        let dir = tempfile::tempdir().unwrap();
        let cell = cell(FILE, Scale::Full, dir.path()).unwrap();
        let rows = &cell.tables[0];
        for place in 0..rows.loaded {
            let body = body(rows, place);
            assert_eq!(read(rows, body.as_bytes()).unwrap(), place, "{body}");
        }
        let first = body(rows, 0);
        for wrong in [
            "",
            "[]",
            "{}",
            &first.replace("\"n\":", "\"n\":1"),
            &first.replace("\"id\":\"", "\"id\":\"x"),
        ] {
            assert!(read(rows, wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    const FILE: &str = r#"
[table.t]
rows = 300
key = ["id", "n"]
[table.t.columns]
id = { type = "text", make = "hashed" }
n = { type = "i32", make = "random" }
x = { type = "f64?", make = "random", absent = 0.2 }
data = { type = "json", fields = { note = { type = "text?", make = "random", length = [1, 9], absent = 0.3 }, at = { type = "timestamp", unit = "ms", make = "sequence" } } }
[phase.load]
do = "insert"
"#;
}
