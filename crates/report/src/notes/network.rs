//! The imitated network link between clients and servers: what it models, and what it did.

use embermark_model::network::{Carried, LinkUse, NetworkLink};
use embermark_model::result::ResultFile;

use crate::note::{Note, note};
use crate::{format, text};

/// Labels the figures of servers behind a link: `servers over an imitated network: a model of wifi
/// with its likely values, …`. `None` if no trial went over one.
pub(crate) fn imitated(file: &ResultFile) -> Option<String> {
    let name = name(file)?;
    Some(format!(
        "servers over an imitated network: a model of {name}, not a measurement of a network (docs/network.md); \
         embedded engines have none",
    ))
}

/// Returns the name of the link. `None` if no trial went over one.
pub(crate) fn name(file: &ResultFile) -> Option<String> {
    used(file)?;
    Some(text::plain(&file.plan.network.as_ref()?.name))
}

/// Adds up what the link did in all trials. `None` if no trial went over it.
fn used(file: &ResultFile) -> Option<LinkUse> {
    let trials = file.cells.iter().flat_map(|cell| &cell.trials);
    trials.filter_map(|trial| trial.network).reduce(LinkUse::and)
}

/// Describes the link: what it is, its parameters, and what it did.
pub(super) fn notes(file: &ResultFile) -> Vec<Note> {
    let (Some(link), Some(label)) = (&file.plan.network, imitated(file)) else { return Vec::new() };
    let name = text::plain(&link.name);
    let about = Some(text::plain(&link.about)).filter(|about| !about.is_empty());
    let about = about.map(|about| about + "; ").unwrap_or_default();
    let did = used(file).map(|all| note(&name, carried(link, all)));
    [note(&name, about + &label), note(&name, parameters(link))].into_iter().chain(did).collect()
}

/// Describes all parameters of a link.
pub(crate) fn parameters(link: &NetworkLink) -> String {
    let us = |us: u32| format::duration(f64::from(us) * 1e3);
    let rate = |kbit: u32| match kbit {
        0 => "no limit".to_owned(),
        kbit if kbit < 1_000 => format!("{kbit} kbit/s"),
        kbit => format!("{} Mbit/s", f64::from(kbit) / 1e3),
    };
    let jitter = match link.jitter_us {
        0 => String::new(),
        jitter => format!(" and up to {} more", us(jitter)),
    };
    let shared = if link.half_duplex { ", one side at a time" } else { "" };
    format!(
        "{}: {}{jitter} in each direction; {} to the server and {} from it{shared}; {} of packets lost; queue {}",
        text::plain(&link.name),
        us(link.delay_us),
        rate(link.up_kbit_per_s),
        rate(link.down_kbit_per_s),
        percent(f64::from(link.loss_ppm) / 1e6),
        format::bytes(link.queue_bytes.into()),
    )
}

/// Formats a share that may be far below 1 %: `0.01 %`.
fn percent(share: f64) -> String {
    format!("{} %", share * 100.0)
}

/// Describes what a link did.
fn carried(link: &NetworkLink, all: LinkUse) -> String {
    let way = |of: Carried, name: &str| {
        let packets = format::counted(of.packets, "packet");
        format!("{packets} of {} {name}", format::bytes(of.bytes as f64))
    };
    let least = f64::from(link.delay_us) * 2e3;
    format!(
        "{} and {}; {} lost, {} found the queue full; a round trip over TCP took up to {} before an engine was \
         opened ({} of them the delay); packets were {} late on average and at most {}",
        way(all.up, "to servers"),
        way(all.down, "from them"),
        format::count(all.lost()),
        format::count(all.dropped()),
        format::duration(all.round_trip_ns as f64),
        format::duration(least),
        format::duration(all.late_ns as f64 / all.packets().max(1) as f64),
        format::duration(all.latest_ns as f64),
    )
}
