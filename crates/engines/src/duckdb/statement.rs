//! A prepared statement that lives as long as its store.

use std::cell::RefCell;
use std::ptr;
use std::rc::Rc;

use super::NAME;
use super::api::{Api, Handle, SUCCESS, TypeId, types};
use super::connection::{Answer, Connection, terminated, text};
use super::vector::{Column, Row};
use crate::sql::{Param, Visit};
use crate::sql_driver::Stopped;
use crate::{EngineError, Result};

/// A prepared statement.
pub(super) struct Prepared {
    raw: Handle,
    parameters: Box<[Parameter]>,
    /// Columns of the chunk in hand; here so that a query allocates none.
    columns: RefCell<Vec<Column>>,
    sql: Box<str>,
    /// How many changes of data there had been when it was prepared.
    changes: u64,
    connection: Rc<Connection>,
}

/// What a parameter must be bound as. DuckDB plans a statement again when a value has another type
/// than its plan expects, which costs more than running a short one.
struct Parameter {
    of: TypeId,
    /// A NULL of that type, or null where there is none.
    null: Handle,
}

impl Prepared {
    /// Prepares the one statement of `sql`, after so many changes of data.
    pub(super) fn new(connection: &Rc<Connection>, sql: &str, changes: u64) -> Result<Self> {
        let api = connection.api;
        let doing = format!("prepare `{sql}`");
        let terminated = terminated(&doing, sql)?;
        let mut prepared = Self {
            raw: ptr::null_mut(),
            parameters: Box::default(),
            columns: RefCell::default(),
            sql: sql.into(),
            changes,
            connection: Rc::clone(connection),
        };
        // SAFETY: the connection is open and the text terminated. A statement is destroyed by the
        // drop of `prepared`, also after an error.
        let code =
            unsafe { (api.prepare)(connection.raw, terminated.as_ptr(), &raw mut prepared.raw) };
        if code != SUCCESS {
            // SAFETY: a statement that failed holds its message.
            let message = unsafe { text((api.prepare_error)(prepared.raw)) };
            return Err(EngineError::failed(NAME, doing, message));
        }
        // SAFETY: the statement was prepared just now.
        let count = unsafe { (api.nparams)(prepared.raw) };
        prepared.parameters = (1..=count).map(|place| prepared.parameter(place)).collect();
        Ok(prepared)
    }

    /// Its text.
    pub(super) const fn sql(&self) -> &str {
        &self.sql
    }

    /// Whether its plan may rest on data that has changed since.
    pub(super) const fn is_stale(&self, changes: u64) -> bool {
        self.parameters.is_empty() && self.changes != changes
    }

    fn parameter(&self, place: u64) -> Parameter {
        let api = self.connection.api;
        // SAFETY: the statement is alive and has that parameter. A null of a type is made as the
        // one element of a list of that type, into which the list casts it; every value and type
        // made on the way is destroyed, and a call that fails gives null, which all of them take.
        unsafe {
            let of = (api.param_type)(self.raw, place);
            if !matches!(of, types::INTEGER | types::BIGINT | types::DOUBLE | types::VARCHAR) {
                return Parameter { of, null: ptr::null_mut() };
            }
            let mut logical = (api.create_logical_type)(of);
            let mut untyped = (api.create_null_value)();
            let mut list = (api.create_list_value)(logical, &raw mut untyped, 1);
            let null = (api.get_list_child)(list, 0);
            (api.destroy_value)(&raw mut list);
            (api.destroy_value)(&raw mut untyped);
            (api.destroy_logical_type)(&raw mut logical);
            Parameter { of, null }
        }
    }

    /// Runs it; the number of rows it changed.
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
        while let Some(chunk) = Chunk::fetch(api, &answer) {
            for (number, column) in (0..).zip(columns.iter_mut()) {
                // SAFETY: the chunk is alive and has as many vectors as the result columns.
                unsafe { column.point(api, (api.data_chunk_get_vector)(chunk.raw, number)) };
            }
            // SAFETY: the chunk is alive.
            let rows = unsafe { (api.data_chunk_get_size)(chunk.raw) } as usize;
            for row in 0..rows {
                // SAFETY: the columns point into this chunk, which outlives the visit and has
                // that many rows.
                visit(&unsafe { Row::new(&columns, row) }).map_err(Stopped::Visitor)?;
            }
        }
        Ok(())
    }

    fn execute(&self, params: &[Param<'_>]) -> Result<Answer> {
        if params.len() != self.parameters.len() {
            let (given, wanted) = (params.len(), self.parameters.len());
            return Err(self.failed(&format!("{given} parameters given, {wanted} wanted")));
        }
        for ((place, param), parameter) in (1..).zip(params).zip(&self.parameters) {
            // SAFETY: the statement is alive and has that parameter.
            if unsafe { self.bind(place, *param, parameter) } != SUCCESS {
                return Err(self.failed(&format!("parameter {place} could not be bound")));
            }
        }
        let mut answer = Answer::new(self.connection.api);
        // SAFETY: the statement is alive, every parameter bound, the result valid to be filled.
        match unsafe { (self.connection.api.execute_prepared)(self.raw, &raw mut answer.raw) } {
            SUCCESS => Ok(answer),
            _ => Err(answer.error(format!("run `{}`", self.sql))),
        }
    }

    /// Binds a parameter as its statement expects it, if that loses nothing.
    ///
    /// # Safety
    /// The statement must have that parameter.
    unsafe fn bind(&self, place: u64, param: Param<'_>, parameter: &Parameter) -> u32 {
        let api = self.connection.api;
        // SAFETY: the statement is alive; DuckDB copies what it is given.
        unsafe {
            match param {
                Param::Null if parameter.null.is_null() => (api.bind_null)(self.raw, place),
                Param::Null => (api.bind_value)(self.raw, place, parameter.null),
                Param::Int(number) => match (parameter.of, i32::try_from(number)) {
                    (types::INTEGER, Ok(short)) => (api.bind_int32)(self.raw, place, short),
                    (types::DOUBLE, Ok(short)) => {
                        (api.bind_double)(self.raw, place, f64::from(short))
                    }
                    _ => (api.bind_int64)(self.raw, place, number),
                },
                Param::Float(number) => (api.bind_double)(self.raw, place, number),
                Param::Text(text) => {
                    let (start, length) = (text.as_ptr().cast(), text.len() as u64);
                    (api.bind_varchar_length)(self.raw, place, start, length)
                }
            }
        }
    }

    #[cold]
    fn failed(&self, message: &str) -> EngineError {
        EngineError::failed(NAME, format!("run `{}`", self.sql), message)
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        let api = self.connection.api;
        // SAFETY: each is destroyed once, while the connection is still open.
        unsafe {
            for parameter in &mut self.parameters {
                (api.destroy_value)(&raw mut parameter.null);
            }
            (api.destroy_prepare)(&raw mut self.raw);
        }
    }
}

/// A chunk of a result, destroyed when dropped.
struct Chunk {
    api: &'static Api,
    raw: Handle,
}

impl Chunk {
    fn fetch(api: &'static Api, answer: &Answer) -> Option<Self> {
        // SAFETY: the result is alive.
        let raw = unsafe { (api.fetch_chunk)(answer.raw) };
        (!raw.is_null()).then_some(Self { api, raw })
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: it is destroyed once.
        unsafe { (self.api.destroy_data_chunk)(&raw mut self.raw) };
    }
}
