//! The columns of the table of engines, and the cells in them.

use std::cmp::Ordering;

use embermark_model::result::ResultFile;
use embermark_model::{Durability, Status};

use crate::advise::{Advice, AdviceTable, EngineAdvice};
use crate::format;
use crate::grid::{self, Text, Tone};

/// Criteria of the work, with their headings. Commits of single rows, by tier, precede them.
const WORK: [(&str, &str); 4] =
    [("load", "batches"), ("point", "reads"), ("update", "changes"), ("analytics", "questions")];

/// Criteria of resources, with their headings.
const USED: [(&str, &str); 3] = [("memory", "memory"), ("wear", "written"), ("disk", "disk")];

/// Above this ratio the table shows only that it is larger.
pub(super) const FAR: f64 = 100.0;

/// Above this ratio, for times in a run of limited time, the table shows only that it is larger.
pub(super) const BOUND: f64 = 20.0;

/// A column of the table.
pub(super) struct Column<'a> {
    pub heading: String,
    tier: Durability,
    pub criterion: &'static str,
    /// The best engines by criterion in its tier.
    advice: &'a Advice,
}

pub(super) fn columns<'a>(
    table: &AdviceTable,
    tiers: &[Durability],
    main: Durability,
    all: &'a [(Durability, Advice)],
) -> Vec<Column<'a>> {
    let advice = |tier| all.iter().find(|(own, _)| *own == tier).map(|(_, advice)| advice);
    let commits = tiers.iter().filter_map(|tier| {
        Some(Column {
            heading: tier.to_string(),
            tier: *tier,
            criterion: "ingest",
            advice: advice(*tier)?,
        })
    });
    let further = WORK.into_iter().chain(USED);
    let further = further.filter(|(criterion, _)| table.compares(main, criterion));
    let further = further.filter_map(|(criterion, heading)| {
        Some(Column { heading: heading.to_owned(), tier: main, criterion, advice: advice(main)? })
    });
    commits.chain(further).collect()
}

impl Column<'_> {
    /// Whether the column is for a resource.
    pub fn is_used(&self) -> bool {
        USED.iter().any(|(criterion, _)| *criterion == self.criterion)
    }

    /// The ratio above which the column shows only that it is larger.
    fn far(&self, file: &ResultFile) -> f64 {
        if file.plan.lasts_ms.is_some() && !self.is_used() { BOUND } else { FAR }
    }

    /// Returns the cell of an engine.
    pub fn text(&self, file: &ResultFile, table: &AdviceTable, engine: &str) -> Text {
        let own = |entry: &&EngineAdvice| entry.engine == engine && entry.tier == self.tier;
        let Some(entry) = table.engines.iter().find(own) else {
            return Text::new(format::NOT_MEASURED);
        };
        let Some(ratio) = entry.ratios.get(self.criterion).copied() else {
            return self.without(file, entry);
        };
        let best = self.advice.best_at.iter().find(|best| best.criterion == self.criterion);
        let certain = self.is_certain(table, engine);
        let marks = match best {
            // The figure is the memory of the whole process, and the best is by the engine's own.
            _ if self.criterion == "memory" => "",
            Some(best) if best.engines.len() > 1 && best.engines.iter().any(|e| e == engine) => {
                grid::NOT_SIGNIFICANT
            }
            Some(best) if best.engines[0] == engine && certain => grid::BEST,
            _ => "",
        };
        let value = match (self.criterion, entry.facts.peak_bytes) {
            ("memory", Some(peak)) => format::bytes(peak),
            _ if ratio >= self.far(file) => format!(">{:.0}x", self.far(file)),
            _ => format::ratio(ratio),
        };
        let tone = if marks.is_empty() { Tone::Plain } else { Tone::Best };
        Text { marks: marks.to_owned(), tone, ratio: Some(ratio), ..Text::new(value) }
    }

    /// Whether an interval shows that the second engine is slower than the best one.
    fn is_certain(&self, table: &AdviceTable, best: &str) -> bool {
        let others = table.engines.iter().filter(|entry| {
            entry.tier == self.tier && entry.engine != best && entry.facts.kind != "reference"
        });
        let ratio = |entry: &&EngineAdvice| entry.ratios.get(self.criterion).copied();
        let others = others.filter(|entry| ratio(entry).is_some());
        let next = others.min_by(|a, b| ratio(a).partial_cmp(&ratio(b)).unwrap_or(Ordering::Equal));
        let interval = next.and_then(|next| next.intervals.get(self.criterion));
        interval.is_some_and(|[low, _]| *low > 1.0)
    }

    /// Returns the cell of an engine without a ratio.
    fn without(&self, file: &ResultFile, entry: &EngineAdvice) -> Text {
        let cells = file
            .cells
            .iter()
            .filter(|cell| (&*cell.id.engine, cell.id.durability) == (&*entry.engine, self.tier));
        let worst = cells.map(|cell| cell.status).reduce(Status::worst);
        let effective = entry.effective_durability.filter(|tier| *tier < self.tier);
        match (worst, effective) {
            _ if entry.broken.is_some() => Text::toned("broken", Tone::Bad),
            (Some(failure), _) if failure.is_failure() => Text::toned(failure.name(), Tone::Bad),
            _ if entry.facts.by_url => Text::toned("by URL", Tone::Dim),
            (_, Some(effective)) => Text::toned(format!("only {effective}"), Tone::Dim),
            _ => Text::toned(format::NOT_MEASURED, Tone::Dim),
        }
    }
}
