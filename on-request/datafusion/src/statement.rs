//! Statements. They are parsed and bound once, and planned for their parameters in each run.

use std::ffi::{CStr, c_char};
use std::slice;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::{ParamValues, TableReference};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::{DdlStatement, DmlStatement, Expr, LogicalPlan, WriteOp};
use datafusion::sql::parser::DFParser;
use embermark_abi as abi;
use futures::StreamExt;

use crate::client::with_client;
use crate::columns::scalar;
use crate::database::Database;
use crate::failure::{Done, Failure};
use crate::rows::RowBuffer;

/// Reason why rows cannot be changed.
const APPENDS: &str =
    "to change or delete rows: files are added to a folder, and what is in one stays as it is";

/// Content of a `struct embermark_statement`.
struct Prepared {
    sql: String,
    plan: LogicalPlan,
    /// Generation of the database when it was planned.
    generation: u64,
    parameters: usize,
    /// For an INSERT of parameters: the parameter of each column, row by row.
    inserts: Option<Vec<Vec<usize>>>,
    running: Option<SendableRecordBatchStream>,
    handed: RowBuffer,
}

/// # Safety
/// It is a statement of [`prepare`], and nothing else uses it meanwhile.
unsafe fn prepared<'a>(statement: *mut abi::Statement) -> &'a mut Prepared {
    // SAFETY: guaranteed by the caller.
    unsafe { &mut *statement.cast() }
}

/// Returns the number of a parameter, from 0, if an expression is one.
fn parameter(expression: &Expr) -> Option<usize> {
    match expression {
        Expr::Placeholder(place) => {
            place.id.strip_prefix('$')?.parse::<usize>().ok()?.checked_sub(1)
        }
        Expr::Cast(cast) => parameter(&cast.expr),
        _ => None,
    }
}

/// Returns the column of `VALUES` for a column of the table. `column1` is the first one.
fn values_column(expression: &Expr) -> Option<usize> {
    match expression {
        Expr::Column(column) => {
            column.name.strip_prefix("column")?.parse::<usize>().ok()?.checked_sub(1)
        }
        Expr::Alias(alias) => values_column(&alias.expr),
        Expr::Cast(cast) => values_column(&cast.expr),
        _ => None,
    }
}

/// Returns the parameter of each column of each row, if an INSERT has only parameters.
fn inserts(input: &LogicalPlan) -> Option<Vec<Vec<usize>>> {
    let LogicalPlan::Projection(projection) = input else { return None };
    let LogicalPlan::Values(values) = &*projection.input else { return None };
    let columns: Vec<usize> = projection.expr.iter().map(values_column).collect::<Option<_>>()?;
    let row = |row: &Vec<Expr>| {
        columns.iter().map(|column| row.get(*column).and_then(parameter)).collect()
    };
    values.values.iter().map(row).collect()
}

/// Returns the table of an INSERT. Refuses changes of existing rows.
fn inserted(dml: &DmlStatement) -> Done<&str> {
    match dml.op {
        WriteOp::Insert(_) => Ok(dml.table_name.table()),
        _ => Err(Failure::Unsupported(APPENDS.to_owned())),
    }
}

impl Prepared {
    fn plan(database: &Database, sql: &str) -> Done<Self> {
        let plan = database.runtime.block_on(database.state.create_logical_plan(sql))?;
        let names = plan.get_parameter_names()?;
        let numbers = names.iter().filter_map(|name| name.strip_prefix('$')?.parse().ok());
        let inserts = match &plan {
            LogicalPlan::Dml(dml) => inserted(dml).map(|_| inserts(&dml.input))?,
            _ => None,
        };
        Ok(Self {
            sql: sql.to_owned(),
            parameters: numbers.max().unwrap_or(0),
            inserts,
            plan,
            generation: database.generation,
            running: None,
            handed: RowBuffer::default(),
        })
    }

    /// Checks the number of parameters, and plans again if tables have changed.
    ///
    /// # Safety
    /// `values` has `count` valid values.
    unsafe fn renew<'a>(
        &mut self,
        database: &Database,
        values: *const abi::Value,
        count: usize,
    ) -> Done<&'a [abi::Value]> {
        if self.generation != database.generation {
            *self = Self::plan(database, &self.sql)?;
        }
        let places = self.parameters;
        if places != count {
            let why = format!("the statement has {places} parameters, and {count} were given");
            return Err(why.into());
        }
        // SAFETY: guaranteed by the caller.
        Ok(if count == 0 { &[] } else { unsafe { slice::from_raw_parts(values, count) } })
    }
}

/// Returns a plan with values instead of its parameters.
///
/// # Safety
/// The texts and bytes of the values are valid.
unsafe fn filled(plan: &LogicalPlan, values: &[abi::Value]) -> Done<LogicalPlan> {
    // SAFETY: guaranteed by the caller.
    let values = values.iter().map(|value| unsafe { scalar(value) });
    let values: Vec<_> = values.collect::<Done<_>>()?;
    Ok(plan.clone().with_param_values(ParamValues::from(values))?)
}

impl Database {
    /// Inserts the rows of a query.
    fn insert_all(&mut self, table: &str, plan: &LogicalPlan) -> Done<u64> {
        self.show_changes()?;
        let (mut rows, mut batches, mut count) = (self.ask(plan)?, Vec::new(), 0);
        let schema = Arc::clone(self.stored(table)?.columns.schema());
        while let Some(batch) = self.runtime.block_on(rows.next()) {
            let batch = batch?;
            count += batch.num_rows() as u64;
            batches.push(RecordBatch::try_new(schema.clone(), batch.columns().to_vec())?);
        }
        self.change(table, |stored| {
            stored.source.new_rows().extend(batches);
            Ok(())
        })?;
        Ok(count)
    }

    /// Runs a statement without results. Returns the number of inserted rows.
    ///
    /// # Safety
    /// The texts and bytes of the values are valid.
    unsafe fn run(&mut self, statement: &Prepared, values: &[abi::Value]) -> Done<u64> {
        let LogicalPlan::Dml(dml) = &statement.plan else {
            return self.define(&statement.plan).map(|()| 0);
        };
        let table = inserted(dml)?;
        let Some(rows) = &statement.inserts else {
            // SAFETY: guaranteed by the caller.
            let plan = unsafe { filled(&dml.input, values)? };
            return self.insert_all(table, &plan);
        };
        self.change(table, |stored| {
            // SAFETY: guaranteed by the caller.
            rows.iter().try_for_each(|row| unsafe { stored.add(|column| &values[row[column]]) })
        })?;
        Ok(rows.len() as u64)
    }

    /// Creates and drops tables. Row groups have the minimum and maximum of their columns, which
    /// replace indexes.
    fn define(&mut self, plan: &LogicalPlan) -> Done {
        let name = |reference: &TableReference| reference.table().to_owned();
        match plan {
            LogicalPlan::Ddl(DdlStatement::CreateMemoryTable(made)) => {
                let name = name(&made.name);
                if name.is_empty() || name.starts_with('.') || name.contains('/') {
                    return Err(Failure::Unsupported(format!("to call a folder '{name}'")));
                }
                self.folder.make(&name)?;
                self.add(&name, Arc::clone(made.input.schema().inner()), Vec::new())?;
                // An empty file, which defines the columns.
                self.write(&name, &[])
            }
            LogicalPlan::Ddl(DdlStatement::DropTable(dropped)) => {
                let name = name(&dropped.name);
                match self.remove(&name)? {
                    true => self.folder.remove_table(&name),
                    false if dropped.if_exists => Ok(()),
                    false => Err(Failure::Failed(format!("unknown table {name}"))),
                }
            }
            LogicalPlan::Ddl(DdlStatement::CreateIndex(_)) => Ok(()),
            other => Err(Failure::Unsupported(format!("the statement {}", other.display()))),
        }
    }
}

pub(crate) unsafe extern "C" fn script(client: *mut abi::Client, sql: *const c_char) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        let sql = CStr::from_ptr(sql).to_string_lossy();
        with_client(client, |database| {
            for statement in DFParser::parse_sql(&sql)? {
                let statement = Prepared::plan(database, &statement.to_string())?;
                database.run(&statement, &[])?;
            }
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn prepare(
    client: *mut abi::Client,
    sql: *const c_char,
    statement: *mut *mut abi::Statement,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        let sql = CStr::from_ptr(sql).to_string_lossy();
        with_client(client, |database| {
            *statement = Box::into_raw(Box::new(Prepared::plan(database, &sql)?)).cast();
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn finish(
    client: *mut abi::Client,
    statement: *mut abi::Statement,
) -> i32 {
    // SAFETY: the caller follows the rules of the header. The statement was made by `prepare`,
    // and is not used again.
    unsafe {
        with_client(client, |_| {
            drop(Box::from_raw(statement.cast::<Prepared>()));
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn execute(
    client: *mut abi::Client,
    statement: *mut abi::Statement,
    values: *const abi::Value,
    count: usize,
    changed: *mut u64,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |database| {
            let statement = prepared(statement);
            let values = statement.renew(database, values, count)?;
            *changed = database.run(statement, values)?;
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn query(
    client: *mut abi::Client,
    statement: *mut abi::Statement,
    values: *const abi::Value,
    count: usize,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |database| {
            database.show_changes()?;
            let statement = prepared(statement);
            let values = statement.renew(database, values, count)?;
            statement.running = Some(database.ask(&filled(&statement.plan, values)?)?);
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn fetch(
    client: *mut abi::Client,
    statement: *mut abi::Statement,
    rows: *mut abi::Rows,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |database| {
            let Prepared { running, handed, .. } = prepared(statement);
            handed.clear();
            if let Some(running) = running {
                // An empty batch would end the result.
                while let Some(batch) = database.runtime.block_on(running.next()) {
                    let batch = batch?;
                    if batch.num_rows() > 0 {
                        handed.take(&batch)?;
                        break;
                    }
                }
            }
            *rows = handed.rows();
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn end_query(
    client: *mut abi::Client,
    statement: *mut abi::Statement,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |database| {
            let _runs = database.runtime.enter();
            let statement = prepared(statement);
            statement.running = None;
            statement.handed.clear();
            Ok(())
        })
    }
}
