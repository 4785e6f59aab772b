//! Builds the command that measures what the advice lacks.

use std::path::Path;
use std::sync::LazyLock;

use embermark_model::plan::Plan;
use embermark_model::result::Counts;
use embermark_model::{Durability, Scale};

use super::{AdviceTable, criteria};
use crate::summary::Group;
use crate::{format, kinds, text};

/// Number of trials of `--effort thorough`.
const THOROUGH: u32 = 10;

/// Published workload files with a variant that commits each row, `commit-each`, and one that does
/// not, `single`.
static COMMIT_EACH: LazyLock<Vec<&str>> = LazyLock::new(|| {
    kinds::with_variants(&[("commit-each", Counts::Ingest), ("single", Counts::Load)])
});

/// A workload at one scale, whether it was measured or not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Planned {
    /// The workload.
    pub workload: String,
    /// The word for it in a command: its name, or the path of its file.
    pub word: String,
    /// The number of rows.
    pub scale: Scale,
    /// The number of rows of a user's own file, if all of them were measured.
    pub all_rows: Option<u64>,
}

impl Planned {
    pub fn new(group: &Group<'_>) -> Self {
        let workload = text::plain(group.workload);
        // A file that is part of the program has a name, and no folder.
        let file = group.file.plan.workload_files.get(group.workload);
        let file = file.filter(|file| file.folder != Path::new("."));
        let path = file.map(|file| file.folder.join(text::file_name(group.workload)));
        let scale = group.extent.scale;
        let dataset = group.file.manifest.datasets.get(group.workload);
        let own =
            dataset.filter(|own| own.file.is_some() && path.is_some() && scale == Scale::Full);
        let all_rows = own.map(|own| own.rows);
        let word = path.map(|path| path.display().to_string());
        let word = word.unwrap_or_else(|| workload.clone());
        Self { workload, word, scale, all_rows }
    }
}

/// Returns the option of a run that decides more of the order than the run of a plan.
pub(super) fn longer(plan: &Plan) -> String {
    match plan.lasts_ms {
        Some(ms) => format!("--for {}m", ms.saturating_mul(6).div_ceil(60_000)),
        None if plan.trials < THOROUGH => "--effort thorough".to_owned(),
        None => format!("--trials {}", plan.trials.saturating_mul(2)),
    }
}

/// Says why no command measures this many rows: a file has fewer.
pub(super) fn beyond_file(table: &AdviceTable, rows: u64) -> Option<String> {
    let all_rows = |of: &Planned| of.all_rows.filter(|all| *all < rows);
    let (of, all) = table.planned.iter().find_map(|of| Some((of, all_rows(of)?)))?;
    let all = format::counted(all, "row");
    Some(format!(
        "all rows of {} were measured, {all}: to measure more, name a file with more",
        of.workload
    ))
}

/// Builds a command like `embermark run sensors -s 10k -t power --variant single,commit-each`. It
/// has the table's workloads, at the requested or the planned number of rows: `-s 10k`, or
/// `sensors:10k contacts:1k` if they differ. It commits each row if `ingest` or a resource of it is
/// weighted. For a criterion without any ratio it adds the workload that has the criterion, and how
/// to measure it: energy with a meter, disk writes as root.
pub(super) fn command(table: &AdviceTable, tier: Durability, weighted: &[&str]) -> String {
    let each = weighted.iter().any(|id| id.starts_with("ingest"));
    let planned = || table.planned.iter();
    let each = each && planned().any(|of| COMMIT_EACH.contains(&&*of.workload));
    let of = |of: &&Planned| !each || COMMIT_EACH.contains(&&*of.workload);
    let has = |id: &str| table.engines.iter().any(|entry| entry.ratios.contains_key(id));
    let lacking: Vec<&str> = weighted.iter().copied().filter(|id| !has(id)).collect();
    let lacks = |resource: &str| lacking.iter().any(|id| id.ends_with(resource));
    let made_of = lacking.iter().map(|id| criteria::workloads(id));
    let further = made_of.filter(|own| !planned().any(|of| own.contains(&of.workload.as_str())));
    let further = further.filter_map(|own| own.first().map(|name| (*name).to_owned()));
    let scales = match table.asked {
        Some(rows) => vec![Scale::Rows(rows)],
        None => text::unique(planned().filter(of).map(|of| of.scale)),
    };
    let word = |of: &Planned| match scales.len() {
        0 | 1 => of.word.clone(),
        _ => format!("{}:{}", of.word, of.scale),
    };
    let workloads = text::unique(planned().filter(of).map(word).chain(further));
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
    let clients = table.clients.join(",");
    let options = [
        (scales.len() == 1).then(|| format!("-s {}", scales[0])),
        Some(format!("-t {tier}")),
        has_servers.then(|| format!("-e {}", text::word(&engines.join(",")))),
        limit.map(|limit| format!("--memory-limit {}", limit.to_string().replace(' ', ""))),
        storage.map(|storage| format!("--storage {storage}")),
        table.network.as_ref().map(|network| format!("--network {}", text::word(network))),
        (!clients.is_empty()).then(|| format!("--client {}", text::word(&clients))),
        each.then(|| "--variant single,commit-each".to_owned()),
        lacks("energy").then(|| metered.to_owned()),
        lacks("wear").then(|| "(as root, without --no-counting)".to_owned()),
    ];
    let words = workloads.iter().map(|workload| text::word(workload));
    let words = ["embermark run".to_owned()].into_iter().chain(words);
    text::joined(words.chain(options.into_iter().flatten()), " ")
}
