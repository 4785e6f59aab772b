//! WiredTiger's own check.

use std::ffi::{CStr, CString};
use std::ops::ControlFlow;
use std::rc::Rc;

use super::ID;
use super::ffi::*;
use super::tree::{Cursor, Tree};
use crate::kv::Range;
use crate::owned::listen;
use crate::{Checked, EngineError, Result};

/// Verifies every table, each without open cursors
/// (<https://source.wiredtiger.com/mongodb-4.2/struct_w_t___s_e_s_s_i_o_n.html>, `verify`).
pub(super) fn verify(session: &Rc<Session>, trees: &mut [Tree]) -> Result<Checked> {
    let mut checked = Checked::new("WT_SESSION::verify");
    for uri in tables(session)? {
        let one = |checked: &mut Checked| verify_one(session, &uri, checked);
        match trees.iter_mut().find(|tree| tree.uri == uri) {
            Some(tree) => {
                tree.without_cursors(|_, _| Ok(one(&mut checked))).map_err(Refusal::into_error)?
            }
            None => one(&mut checked),
        }?;
    }
    Ok(checked)
}

/// Returns the existing tables, from a cursor over the metadata
/// (<https://source.wiredtiger.com/mongodb-4.2/metadata.html>).
fn tables(session: &Rc<Session>) -> Result<Vec<CString>> {
    let mut found = Vec::new();
    Cursor::open(session, c"metadata:", c"raw")
        .and_then(|mut cursor| {
            cursor.walk(Range::default(), &mut |uri, _| {
                let uri = CStr::from_bytes_until_nul(uri).unwrap_or_default();
                if uri.to_bytes().starts_with(b"table:") {
                    found.push(uri.to_owned());
                }
                ControlFlow::Continue(())
            })
        })
        .map_err(Refusal::into_error)?;
    Ok(found)
}

/// Adds the library's messages about a table that is damaged.
fn verify_one(session: &Session, uri: &CStr, checked: &mut Checked) -> Result<()> {
    let (connection, mut said) = (session.connection.raw.raw, Vec::<String>::new());
    let verify = || {
        said.clear();
        let list = (&raw mut said).cast();
        // SAFETY: open; the text and the list live through the call, and nothing else uses the list
        // meanwhile.
        unsafe { (session.shim.verify)(connection, uri.as_ptr(), listen, list) }
    };
    match session.until_at_rest(verify) {
        // Messages are then warnings without effect.
        0 => Ok(()),
        // It was not verified.
        code @ (libc::EBUSY | libc::ENOMEM) => {
            Err(EngineError::failed(ID, "check a table", error_message(code)))
        }
        code => {
            // Each message follows the time and the thread. Messages with a block's bytes are left
            // out.
            let said =
                said.iter().map(|said| said.split_once("], ").map_or(&**said, |(_, said)| said));
            let told = said.filter(|said| !said.contains("__wt_bm_corrupt_dump"));
            told.for_each(|said| checked.found(said));
            checked.found(format!("{}: {}", uri.to_string_lossy(), error_message(code)));
            Ok(())
        }
    }
}
