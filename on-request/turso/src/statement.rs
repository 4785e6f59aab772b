//! Statements: parameters, results, and bulk loads.

use std::ffi::{CStr, c_char, c_void};
use std::num::NonZero;
use std::slice;

use embermark_abi as abi;
use turso::core::{Numeric, Statement, Value};

use crate::client::{Done, Failure, failed, run, step, with_client};

/// Content of a `struct embermark_statement`.
struct Prepared {
    inner: Statement,
    /// The row that was returned last.
    row: Vec<abi::Value>,
}

/// # Safety
/// It is a statement of [`prepare`], and nothing else uses it meanwhile.
unsafe fn prepared<'a>(statement: *mut abi::Statement) -> &'a mut Prepared {
    // SAFETY: guaranteed by the caller.
    unsafe { &mut *statement.cast() }
}

/// # Safety
/// The text or the bytes of the value are valid.
unsafe fn bound(value: &abi::Value) -> Done<Value> {
    // SAFETY: the kind of the value determines its content, and the caller guarantees the rest.
    unsafe {
        Ok(match value.kind {
            abi::NULL => Value::Null,
            abi::INTEGER => Value::from_i64(value.content.integer),
            abi::DOUBLE => Value::from_f64(value.content.number),
            abi::TEXT => {
                let text = str::from_utf8(value.bytes().as_slice());
                Value::from_text(text.map_err(failed("bind a text"))?.to_owned())
            }
            abi::BLOB => Value::from_blob(value.bytes().as_slice().to_vec()),
            kind => return Err(format!("no value is of the kind {kind}").into()),
        })
    }
}

/// # Safety
/// `values` has `count` valid values.
unsafe fn bind(statement: &mut Statement, values: *const abi::Value, count: usize) -> Done {
    let places = statement.parameters_count();
    if places != count {
        return Err(format!("the statement has {places} parameters, and {count} were given").into());
    }
    // SAFETY: guaranteed by the caller.
    let values = if count == 0 { &[] } else { unsafe { slice::from_raw_parts(values, count) } };
    for (place, value) in values.iter().enumerate() {
        // SAFETY: guaranteed by the caller.
        let value = unsafe { bound(value)? };
        statement.bind_at(NonZero::<usize>::MIN.saturating_add(place), value)?;
    }
    Ok(())
}

/// Returns a value of a row without copying it.
fn handed(value: &Value) -> abi::Value {
    match value {
        Value::Null => abi::Value::NULL,
        Value::Numeric(Numeric::Integer(integer)) => abi::Value::integer(*integer),
        Value::Numeric(Numeric::Float(number)) => abi::Value::double(f64::from(*number)),
        Value::Text(text) => abi::Value::text(text.as_str()),
        Value::Blob(bytes) => abi::Value::blob(bytes),
    }
}

pub(crate) unsafe extern "C" fn script(client: *mut abi::Client, sql: *const c_char) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        let sql = CStr::from_ptr(sql).to_string_lossy();
        with_client(client, |client| Ok(client.connection.prepare_execute_batch(&sql)?))
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
        with_client(client, |client| {
            let inner = client.connection.prepare(&sql)?;
            let rest = sql.get(inner.tail_offset()..).unwrap_or_default();
            if rest.contains(|c: char| c != ';' && !c.is_whitespace()) {
                return Err(Failure::Failed("this is more than one statement".to_owned()));
            }
            *statement = Box::into_raw(Box::new(Prepared { inner, row: Vec::new() })).cast();
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
        with_client(client, |client| {
            let inner = &mut prepared(statement).inner;
            bind(inner, values, count)?;
            let before = client.connection.total_changes();
            run(inner)?;
            *changed = client.connection.total_changes().abs_diff(before);
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
    unsafe { with_client(client, |_| bind(&mut prepared(statement).inner, values, count)) }
}

pub(crate) unsafe extern "C" fn fetch(
    client: *mut abi::Client,
    statement: *mut abi::Statement,
    rows: *mut abi::Rows,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |_| {
            let Prepared { inner, row } = prepared(statement);
            row.clear();
            let there = step(inner)?;
            if let Some(found) = there {
                row.extend(found.get_values().map(handed));
            }
            let count = usize::from(there.is_some());
            *rows = abi::Rows { values: row.as_ptr(), columns: row.len(), rows: count };
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn end_query(
    client: *mut abi::Client,
    statement: *mut abi::Statement,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe { with_client(client, |_| Ok(prepared(statement).inner.reset()?)) }
}

/// Runs a prepared INSERT for each row, because the manual has no other way.
pub(crate) unsafe extern "C" fn bulk(
    client: *mut abi::Client,
    table: *const abi::Table,
    next: abi::NextRow,
    context: *mut c_void,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |client| {
            let table = &*table;
            let mut width = 0;
            while !(*table.columns.add(width)).name.is_null() {
                width += 1;
            }
            let name = CStr::from_ptr(table.name).to_string_lossy();
            let places = vec!["?"; width].join(",");
            let sql = format!("INSERT INTO {name} VALUES ({places})");
            let mut insert = client.connection.prepare(sql)?;
            loop {
                let row = next(context);
                if row.is_null() {
                    return Ok(());
                }
                bind(&mut insert, row, width)?;
                run(&mut insert)?;
            }
        })
    }
}
