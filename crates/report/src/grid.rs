//! The tables of a report as texts in rows and columns, before anything is laid out: what the
//! terminal and Markdown show alike.

pub(crate) mod sharing;

use embermark_model::plan::Plan;
use embermark_model::{Scale, Status};

use crate::format;
use crate::summary::{Engine, Entry, Group, Loading, Measured, Row, Unit, Usage};
use crate::text;

/// The best of its row.
pub(crate) const BEST: &str = "*";
/// No difference to the best of its row is shown.
pub(crate) const NOT_SIGNIFICANT: &str = "≈";
/// A trial stands apart from the others.
pub(crate) const OUTLIER: &str = "°";
/// Not everything was done: stopped at the cap or, for resources, phases missing.
pub(crate) const STOPPED: &str = "^";
/// Done by code in the client.
pub(crate) const CLIENT_SIDE: &str = "~";
/// The cell did not end well, this phase did.
pub(crate) const TAINTED: &str = "!";
/// Keeps more than the tier asks.
pub(crate) const STRONGER: &str = "+";
/// Keeps less than the tier asks.
pub(crate) const WEAKER: &str = "(weaker)";
/// Shown and never ranked.
pub(crate) const REFERENCE: &str = "(ref)";
/// After the phase of a row whose times are per operation.
pub(crate) const PER_OPERATION: &str = "/op";

/// One table.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    /// What it shows.
    pub title: String,
    /// Over the first column.
    pub corner: String,
    /// Over the other columns.
    pub header: Vec<String>,
    /// Label and texts of each row.
    pub rows: Vec<(String, Vec<Text>)>,
}

/// One box of a table. Its parts are aligned one under the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Text {
    /// A time, a size, or a word.
    pub value: String,
    /// Marks explained in the notes.
    pub marks: String,
    /// A second figure: the ratio.
    pub second: String,
    /// The second figure as a number, where a chart draws it.
    pub ratio: Option<f64>,
    /// After it, the mark of the best.
    pub best: &'static str,
    /// How it is coloured.
    pub tone: Tone,
}

/// What a text's colour says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Best,
    Dim,
    Warning,
    Bad,
}

/// `sensors 10k · durability process`.
pub(crate) fn title(group: &Group<'_>) -> String {
    format!("{} {} · durability {}", text::plain(group.workload), group.scale, group.durability)
}

/// What the figures of a group were measured on, in parts: rows, repetitions, variant, and who
/// could not take part.
pub(crate) fn subtitle(group: &Group<'_>, plan: &Plan) -> Vec<String> {
    let rows = match group.scale {
        Scale::Rows(rows) => Some(rows),
        Scale::Full => group.dataset.map(|dataset| dataset.rows),
    };
    let rows = rows.map_or_else(|| "all rows".into(), |rows| format::counted(rows, "row"));
    let name = group.dataset.map(|dataset| format!(", {}", text::plain(&dataset.name)));
    let warmup = match plan.warmup_runs {
        0 => String::new(),
        warmup => format!(" ({warmup} warm-up)"),
    };
    let runs = format::counted(u64::from(plan.runs), "run");
    let trials = format::counted(u64::from(plan.trials), "trial");
    let mut parts = vec![rows + &name.unwrap_or_default(), format!("{runs}{warmup} x {trials}")];
    if group.rows.iter().any(|row| row.variant.is_some()) {
        parts.push(format!("variant {} unless named", text::plain(group.variant)));
    }
    parts.extend(sharing::parts(group, plan));
    parts.extend(absentees(group));
    parts
}

/// Places in `group.engines` of those that have a column. An engine that could not take part at
/// all is named above the table and leaves its column to the others.
pub(crate) fn columns(group: &Group<'_>) -> Vec<usize> {
    (0..group.engines.len()).filter(|engine| absence(group, *engine).is_none()).collect()
}

/// `unavailable: zen, harperdb`, for the engines without a column.
fn absentees(group: &Group<'_>) -> Vec<String> {
    [Status::Unavailable, Status::Unsupported]
        .into_iter()
        .filter_map(|status| {
            let engines = group.engines.iter().enumerate();
            let names: Vec<String> = engines
                .filter(|(index, _)| absence(group, *index) == Some(status))
                .map(|(_, engine)| text::plain(engine.id))
                .collect();
            (!names.is_empty()).then(|| format!("{status}: {}", names.join(", ")))
        })
        .collect()
}

fn absence(group: &Group<'_>, engine: usize) -> Option<Status> {
    let mut entries = group.rows.iter().filter_map(|row| row.entries.get(engine));
    let Some(Entry::Ended(first @ (Status::Unavailable | Status::Unsupported))) = entries.next()
    else {
        return None;
    };
    entries.all(|entry| matches!(entry, Entry::Ended(status) if status == first)).then_some(*first)
}

/// Phases down, engines across: time and ratio.
pub(crate) fn comparison(group: &Group<'_>) -> Grid {
    let columns = columns(group);
    let row = |row: &Row<'_>| {
        let texts = columns.iter().filter_map(|engine| row.entries.get(*engine));
        (label(row, true), texts.map(|entry| comparison_text(row, entry)).collect())
    };
    Grid {
        title: title(group),
        corner: String::new(),
        header: columns.iter().map(|engine| heading(group, &group.engines[*engine])).collect(),
        rows: group.rows.iter().map(row).collect(),
    }
}

/// Phases down, engines across: median and 99th percentile of the latency; `None` where no phase
/// recorded any.
pub(crate) fn latency(group: &Group<'_>) -> Option<Grid> {
    let columns = columns(group);
    let rows: Vec<(String, Vec<Text>)> = group
        .rows
        .iter()
        .map(|row| {
            let texts = columns.iter().filter_map(|engine| row.entries.get(*engine));
            (label(row, false), texts.map(latency_text).collect::<Vec<Text>>())
        })
        .filter(|(_, texts)| texts.iter().any(|text| text.value != format::NOT_MEASURED))
        .collect();
    let grid = Grid {
        title: format!("{} · latency of one operation, p50 and p99", title(group)),
        corner: String::new(),
        header: columns.iter().map(|engine| heading(group, &group.engines[*engine])).collect(),
        rows,
    };
    (!grid.rows.is_empty()).then_some(grid)
}

/// Phases down, engines across: the 95 % intervals of time and ratio; `None` where there is none.
pub(crate) fn intervals(group: &Group<'_>) -> Option<Grid> {
    let columns = columns(group);
    let rows: Vec<(String, Vec<Text>)> = group
        .rows
        .iter()
        .map(|row| {
            let texts = columns.iter().filter_map(|engine| row.entries.get(*engine));
            (label(row, true), texts.map(|entry| interval_text(row, entry)).collect::<Vec<Text>>())
        })
        .filter(|(_, texts)| texts.iter().any(|text| text.value != format::NOT_MEASURED))
        .collect();
    let grid = Grid {
        title: format!("{} · 95 % intervals of time and ratio", title(group)),
        corner: String::new(),
        header: columns.iter().map(|engine| heading(group, &group.engines[*engine])).collect(),
        rows,
    };
    (!grid.rows.is_empty()).then_some(grid)
}

/// Engines down, resources across; `None` when nothing was measured. A resource that was measured
/// for no engine has no column.
pub(crate) fn resources(group: &Group<'_>) -> Option<Grid> {
    type Kind = (&'static str, fn(&Usage) -> Option<f64>, fn(f64) -> String);
    let kinds: [Kind; 9] = [
        ("CPU", |usage| usage.cpu_ns, format::duration),
        ("client CPU", |usage| usage.client_cpu_ns, format::duration),
        ("peak memory", |usage| usage.peak_bytes, format::bytes),
        ("mean memory", |usage| usage.mean_bytes, format::bytes),
        ("read", |usage| usage.read_bytes, format::bytes),
        ("written", |usage| usage.written_bytes, format::bytes),
        ("flushes", |usage| usage.flushes, |flushes| format::count(flushes as u64)),
        ("on disk", |usage| usage.disk_bytes, format::bytes),
        ("background CPU", |usage| usage.background_cpu_share, share),
    ];
    let kinds: Vec<Kind> = kinds
        .into_iter()
        .filter(|(_, value, _)| group.usage.iter().any(|usage| value(usage).is_some()))
        .collect();
    let engines = group.engines.iter().zip(&group.usage);
    let rows: Vec<(String, Vec<Text>)> = columns(group)
        .into_iter()
        .filter_map(|index| engines.clone().nth(index))
        .map(|(engine, usage)| {
            let mark = if usage.incomplete && usage.is_measured() { STOPPED } else { "" };
            let text = |(_, value, show): &Kind| Text {
                value: format::or_dash(value(usage), show),
                ..Text::default()
            };
            (text::plain(engine.id) + mark, kinds.iter().map(text).collect())
        })
        .collect();
    (!kinds.is_empty() && !rows.is_empty()).then(|| Grid {
        title: format!("{} · resources, {}", title(group), text::plain(group.variant)),
        corner: String::new(),
        header: kinds.iter().map(|(name, ..)| (*name).to_owned()).collect(),
        rows,
    })
}

fn share(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Loads of engines down, what they wrote and their maintenance across; `None` where no phase of
/// the group inserts rows, or an older result does not tell. A column that nobody has is left out.
pub(crate) fn loads(group: &Group<'_>) -> Option<Grid> {
    type Kind = (&'static str, fn(&Loading) -> Option<f64>, fn(f64) -> String);
    let kinds: [Kind; 7] = [
        ("rows' bytes", |loading| loading.user_bytes, format::bytes),
        ("written/byte", |loading| loading.write_amplification, format::ratio),
        ("maintenance", |loading| loading.maintenance_ns, format::duration),
        ("its CPU", |loading| loading.maintenance_cpu_ns, format::duration),
        ("total/byte", |loading| loading.amplification_with_maintenance, format::ratio),
        ("disk before", |loading| loading.disk_before_bytes, format::bytes),
        ("disk after", |loading| loading.disk_after_bytes, format::bytes),
    ];
    let known = || group.rows.iter().flat_map(|row| row.loadings.iter().flatten());
    let kinds: Vec<Kind> = kinds
        .into_iter()
        .filter(|(_, value, _)| known().any(|load| value(load).is_some()))
        .collect();
    let mut rows = Vec::new();
    for row in &group.rows {
        for (engine, loading) in group.engines.iter().zip(&row.loadings) {
            let Some(loading) = loading else { continue };
            let text = |(_, value, show): &Kind| Text {
                value: format::or_dash(value(loading), show),
                ..Text::default()
            };
            let name = format!("{} {}", text::plain(engine.id), label(row, false));
            rows.push((name, kinds.iter().map(text).collect()));
        }
    }
    (!rows.is_empty()).then(|| Grid {
        title: format!("{} · loads and maintenance", title(group)),
        corner: String::new(),
        header: kinds.iter().map(|(name, ..)| (*name).to_owned()).collect(),
        rows,
    })
}

/// `load`, `load (bulk)`, `load /op`.
fn label(row: &Row<'_>, with_unit: bool) -> String {
    let phase = row.phase.map_or_else(|| "every phase".to_owned(), text::plain);
    let variant = row.variant.map(|variant| format!(" ({})", text::plain(variant)));
    let per_operation = with_unit && row.unit == Unit::Operation;
    let unit = if per_operation { format!(" {PER_OPERATION}") } else { String::new() };
    phase + &variant.unwrap_or_default() + &unit
}

/// An engine's name with what is to be known of it in the group.
pub(crate) fn heading(group: &Group<'_>, engine: &Engine<'_>) -> String {
    let name = text::plain(engine.id);
    if engine.reference {
        format!("{name} {REFERENCE}")
    } else if engine.stronger(group.durability).is_some() {
        name + STRONGER
    } else if engine.weaker(group.durability).is_some() {
        format!("{name} {WEAKER}")
    } else {
        name
    }
}

fn comparison_text(row: &Row<'_>, entry: &Entry<'_>) -> Text {
    let measured = match entry {
        Entry::Measured(measured) => measured,
        Entry::Ended(status) => {
            let tone = if status.is_failure() { Tone::Bad } else { Tone::Dim };
            return Text { value: status.to_string(), tone, ..Text::default() };
        }
        Entry::Absent => return Text { value: format::NOT_MEASURED.into(), ..Text::default() },
    };
    let Measured { figure, ratio, best, not_significant, tainted, shortfall, .. } = measured;
    let marks = [
        (figure.stop.is_some(), STOPPED),
        (shortfall.is_some(), sharing::BEHIND),
        (figure.client_side, CLIENT_SIDE),
        (!figure.outliers.is_empty(), OUTLIER),
        (*tainted, TAINTED),
    ];
    let lacking = shortfall.filter(|shortfall| Some(shortfall.phase) == row.phase);
    let lacking = lacking.map(|shortfall| shortfall.what.short());
    let second = ratio.map(format::ratio).or(lacking).unwrap_or_default();
    let leads = *best || *not_significant;
    Text {
        value: format::duration(row.time_ns(measured)),
        marks: marks.into_iter().filter(|(applies, _)| *applies).map(|(_, mark)| mark).collect(),
        second,
        ratio: *ratio,
        best: match (not_significant, best) {
            (true, _) => NOT_SIGNIFICANT,
            (false, true) => BEST,
            (false, false) => "",
        },
        tone: match (leads, figure.stop.is_some() || !measured.competes()) {
            (_, true) => Tone::Warning,
            (true, _) => Tone::Best,
            _ => Tone::Plain,
        },
    }
}

fn interval_text(row: &Row<'_>, entry: &Entry<'_>) -> Text {
    let measured = match entry {
        Entry::Measured(measured) => Some(measured),
        _ => None,
    };
    let Some(interval) = measured.and_then(|measured| row.interval_ns(measured)) else {
        return Text { value: format::NOT_MEASURED.into(), ..Text::default() };
    };
    let ratio = measured.and_then(|measured| measured.ratio_interval);
    Text {
        value: format::between(interval, format::duration),
        second: ratio.map(|ratio| format::between(ratio, format::ratio)).unwrap_or_default(),
        ..Text::default()
    }
}

fn latency_text(entry: &Entry<'_>) -> Text {
    let latency = match entry {
        Entry::Measured(measured) => measured.figure.latency(),
        _ => None,
    };
    let Some(latency) = latency else {
        return Text { value: format::NOT_MEASURED.into(), ..Text::default() };
    };
    Text {
        value: format::duration(latency.p50 as f64),
        second: format::or_dash(latency.p99, |ns| format::duration(ns as f64)),
        ..Text::default()
    }
}
