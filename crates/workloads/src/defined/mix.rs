//! Phases that run at the same time, and the measurements of each.

use std::sync::Arc;

use embermark_contract::{EngineError, Result};
use embermark_data::draw::Draw;
use embermark_language::{Mix, Pace, Part};
use embermark_meter::{ArrivalSchedule, Meter};

use super::Cell;
use super::client_task::{ClientResult, ClientTask, ClientTaskPart};
use super::kind::changes_at_once;
use super::steady_state::{self, SteadyStateMonitor};

/// Number of operations after which the drawn order of parts repeats.
const ORDER: usize = 1 << 14;

/// Returns the tasks of a mix's clients. In a mix by rates each part is a client. In a mix by
/// shares all clients do the same.
///
/// # Errors
/// Unsupported where a part cannot run at the same time as others.
pub(super) fn client_tasks(
    cell: &Cell,
    mix: &Mix,
    seed: u64,
    monitor: Option<&Arc<SteadyStateMonitor>>,
) -> Result<Vec<ClientTask>> {
    if mix.parts.iter().any(|part| changes_at_once(cell.work(part.phase))) {
        let what = "to change or delete all rows that meet a condition during other work: the rows \
                    that are left would be unknown";
        return Err(EngineError::unsupported("a mix", what));
    }
    if by_rates(&mix.parts) {
        let lasts = mix.lasts.unwrap_or(embermark_language::LASTS);
        let task = |(client, part): (usize, &Part)| {
            let Pace::Rate(rate) = part.pace else { return None };
            let rounds = monitor
                .map(|monitor| (client, steady_state::round(rate, lasts), Arc::clone(monitor)));
            let schedule = Some(ArrivalSchedule::new(rate, 1, 0));
            Some(ClientTask {
                parts: vec![ClientTaskPart { phase: part.phase, schedule }],
                ops: Some(((rate * lasts.as_secs_f64()).floor() as u64).max(1)),
                lasts: Some(lasts),
                rounds,
                clients: 1,
                ..ClientTask::default()
            })
        };
        return Ok(mix.parts.iter().enumerate().filter_map(task).collect());
    }
    let clients = mix.clients.max(1) as usize;
    let parts = mix.parts.iter().map(|part| ClientTaskPart { phase: part.phase, schedule: None });
    let parts: Vec<ClientTaskPart> = parts.collect();
    let task = |client| ClientTask {
        parts: parts.clone(),
        order: order(mix, seed, client as u64),
        ops: mix.lasts.is_none().then(|| share(mix.ops, clients, client)),
        lasts: mix.lasts,
        client,
        clients,
        ..ClientTask::default()
    };
    Ok((0..clients).map(task).collect())
}

/// Returns the tasks of several clients that share one phase.
pub(super) fn shared(phase: usize, ops: u64, clients: usize, rate: Option<u64>) -> Vec<ClientTask> {
    let task = |client| {
        let pace = |rate: u64| ArrivalSchedule::new(rate as f64, clients as u32, client as u32);
        ClientTask {
            parts: vec![ClientTaskPart { phase, schedule: rate.map(pace) }],
            ops: Some(share(ops, clients, client)),
            client,
            clients,
            is_shared: true,
            ..ClientTask::default()
        }
    };
    (0..clients).map(task).collect()
}

/// Returns how many of some operations a client has that does every `clients`-th.
const fn share(ops: u64, clients: usize, client: usize) -> u64 {
    let (clients, client) = (clients as u64, client as u64);
    ops / clients + if ops % clients > client { 1 } else { 0 }
}

/// Draws the order of parts according to their shares.
fn order(mix: &Mix, seed: u64, client: u64) -> Arc<[u8]> {
    let mut draw = Draw::new(seed, 10_000 + client);
    let shares = mix.parts.iter().map(|part| match part.pace {
        Pace::Share(share) | Pace::Rate(share) => share,
    });
    let shares: Vec<f64> = shares.collect();
    let all: f64 = shares.iter().sum();
    let one = |_| {
        let mut left = draw.unit() * all;
        let part = shares.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        part.unwrap_or(shares.len() - 1) as u8
    };
    (0..ORDER).map(one).collect()
}

/// Returns the operations per second of all parts of a mix by rates.
pub(super) fn target_rate(mix: &Mix) -> Option<f64> {
    mix.parts.iter().map(|part| rate(part.pace)).sum()
}

/// Returns whether parts start their operations on schedules.
pub(super) fn by_rates(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part.pace, Pace::Rate(_)))
}

/// Returns the rate of a part.
pub(super) const fn rate(pace: Pace) -> Option<f64> {
    match pace {
        Pace::Rate(rate) => Some(rate),
        Pace::Share(_) => None,
    }
}

/// Combines the measurements of clients as one run.
pub(super) fn gather(clients: &[ClientResult], meter: &mut Meter) {
    if clients.iter().all(|done| done.meters.len() == 1) {
        return meter.merge_clients(clients.iter().flat_map(|done| &done.meters));
    }
    let of_client = |done: &ClientResult| {
        let mut all = meter.for_part(None, None);
        all.merge_parts(&done.meters);
        all
    };
    let by_client: Vec<Meter> = clients.iter().map(of_client).collect();
    match &by_client[..] {
        [one] => meter.merge_parts(std::slice::from_ref(one)),
        all => meter.merge_clients(all),
    }
}

/// Combines the clients' measurements of one part of a mix.
pub(super) fn of_part(clients: &[ClientResult], mix: &Mix, part: usize, meter: &Meter) -> Meter {
    let own: Vec<&Meter> = match mix.parts[part].pace {
        // Each part is a client.
        Pace::Rate(_) => clients.get(part).into_iter().flat_map(|done| &done.meters).collect(),
        Pace::Share(_) => clients.iter().filter_map(|done| done.meters.get(part)).collect(),
    };
    let mut all = meter.for_part(None, None);
    all.merge_parts(own);
    all
}
