//! A table's definition in the interface's form.

use std::ffi::{CString, NulError, c_char};
use std::ptr;

use embermark_abi as abi;

use crate::sql::{Nullable, SqlType, TableDef};

/// A table definition that owns everything its pointers point to.
pub(super) struct Table {
    columns: Vec<abi::Column>,
    key: Vec<*const c_char>,
    name: CString,
    /// Names of its columns, and of the columns of its key.
    _names: [Vec<CString>; 2],
}

impl Table {
    pub fn new(table: &TableDef) -> Result<Self, NulError> {
        let names = table.columns.iter().map(|(name, ..)| CString::new(*name));
        let names = names.collect::<Result<Vec<_>, _>>()?;
        let key =
            table.key.iter().map(|name| CString::new(*name)).collect::<Result<Vec<_>, _>>()?;
        let column = |(name, (_, of, nullable)): (&CString, &(_, SqlType, Nullable))| abi::Column {
            name: name.as_ptr(),
            holds: type_of(*of),
            nullable: (*nullable == Nullable::Yes).into(),
        };
        let end = abi::Column { name: ptr::null(), holds: 0, nullable: 0 };
        Ok(Self {
            columns: names.iter().zip(table.columns).map(column).chain([end]).collect(),
            key: key.iter().map(|name| name.as_ptr()).chain([ptr::null()]).collect(),
            name: CString::new(table.name)?,
            _names: [names, key],
        })
    }

    /// Returns the struct for the library. It is valid as long as `self`.
    pub fn to_abi(&self) -> abi::Table {
        abi::Table {
            name: self.name.as_ptr(),
            columns: self.columns.as_ptr(),
            key: self.key.as_ptr(),
        }
    }
}

fn type_of(of: SqlType) -> u32 {
    match of {
        SqlType::Int => abi::TYPE_INT,
        SqlType::Big => abi::TYPE_BIG,
        SqlType::Double => abi::TYPE_DOUBLE,
        SqlType::Text => abi::TYPE_TEXT,
        SqlType::Bytes => abi::TYPE_BYTES,
    }
}
