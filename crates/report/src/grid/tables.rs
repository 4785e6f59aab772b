//! Tables of a group.

use embermark_model::result::{DiskSize, Latency};

use super::{
    BEHIND, BEST, CLIENT_SIDE, COMMITS_EACH, Grid, LOST, NOT_SIGNIFICANT, OUTLIER, PER_OPERATION,
    STOPPED, SURPRISE, TAINTED, Text, Tone, client_machines, columns, engine_heading, title,
};
use crate::format;
use crate::scaling::Scaling;
use crate::summary::{
    Amounts, Column, Entry, Group, LOADING, Measured, Resource, Row, Usage, explained_columns,
    run_figure_columns,
};
use crate::{Options, text};

/// Returns every table of a group. The first has the times and ratios.
pub(crate) fn group_tables(
    group: &Group<'_>,
    options: &Options<'_>,
    scaling: &Scaling<'_>,
) -> Vec<Grid> {
    let mut tables = vec![comparison(group, scaling)];
    // Tables that are not requested are not computed: latencies take the histograms of every trial.
    if options.intervals {
        tables.extend(intervals(group));
    }
    if options.latency {
        tables.extend([latency(group), pauses(group)].into_iter().flatten());
    }
    let always = [
        throughput(group),
        client_machines::table(group),
        response(group),
        resources(group),
        loads(group),
        database(group),
    ];
    tables.extend(always.into_iter().flatten().chain(run_figures(group)));
    if options.explain {
        tables.extend(explained(group));
    }
    tables
}

/// Returns the table of times and ratios, with phases down and engines across.
fn comparison(group: &Group<'_>, scaling: &Scaling<'_>) -> Grid {
    let places = columns(group);
    let row = |row: &Row<'_>| {
        let text = |place: &usize| {
            let surprise = scaling.surprise(group, row, group.engines[*place].id);
            comparison_text(row, &row.entries[*place], surprise.is_some())
        };
        (label(row, true), places.iter().map(text).collect())
    };
    Grid::new(title(group), header(group), group.rows.iter().map(row).collect())
}

/// Returns the text that a table shows for one time.
type Show<'a> = &'a dyn Fn(&Row<'_>, &Measured<'_>) -> Option<Text>;

/// Returns a table with phases down and engines across. Each kind of figure has a row, named after
/// the phase. `None` if no phase has any.
fn by_phase(group: &Group<'_>, of: &str, unit: bool, kinds: &[(&str, Show<'_>)]) -> Option<Grid> {
    let places = columns(group);
    let mut rows = Vec::new();
    for row in &group.rows {
        for (kind, show) in kinds {
            let shown = |place: &usize| show(row, row.entries[*place].measured()?);
            let texts: Vec<Option<Text>> = places.iter().map(shown).collect();
            if texts.iter().any(Option::is_some) {
                let texts = texts.into_iter().map(|text| text.unwrap_or_else(Text::dash));
                rows.push((label(row, unit) + kind, texts.collect()));
            }
        }
    }
    Grid::new(format!("{} · {of}", title(group)), header(group), rows).filled()
}

/// Shows median and 99th percentile of the latency.
fn latency(group: &Group<'_>) -> Option<Grid> {
    let show: Show<'_> = &|_, measured| {
        let latency = measured.figure.latency()?;
        let second = format::or_dash(latency.p99, |ns| format::duration(ns as f64));
        Some(Text { second, ..Text::new(format::duration(latency.p50 as f64)) })
    };
    by_phase(group, "latency of one operation, p50 and p99", false, &[("", show)])
}

/// Shows the longest operation, and the share of the time in operations longer than ten times the
/// median.
fn pauses(group: &Group<'_>) -> Option<Grid> {
    let show: Show<'_> = &|_, measured| {
        let latency = measured.figure.latency()?;
        let share = |stalled: f64| format!("{:.1} %", 100.0 * stalled);
        let second = format::or_dash(latency.stalled, share);
        Some(Text { second, ..Text::new(format::duration(latency.max as f64)) })
    };
    let of = "longest of the timed operations, and share of their time above 10 times the median";
    by_phase(group, of, false, &[("", show)])
}

/// Shows the 95 % intervals of time and ratio.
fn intervals(group: &Group<'_>) -> Option<Grid> {
    let show: Show<'_> = &|row, measured| {
        let time = format::between(row.interval_ns(measured)?, format::duration);
        let ratio = measured.ratio_interval.map(|ends| format::between(ends, format::ratio));
        Some(Text { second: ratio.unwrap_or_default(), ..Text::new(time) })
    };
    by_phase(group, "95 % intervals of time and ratio", true, &[("", show)])
}

/// Shows operations per second of all clients, and of the slowest and the fastest of them. `None`
/// if one client did one operation after the other.
fn throughput(group: &Group<'_>) -> Option<Grid> {
    let show: Show<'_> = &|_, measured| {
        let sharing = measured.figure.sharing.as_ref()?;
        let ends = sharing.clients.map(|ends| format::between(ends, format::rate));
        let behind = sharing.is_behind();
        Some(Text {
            marks: if behind { BEHIND } else { "" }.to_owned(),
            second: ends.unwrap_or_default(),
            tone: if behind { Tone::Warning } else { Tone::Plain },
            ..Text::new(format::rate(sharing.per_second))
        })
    };
    let shared = |measured: &Measured<'_>| measured.figure.sharing.as_ref()?.clients;
    let of = match group.measured().any(|(.., measured)| shared(measured).is_some()) {
        true => "operations per second of all clients, and of the slowest and fastest one",
        false => "operations per second",
    };
    by_phase(group, of, false, &[("", show)])
}

/// Shows median, 99th and 99.9th percentile of the response times, and below them of the service
/// times. `None` without a target rate.
fn response(group: &Group<'_>) -> Option<Grid> {
    let spread = |latency: Option<Latency>| {
        let latency = latency?;
        let [p99, p99_9] = [latency.p99, latency.p99_9]
            .map(|ns| format::or_dash(ns, |ns| format::duration(ns as f64)));
        let second = format!("{p99} / {p99_9}");
        Some(Text { second, ..Text::new(format::duration(latency.p50 as f64)) })
    };
    let response: Show<'_> = &|_, measured| spread(measured.figure.response());
    let service: Show<'_> = &|_, measured| {
        measured.figure.response()?;
        spread(measured.figure.latency())
    };
    let of = "response time (from the scheduled start) and service time, p50, p99 / p99.9";
    by_phase(group, of, false, &[(" response", response), (" service", service)])
}

/// Returns a table with engines down and resources across.
fn resources(group: &Group<'_>) -> Option<Grid> {
    let row = |place: usize| {
        let usage: &Usage = &group.usage[place];
        let mark = if usage.incomplete && usage.is_measured() { STOPPED } else { "" };
        (group.engines[place].name() + mark, &usage.amounts)
    };
    let of = format!("resources, {}", text::plain(group.variant));
    let shown = Resource::SHOWN.iter().map(|resource| resource.column);
    across(group, &of, shown, &columns(group).into_iter().map(row).collect::<Vec<_>>())
}

/// Returns a table with loads of engines down, and their bytes and maintenance across.
fn loads(group: &Group<'_>) -> Option<Grid> {
    let loads = of_each(group, |row| &row.loadings[..]).into_iter();
    let rows = loads.map(|(engine, phase, load)| (format!("{engine} {phase}"), load));
    let columns = LOADING.iter().map(|metric| metric.column);
    across(group, "loads and maintenance", columns, &rows.collect::<Vec<_>>())
}

/// Returns a table with variants down and engines across: bytes allocated for the files of the
/// database, and their length. `None` if no size was measured.
fn database(group: &Group<'_>) -> Option<Grid> {
    let places = columns(group);
    let text = |size: &Option<DiskSize>| match size {
        Some(size) => Text {
            second: format::bytes(size.apparent_bytes as f64),
            ..Text::new(format::bytes(size.allocated_bytes as f64))
        },
        None => Text::dash(),
    };
    let known = group.sizes.iter().filter(|(_, sizes)| sizes.iter().any(Option::is_some));
    let row = |(variant, sizes): &(&str, Vec<Option<DiskSize>>)| {
        (text::plain(variant), places.iter().map(|place| text(&sizes[*place])).collect())
    };
    let of = "database size, rows loaded once: allocated, and length of its files";
    Grid::new(format!("{} · {of}", title(group)), header(group), known.map(row).collect()).filled()
}

/// Returns tables with the engines of each phase down, and figures other than the time across.
fn run_figures(group: &Group<'_>) -> Vec<Grid> {
    let figures = of_each(group, |row| &row.run_figures[..]).into_iter();
    let rows = figures.map(|(engine, phase, figures)| (format!("{engine} {phase}"), figures));
    let rows: Vec<(String, &Amounts)> = rows.collect();
    let grid = |(of, columns): (&str, Vec<Column>)| {
        let has = |(_, all): &&(String, &Amounts)| columns.iter().any(|c| all.get(c.key).is_some());
        let rows: Vec<(String, &Amounts)> = rows.iter().filter(has).cloned().collect();
        across(group, of, columns.iter().copied(), &rows)
    };
    run_figure_columns().into_iter().filter_map(grid).collect()
}

/// Returns tables with the engines of each phase down, and the requests of an operation to the
/// system across: system calls, and the others. A column of only zeros is left out.
fn explained(group: &Group<'_>) -> Vec<Grid> {
    let mut rows: Vec<(String, &Amounts)> = Vec::new();
    for (engine, phase, explained) in of_each(group, |row| &row.explained[..]) {
        let client = explained.client.as_ref();
        rows.push((format!("{phase} {engine}"), &explained.engine));
        rows.extend(client.map(|client| (format!("{phase} {engine} client"), client)));
    }
    let some = |column: &Column| {
        rows.iter().any(|(_, all)| all.get(column.key).is_some_and(|amount| amount != 0.0))
    };
    let tables = explained_columns().into_iter();
    let tables = tables
        .filter_map(|(of, columns)| across(group, of, columns.into_iter().filter(some), &rows));
    tables.chain(frequent_calls(group)).collect()
}

/// Names the system calls that are more than 5 % of an engine's. `None` if none were counted.
fn frequent_calls(group: &Group<'_>) -> Option<Grid> {
    let mut rows = Vec::new();
    for (engine, phase, explained) in of_each(group, |row| &row.explained[..]) {
        let calls = explained.frequent_calls.iter();
        let calls = calls.map(|(name, share)| format!("{name} {:.0} %", share * 100.0));
        if !explained.frequent_calls.is_empty() {
            let says = Text::new(text::joined(calls, ", "));
            rows.push((format!("{phase} {engine}"), vec![says]));
        }
    }
    let title = format!("{} · which system calls, above 5 %", title(group));
    Grid::new(title, ["of the engine's calls"], rows).filled()
}

/// Returns what each engine has in each row, with the names of the engine and the phase.
fn of_each<'g, 'a, T>(
    group: &'g Group<'a>,
    values: impl Fn(&'g Row<'a>) -> &'g [Option<T>],
) -> Vec<(String, String, &'g T)> {
    let of_row = |row: &'g Row<'a>| {
        let known = group.engines.iter().zip(values(row));
        known.filter_map(move |(engine, value)| {
            Some((engine.name(), label(row, false), value.as_ref()?))
        })
    };
    group.rows.iter().flat_map(of_row).collect()
}

/// Returns a table with amounts across. A column without amounts is left out. `None` if nothing was
/// measured.
fn across(
    group: &Group<'_>,
    of: &str,
    columns: impl Iterator<Item = Column>,
    rows: &[(String, &Amounts)],
) -> Option<Grid> {
    let known = |column: &Column| {
        !column.heading.is_empty() && rows.iter().any(|(_, all)| all.get(column.key).is_some())
    };
    let columns: Vec<Column> = columns.filter(known).collect();
    let text = |amounts: &Amounts, column: &Column| {
        let amount = amounts.get(column.key);
        Text::new(format::or_dash(amount, |amount| column.quantity.show(amount)))
    };
    let texts = |amounts: &Amounts| columns.iter().map(|column| text(amounts, column)).collect();
    let rows = rows.iter().map(|(name, amounts)| (name.clone(), texts(amounts))).collect();
    let headings = columns.iter().map(|column| column.heading);
    let grid = Grid::new(format!("{} · {of}", title(group)), headings, rows);
    Some(grid).filter(|grid| !grid.header.is_empty())
}

fn header(group: &Group<'_>) -> Vec<String> {
    let engines = columns(group).into_iter().map(|place| &group.engines[place]);
    engines.map(|engine| engine_heading(group, engine)).collect()
}

/// Returns the label of a row: `load`, `load (bulk)`, `load /op`.
pub(crate) fn label(row: &Row<'_>, with_unit: bool) -> String {
    let phase = row.phase.map_or_else(|| "every phase".to_owned(), text::plain);
    let variant = row.variant.map(|variant| format!(" ({})", text::plain(variant)));
    let per_operation = with_unit && row.per_operation;
    let unit = if per_operation { format!(" {PER_OPERATION}") } else { String::new() };
    phase + &variant.unwrap_or_default() + &unit
}

fn comparison_text(row: &Row<'_>, entry: &Entry<'_>, surprises: bool) -> Text {
    let measured = match entry {
        Entry::Measured(measured) => measured,
        Entry::Ended(status) => return Text::ended(*status),
        Entry::Absent => return Text::dash(),
    };
    let Measured { figure, ratio, best, not_significant, shortfall, .. } = measured;
    let lacking = shortfall.filter(|shortfall| Some(shortfall.phase) == row.phase);
    let lacking = lacking.map(|shortfall| shortfall.what.short());
    Text {
        value: format::duration(row.time_ns(measured)),
        marks: marks(measured) + if surprises { SURPRISE } else { "" },
        second: ratio.map(format::ratio).or(lacking).unwrap_or_default(),
        ratio: *ratio,
        best: lead(*best, *not_significant),
        tone: match (*best || *not_significant, figure.stop.is_some() || !measured.competes()) {
            (_, true) => Tone::Warning,
            (true, _) => Tone::Best,
            _ => Tone::Plain,
        },
    }
}

/// Returns the marks of a time, without those of its comparison with others.
pub(crate) fn marks(measured: &Measured<'_>) -> String {
    let Measured { figure, commits_each, shortfall, .. } = measured;
    let marks = [
        (figure.stop.is_some(), STOPPED),
        (shortfall.is_some(), BEHIND),
        (figure.client_side, CLIENT_SIDE),
        (*commits_each, COMMITS_EACH),
        (!figure.outliers.is_empty(), OUTLIER),
        (measured.tainted, TAINTED),
        (measured.lost > 0, LOST),
    ];
    marks.into_iter().filter(|(applies, _)| *applies).map(|(_, mark)| mark).collect()
}

/// Returns the mark of the best, or of those that do not differ significantly from it.
pub(crate) const fn lead(best: bool, not_significant: bool) -> &'static str {
    match (not_significant, best) {
        (true, _) => NOT_SIGNIFICANT,
        (false, true) => BEST,
        (false, false) => "",
    }
}
