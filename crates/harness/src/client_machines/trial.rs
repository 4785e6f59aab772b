//! One trial of a cell, with its own processes on every machine.

use embermark_meter::merge as add_up;
use embermark_model::result::{ClockOffset, Latency, PhaseResult, Run, Trial};
use embermark_model::{CellId, Status};

use super::conduct::{Conductor, Stop, unexpected_reply};
use super::merge::Merged;
use super::protocol::{Job, Order, Reply};
use super::run::Ended;
use super::transport::MachineReplies;
use crate::journal::{Line, Prepared};

impl Conductor<'_> {
    /// Runs a trial, with its own processes on every machine.
    pub(super) fn trial(
        &mut self,
        id: &CellId,
        phases: &[String],
        trial: &mut Trial,
    ) -> Result<(), Stop> {
        let jobs: Vec<Job> = (0..self.names.len() as u32)
            .map(|machine| Job {
                cell: id.clone(),
                plan: self.plan.clone(),
                url: self.plan.urls.get(&id.engine).map_or("", |url| url.reveal()).to_owned(),
                guest: self.guest.clone(),
                own_clients: machine * self.each..(machine + 1) * self.each,
            })
            .collect();
        let ended = match self.transport.start(&jobs) {
            Ok(()) => self.measured(id, phases, trial),
            Err(why) => Err(Stop::Lost(why)),
        };
        // All machines, even if one is lost. The owner of the database comes last, because closing
        // it removes what it made.
        let (owner, others) =
            (vec![(0, vec![Order::Close])], self.orders_for_others(&[Order::Close]));
        let closed = [others, owner]
            .into_iter()
            .filter(|orders| !orders.is_empty())
            .map(|orders| self.send(&orders).map(drop))
            .fold(Ok(()), Result::and);
        ended.and(closed)
    }

    fn measured(&mut self, id: &CellId, phases: &[String], trial: &mut Trial) -> Result<(), Stop> {
        let replies = self.send(&self.orders_for_all(&[Order::Prepare]))?;
        let datasets = replies.into_iter().filter_map(|mut replies| match replies.pop() {
            Some(Reply::Prepared { dataset }) => Some(dataset),
            _ => None,
        });
        let datasets: Vec<_> = datasets.collect();
        if let Some(other) = datasets.iter().position(|other| *other != datasets[0]) {
            let says = format!("{} has other rows than {}", self.names[other], self.names[0]);
            return Err(Stop::Failed(Status::Failed, says));
        }
        if let (None, Some(dataset)) = (&self.journal.prepared, datasets.into_iter().next()) {
            let datasets = [(id.workload.clone(), dataset)].into();
            self.journal.add(Line::Prepared { prepared: Prepared { datasets, floor: None } })?;
        }
        let opened = self.send(&[(0, vec![Order::Open])])?;
        let Some(Reply::Opened { at, trial: known, phases: all }) =
            opened.into_iter().flatten().next()
        else {
            return Err(unexpected_reply("open the database"));
        };
        (trial.version, trial.settings) = (known.version, known.settings);
        let others = self.orders_for_others(&[Order::Join { at }]);
        if !others.is_empty() {
            self.send(&others)?;
        }
        for phase in all.into_iter().filter(|phase| phases.contains(&phase.phase)) {
            let result = self.phase(id, phase, trial.index);
            match result {
                (result, None) => trial.phases.push(result),
                (result, Some(stop)) => {
                    trial.phases.push(result);
                    return Err(stop);
                }
            }
        }
        Ok(())
    }

    /// Runs a phase as often as the plan says. Returns its `result` with the runs, and the reason
    /// if the trial must end. A wrong answer ends only the phase.
    fn phase(
        &mut self,
        id: &CellId,
        mut result: PhaseResult,
        trial: u32,
    ) -> (PhaseResult, Option<Stop>) {
        let name = result.phase.clone();
        let (mut latencies, mut responses): (Vec<Latency>, Vec<Latency>) = Default::default();
        let mut stop = None;
        for run in 0..self.plan.runs {
            self.progress.phase(&name, run + 1, self.plan.runs);
            let discarded = run < self.plan.warmup_runs;
            match self.run(&name) {
                Ok(Ended::Right(merged)) => {
                    let Merged { run: ran, latency, response, .. } = *merged;
                    if let Err(error) = self.warn_late(id, &name, trial, run, &ran) {
                        stop = Some(Stop::Run(error));
                    }
                    if !discarded {
                        latencies.extend(latency);
                        responses.extend(response);
                    }
                    if ran.capped {
                        result.status = result.status.worst(Status::Capped);
                    }
                    result.runs.push(Run { discarded, ..ran });
                }
                Ok(Ended::Wrong { run: ran, status, reason }) => {
                    result.runs.extend(ran.map(|ran| Run { discarded, ..*ran }));
                    (result.status, result.reason) = (status, Some(reason));
                    break;
                }
                Err(why) => stop = Some(why),
            }
            if stop.is_some() {
                break;
            }
        }
        (result.latency, result.response) = (
            add_up(&latencies).filter(|all| all.samples > 0),
            add_up(&responses).filter(|all| all.samples > 0),
        );
        (result, stop)
    }

    fn orders_for_all(&self, orders: &[Order]) -> Vec<(usize, Vec<Order>)> {
        (0..self.names.len()).map(|machine| (machine, orders.to_vec())).collect()
    }

    pub(super) fn orders_for_others(&self, orders: &[Order]) -> Vec<(usize, Vec<Order>)> {
        (1..self.names.len()).map(|machine| (machine, orders.to_vec())).collect()
    }

    /// Sends orders and returns the replies of each machine. The first one that failed ends the
    /// trial.
    pub(super) fn send(&mut self, orders: &[(usize, Vec<Order>)]) -> Result<Vec<Vec<Reply>>, Stop> {
        let replied = self.transport.send(orders, false);
        self.replies(orders, replied).map(|(replies, _)| replies)
    }

    pub(super) fn send_with_clocks(
        &mut self,
        orders: &[(usize, Vec<Order>)],
    ) -> Result<(Vec<Vec<Reply>>, Vec<ClockOffset>), Stop> {
        let replied = self.transport.send(orders, true);
        let (replies, clocks) = self.replies(orders, replied)?;
        let all: Option<Vec<ClockOffset>> = clocks.iter().copied().collect();
        let unknown = clocks.iter().position(Option::is_none).unwrap_or_default();
        let says = || {
            let name = &self.names[orders[unknown].0];
            Stop::Lost(format!(
                "{name}: its clock is unreadable: `date +%s%N` there gives no nanoseconds"
            ))
        };
        Ok((replies, all.ok_or_else(says)?))
    }

    #[allow(clippy::type_complexity, reason = "replies and clocks, by machine")]
    fn replies(
        &self,
        orders: &[(usize, Vec<Order>)],
        replied: Vec<MachineReplies>,
    ) -> Result<(Vec<Vec<Reply>>, Vec<Option<ClockOffset>>), Stop> {
        let mut all = Vec::with_capacity(orders.len());
        let mut clocks = Vec::with_capacity(orders.len());
        let mut stop = None;
        for ((machine, _), replied) in orders.iter().zip(replied) {
            let name = &self.names[*machine];
            clocks.push(replied.clock);
            match replied.replies {
                // A lost machine explains more than the failures that it causes.
                Err(why) => return Err(Stop::Lost(format!("{name}: {why}"))),
                Ok(replies) => {
                    if let Some(Reply::Failed { status, reason }) = replies.last() {
                        stop.get_or_insert(Stop::Failed(*status, format!("{name}: {reason}")));
                    }
                    all.push(replies);
                }
            }
        }
        stop.map_or(Ok((all, clocks)), Err)
    }
}
