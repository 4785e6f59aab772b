//! Licences that forbid publishing, where a command opens an engine outside of a run.

use embermark_engines::{Engine, registry};

use crate::error::Failure;

/// Checks the engines of `--accept-license`.
///
/// # Errors
/// If one is unknown, or its licence need not be accepted.
pub fn check_accepted(accepted: &[String]) -> Result<(), Failure> {
    for id in accepted {
        if !registry::find(id).map_err(Failure::usage)?.forbids_publishing() {
            return Err(usage!(
                "the licence of '{id}' need not be accepted: leave it out of --accept-license"
            ));
        }
    }
    Ok(())
}

/// Returns why the licence of an engine keeps it from being opened, if it does.
pub fn not_accepted(engine: &dyn Engine, accepted: &[String]) -> Option<String> {
    let id = engine.info().id;
    (engine.forbids_publishing() && accepted.iter().all(|other| other != id)).then(|| {
        format!(
            "its licence forbids publishing findings without its vendor's consent; if you have \
             accepted it, add --accept-license {id}"
        )
    })
}
