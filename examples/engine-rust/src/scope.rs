//! Transactions of a client.

use std::ffi::c_void;
use std::ops::Bound;
use std::rc::Rc;

use embermark_abi::{self as abi, Bytes};
use redb::{
    ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata, Table,
    WriteTransaction,
};

use crate::{CallResult, Client, error_during, tree, with_client};

type Slice = &'static [u8];

/// Transaction of a client with its tables. Each table is opened when it is first used, because
/// opening it for each operation costs as much as the operation.
pub(crate) enum Scope {
    None,
    Snapshot { tables: Vec<Option<ReadOnlyTable<Slice, Slice>>>, txn: ReadTransaction },
    Batch(Batch),
}

/// A write transaction.
pub(crate) struct Batch {
    /// They borrow the transaction, and are dropped before it.
    tables: Vec<Option<Table<'static, Slice, Slice>>>,
    /// Its address stays the same if the batch is moved.
    txn: Rc<WriteTransaction>,
}

impl Batch {
    fn table(
        &mut self,
        number: u32,
        name: &str,
    ) -> Result<&mut Table<'static, Slice, Slice>, String> {
        let index = number as usize;
        if self.tables.len() <= index {
            self.tables.resize_with(index + 1, || None);
        }
        match &mut self.tables[index] {
            Some(table) => Ok(table),
            none => {
                // SAFETY: the transaction does not move. It is dropped after its tables, or taken
                // after they are dropped.
                let txn: &'static WriteTransaction = unsafe { &*Rc::as_ptr(&self.txn) };
                Ok(none.insert(txn.open_table(tree(name)).map_err(error_during("open a table"))?))
            }
        }
    }

    /// Returns the transaction, which no table borrows any more.
    fn into_transaction(self) -> Result<WriteTransaction, String> {
        let Self { tables, txn } = self;
        drop(tables);
        Rc::into_inner(txn).ok_or_else(|| "the transaction is in use".to_owned())
    }
}

/// Opens a table of a snapshot.
fn snapshot_table<'a>(
    tables: &'a mut Vec<Option<ReadOnlyTable<Slice, Slice>>>,
    txn: &ReadTransaction,
    (number, name): (u32, &str),
) -> Result<&'a mut ReadOnlyTable<Slice, Slice>, String> {
    let index = number as usize;
    if tables.len() <= index {
        tables.resize_with(index + 1, || None);
    }
    match &mut tables[index] {
        Some(table) => Ok(table),
        none => Ok(none.insert(txn.open_table(tree(name)).map_err(error_during("open a table"))?)),
    }
}

/// Reads from a table by number, in either kind of transaction.
macro_rules! read {
    ($scope:expr, $names:expr, $number:ident, |$table:ident| $work:expr) => {{
        let name = $names.get($number as usize).ok_or("the table does not exist")?;
        match $scope {
            Scope::None => Err("it was not begun".to_owned()),
            Scope::Snapshot { tables, txn } => {
                let $table = snapshot_table(tables, txn, ($number, name))?;
                $work
            }
            Scope::Batch(batch) => {
                let $table = batch.table($number, name)?;
                $work
            }
        }
    }};
}

/// Returns a table by number, for changes.
fn writable_table<'a>(
    scope: &'a mut Scope,
    names: &[String],
    number: u32,
) -> Result<&'a mut Table<'static, Slice, Slice>, String> {
    let name = names.get(number as usize).ok_or("the table does not exist")?;
    match scope {
        Scope::Batch(batch) => batch.table(number, name),
        Scope::None | Scope::Snapshot { .. } => Err("it was begun to read".to_owned()),
    }
}

pub(crate) unsafe extern "C" fn begin(client: *mut abi::Client, scope: u32) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |client| {
            client.scope = if scope == abi::BATCH {
                let txn = Rc::new(client.start(client.commit)?);
                Scope::Batch(Batch { tables: Vec::new(), txn })
            } else {
                let txn = client.db.begin_read().map_err(error_during("begin to read"))?;
                Scope::Snapshot { tables: Vec::new(), txn }
            };
            Ok(abi::OK)
        })
    }
}

fn end(client: &mut Client) -> Scope {
    std::mem::replace(&mut client.scope, Scope::None)
}

pub(crate) unsafe extern "C" fn commit(client: *mut abi::Client) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |client| {
            if let Scope::Batch(batch) = end(client) {
                batch.into_transaction()?.commit().map_err(error_during("commit"))?;
            }
            Ok(abi::OK)
        })
    }
}

pub(crate) unsafe extern "C" fn undo(client: *mut abi::Client) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |client| {
            if let Scope::Batch(batch) = end(client) {
                batch.into_transaction()?.abort().map_err(error_during("undo"))?;
            }
            Ok(abi::OK)
        })
    }
}

/// Copies the value, because a writable table lends it only for the borrow.
pub(crate) unsafe extern "C" fn get(
    client: *mut abi::Client,
    number: u32,
    key: Bytes,
    value: *mut Bytes,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        let key = key.as_slice();
        with_client(client, |Client { scope, names, value: copy, .. }| {
            let found = read!(scope, names, number, |table| copy_value(table, key, copy))?;
            *value = Bytes::of(copy);
            Ok(if found { abi::OK } else { abi::NOT_FOUND })
        })
    }
}

/// Copies the value of a key. Returns whether the key exists.
fn copy_value(
    table: &impl ReadableTable<Slice, Slice>,
    key: &[u8],
    copy: &mut Vec<u8>,
) -> Result<bool, String> {
    let Some(found) = table.get(key).map_err(error_during("get a value"))? else {
        return Ok(false);
    };
    copy.clear();
    copy.extend_from_slice(found.value());
    Ok(true)
}

pub(crate) unsafe extern "C" fn put(
    client: *mut abi::Client,
    number: u32,
    key: Bytes,
    value: Bytes,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        let (key, value) = (key.as_slice(), value.as_slice());
        with_client(client, |Client { scope, names, .. }| {
            writable_table(scope, names, number)?
                .insert(key, value)
                .map_err(error_during("put a value"))?;
            Ok(abi::OK)
        })
    }
}

pub(crate) unsafe extern "C" fn del(client: *mut abi::Client, number: u32, key: Bytes) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        let key = key.as_slice();
        with_client(client, |Client { scope, names, .. }| {
            let old = writable_table(scope, names, number)?
                .remove(key)
                .map_err(error_during("delete a key"))?;
            Ok(if old.is_some() { abi::OK } else { abi::NOT_FOUND })
        })
    }
}

pub(crate) unsafe extern "C" fn modify(
    client: *mut abi::Client,
    number: u32,
    key: Bytes,
    change: abi::Change,
    context: *mut c_void,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        let key = key.as_slice();
        with_client(client, |Client { scope, names, value: copy, .. }| {
            let found = writable_table(scope, names, number)?
                .get_mut(key)
                .map_err(error_during("get a value"))?;
            let Some(mut found) = found else { return Ok(abi::NOT_FOUND) };
            copy.clear();
            copy.extend_from_slice(found.value());
            change(context, copy.as_mut_ptr().cast(), copy.len());
            found.insert(&**copy).map_err(error_during("replace a value"))?;
            Ok(abi::OK)
        })
    }
}

pub(crate) unsafe extern "C" fn scan(
    client: *mut abi::Client,
    number: u32,
    range: *const abi::Range,
    visit: abi::Visit,
    context: *mut c_void,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        let (range, to) = (&*range, (*range).to.as_slice());
        let from = Bound::Included(range.from.as_slice());
        let to = if range.has_to == 0 { Bound::Unbounded } else { Bound::Excluded(to) };
        let backward = range.backward != 0;
        let visit =
            |key: &[u8], value: &[u8]| visit(context, Bytes::of(key), Bytes::of(value)) == 0;
        with_client(client, |Client { scope, names, .. }| {
            read!(scope, names, number, |table| visit_pairs(table, (from, to), backward, visit))
        })
    }
}

/// Visits pairs as long as `visit` wants more.
fn visit_pairs(
    table: &impl ReadableTable<Slice, Slice>,
    range: (Bound<&[u8]>, Bound<&[u8]>),
    backward: bool,
    visit: impl Fn(&[u8], &[u8]) -> bool,
) -> CallResult {
    let mut pairs = table.range::<&[u8]>(range).map_err(error_during("scan"))?;
    let mut next = || if backward { pairs.next_back() } else { pairs.next() };
    while let Some(pair) = next() {
        let (key, value) = pair.map_err(error_during("scan"))?;
        if !visit(key.value(), value.value()) {
            break;
        }
    }
    Ok(abi::OK)
}

pub(crate) unsafe extern "C" fn count(
    client: *mut abi::Client,
    number: u32,
    keys: *mut u64,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |Client { scope, names, .. }| {
            *keys = read!(scope, names, number, |table| table
                .len()
                .map_err(error_during("count the keys")))?;
            Ok(abi::OK)
        })
    }
}
