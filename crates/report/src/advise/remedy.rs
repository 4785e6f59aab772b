//! The command that measures what advice lacks.

use embermark_model::Durability;

use super::levels::written;
use super::{AdviceTable, RestsOn};
use crate::text;

/// Workloads with a variant that commits each row, `commit-each`.
const COMMIT_EACH: [&str; 2] = ["sensors", "contacts"];

/// `embermark run sensors -s 10k -d power --variant single,commit-each`: the workloads of the table in
/// a tier, at the rows asked for or else those that were measured, with one commit a row where
/// `ingest` or a resource of it is weighted.
pub(super) fn command(table: &AdviceTable, tier: Durability, weighted: &[&str]) -> String {
    let each = weighted.iter().any(|id| id.starts_with("ingest"));
    let measured = || table.rests_on.iter();
    let each = each && measured().any(|of| COMMIT_EACH.contains(&of.workload.as_str()));
    let of = |of: &&RestsOn| !each || COMMIT_EACH.contains(&of.workload.as_str());
    let workloads = text::unique(measured().filter(of).map(|of| of.workload.as_str()));
    let rows = match table.asked {
        Some(rows) => vec![written(rows)],
        None => text::unique(measured().filter(of).filter_map(|of| of.rows.map(written))),
    };
    let mut words = vec!["embermark run".to_owned()];
    words.extend(workloads.into_iter().map(str::to_owned));
    if !rows.is_empty() {
        words.push(format!("-s {}", rows.join(",")));
    }
    words.push(format!("-d {tier}"));
    if each {
        words.push("--variant single,commit-each".to_owned());
    }
    words.join(" ")
}
