//! A library's functions. Required ones are not optional here.

use std::ffi::{c_char, c_void};

use embermark_abi as abi;

use super::dialect::LibraryDialect;

/// An engine's functions. Those in an `Option` are optional.
pub(super) struct Api {
    pub open: unsafe extern "C" fn(*const abi::Options, *mut *mut abi::Client) -> i32,
    pub close: abi::OfClient,
    pub functions: Functions,
    /// The library's struct, which has the optional functions.
    pub raw: abi::Engine,
    pub autocommit: bool,
    pub reads_batch: bool,
    pub blind_delete: bool,
}

// SAFETY: they are functions, which any thread may call according to the header, and addresses of
// data that lives as long as the library and does not change.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

pub(super) enum Functions {
    KeyValue(KeyValue),
    Sql(Box<Sql>),
}

/// The functions of a key-value engine.
pub(super) struct KeyValue {
    pub transactions: Transactions,
    pub get: unsafe extern "C" fn(*mut abi::Client, u32, abi::Bytes, *mut abi::Bytes) -> i32,
    pub put: unsafe extern "C" fn(*mut abi::Client, u32, abi::Bytes, abi::Bytes) -> i32,
    pub del: unsafe extern "C" fn(*mut abi::Client, u32, abi::Bytes) -> i32,
    pub scan: unsafe extern "C" fn(
        *mut abi::Client,
        u32,
        *const abi::Range,
        abi::Visit,
        *mut c_void,
    ) -> i32,
    /// The library's struct, which has the optional functions.
    pub raw: abi::KeyValue,
}

/// The functions of an SQL engine, and its dialect.
pub(super) struct Sql {
    pub dialect: LibraryDialect,
    pub transactions: Transactions,
    pub script: unsafe extern "C" fn(*mut abi::Client, *const c_char) -> i32,
    pub prepare:
        unsafe extern "C" fn(*mut abi::Client, *const c_char, *mut *mut abi::Statement) -> i32,
    pub finish: abi::OfStatement,
    pub execute: abi::Execute,
    pub query: abi::Query,
    pub fetch: abi::Fetch,
    pub end_query: abi::OfStatement,
    /// The library's struct, which has the optional functions.
    pub raw: abi::Sql,
}

/// The functions of transactions, which every family has.
pub(super) struct Transactions {
    pub begin: Begin,
    pub commit: abi::OfClient,
    pub undo: abi::OfClient,
}

type Begin = unsafe extern "C" fn(*mut abi::Client, u32) -> i32;

impl Transactions {
    fn new(
        begin: Option<Begin>,
        commit: Option<abi::OfClient>,
        undo: Option<abi::OfClient>,
    ) -> Result<Self, String> {
        Ok(Self {
            begin: begin.ok_or_else(missing("begin"))?,
            commit: commit.ok_or_else(missing("commit"))?,
            undo: undo.ok_or_else(missing("undo"))?,
        })
    }
}

impl AsRef<Transactions> for KeyValue {
    fn as_ref(&self) -> &Transactions {
        &self.transactions
    }
}

impl AsRef<Transactions> for Sql {
    fn as_ref(&self) -> &Transactions {
        &self.transactions
    }
}

fn missing(name: &'static str) -> impl FnOnce() -> String {
    move || format!("its function `{name}` is NULL")
}

impl KeyValue {
    pub fn new(of: abi::KeyValue) -> Result<Self, String> {
        Ok(Self {
            transactions: Transactions::new(of.begin, of.commit, of.undo)?,
            get: of.get.ok_or_else(missing("get"))?,
            put: of.put.ok_or_else(missing("put"))?,
            del: of.del.ok_or_else(missing("del"))?,
            scan: of.scan.ok_or_else(missing("scan"))?,
            raw: of,
        })
    }
}

impl Sql {
    pub fn new(of: abi::Sql, dialect: LibraryDialect) -> Result<Self, String> {
        Ok(Self {
            dialect,
            transactions: Transactions::new(of.begin, of.commit, of.undo)?,
            script: of.script.ok_or_else(missing("script"))?,
            prepare: of.prepare.ok_or_else(missing("prepare"))?,
            finish: of.finish.ok_or_else(missing("finish"))?,
            execute: of.execute.ok_or_else(missing("execute"))?,
            query: of.query.ok_or_else(missing("query"))?,
            fetch: of.fetch.ok_or_else(missing("fetch"))?,
            end_query: of.end_query.ok_or_else(missing("end_query"))?,
            raw: of,
        })
    }
}

impl Api {
    /// Creates it from a library's struct.
    pub fn new(engine: abi::Engine, functions: Functions) -> Result<Self, String> {
        let is = |flag: u32| engine.flags & flag != 0;
        Ok(Self {
            open: engine.open.ok_or_else(missing("open"))?,
            close: engine.close.ok_or_else(missing("close"))?,
            functions,
            raw: engine,
            autocommit: is(abi::AUTOCOMMIT),
            reads_batch: is(abi::READS_BATCH),
            blind_delete: is(abi::BLIND_DELETE),
        })
    }
}
