//! How HarperDB implements each durability tier.

use embermark_model::Durability;

use crate::{TierSetting, TierTable};

/// The setting, by HarperDB's own name.
pub(super) const SETTING: &str = "storage.writeAsync";

/// Whether a commit waits for nothing, as the setting takes it.
///
/// `storage.writeAsync` "turns off disk flushing/syncing", without "storage integrity guarantees",
/// and "if a server crashes, it is possible that there may be data loss"
/// (<https://docs.harperdb.io/docs/deployments/configuration#storage>): `process` cannot rest on
/// that. Without it, "committed transactions are persisted to disk"
/// (<https://docs.harperdb.io/docs/reference/storage-algorithm>); seen with strace: a commit is
/// synced before it is answered. There is no setting in between.
pub(super) static TIERS: TierTable<bool> = TierTable {
    none: TierSetting::new(Durability::None, true, "storage.writeAsync=true", MANUAL),
    process: SYNCED,
    power: SYNCED,
};

const SYNCED: TierSetting<bool> =
    TierSetting::new(Durability::Power, false, "storage.writeAsync=false", MANUAL)
        .reads(&[(SETTING, &["false"])]);

const MANUAL: &str = "https://docs.harperdb.io/docs/deployments/configuration#storage";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OpenOptions;

    fn check(tier: Durability, settings: &[(String, String)]) -> crate::Result<()> {
        let options = OpenOptions::new("/nowhere", tier, 0);
        TIERS.for_tier(tier).check_settings("harperdb", &options, &mut settings.to_vec())
    }

    #[test]
    fn a_server_that_does_not_sync_is_refused_except_in_the_tier_none() {
        let server = |value: &str| [(SETTING.to_owned(), value.to_owned())];
        for durability in Durability::ALL {
            assert!(check(durability, &server("false")).is_ok(), "{durability}");
        }
        assert!(check(Durability::None, &server("true")).is_ok());
        for durability in [Durability::Process, Durability::Power] {
            let error = check(durability, &server("true")).unwrap_err().to_string();
            assert!(error.contains(&format!("keep the tier '{durability}'")), "{error}");
            assert!(error.contains("storage.writeAsync=true"), "{error}");
            assert!(check(durability, &[]).unwrap_err().to_string().contains("unknown"));
        }
    }
}
