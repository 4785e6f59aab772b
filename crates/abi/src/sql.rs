//! The part for SQL engines: values, tables, the dialect, and the functions.

use std::ffi::{c_char, c_void};

use crate::{Begin, Bytes, Client, OfClient};

/// `union embermark_content`: the content of a value.
#[allow(missing_docs, reason = "the kind of the value says which it is")]
#[derive(Clone, Copy)]
#[repr(C)]
pub union Content {
    pub integer: i64,
    pub number: f64,
    pub at: *const u8,
}

/// `struct embermark_value`: a parameter, or a value of a row.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Value {
    /// [`NULL`](crate::NULL), [`INTEGER`](crate::INTEGER), [`DOUBLE`](crate::DOUBLE),
    /// [`TEXT`](crate::TEXT) or [`BLOB`](crate::BLOB).
    pub kind: u32,
    /// Zero.
    pub reserved: u32,
    /// Content of this kind.
    pub content: Content,
    /// Length of a text or of bytes.
    pub size: usize,
}

impl Value {
    /// NULL.
    pub const NULL: Self = Self::of(crate::NULL, Content { integer: 0 }, 0);

    const fn of(kind: u32, content: Content, size: usize) -> Self {
        Self { kind, reserved: 0, content, size }
    }

    /// Makes an integer.
    #[inline]
    pub const fn integer(integer: i64) -> Self {
        Self::of(crate::INTEGER, Content { integer }, 0)
    }

    /// Makes a double.
    #[inline]
    pub const fn double(number: f64) -> Self {
        Self::of(crate::DOUBLE, Content { number }, 0)
    }

    /// Makes a text, valid as long as it lives.
    #[inline]
    pub const fn text(text: &str) -> Self {
        Self::of(crate::TEXT, Content { at: text.as_ptr() }, text.len())
    }

    /// Makes bytes, valid as long as they live.
    #[inline]
    pub const fn blob(bytes: &[u8]) -> Self {
        Self::of(crate::BLOB, Content { at: bytes.as_ptr() }, bytes.len())
    }

    /// Returns the bytes of a text or of bytes.
    ///
    /// # Safety
    /// The value is one of those.
    #[inline]
    pub const unsafe fn bytes(&self) -> Bytes {
        // SAFETY: guaranteed by the caller.
        Bytes { at: unsafe { self.content.at }, size: self.size }
    }
}

/// `struct embermark_column`: a column of a table.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Column {
    /// Name. Null ends a list.
    pub name: *const c_char,
    /// [`TYPE_INT`](crate::TYPE_INT) or another type.
    pub holds: u32,
    /// 1 if NULL is allowed.
    pub nullable: u32,
}

/// `struct embermark_table`: a table.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Table {
    /// Name.
    pub name: *const c_char,
    /// Columns, ended by a null name.
    pub columns: *const Column,
    /// Columns of the key, ended by null.
    pub key: *const *const c_char,
}

/// `struct embermark_dialect`: the engine's SQL where the standard leaves a choice. Fields after
/// `placeholder` may be null.
#[allow(missing_docs, reason = "the header says what each of them is")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Dialect {
    pub size: u32,
    pub has: u32,
    pub placeholder: *const c_char,
    pub type_int: *const c_char,
    pub type_big: *const c_char,
    pub type_double: *const c_char,
    pub type_text: *const c_char,
    pub type_bytes: *const c_char,
    pub unsigned_16: *const c_char,
    pub unsigned_32: *const c_char,
    pub indexed_text: *const c_char,
    pub indexed_bytes: *const c_char,
    pub long_text: *const c_char,
    pub sized_text: *const c_char,
    pub sized_bytes: *const c_char,
    pub longest: u64,
    pub json: *const c_char,
    pub binary_json: *const c_char,
    pub binary_json_of: *const c_char,
    pub json_number: *const c_char,
    pub json_text: *const c_char,
    pub month: *const c_char,
    pub name: *const c_char,
    pub not_null: *const c_char,
    pub create_table: *const c_char,
    pub table_options: Option<unsafe extern "C" fn(*const Table) -> *const c_char>,
    pub drop_table: *const c_char,
    pub index_names: *const c_char,
    pub integer_division: *const c_char,
    pub remainder: *const c_char,
    pub mean: *const c_char,
    pub limit: *const c_char,
    pub value: *const c_char,
    pub sample_deviation: *const c_char,
    pub correlation: *const c_char,
}

impl Dialect {
    /// Standard SQL: every text is null. A dialect begins with it and sets the `placeholder`.
    pub const STANDARD: Self = {
        // SAFETY: all-zero bytes are valid: numbers, null texts, and an absent function.
        let nothing: Self = unsafe { std::mem::zeroed() };
        Self { size: size_of::<Self>() as u32, ..nothing }
    };
}

/// `struct embermark_statement`: opaque, defined by the library.
#[derive(Debug)]
#[repr(C)]
pub struct Statement {
    _own: [u8; 0],
}

/// `struct embermark_rows`: rows of a result.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Rows {
    /// The values, row after row.
    pub values: *const Value,
    /// Number of columns per row.
    pub columns: usize,
    /// Number of rows.
    pub rows: usize,
}

/// `embermark_next_row`: returns null if there are no more rows.
pub type NextRow = unsafe extern "C" fn(*mut c_void) -> *const Value;
/// A function on a client and a statement.
pub type OfStatement = unsafe extern "C" fn(*mut Client, *mut Statement) -> i32;
/// `prepare`.
pub type Prepare = unsafe extern "C" fn(*mut Client, *const c_char, *mut *mut Statement) -> i32;
/// `execute`, which reports the number of changed rows.
pub type Execute =
    unsafe extern "C" fn(*mut Client, *mut Statement, *const Value, usize, *mut u64) -> i32;
/// `query`.
pub type Query = unsafe extern "C" fn(*mut Client, *mut Statement, *const Value, usize) -> i32;
/// `fetch`.
pub type Fetch = unsafe extern "C" fn(*mut Client, *mut Statement, *mut Rows) -> i32;
/// `bulk`.
pub type Bulk = unsafe extern "C" fn(*mut Client, *const Table, NextRow, *mut c_void) -> i32;

/// `struct embermark_sql`: the functions of an SQL engine. Those up to `end_query` are required.
#[allow(missing_docs, reason = "the header says what each of them does")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Sql {
    pub size: u32,
    pub wants: u32,
    pub dialect: *const Dialect,
    pub begin: Option<Begin>,
    pub commit: Option<OfClient>,
    pub undo: Option<OfClient>,
    pub script: Option<unsafe extern "C" fn(*mut Client, *const c_char) -> i32>,
    pub prepare: Option<Prepare>,
    pub finish: Option<OfStatement>,
    pub execute: Option<Execute>,
    pub query: Option<Query>,
    pub fetch: Option<Fetch>,
    pub end_query: Option<OfStatement>,
    pub bulk: Option<Bulk>,
}
