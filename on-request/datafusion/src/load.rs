//! Loads rows through Arrow builders into a file.

use std::ffi::{CStr, c_void};

use embermark_abi as abi;

use crate::client::with_client;
use crate::database::StoredTable;
use crate::failure::Done;

impl StoredTable {
    /// Adds a row from the value of each column by its number.
    ///
    /// # Safety
    /// The texts and bytes of its values are valid.
    pub unsafe fn add<'a>(&mut self, value: impl Fn(usize) -> &'a abi::Value) -> Done {
        // SAFETY: guaranteed by the caller.
        unsafe { self.columns.add(value)? };
        if self.columns.is_full() {
            self.source.new_rows().extend(self.columns.take()?);
        }
        Ok(())
    }
}

pub(crate) unsafe extern "C" fn bulk(
    client: *mut abi::Client,
    table: *const abi::Table,
    next: abi::NextRow,
    context: *mut c_void,
) -> i32 {
    // SAFETY: the caller follows the rules of the header. A row has a value for each column.
    unsafe {
        with_client(client, |database| {
            let name = CStr::from_ptr((*table).name).to_string_lossy();
            database.change(&name, |stored| {
                loop {
                    let row = next(context);
                    if row.is_null() {
                        return Ok(());
                    }
                    stored.add(|column| &*row.add(column))?;
                }
            })
        })
    }
}
