//! The columns of the table of engines, the cells in them, and what their values and marks mean.

use embermark_model::result::ResultFile;
use embermark_model::{CellId, Durability, Status};

use crate::advise::{Advice, AdviceTable, EngineAdvice};
use crate::grid::{self, Grid, Text, Tone};
use crate::screen::legend::{CLAIMS, NO_MARK, NOT_SLOWER, NOT_THE_TIERS};
use crate::{format, text};

/// Criteria of the work, with their headings. Commits of single rows, by tier, precede them.
const WORK: [(&str, &str); 4] =
    [("load", "batches"), ("point", "reads"), ("update", "changes"), ("analytics", "questions")];

/// Criteria of resources, with their headings.
const USED: [(&str, &str); 3] = [("memory", "memory"), ("wear", "written"), ("disk", "disk")];

/// The heading of `wear` where a card was modelled.
const MODELLED: &str = "flash, model";

/// Above this ratio the table shows only that it is larger.
const FAR: f64 = 100.0;

/// Above this ratio, for times in a run of limited time, the table shows only that it is larger.
const BOUND: f64 = 20.0;

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
    let commits = tiers.iter().map(|tier| ("ingest", tier.to_string(), *tier));
    let further = WORK.into_iter().chain(USED);
    let further = further.filter(|(criterion, _)| table.compares(main, criterion));
    let is_modelled = table.wear_by_model(main).is_some();
    let further = further.map(|(criterion, heading)| {
        let heading = if criterion == "wear" && is_modelled { MODELLED } else { heading };
        (criterion, heading.to_owned(), main)
    });
    let column = |(criterion, heading, tier): (&'static str, String, Durability)| {
        let (_, advice) = all.iter().find(|(own, _)| *own == tier)?;
        Some(Column { heading, tier, criterion, advice })
    };
    commits.chain(further).filter_map(column).collect()
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
        let Some(entry) = table.entry(engine, self.tier) else { return Text::dash() };
        let Some(ratio) = entry.ratios.get(self.criterion).copied() else {
            return self.without(file, entry);
        };
        let best = self.advice.best_at.iter().find(|best| best.criterion == self.criterion);
        let certain = self.is_certain(table, engine);
        let lead = match best {
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
        let tone = if lead.is_empty() { Tone::Plain } else { Tone::Best };
        let lost = if self.lost_trials(file, table, engine) { grid::LOST } else { "" };
        Text { marks: lead.to_owned() + lost, tone, ratio: Some(ratio), ..Text::new(value) }
    }

    /// Whether an engine lost trials of the work behind the column.
    fn lost_trials(&self, file: &ResultFile, table: &AdviceTable, engine: &str) -> bool {
        let resting = table.resting(self.tier, &[self.criterion]);
        let lost = file.cells.iter().filter(|cell| !cell.lost_trials.is_empty());
        let mut own = lost.map(|cell| &cell.id).filter(|id| id.durability == self.tier);
        own.any(|id| {
            let place = format!("{} {}", text::plain(&id.workload), id.extent());
            text::plain(&id.engine) == engine && resting.iter().any(|of| of.place() == place)
        })
    }

    /// Whether an engine has a ratio without an interval.
    fn lacks_interval(&self, table: &AdviceTable) -> bool {
        let mut own = table.engines.iter().filter(|entry| entry.tier == self.tier);
        let (of, has_marks) = (self.criterion, self.criterion != "memory");
        own.any(|entry| {
            has_marks && entry.ratios.contains_key(of) && !entry.intervals.contains_key(of)
        })
    }

    /// Whether an interval shows that the second engine is slower than the best one.
    fn is_certain(&self, table: &AdviceTable, best: &str) -> bool {
        let others = table.engines.iter().filter(|entry| {
            entry.tier == self.tier && entry.engine != best && entry.facts.kind != "reference"
        });
        let others = others.filter_map(|entry| Some((entry.ratios.get(self.criterion)?, entry)));
        let next = others.min_by(|(a, _), (b, _)| a.total_cmp(b));
        let interval = next.and_then(|(_, next)| next.intervals.get(self.criterion));
        interval.is_some_and(|[low, _]| *low > 1.0)
    }

    /// Returns the cell of an engine without a ratio.
    fn without(&self, file: &ResultFile, entry: &EngineAdvice) -> Text {
        let is_own = |id: &CellId| (&id.engine, id.durability) == (&entry.engine, self.tier);
        let cells = file.cells.iter().filter(|cell| is_own(&cell.id));
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

/// Explains the marks and values that occur.
pub(super) fn legend(
    grid: &Grid,
    columns: &[Column<'_>],
    table: &AdviceTable,
    tiers: &[Durability],
    main: Durability,
) -> Vec<String> {
    let texts = || grid.rows.iter().flat_map(|(_, texts)| texts);
    let any = |mark: &str| texts().any(|text| text.marks.contains(mark));
    let own = |mark: &str| grid.rows.iter().any(|(name, _)| name.contains(mark));
    let shows = |value: &str| texts().any(|text| text.value == value);
    let (bound, far) = (format!(">{BOUND:.0}x"), format!(">{FAR:.0}x"));
    let modelled = table.wear_by_model(main);
    let has = |heading: &str| grid.header.iter().any(|name| name == heading);
    let mark = |occurs: bool, mark: &str, says: &str| occurs.then(|| format!("{mark} {says}"));
    let of_tier = |tier: &Durability| match tier {
        Durability::Power => "power: a commit per row that survives a power cut".to_owned(),
        Durability::Process => "process: one that survives a crash of the program".to_owned(),
        Durability::None => "none: one that may be lost".to_owned(),
    };
    let further = [
        (tiers.len() > 1).then(|| format!("all else at {main}")),
        mark(shows(&bound), &bound, "more than that, a run stops there"),
        mark(shows(&far), &far, "more than that"),
        mark(has("memory"), "memory:", "peak of the process"),
        modelled.filter(|_| has(MODELLED)).map(|says| format!("{MODELLED}: {says}")),
        mark(shows(format::NOT_MEASURED), format::NOT_MEASURED, "cannot, or not measured"),
        Some("all work: commits, reads, changes, questions alike".to_owned()),
        columns.iter().any(|column| column.lacks_interval(table)).then(|| NO_MARK.to_owned()),
        mark(any(grid::BEST), grid::BEST, "the best"),
        mark(any(grid::NOT_SIGNIFICANT), grid::NOT_SIGNIFICANT, NOT_SLOWER),
        mark(any(grid::LOST), grid::LOST, "without a lost trial"),
        mark(any(grid::CLIENT_SIDE), grid::CLIENT_SIDE, "answered by client code over its rows"),
        mark(own(grid::STRONGER), grid::STRONGER, "durability above the tier"),
        mark(own(grid::OWN_SETTINGS), grid::OWN_SETTINGS, CLAIMS),
        mark(own(grid::OWN_DURABILITY), grid::OWN_DURABILITY, NOT_THE_TIERS),
        mark(own(grid::BROKEN), grid::BROKEN, "broke what the tier promises, not ranked"),
        mark(own("hybrid"), "hybrid:", "ours, keeps every row twice (docs/hybrid.md)"),
    ];
    let mut says = vec!["times the best engine's time, or bytes".to_owned()];
    says.extend(tiers.iter().map(of_tier));
    says.extend(further.into_iter().flatten());
    says
}
