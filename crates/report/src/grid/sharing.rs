//! What several clients did together, and response times of operations started at a target rate.

use embermark_model::plan::Plan;
use embermark_model::result::Latency;

use super::{Grid, Text, Tone, columns, heading, label, title};
use crate::format;
use crate::summary::{Entry, Figure, Group};

/// What did not keep up with its schedule.
pub(crate) const BEHIND: &str = "<";

/// `4 clients`, `target rate 400/s`: parts of a group's subtitle, of a workload that has
/// them.
pub(super) fn parts(group: &Group<'_>, plan: &Plan) -> Vec<String> {
    let clients = (plan.clients > 1).then(|| format::counted(plan.clients.into(), "client"));
    let rate = plan.target_rate.filter(|_| figures(group).any(|figure| figure.sharing.is_some()));
    let rate = rate.map(target_rate);
    clients.into_iter().chain(rate).collect()
}

/// `target rate 2.00 k/s`.
pub(crate) fn target_rate(per_second: u64) -> String {
    format!("target rate {}", format::rate(per_second as f64))
}

/// Phases down, engines across: operations a second of all clients, and of the slowest and the fastest
/// of them; `None` where there was one client, doing one after the other.
pub(crate) fn throughput(group: &Group<'_>) -> Option<Grid> {
    let text = |figure: &Figure<'_>| {
        let Some(sharing) = &figure.sharing else { return dash() };
        let behind = sharing.is_behind();
        Text {
            value: format::rate(sharing.per_second),
            marks: if behind { BEHIND } else { "" }.to_owned(),
            second: sharing
                .clients
                .map(|ends| format::between(ends, format::rate))
                .unwrap_or_default(),
            tone: if behind { Tone::Warning } else { Tone::Plain },
            ..Text::default()
        }
    };
    let rows = rows(group, &[("", &text)]);
    let of = match figures(group).any(|f| f.sharing.as_ref().is_some_and(|s| s.clients.is_some())) {
        true => "operations a second of all clients, and of the slowest and fastest one",
        false => "operations a second",
    };
    grid(group, of, rows)
}

/// Phases down, engines across: median, 99th and 99.9th percentile of the response times, and below
/// them of the service times; `None` without a target rate.
pub(crate) fn response(group: &Group<'_>) -> Option<Grid> {
    let spread = |latency: Option<Latency>| {
        let Some(latency) = latency else { return dash() };
        let [p99, p99_9] = [latency.p99, latency.p99_9]
            .map(|ns| format::or_dash(ns, |ns| format::duration(ns as f64)));
        Text {
            value: format::duration(latency.p50 as f64),
            second: format!("{p99} / {p99_9}"),
            ..Text::default()
        }
    };
    let response = |figure: &Figure<'_>| spread(figure.response());
    let service = |figure: &Figure<'_>| match figure.response() {
        Some(_) => spread(figure.latency()),
        None => dash(),
    };
    let rows = rows(group, &[(" response", &response), (" service", &service)]);
    grid(group, "response time (from the scheduled start) and service time, p50, p99 / p99.9", rows)
}

type Show<'a> = &'a dyn Fn(&Figure<'_>) -> Text;

fn rows(group: &Group<'_>, kinds: &[(&str, Show<'_>)]) -> Vec<(String, Vec<Text>)> {
    let columns = columns(group);
    let mut rows = Vec::new();
    for row in &group.rows {
        for (kind, show) in kinds {
            let entries = columns.iter().filter_map(|engine| row.entries.get(*engine));
            let texts: Vec<Text> = entries
                .map(|entry| match entry {
                    Entry::Measured(measured) => show(&measured.figure),
                    _ => dash(),
                })
                .collect();
            if texts.iter().any(|text| text.value != format::NOT_MEASURED) {
                rows.push((label(row, false) + kind, texts));
            }
        }
    }
    rows
}

fn grid(group: &Group<'_>, of: &str, rows: Vec<(String, Vec<Text>)>) -> Option<Grid> {
    (!rows.is_empty()).then(|| Grid {
        title: format!("{} · {of}", title(group)),
        corner: String::new(),
        header: columns(group)
            .into_iter()
            .map(|engine| heading(group, &group.engines[engine]))
            .collect(),
        rows,
    })
}

fn dash() -> Text {
    Text { value: format::NOT_MEASURED.into(), ..Text::default() }
}

fn figures<'a>(group: &'a Group<'a>) -> impl Iterator<Item = &'a Figure<'a>> {
    group.rows.iter().flat_map(|row| &row.entries).filter_map(|entry| match entry {
        Entry::Measured(measured) => Some(&measured.figure),
        _ => None,
    })
}
