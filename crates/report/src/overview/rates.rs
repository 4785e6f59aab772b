//! Highest sustained rates, for the overview.

use embermark_model::result::ResultFile;

use crate::cost::{self, Activity, Cost};
use crate::evidence::TierStanding;
use crate::{Options, format, table, text};

/// Returns the block of highest rates, one line per phase that searched for one. `None` if no phase
/// did. `durability` has what tests showed for the tiers.
pub(super) fn block(
    file: &ResultFile,
    durability: &[TierStanding],
    options: &Options<'_>,
) -> Option<String> {
    let mut lines = Vec::new();
    for costs in cost::marked_costs(file, durability) {
        let searches = || costs.lines.iter().filter(|line| line.activity == Activity::Searches);
        for phase in text::unique(searches().map(|line| (line.phase, line.variant))) {
            let own = searches().filter(|line| (line.phase, line.variant) == phase);
            let mut rates: Vec<(u64, &Cost<'_>)> = own
                .filter(|line| line.status.has_figures() && !line.tainted)
                .filter_map(|line| Some((line.median("sustained-rate")? as u64, line)))
                .collect();
            rates.sort_by_key(|(rate, _)| std::cmp::Reverse(*rate));
            let rates = rates.into_iter().map(|(rate, line)| {
                let rate = if rate == 0 { "none".to_owned() } else { format::count(rate) };
                format!("{}{} {rate}", text::plain(line.engine), line.marks())
            });
            let rates = rates.collect::<Vec<_>>().join(", ");
            let (phase, variant) = phase;
            let extent = costs.extent.to_string();
            let head = [costs.workload, &extent, phase, variant].map(text::plain).join(" ");
            let line = format!("{head}, {}: {rates}", costs.durability);
            lines.extend(table::wrapped(&line, options.width, "", "  "));
        }
    }
    if lines.is_empty() {
        return None;
    }
    let head = "Highest rate without a loss, per second";
    Some(format!("{}\n{}", table::heading(head, options), lines.join("\n")))
}
