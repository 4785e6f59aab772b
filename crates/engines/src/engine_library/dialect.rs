//! A library's dialect: texts in which numbers in braces are placeholders.

use std::ffi::{CStr, c_char};

use embermark_abi as abi;

use super::table::Table;
use crate::sql::{Dialect, SqlType, TableDef};

#[cfg(test)]
mod tests;

/// A dialect. Its texts live as long as the process.
pub(super) struct LibraryDialect {
    texts: Texts,
    has: u32,
    longest: u64,
    table_options: Option<TableOptions>,
}

type TableOptions = unsafe extern "C" fn(*const abi::Table) -> *const c_char;
type Text = Option<&'static str>;

/// Declares the texts of a dialect, and a function that reads them by name.
macro_rules! texts {
    ($($name:ident)*) => {
        /// The texts, with the names of the header.
        #[derive(Default)]
        struct Texts {
            $($name: Text,)*
        }

        impl Texts {
            /// # Safety
            /// Each must be null, or a text that lives as long as the process.
            unsafe fn read(from: &abi::Dialect) -> Result<Self, String> {
                // SAFETY: the caller's promise.
                unsafe { Ok(Self { $($name: text(from.$name, stringify!($name))?,)* }) }
            }
        }
    };
}
texts! {
    placeholder type_int type_big type_double type_text type_bytes unsigned_16 unsigned_32 indexed_text
    indexed_bytes long_text sized_text sized_bytes json binary_json binary_json_of json_number json_text month
    name not_null create_table drop_table index_names integer_division remainder mean limit value
    sample_deviation correlation
}

/// # Safety
/// It must be null, or a text that lives as long as the process.
unsafe fn text(at: *const c_char, name: &str) -> Result<Text, String> {
    if at.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(at) }.to_str();
    text.map(Some).map_err(|_| format!("its dialect's `{name}` is not UTF-8"))
}

/// Replaces numbers in braces, from 1 on, with these values. Other braces stay.
fn fill(text: &str, given: &[&str]) -> String {
    let mut parts = text.split('{');
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let filled = part.split_once('}').and_then(|(number, rest)| {
            let number: usize = number.parse().ok()?;
            Some([*given.get(number.checked_sub(1)?)?, rest])
        });
        whole.extend(filled.unwrap_or(["{", part]));
    }
    whole
}

impl LibraryDialect {
    /// Reads a library's dialect.
    ///
    /// # Errors
    /// Returns the reason that it is invalid.
    ///
    /// # Safety
    /// Its texts must be null or live as long as the process, and so must its function.
    pub unsafe fn read(from: &abi::Dialect) -> Result<Self, String> {
        // SAFETY: the caller's promise.
        let texts = unsafe { Texts::read(from) }?;
        if texts.placeholder.is_none_or(str::is_empty) {
            return Err("its dialect's `placeholder` is empty".to_owned());
        }
        let (has, longest, table_options) = (from.has, from.longest, from.table_options);
        Ok(Self { texts, has, longest, table_options })
    }

    const fn has(&self, flag: u32) -> bool {
        self.has & flag != 0
    }
}

impl Dialect for LibraryDialect {
    fn type_name(&self, of: SqlType) -> &'static str {
        match of {
            SqlType::Int => self.texts.type_int.unwrap_or("INTEGER"),
            SqlType::Big => self.texts.type_big.unwrap_or("BIGINT"),
            SqlType::Double => self.texts.type_double.unwrap_or("DOUBLE PRECISION"),
            SqlType::Text => self.texts.type_text.unwrap_or("TEXT"),
            SqlType::Bytes => self.texts.type_bytes.unwrap_or("BLOB"),
        }
    }

    fn unsigned(&self, bits: u32) -> &'static str {
        match bits {
            ..=16 => self.texts.unsigned_16.unwrap_or("SMALLINT"),
            _ => self.texts.unsigned_32.unwrap_or("INTEGER"),
        }
    }

    fn placeholder(&self, n: usize) -> String {
        fill(self.texts.placeholder.unwrap_or("?"), &[&n.to_string()])
    }

    fn longest(&self) -> Option<usize> {
        usize::try_from(self.longest).ok().filter(|longest| *longest > 0)
    }

    fn sized(&self, of: SqlType, longest: usize) -> Option<String> {
        let text = match of {
            SqlType::Text => self.texts.sized_text,
            SqlType::Bytes => self.texts.sized_bytes,
            _ => None,
        };
        Some(fill(text?, &[&longest.to_string()]))
    }

    fn long_text(&self) -> &'static str {
        self.texts.long_text.unwrap_or_else(|| self.type_name(SqlType::Text))
    }

    fn indexed_type(&self, of: SqlType) -> &'static str {
        let indexed = match of {
            SqlType::Text => self.texts.indexed_text,
            SqlType::Bytes => self.texts.indexed_bytes,
            _ => None,
        };
        indexed.unwrap_or_else(|| self.type_name(of))
    }

    fn json(&self) -> Option<&'static str> {
        self.texts.json
    }

    fn binary_json(&self) -> Option<&'static str> {
        self.texts.binary_json
    }

    fn binary_json_of(&self, text: &str) -> String {
        fill(self.texts.binary_json_of.unwrap_or("{1}"), &[text])
    }

    fn json_number(&self, column: &str, field: &str) -> Option<String> {
        Some(fill(self.texts.json_number?, &[column, field]))
    }

    fn json_text(&self, column: &str, field: &str) -> Option<String> {
        Some(fill(self.texts.json_text?, &[column, field]))
    }

    fn month(&self, milliseconds: &str) -> Option<String> {
        Some(fill(self.texts.month?, &[milliseconds]))
    }

    fn drop_table(&self, name: &str) -> String {
        fill(self.texts.drop_table.unwrap_or("DROP TABLE IF EXISTS {1}"), &[&self.table(name)])
    }

    fn not_null(&self, of: &str) -> String {
        fill(self.texts.not_null.unwrap_or("{1} NOT NULL"), &[of])
    }

    fn around_table(&self, table: &TableDef) -> (&'static str, &'static str) {
        let options =
            self.table_options.zip(Table::new(table).ok()).and_then(|(options, table)| {
                // SAFETY: as the header requires: the table lives through the call, and the text as
                // long as the library, which stays loaded.
                let text = unsafe { text(options(&table.to_abi()), "table_options") };
                text.ok().flatten()
            });
        (self.texts.create_table.unwrap_or("CREATE TABLE"), options.unwrap_or_default())
    }

    fn index_names(&self, table: &str) -> Option<String> {
        Some(fill(self.texts.index_names?, &[table]))
    }

    fn integer_division(&self, dividend: &str, divisor: &str) -> String {
        fill(self.texts.integer_division.unwrap_or("{1} / {2}"), &[dividend, divisor])
    }

    fn remainder(&self, dividend: &str, divisor: &str) -> String {
        fill(self.texts.remainder.unwrap_or("{1} % {2}"), &[dividend, divisor])
    }

    fn mean(&self, column: &str) -> String {
        fill(self.texts.mean.unwrap_or("AVG({1})"), &[column])
    }

    fn limit(&self, rows: &str) -> String {
        fill(self.texts.limit.unwrap_or("LIMIT {1}"), &[rows])
    }

    fn value(&self, expression: &str) -> String {
        fill(self.texts.value.unwrap_or("SELECT {1}"), &[expression])
    }

    fn sample_deviation(&self, column: &str) -> Option<String> {
        Some(fill(self.texts.sample_deviation?, &[column]))
    }

    fn correlation(&self, y: &str, x: &str) -> Option<String> {
        Some(fill(self.texts.correlation?, &[y, x]))
    }

    fn table(&self, name: &str) -> String {
        fill(self.texts.name.unwrap_or("{1}"), &[name])
    }

    fn column(&self, name: &str) -> String {
        self.table(name)
    }

    fn row_values(&self) -> bool {
        self.has(abi::ROW_VALUES)
    }

    fn windows(&self) -> bool {
        self.has(abi::WINDOWS)
    }

    fn derived_tables(&self) -> bool {
        self.has(abi::DERIVED_TABLES)
    }

    fn seeks_by_key(&self) -> bool {
        self.has(abi::SEEKS_BY_KEY)
    }

    fn skips_in_groups(&self) -> bool {
        self.has(abi::SKIPS_IN_GROUPS)
    }
}
