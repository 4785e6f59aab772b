//! Builds the command that measures what the advice lacks.

use std::sync::LazyLock;

use embermark_model::Durability;
use embermark_model::result::Counts;

use super::levels::scale_text;
use super::{AdviceTable, RestsOn, criteria};
use crate::{kinds, text};

/// Published workload files with a variant that commits each row, `commit-each`, and one that does
/// not, `single`.
static COMMIT_EACH: LazyLock<Vec<&str>> = LazyLock::new(|| {
    kinds::with_variants(&[("commit-each", Counts::Ingest), ("single", Counts::Load)])
});

/// Builds a command like `embermark run sensors -s 10k -t power --variant single,commit-each`. It
/// has the table's workloads in a tier, at the requested or the measured number of rows. It commits
/// each row if `ingest` or a resource of it is weighted. For a criterion without any ratio it adds
/// the workload that has the criterion, and how to measure it: energy with a meter, disk writes as
/// root.
pub(super) fn command(table: &AdviceTable, tier: Durability, weighted: &[&str]) -> String {
    let each = weighted.iter().any(|id| id.starts_with("ingest"));
    let measured = || table.rests_on.iter();
    let each = each && measured().any(|of| COMMIT_EACH.contains(&&*of.workload));
    let of = |of: &&RestsOn| !each || COMMIT_EACH.contains(&&*of.workload);
    let has = |id: &str| table.engines.iter().any(|entry| entry.ratios.contains_key(id));
    let lacking: Vec<&str> = weighted.iter().copied().filter(|id| !has(id)).collect();
    let lacks = |resource: &str| lacking.iter().any(|id| id.ends_with(resource));
    let known = measured().filter(of).map(|of| of.workload.as_str());
    let made_of = lacking.iter().map(|id| criteria::workloads(id));
    let further = made_of.filter(|own| !measured().any(|of| own.contains(&of.workload.as_str())));
    let further = further.filter_map(|own| own.first().copied());
    let workloads = text::unique(known.chain(further));
    let rows = match table.asked {
        Some(rows) => vec![scale_text(rows)],
        None => text::unique(measured().filter(of).filter_map(|of| of.rows.map(scale_text))),
    };
    let is_file = |workload: &str| table.files.iter().any(|file| file == workload);
    let name = |workload: &str| match is_file(workload) {
        true => text::file_name(workload),
        false => workload.to_owned(),
    };
    // A server's URL and the settings of a configuration are the user's, who must add them.
    let engines = table.engines.iter().filter(|entry| {
        let facts = &entry.facts;
        facts.kind != "reference" && !facts.by_url && facts.configuration.is_none()
    });
    let has_servers = engines.clone().any(|entry| entry.facts.kind == "server");
    let engines = text::unique(engines.map(|entry| text::plain(&entry.engine)));
    let (limit, storage) = (table.conditions.memory_limit, table.conditions.storage);
    let metered = "--metered, while a power meter records, then embermark energy RESULT --meter \
                   FILE.csv (docs/energy.md)";
    let options = [
        (!rows.is_empty()).then(|| format!("-s {}", rows.join(","))),
        Some(format!("-t {tier}")),
        has_servers.then(|| format!("-e {}", engines.join(","))),
        limit.map(|limit| format!("--memory-limit {}", limit.to_string().replace(' ', ""))),
        storage.map(|storage| format!("--storage {storage}")),
        table.network.as_ref().map(|network| format!("--network {network}")),
        (!table.clients.is_empty()).then(|| format!("--client {}", table.clients.join(","))),
        each.then(|| "--variant single,commit-each".to_owned()),
        lacks("energy").then(|| metered.to_owned()),
        lacks("wear").then(|| "(as root, without --no-counting)".to_owned()),
    ];
    let words = ["embermark run".to_owned()].into_iter().chain(workloads.into_iter().map(name));
    text::joined(words.chain(options.into_iter().flatten()), " ")
}
