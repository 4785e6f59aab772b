//! Statements: parsed and bound once, planned for their parameters each time they are run.

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

use crate::client::{Done, Failure, with};
use crate::columns::scalar;
use crate::database::Database;
use crate::rows::Handed;

/// Why rows are not changed.
const APPENDS: &str =
    "to change or delete rows: files are added to a folder, and what is in one stays as it is";

/// What is behind a `struct embermark_statement`.
struct Prepared {
    sql: String,
    plan: LogicalPlan,
    /// Of the database when it was planned.
    generation: u64,
    parameters: usize,
    /// For an INSERT of parameters: which of them each column takes, row by row.
    inserts: Option<Vec<Vec<usize>>>,
    running: Option<SendableRecordBatchStream>,
    handed: Handed,
}

/// # Safety
/// It is a statement of [`prepare`], and nobody else uses it meanwhile.
unsafe fn prepared<'a>(statement: *mut abi::Statement) -> &'a mut Prepared {
    // SAFETY: the caller's promise.
    unsafe { &mut *statement.cast() }
}

/// The number of a parameter, from 0 on, where an expression is one.
fn parameter(expression: &Expr) -> Option<usize> {
    match expression {
        Expr::Placeholder(place) => {
            place.id.strip_prefix('$')?.parse::<usize>().ok()?.checked_sub(1)
        }
        Expr::Cast(cast) => parameter(&cast.expr),
        _ => None,
    }
}

/// The column of `VALUES` that a column of the table takes: `column1` is the first one.
fn taken(expression: &Expr) -> Option<usize> {
    match expression {
        Expr::Column(column) => {
            column.name.strip_prefix("column")?.parse::<usize>().ok()?.checked_sub(1)
        }
        Expr::Alias(alias) => taken(&alias.expr),
        Expr::Cast(cast) => taken(&cast.expr),
        _ => None,
    }
}

/// Which parameter each column of each row takes, where an INSERT has nothing but parameters.
fn inserts(input: &LogicalPlan) -> Option<Vec<Vec<usize>>> {
    let LogicalPlan::Projection(projection) = input else { return None };
    let LogicalPlan::Values(values) = &*projection.input else { return None };
    let columns: Vec<usize> = projection.expr.iter().map(taken).collect::<Option<_>>()?;
    let row = |row: &Vec<Expr>| {
        columns.iter().map(|column| row.get(*column).and_then(parameter)).collect()
    };
    values.values.iter().map(row).collect()
}

/// Refuses to change what is there.
fn inserted(dml: &DmlStatement) -> Done<&str> {
    match dml.op {
        WriteOp::Insert(_) => Ok(dml.table_name.table()),
        _ => Err(Failure::Unsupported(APPENDS.to_owned())),
    }
}

impl Prepared {
    fn of(database: &Database, sql: &str) -> Done<Self> {
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
            handed: Handed::default(),
        })
    }

    /// Checks the number of parameters, and plans anew where tables have changed.
    ///
    /// # Safety
    /// So many values are there.
    unsafe fn renew<'a>(
        &mut self,
        database: &Database,
        values: *const abi::Value,
        count: usize,
    ) -> Done<&'a [abi::Value]> {
        if self.generation != database.generation {
            *self = Self::of(database, &self.sql)?;
        }
        let places = self.parameters;
        if places != count {
            let why = format!("the statement has {places} parameters, and {count} were given");
            return Err(why.into());
        }
        // SAFETY: the caller's promise.
        Ok(if count == 0 { &[] } else { unsafe { slice::from_raw_parts(values, count) } })
    }
}

/// A plan with values in the place of its parameters.
///
/// # Safety
/// Their texts and bytes are there.
unsafe fn filled(plan: &LogicalPlan, values: &[abi::Value]) -> Done<LogicalPlan> {
    // SAFETY: the caller's promise.
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

    /// Runs a statement without results; how many rows it has inserted.
    ///
    /// # Safety
    /// The texts and bytes of the values are there.
    unsafe fn run(&mut self, statement: &Prepared, values: &[abi::Value]) -> Done<u64> {
        let LogicalPlan::Dml(dml) = &statement.plan else {
            return self.define(&statement.plan).map(|()| 0);
        };
        let table = inserted(dml)?;
        let Some(rows) = &statement.inserts else {
            // SAFETY: the caller's promise.
            let plan = unsafe { filled(&dml.input, values)? };
            return self.insert_all(table, &plan);
        };
        self.change(table, |stored| {
            // SAFETY: the caller's promise.
            rows.iter().try_for_each(|row| unsafe { stored.add(|column| &values[row[column]]) })
        })?;
        Ok(rows.len() as u64)
    }

    /// Makes and drops tables. In place of indexes every row group has its columns' least and greatest values.
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
                // Empty: it says which columns there are.
                self.write(&name, &[])
            }
            LogicalPlan::Ddl(DdlStatement::DropTable(dropped)) => {
                let name = name(&dropped.name);
                match self.remove(&name)? {
                    true => self.folder.remove_table(&name),
                    false if dropped.if_exists => Ok(()),
                    false => Err(Failure::Failed(format!("there is no table {name}"))),
                }
            }
            LogicalPlan::Ddl(DdlStatement::CreateIndex(_)) => Ok(()),
            other => Err(Failure::Unsupported(format!("the statement {}", other.display()))),
        }
    }
}

pub(crate) unsafe extern "C" fn script(client: *mut abi::Client, sql: *const c_char) -> i32 {
    // SAFETY: as the header has it.
    unsafe {
        let sql = CStr::from_ptr(sql).to_string_lossy();
        with(client, |database| {
            for statement in DFParser::parse_sql(&sql)? {
                let statement = Prepared::of(database, &statement.to_string())?;
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
    // SAFETY: as the header has it.
    unsafe {
        let sql = CStr::from_ptr(sql).to_string_lossy();
        with(client, |database| {
            *statement = Box::into_raw(Box::new(Prepared::of(database, &sql)?)).cast();
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn finish(
    client: *mut abi::Client,
    statement: *mut abi::Statement,
) -> i32 {
    // SAFETY: as the header has it: it was made by `prepare`, and is not used again.
    unsafe {
        with(client, |_| {
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
    // SAFETY: as the header has it.
    unsafe {
        with(client, |database| {
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
    // SAFETY: as the header has it.
    unsafe {
        with(client, |database| {
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
    // SAFETY: as the header has it.
    unsafe {
        with(client, |database| {
            let Prepared { running, handed, .. } = prepared(statement);
            handed.clear();
            if let Some(running) = running {
                // A batch may be empty, which would be the end.
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
    // SAFETY: as the header has it.
    unsafe {
        with(client, |database| {
            let _runs = database.runtime.enter();
            let statement = prepared(statement);
            statement.running = None;
            statement.handed.clear();
            Ok(())
        })
    }
}
