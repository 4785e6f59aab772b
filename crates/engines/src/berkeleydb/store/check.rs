//! Berkeley DB's own check.

use std::ffi::{CStr, OsStr};
use std::fs;

use super::ID;
use super::ffi::{Env, check_code};
use super::raw;
use crate::owned::{c_string, listen};
use crate::{Checked, EngineError, Result};

const DOING: &str = "check a table";

/// Verifies every file of the environment. None may be open, because a verification takes no locks
/// and the file must not change
/// (<https://docs.oracle.com/cd/E17276_01/html/api_reference/C/dbverify.html>). Pages have no
/// checksums, so it does not detect a changed byte of a value.
pub(super) fn verify(env: &Env) -> Result<Checked> {
    let mut checked = Checked::new("DB->verify");
    let unread = |error| EngineError::file(ID, "list", &env.dir, error);
    for entry in fs::read_dir(&env.dir).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        if path.extension() == Some(OsStr::new("db"))
            && let Some(file) = path.file_name()
        {
            verify_file(env, &c_string(ID, DOING, file)?, &mut checked)?;
        }
    }
    Ok(checked)
}

fn verify_file(env: &Env, file: &CStr, checked: &mut Checked) -> Result<()> {
    let mut messages = Vec::<String>::new();
    let list = (&raw mut messages).cast();
    // SAFETY: open; the name and the list live through the call, and nothing else uses the list
    // during it.
    match unsafe { raw::ember_verify(env.raw.raw, file.as_ptr(), listen, list) } {
        raw::DAMAGED => {
            // The message ends with the name of the file.
            messages.iter().for_each(|message| checked.found(message));
            Ok(())
        }
        code => check_code(code, DOING),
    }
}
