//! Passwords of servers given by URL, from the environment.

use std::collections::BTreeMap;
use std::env;
use std::sync::OnceLock;

/// Prefix of a variable with a password.
const PREFIX: &str = "EMBERMARK_PASSWORD_";

static TAKEN: OnceLock<BTreeMap<String, String>> = OnceLock::new();

/// Returns the variable for the password of an engine's server: `EMBERMARK_PASSWORD_POSTGRES`.
pub fn variable(engine: &str) -> String {
    format!("{PREFIX}{}", engine.to_uppercase())
}

/// Removes every password from the environment, so that no process started by this one inherits
/// one: workers, servers that run as another user, engines in libraries. A worker gets the password
/// that it needs on its standard input.
///
/// # Safety
/// Only one thread may run, because another one may read the environment at the same time.
pub unsafe fn take_from_environment() {
    let mut taken = BTreeMap::new();
    let is_password = |name: &str| name.starts_with(PREFIX);
    let names = env::vars_os().map(|(name, _)| name);
    for name in names.filter(|name| is_password(&name.to_string_lossy())) {
        if let Some(value) = env::var_os(&name).and_then(|value| value.into_string().ok()) {
            taken.insert(name.to_string_lossy().into_owned(), value);
        }
        // SAFETY: only this thread runs, as the caller guarantees.
        unsafe { env::remove_var(name) };
    }
    // The first call is the one that found them.
    let _ = TAKEN.set(taken);
}

/// Returns the password of an engine's server, if the environment had one.
pub fn get(engine: &str) -> Option<&'static str> {
    TAKEN.get()?.get(&variable(engine)).map(String::as_str)
}
