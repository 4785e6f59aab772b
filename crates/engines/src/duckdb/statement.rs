//! A prepared statement that lives as long as its store.

use std::cell::RefCell;
use std::rc::Rc;

use super::NAME;
use super::vector::{Column, Row};
use crate::sql::{Param, Visit};
use crate::sql_driver::Stopped;
use crate::{EngineError, Result};
use embermark_libraries::duckdb::api::{Api, Owned, SELECT, SUCCESS, TypeId, types};
use embermark_libraries::duckdb::connection::{Connection, QueryResult, terminated, text};

pub(super) struct Prepared {
    statement: Owned,
    parameters: Box<[Parameter]>,
    /// Columns of the current chunk. They are kept here so that a query allocates none.
    columns: RefCell<Vec<Column>>,
    pub(super) sql: Box<str>,
    /// Number of data changes before it was prepared.
    changes: u64,
    connection: Rc<Connection>,
}

/// The type that a parameter must be bound as. DuckDB plans a statement again if a value has
/// another type than the plan expects, which costs more than running a short statement.
struct Parameter {
    type_id: TypeId,
    /// A NULL of this type, or null if there is none.
    null: Owned,
}

impl Parameter {
    fn new(api: &Api, statement: &Owned, position: u64) -> Self {
        // SAFETY: the statement is alive and has that parameter.
        let type_id = unsafe { (api.param_type)(statement.raw, position) };
        let known = [types::INTEGER, types::BIGINT, types::DOUBLE, types::VARCHAR, types::BLOB];
        if !known.contains(&type_id) {
            return Self { type_id, null: Owned::null(api.destroy_value) };
        }
        let value = |raw| Owned::new(raw, api.destroy_value);
        // SAFETY: a null of a type is made as the only element of a list of that type, which casts
        // it; a call that fails returns null, which all of these functions accept.
        unsafe {
            let logical = Owned::new((api.create_logical_type)(type_id), api.destroy_logical_type);
            let mut untyped = value((api.create_null_value)());
            let list = value((api.create_list_value)(logical.raw, &raw mut untyped.raw, 1));
            Self { type_id, null: value((api.get_list_child)(list.raw, 0)) }
        }
    }
}

impl Prepared {
    /// Prepares the one statement of `sql`, after this many data changes.
    pub(super) fn new(connection: &Rc<Connection>, sql: &str, changes: u64) -> Result<Self> {
        let api = connection.api;
        let doing = format!("prepare `{sql}`");
        let terminated = terminated(&doing, sql)?;
        let mut statement = Owned::null(api.destroy_prepare);
        let raw = &raw mut statement.raw;
        // SAFETY: the connection is open and the text terminated.
        if unsafe { (api.prepare)(connection.raw(), terminated.as_ptr(), raw) } != SUCCESS {
            // SAFETY: a statement that failed holds its message.
            let message = unsafe { text((api.prepare_error)(statement.raw)) };
            return Err(EngineError::failed(NAME, doing, message));
        }
        // SAFETY: the statement was prepared just now.
        let count = unsafe { (api.nparams)(statement.raw) };
        let parameters =
            (1..=count).map(|position| Parameter::new(api, &statement, position)).collect();
        let (columns, connection) = (RefCell::default(), Rc::clone(connection));
        Ok(Self { statement, parameters, columns, sql: sql.into(), changes, connection })
    }

    pub(super) fn is_select(&self) -> bool {
        // SAFETY: the statement is alive.
        let of = unsafe { (self.connection.api.prepared_statement_type)(self.statement.raw) };
        of == SELECT
    }

    /// Returns whether its plan can depend on data that has changed since it was prepared.
    pub(super) const fn is_stale(&self, changes: u64) -> bool {
        self.parameters.is_empty() && self.changes != changes
    }

    /// Runs it. Returns the number of rows it changed.
    pub(super) fn run(&self, params: &[Param<'_>]) -> Result<u64> {
        let mut answer = self.execute(params)?;
        // SAFETY: the result is alive.
        Ok(unsafe { (self.connection.api.rows_changed)(&raw mut answer.raw) })
    }

    /// Runs it and visits its rows.
    pub(super) fn query(
        &self,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> std::result::Result<(), Stopped> {
        let api = self.connection.api;
        let mut answer = self.execute(params).map_err(Stopped::Engine)?;
        let mut columns = self.columns.borrow_mut();
        Column::describe(api, &mut answer, &mut columns);
        loop {
            // SAFETY: the result is alive.
            let chunk =
                Owned::new(unsafe { (api.fetch_chunk)(answer.raw) }, api.destroy_data_chunk);
            if chunk.raw.is_null() {
                return Ok(());
            }
            for (number, column) in (0..).zip(columns.iter_mut()) {
                // SAFETY: the chunk is alive and has as many vectors as the result columns.
                unsafe { column.set_vector(api, (api.data_chunk_get_vector)(chunk.raw, number)) };
            }
            // SAFETY: the chunk is alive.
            let rows = unsafe { (api.data_chunk_get_size)(chunk.raw) } as usize;
            for row in 0..rows {
                // SAFETY: the columns point into this chunk, which outlives the visit and has
                // that many rows.
                visit(&unsafe { Row::new(&columns, row) }).map_err(Stopped::Visitor)?;
            }
        }
    }

    fn execute(&self, params: &[Param<'_>]) -> Result<QueryResult> {
        if params.len() != self.parameters.len() {
            let (given, wanted) = (params.len(), self.parameters.len());
            return Err(self.failed(&format!("{given} parameters given, {wanted} expected")));
        }
        for ((position, param), parameter) in (1..).zip(params).zip(&self.parameters) {
            // SAFETY: the statement is alive and has that parameter.
            if unsafe { self.bind(position, *param, parameter) } != SUCCESS {
                return Err(self.failed(&format!("parameter {position} could not be bound")));
            }
        }
        let mut answer = QueryResult::new(self.connection.api);
        // SAFETY: the statement is alive, all its parameters are bound, and the result may be
        // filled.
        match unsafe {
            (self.connection.api.execute_prepared)(self.statement.raw, &raw mut answer.raw)
        } {
            SUCCESS => Ok(answer),
            _ => Err(answer.error(format!("run `{}`", self.sql))),
        }
    }

    /// Binds a parameter with the type that its statement expects, if that loses nothing.
    ///
    /// # Safety
    /// The statement must have that parameter.
    unsafe fn bind(&self, position: u64, param: Param<'_>, parameter: &Parameter) -> u32 {
        let api = self.connection.api;
        // SAFETY: the statement is alive; DuckDB copies its arguments.
        unsafe {
            match param {
                Param::Null if parameter.null.raw.is_null() => {
                    (api.bind_null)(self.statement.raw, position)
                }
                Param::Null => (api.bind_value)(self.statement.raw, position, parameter.null.raw),
                Param::Int(number) => match (parameter.type_id, i32::try_from(number)) {
                    (types::INTEGER, Ok(short)) => {
                        (api.bind_int32)(self.statement.raw, position, short)
                    }
                    (types::DOUBLE, Ok(short)) => {
                        (api.bind_double)(self.statement.raw, position, f64::from(short))
                    }
                    _ => (api.bind_int64)(self.statement.raw, position, number),
                },
                Param::Float(number) => (api.bind_double)(self.statement.raw, position, number),
                Param::Text(text) => {
                    let (start, length) = (text.as_ptr().cast(), text.len() as u64);
                    (api.bind_varchar_length)(self.statement.raw, position, start, length)
                }
                Param::Bytes(bytes) => {
                    let (start, length) = (bytes.as_ptr().cast(), bytes.len() as u64);
                    (api.bind_blob)(self.statement.raw, position, start, length)
                }
            }
        }
    }

    #[cold]
    fn failed(&self, message: &str) -> EngineError {
        EngineError::failed(NAME, format!("run `{}`", self.sql), message)
    }
}
