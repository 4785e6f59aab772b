//! What a person asks who builds a device: a line an engine, with commits of single rows in every tier that
//! was measured, batches, reads, changes and questions each for itself, and what an engine takes of memory and
//! flash. The figures are those of `advise`: there is one ranking.

use std::cmp::Ordering;

use embermark_model::result::ResultFile;
use embermark_model::{Conditions, Durability, Status};

use crate::advise::pick::Turn;
use crate::advise::presets::{PRESETS, Ranking};
use crate::advise::{self, Advice, AdviceTable, EngineAdvice, Needs, Weight, pick};
use crate::grid::{self, Grid, Text, Tone};
use crate::notes::{Note, note};
use crate::summary::{Comparison, Entry, Group};
use crate::{Options, format, table, text};
use serde::Serialize;
use textwrap::core::display_width;

/// Criteria of the work, with their headings; before them stand commits of single rows, by tier.
const WORK: [(&str, &str); 4] =
    [("load", "batches"), ("point", "reads"), ("update", "changes"), ("analytics", "questions")];

/// Criteria of what is used.
const USED: [(&str, &str); 3] = [("memory", "memory"), ("wear", "written"), ("disk", "disk")];

/// From this ratio on it is said no more how large it is.
const FAR: f64 = 100.0;

/// From this one on of times in a run of a limited time, which stops there.
const BOUND: f64 = 20.0;

/// What a device builder reads first.
pub(crate) struct Device {
    /// What to take, a line for each kind of work.
    pub take: Vec<Note>,
    /// What to take where all work counts alike.
    pub best: Option<String>,
    /// The tier of what names none, where there are several.
    pub tier: Option<Durability>,
    /// The table.
    pub grid: Grid,
    /// How many of its columns are about the work. Those behind them are about what an engine uses.
    pub work: usize,
    /// What its marks mean.
    pub legend: Vec<String>,
    /// Of each row of the table the engine, and the most memory that it had, in bytes.
    pub engines: Vec<Measured>,
    /// The engines in the order of each situation.
    pub orders: Vec<Ranking>,
}

/// An engine of a row, in the tier in which all work was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Its id.
    pub engine: String,
    /// The most memory that it had, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<f64>,
}

/// Every column, whatever language it is used from; what to take among those of the first language, and in
/// a line for each further one. `None` of a result without commits of single rows, or with nobody to compare.
pub(crate) fn of(file: &ResultFile, comparison: &Comparison<'_>) -> Option<Device> {
    let all = advise::of_all_columns(file, &[conditions(comparison)]).tables;
    let mut device = of_table(file, comparison, largest(all)?)?;
    let each = of_each(file, comparison);
    if let Some(((_, first), others)) = each.split_first() {
        device.take.clone_from(&first.take);
        let line = |(language, own): &(String, Device)| {
            Some(note(format!("from {}", text::plain(language)), own.best.clone()?))
        };
        device.take.extend(others.iter().filter_map(line));
    }
    Some(device)
}

/// The same of the columns of each language, embermark itself first; none where there is one language, or
/// nobody to compare in the first one.
pub(crate) fn of_each(file: &ResultFile, comparison: &Comparison<'_>) -> Vec<(String, Device)> {
    let tables = advise::tables(&[file], None, &[conditions(comparison)]).tables;
    let languages = text::unique(tables.iter().map(|table| table.language().to_owned()));
    if languages.len() < 2 {
        return Vec::new();
    }
    let of = |language: &String| {
        let own = tables.iter().filter(|table| table.language() == language).cloned();
        Some((language.clone(), of_table(file, comparison, largest(own.collect())?)?))
    };
    match languages.first().and_then(of) {
        Some(first) => [first].into_iter().chain(languages[1..].iter().filter_map(of)).collect(),
        None => Vec::new(),
    }
}

/// Of several storages the first: this machine's disk where it was measured on that.
fn conditions(comparison: &Comparison<'_>) -> Conditions {
    let all = comparison.groups.iter().map(Group::conditions);
    all.filter(|conditions| conditions.memory_limit.is_none()).min().unwrap_or_default()
}

fn largest(tables: Vec<AdviceTable>) -> Option<AdviceTable> {
    tables.into_iter().max_by_key(|table| table.rows)
}

fn of_table(
    file: &ResultFile,
    comparison: &Comparison<'_>,
    mut table: AdviceTable,
) -> Option<Device> {
    for entry in &mut table.engines {
        // Who broke a promise is shown, and not to be taken.
        entry.broken = is_broken(comparison, entry).then(|| "broken".to_owned());
    }
    let has_ingest = |tier: &Durability| {
        let own = table.engines.iter().filter(|entry| entry.tier == *tier);
        own.filter(|entry| entry.ratios.contains_key("ingest")).count() > 1
    };
    let tiers = [Durability::Power, Durability::Process, Durability::None];
    let tiers: Vec<Durability> = tiers.into_iter().filter(has_ingest).collect();
    // Without sync every engine's other work is the same, and shorter.
    let main = *tiers.iter().find(|tier| **tier != Durability::Power).or_else(|| tiers.first())?;
    // Not where samples are lost in place of time, as of a machine: what that work comes to has a table of its own.
    let has_rows =
        |entry: &EngineAdvice| ["point", "update"].iter().any(|of| entry.ratios.contains_key(of));
    if !table.engines.iter().any(has_rows) {
        return None;
    }
    let all: Vec<(Durability, Advice)> = tiers
        .iter()
        .filter_map(|tier| Some((*tier, advise::advise(&table, needs(*tier), &[]).ok()?)))
        .collect();
    let columns = columns(&table, &tiers, main, &all);
    let ranked = table.engines.iter().filter(|entry| entry.facts.kind != "reference");
    let engines = text::unique(ranked.map(|entry| entry.engine.clone()));
    let row = |engine: String| {
        let texts: Vec<Text> =
            columns.iter().map(|column| column.text(file, &table, &engine)).collect();
        let compared = texts.iter().any(|text| text.value != format::NOT_MEASURED);
        compared.then_some((engine, texts))
    };
    let mut rows: Vec<(String, Vec<Text>)> = engines.into_iter().filter_map(row).collect();
    let by_client = by_client(comparison, main);
    for (name, texts) in &mut rows {
        let at = columns.iter().position(|column| column.criterion == "analytics");
        if let Some(text) = at.and_then(|at| texts.get_mut(at))
            && by_client.contains(name)
            && text.value != format::NOT_MEASURED
        {
            text.marks += grid::CLIENT_SIDE;
        }
    }
    let header = columns.iter().map(|column| column.heading.clone()).collect();
    let measured = |engine: &String| {
        let own = |entry: &&EngineAdvice| (&entry.engine, entry.tier) == (engine, main);
        let peak = table.engines.iter().find(own).and_then(|entry| entry.facts.peak_bytes);
        Measured { engine: text::plain(engine), peak_bytes: peak }
    };
    let engines = rows.iter().map(|(engine, _)| measured(engine)).collect();
    let rows = rows.into_iter().map(|(engine, texts)| (heading(comparison, &engine), texts));
    let grid = Grid { title: String::new(), header, rows: rows.collect() };
    Some(Device {
        take: take(file, &table, &tiers, main),
        best: pick::of(&table, needs(main), &pick::all_work(&table, main)).map(|pick| pick.says()),
        tier: (tiers.len() > 1).then_some(main),
        legend: legend(&grid, &tiers, main),
        grid,
        work: columns.iter().take_while(|column| !column.is_used()).count(),
        engines,
        orders: PRESETS.iter().map(|preset| preset.order(&table, main)).collect(),
    })
}

fn needs(tier: Durability) -> Needs {
    Needs {
        tier,
        sql: false,
        embedded: false,
        memory_bytes: None,
        licence: None,
        rows_per_second: None,
    }
}

/// A column.
struct Column<'a> {
    heading: String,
    tier: Durability,
    criterion: &'static str,
    /// Who is best at it in its tier.
    advice: &'a Advice,
}

fn columns<'a>(
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
    let measured = |criterion: &str| {
        let own = table.engines.iter().filter(|entry| entry.tier == main);
        own.filter(|entry| entry.ratios.contains_key(criterion)).count() > 1
    };
    let further = WORK.into_iter().chain(USED);
    let further = further.filter(|(criterion, _)| measured(criterion));
    let further = further.filter_map(|(criterion, heading)| {
        Some(Column { heading: heading.to_owned(), tier: main, criterion, advice: advice(main)? })
    });
    commits.chain(further).collect()
}

impl Column<'_> {
    /// Whether it is about what an engine uses.
    fn is_used(&self) -> bool {
        USED.iter().any(|(criterion, _)| *criterion == self.criterion)
    }

    /// From which ratio on it is said no more how large it is.
    fn far(&self, file: &ResultFile) -> f64 {
        if file.plan.lasts_ms.is_some() && !self.is_used() { BOUND } else { FAR }
    }

    /// What stands in it of an engine.
    fn text(&self, file: &ResultFile, table: &AdviceTable, engine: &str) -> Text {
        let own = |entry: &&EngineAdvice| entry.engine == engine && entry.tier == self.tier;
        let Some(entry) = table.engines.iter().find(own) else {
            return Text::of(format::NOT_MEASURED);
        };
        let Some(ratio) = entry.ratios.get(self.criterion).copied() else {
            return self.without(file, entry);
        };
        let best = self.advice.best_at.iter().find(|best| best.criterion == self.criterion);
        let certain = self.is_certain(table, engine);
        let marks = match best {
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
        Text { marks: marks.to_owned(), tone, ratio: Some(ratio), ..Text::of(value) }
    }
}

impl Column<'_> {
    /// Whether an interval says that the engine behind the best one is behind it.
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

    /// What stands in it of an engine that has no ratio.
    fn without(&self, file: &ResultFile, entry: &EngineAdvice) -> Text {
        let cells = file
            .cells
            .iter()
            .filter(|cell| (&*cell.id.engine, cell.id.durability) == (&*entry.engine, self.tier));
        let worst = cells.map(|cell| cell.status).reduce(Status::worst);
        let effective = entry.effective_durability.filter(|tier| *tier < self.tier);
        match (worst, effective) {
            (Some(failure), _) if failure.is_failure() => Text::toned(failure.name(), Tone::Bad),
            _ if entry.facts.by_url => Text::toned("by URL", Tone::Dim),
            (_, Some(effective)) => Text::toned(format!("only {effective}"), Tone::Dim),
            _ => Text::toned(format::NOT_MEASURED, Tone::Dim),
        }
    }
}

/// Whether an engine broke what a tier promises.
fn is_broken(comparison: &Comparison<'_>, entry: &EngineAdvice) -> bool {
    comparison.groups.iter().filter(|group| group.durability == entry.tier).any(|group| {
        group.engines.iter().any(|engine| engine.broken && engine.name() == entry.engine)
    })
}

/// The name of an engine with its marks.
fn heading(comparison: &Comparison<'_>, engine: &str) -> String {
    let found = comparison.groups.iter().find_map(|group| {
        let own = group.engines.iter().find(|own| own.name() == engine)?;
        Some(grid::engine_heading(group, own))
    });
    found.unwrap_or_else(|| text::plain(engine))
}

/// Engines whose questions are answered by code in the client, in a tier.
fn by_client(comparison: &Comparison<'_>, tier: Durability) -> Vec<String> {
    let mut engines = Vec::new();
    for group in comparison.groups.iter().filter(|group| group.durability == tier) {
        for row in &group.rows {
            let measured = group.engines.iter().zip(&row.entries);
            engines.extend(measured.filter_map(|(engine, entry)| match entry {
                Entry::Measured(measured) if measured.figure.client_side => Some(engine.name()),
                _ => None,
            }));
        }
    }
    text::unique(engines)
}

/// What to take, a line for each kind of work, what would turn that, and how to settle what is open.
fn take(
    file: &ResultFile,
    table: &AdviceTable,
    tiers: &[Durability],
    main: Durability,
) -> Vec<Note> {
    let mut is_open = false;
    let mut says: Vec<Note> = Vec::new();
    let mut pick = |about: String, tier: Durability, weights: &[Weight]| {
        let pick = pick::of(table, needs(tier), weights)?;
        is_open |= pick.is_open();
        says.push(note(about, pick.says()));
        Some(pick)
    };
    for tier in tiers {
        pick(format!("commits ({tier})"), *tier, &[pick::alone("ingest")]);
    }
    let work = pick::all_work(table, main);
    let all = if work.len() > 1 { pick(format!("all work ({main})"), main, &work) } else { None };
    if let Some(pick) = all {
        let first = text::plain(&pick.engine);
        // The other tiers have lines of their own.
        let turns = pick.turns.iter().filter(|turn| turn.tier.is_none());
        let peak = |engine: &str| {
            let own = |entry: &&EngineAdvice| (&*entry.engine, entry.tier) == (engine, main);
            table.engines.iter().find(own).and_then(|entry| entry.facts.peak_bytes)
        };
        let ratio = |of: &str| {
            let own = |entry: &&EngineAdvice| (&*entry.engine, entry.tier) == (&*pick.engine, main);
            table.engines.iter().find(own)?.ratios.get(of).copied()
        };
        let says_of = |turn: &Turn| match (&*turn.by, peak(&turn.engine), peak(&pick.engine)) {
            // The ratio is of what is above the harness's own, and the column has all of it.
            ("memory", Some(own), Some(other)) => {
                let (own, other) = (format::bytes(own), format::bytes(other));
                format!("{}, {own}; {first} has {other}", text::plain(&turn.engine))
            }
            _ => {
                let alone = turn.criterion.and_then(|of| {
                    Some((pick::of(table, needs(main), &[pick::alone(of)])?, ratio(of)?))
                });
                match alone {
                    Some((best, own)) => {
                        format!("{}; {first} has {}", best.says(), format::ratio(own))
                    }
                    None => format!("{} of {first}", turn.leads()),
                }
            }
        };
        says.extend(turns.map(|turn| note(turn.by.as_str(), says_of(turn))));
    }
    // Of each situation what to take, in a line.
    for preset in &PRESETS[1..] {
        let Some(answer) = preset.answer(table, main) else { continue };
        let lacking = match answer.lacking.as_slice() {
            [] => String::new(),
            lacking => format!("; {} not measured", lacking.join(", ")),
        };
        is_open |= answer.pick.is_open();
        says.push(note(
            match answer.tier == main {
                true => preset.name.to_owned(),
                false => format!("{} ({})", preset.name, answer.tier),
            },
            format!("{}{lacking}", answer.pick.says()),
        ));
    }
    if !file.plan.left_out.is_empty() {
        says.push(note("left out", text::plain(&file.plan.left_out.join("; "))));
    }
    if is_open {
        let longer = match file.plan.lasts_ms {
            Some(ms) => format!("--for {}m", (ms * 6).div_ceil(60_000)),
            None => "--effort thorough".to_owned(),
        };
        says.push(note(
            "uncertain",
            format!("'not certainly', 'too few': the same with {longer} settles more"),
        ));
    }
    says
}

fn legend(grid: &Grid, tiers: &[Durability], main: Durability) -> Vec<String> {
    let texts = || grid.rows.iter().flat_map(|(_, texts)| texts);
    let any = |mark: &str| texts().any(|text| text.marks.contains(mark));
    let own = |mark: &str| grid.rows.iter().any(|(name, _)| name.contains(mark));
    let mut says = vec!["times the best engine's time, or bytes".to_owned()];
    says.extend(tiers.iter().map(|tier| match tier {
        Durability::Power => "power: a commit per row that survives a power cut".to_owned(),
        Durability::Process => "process: one that survives a crash of the program".to_owned(),
        Durability::None => "none: one that may be lost".to_owned(),
    }));
    if tiers.len() > 1 {
        says.push(format!("all else at {main}"));
    }
    let (bound, far) = (format!(">{BOUND:.0}x"), format!(">{FAR:.0}x"));
    if texts().any(|text| text.value == bound) {
        says.push(format!("{bound} stopped there"));
    }
    if texts().any(|text| text.value == far) {
        says.push(format!("{far} or far more"));
    }
    if texts().any(|text| text.value == format::NOT_MEASURED) {
        says.push(format!("{} cannot, or not measured", format::NOT_MEASURED));
    }
    says.push("all work: commits, reads, changes, questions alike".to_owned());
    let marks = [
        (any(grid::BEST), format!("{} the best", grid::BEST)),
        (
            any(grid::NOT_SIGNIFICANT),
            format!("{} no difference to the best is shown", grid::NOT_SIGNIFICANT),
        ),
        (
            any(grid::CLIENT_SIDE),
            format!("{} answered by code of ours over its rows", grid::CLIENT_SIDE),
        ),
        (own(grid::STRONGER), format!("{} durability above the tier", grid::STRONGER)),
        (own(grid::BROKEN), format!("{} broke what the tier promises", grid::BROKEN)),
        (own("hybrid"), "hybrid: ours, keeps every row twice (docs/hybrid.md)".to_owned()),
    ];
    says.extend(marks.into_iter().filter(|(occurs, _)| *occurs).map(|(_, text)| text));
    says
}

/// What to take, and below it the table.
pub(super) fn blocks(device: &Device, options: &Options<'_>) -> Vec<String> {
    let mut out = Vec::new();
    if !device.take.is_empty() {
        let widest = device.take.iter().map(|note| display_width(&note.about)).max().unwrap_or(0);
        let line = |Note { about, says }: &Note| {
            let head = format!("  {}  ", table::pad_right(about, widest));
            table::wrapped(&format!("{head}{says}"), options.width, "", &" ".repeat(widest + 4))
        };
        let lines: Vec<String> = device.take.iter().flat_map(line).collect();
        let says = match device.tier {
            Some(tier) => format!("What to take, at {tier} where no tier is named"),
            None => "What to take".to_owned(),
        };
        out.push(format!("{}\n{}", table::heading(&says, options), lines.join("\n")));
    }
    out.extend(table::in_parts(&device.grid, device.work, options));
    out.push(table::packed(&device.legend, options.width).join("\n"));
    out
}
