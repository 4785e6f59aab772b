//! How HarperDB makes each durability tier.

use embermark_model::Durability;

use super::NAME;
use crate::{EngineError, Result, Tier};

/// The setting, by HarperDB's own name.
pub(super) const SETTING: &str = "storage.writeAsync";

/// Whether a commit waits for nothing.
///
/// `storage.writeAsync` "turns off disk flushing/syncing", without "storage integrity guarantees",
/// and "if a server crashes, it is possible that there may be data loss"
/// (<https://docs.harperdb.io/docs/deployments/configuration#storage>): nothing that `process`
/// could rest on. Without it, "committed transactions are persisted to disk"
/// (<https://docs.harperdb.io/docs/reference/storage-algorithm>); seen with strace: a commit is
/// synced before it is answered. There is no setting between them.
pub(super) fn write_async(durability: Durability) -> bool {
    durability == Durability::None
}

/// The tier as it is made.
pub(super) fn tier(durability: Durability) -> Tier {
    let (effective_durability, setting) = match write_async(durability) {
        true => (Durability::None, "storage.writeAsync=true"),
        false => (Durability::Power, "storage.writeAsync=false"),
    };
    let manual = "https://docs.harperdb.io/docs/deployments/configuration#storage";
    Tier::Offered { effective_durability, setting, manual }
}

/// Checks that the settings read back keep the tier: at least as strong as asked for.
///
/// # Errors
/// When they are weaker, which only happens on a server that is not ours.
pub(super) fn check(durability: Durability, settings: &[(String, String)]) -> Result<()> {
    let found = settings.iter().find(|(name, _)| name == SETTING).map(|(_, value)| &**value);
    if write_async(durability) || found == Some("false") {
        return Ok(());
    }
    let why = format!(
        "the server has {SETTING}={}; set it to false there, or choose a weaker tier with \
         --durability",
        found.unwrap_or("unknown")
    );
    Err(EngineError::failed(NAME, format!("keep the tier '{durability}'"), why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_does_not_sync_is_refused_unless_nothing_was_asked_of_it() {
        let server = |value: &str| [(SETTING.to_owned(), value.to_owned())];
        for durability in Durability::ALL {
            assert!(check(durability, &server("false")).is_ok(), "{durability}");
        }
        assert!(check(Durability::None, &server("true")).is_ok());
        for durability in [Durability::Process, Durability::Power] {
            let error = check(durability, &server("true")).unwrap_err().to_string();
            assert!(error.contains("storage.writeAsync=true"), "{error}");
            assert!(check(durability, &[]).unwrap_err().to_string().contains("unknown"));
        }
    }
}
