//! Table of clients on several machines.

use super::{Grid, Text, columns, title};
use crate::format;
use crate::summary::{Group, MachineShare};
use crate::text;

/// Returns a table with the machines of each phase and engine down, and their clock offset, start
/// and work across. `None` if all clients were on one machine.
pub(super) fn table(group: &Group<'_>) -> Option<Grid> {
    let places = columns(group);
    let mut rows = Vec::new();
    for row in &group.rows {
        for place in &places {
            let Some(measured) = row.entries[*place].measured() else { continue };
            let Some(sharing) = &measured.figure.sharing else { continue };
            let phase = text::plain(row.phase.unwrap_or_default());
            let engine = group.engines[*place].name();
            rows.extend(sharing.machines.iter().map(|machine| {
                let device = text::plain(&machine.device);
                (format!("{phase} {engine} · {device}"), figures(machine))
            }));
        }
    }
    let header = ["clients", "clock", "± error", "start", "operations", "rate", "p50", "p99"];
    Grid::new(format!("{} · client machines", title(group)), header, rows).filled()
}

fn figures(machine: &MachineShare) -> Vec<Text> {
    let latency = |ns| Text::new(format::or_dash(ns, |ns: u64| format::duration(ns as f64)));
    vec![
        Text::new(format::count(machine.clients.into())),
        Text::new(signed(machine.clock.offset_ns)),
        Text::new(format::duration(machine.clock.error_ns as f64)),
        Text::new(signed(machine.start_delay_ns)),
        Text::new(format::count(machine.ops)),
        Text::new(format::rate(machine.per_second)),
        latency(machine.p50_ns),
        latency(machine.p99_ns),
    ]
}

/// Formats a time with its sign: `+1.20 ms`, `-340 µs`.
fn signed(ns: i64) -> String {
    let sign = if ns < 0 { '-' } else { '+' };
    format!("{sign}{}", format::duration(ns.unsigned_abs() as f64))
}
