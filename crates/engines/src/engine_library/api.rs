//! A library's functions. Required ones are not optional here.

use std::ffi::c_char;

use embermark_abi as abi;

use super::dialect::LibraryDialect;

/// An engine's functions. Those in an `Option` are optional.
pub(super) struct Api {
    pub open: unsafe extern "C" fn(*const abi::Options, *mut *mut abi::Client) -> i32,
    pub close: abi::OfClient,
    pub begin: abi::Begin,
    pub commit: abi::OfClient,
    pub undo: abi::OfClient,
    pub functions: Functions,
    /// The library's struct, which has the optional functions.
    pub raw: abi::Engine,
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
    pub get: unsafe extern "C" fn(*mut abi::Client, u32, abi::Bytes, *mut abi::Bytes) -> i32,
    pub put: unsafe extern "C" fn(*mut abi::Client, u32, abi::Bytes, abi::Bytes) -> i32,
    pub del: unsafe extern "C" fn(*mut abi::Client, u32, abi::Bytes) -> i32,
    pub scan: abi::Scan,
    /// The library's struct, which has the optional functions.
    pub raw: abi::KeyValue,
}

/// The functions of an SQL engine, and its dialect.
pub(super) struct Sql {
    pub dialect: LibraryDialect,
    pub script: unsafe extern "C" fn(*mut abi::Client, *const c_char) -> i32,
    pub prepare: abi::Prepare,
    pub finish: abi::OfStatement,
    pub execute: abi::Execute,
    pub query: abi::Query,
    pub fetch: abi::Fetch,
    pub end_query: abi::OfStatement,
    /// The library's struct, which has the optional functions.
    pub raw: abi::Sql,
}

fn required<T>(function: Option<T>, name: &str) -> Result<T, String> {
    function.ok_or_else(|| format!("its function `{name}` is NULL"))
}

impl KeyValue {
    pub fn new(raw: abi::KeyValue) -> Result<Self, String> {
        Ok(Self {
            get: required(raw.get, "get")?,
            put: required(raw.put, "put")?,
            del: required(raw.del, "del")?,
            scan: required(raw.scan, "scan")?,
            raw,
        })
    }
}

impl Sql {
    pub fn new(raw: abi::Sql, dialect: LibraryDialect) -> Result<Self, String> {
        Ok(Self {
            dialect,
            script: required(raw.script, "script")?,
            prepare: required(raw.prepare, "prepare")?,
            finish: required(raw.finish, "finish")?,
            execute: required(raw.execute, "execute")?,
            query: required(raw.query, "query")?,
            fetch: required(raw.fetch, "fetch")?,
            end_query: required(raw.end_query, "end_query")?,
            raw,
        })
    }
}

impl Api {
    /// Creates it from a library's structs.
    pub fn new(raw: abi::Engine, functions: Functions) -> Result<Self, String> {
        let (begin, commit, undo) = match &functions {
            Functions::KeyValue(of) => (of.raw.begin, of.raw.commit, of.raw.undo),
            Functions::Sql(of) => (of.raw.begin, of.raw.commit, of.raw.undo),
        };
        Ok(Self {
            open: required(raw.open, "open")?,
            close: required(raw.close, "close")?,
            begin: required(begin, "begin")?,
            commit: required(commit, "commit")?,
            undo: required(undo, "undo")?,
            functions,
            raw,
        })
    }
}
