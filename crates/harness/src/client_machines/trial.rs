//! One trial of a cell, with its own processes on every machine.

use std::time::{Duration, Instant};

use embermark_meter::merge as add_up;
use embermark_model::result::{ClockOffset, Latency, PhaseResult, Run, Trial};
use embermark_model::{CellId, Status};

use super::conduct::{Conductor, Stop, unexpected_reply};
use super::machine::wall_ns;
use super::merge::{MachineRun, Merged, merge};
use super::protocol::{Job, MachineReplies, Order, Ran, Reply};
use crate::Result;
use crate::journal::{Line, Prepared};

/// Tolerance after which a machine is reported: it began this much later than agreed, or its clock
/// is less exactly known.
pub const LATE: Duration = Duration::from_millis(100);

/// Least time from sending the order to begin until the beginning.
const LEAD: Duration = Duration::from_millis(500);

/// Outcome of a run.
enum Ended {
    /// The answer is right.
    Right(Box<Merged>),
    /// The answer is wrong or cannot be judged.
    Wrong {
        /// The measurements, if there are any.
        run: Option<Box<Run>>,
        status: Status,
        reason: String,
    },
}

impl Conductor<'_> {
    /// Runs a trial, with its own processes on every machine.
    pub fn trial(&mut self, id: &CellId, phases: &[String], trial: &mut Trial) -> Result<(), Stop> {
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
        let (owner, others) = (vec![(0, vec![Order::Close])], self.orders_from(1, &[Order::Close]));
        let mut closed = Ok(());
        for orders in [others, owner].iter().filter(|orders| !orders.is_empty()) {
            closed = closed.and(self.send(orders).map(drop));
        }
        ended.and(closed)
    }

    fn measured(&mut self, id: &CellId, phases: &[String], trial: &mut Trial) -> Result<(), Stop> {
        let replies = self.send(&self.orders_from(0, &[Order::Prepare]))?;
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
        let others = self.orders_from(1, &[Order::Join { at }]);
        if !others.is_empty() {
            self.send(&others)?;
        }
        for phase in all.into_iter().filter(|phase| phases.contains(&phase.phase)) {
            let (result, stop) = self.phase(id, phase, trial.index);
            trial.phases.push(result);
            stop.map_or(Ok(()), Err)?;
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
                    stop = self.warn_late(id, &name, trial, run, &ran).err().map(Stop::Run);
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
        (result.latency, result.response) = (add_up(&latencies), add_up(&responses));
        (result, stop)
    }

    /// Returns the same orders for every machine from the `first` on.
    fn orders_from(&self, first: usize, orders: &[Order]) -> Vec<(usize, Vec<Order>)> {
        (first..self.names.len()).map(|machine| (machine, orders.to_vec())).collect()
    }

    /// Sends orders and returns the replies of each machine. The first one that failed ends the
    /// trial.
    fn send(&mut self, orders: &[(usize, Vec<Order>)]) -> Result<Vec<Vec<Reply>>, Stop> {
        let replied = self.transport.send(orders, false);
        self.replies(orders, replied)
    }

    /// Sends orders, and returns the clock of each machine right before.
    fn send_with_clocks(
        &mut self,
        orders: &[(usize, Vec<Order>)],
    ) -> Result<Vec<ClockOffset>, Stop> {
        let replied = self.transport.send(orders, true);
        let clocks: Vec<Option<ClockOffset>> = replied.iter().map(|of| of.clock).collect();
        self.replies(orders, replied)?;
        let known = orders.iter().zip(clocks).map(|((machine, _), clock)| {
            let name = &self.names[*machine];
            let says = "its clock is unreadable: `date +%s%N` there gives no nanoseconds";
            clock.ok_or_else(|| Stop::Lost(format!("{name}: {says}")))
        });
        known.collect()
    }

    fn replies(
        &self,
        orders: &[(usize, Vec<Order>)],
        replied: Vec<MachineReplies>,
    ) -> Result<Vec<Vec<Reply>>, Stop> {
        let mut all = Vec::with_capacity(orders.len());
        let mut stop = None;
        for ((machine, _), replied) in orders.iter().zip(replied) {
            let name = &self.names[*machine];
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
        stop.map_or(Ok(all), Err)
    }

    /// Runs a phase on all machines once.
    fn run(&mut self, phase: &str) -> Result<Ended, Stop> {
        if self.options.interrupt.is_set() {
            return Err(Stop::Interrupted);
        }
        let ready = Order::Ready { phase: phase.to_owned() };
        self.send(&[(0, vec![ready.clone()])])?;
        // The other machines' clients, and the clocks of all.
        let mut orders = vec![(0, Vec::new())];
        orders.extend(self.orders_from(1, &[ready]));
        let began = Instant::now();
        let clocks = self.send_with_clocks(&orders)?;
        // Time that an order took to reach them.
        let lead = LEAD.max(began.elapsed() * 2);
        let moment = wall_ns() + i64::try_from(lead.as_nanos()).unwrap_or(i64::MAX);
        let begins: Vec<i64> = clocks.iter().map(|clock| moment + clock.offset_ns).collect();
        let orders: Vec<(usize, Vec<Order>)> = (begins.iter().enumerate())
            .map(|(machine, begin_ns)| {
                (machine, vec![Order::Run { phase: phase.to_owned(), begin_ns: *begin_ns }])
            })
            .collect();
        let ran = self.send(&orders)?.into_iter().map(|replies| match replies.into_iter().next() {
            Some(Reply::Ran(ran)) => Ok(*ran),
            _ => Err(unexpected_reply("run a phase")),
        });
        let ran: Vec<Ran> = ran.collect::<Result<_, Stop>>()?;
        let of = (self.names.iter().zip(clocks).zip(begins).zip(ran))
            .map(|(((device, clock), begin_ns), ran)| MachineRun {
                device: device.clone(),
                clock,
                begin_ns,
                ran,
            })
            .collect::<Vec<_>>();
        let merged = match merge(&of, self.plan.target_rate) {
            Ok(merged) => merged,
            Err(reason) => {
                return Ok(Ended::Wrong { run: None, status: Status::Failed, reason });
            }
        };
        let check = Order::Check {
            phase: phase.to_owned(),
            answer: merged.answer,
            done: merged.done.clone(),
            capped: merged.run.capped,
            elapsed_ns: merged.run.elapsed_ns,
        };
        match self.send(&[(0, vec![check])])?.into_iter().flatten().next() {
            Some(Reply::Checked { status: Status::Ok, .. }) => Ok(Ended::Right(Box::new(merged))),
            Some(Reply::Checked { status, reason }) => {
                let (run, reason) = (Some(Box::new(merged.run)), reason.unwrap_or_default());
                Ok(Ended::Wrong { run, status, reason })
            }
            _ => Err(unexpected_reply("check the answer")),
        }
    }

    /// Warns about machines that began late, or whose clock offset is too inexact to know.
    fn warn_late(
        &mut self,
        id: &CellId,
        phase: &str,
        trial: u32,
        run: u32,
        ran: &Run,
    ) -> Result<()> {
        let Some(together) = &ran.client_machines else { return Ok(()) };
        let bound = LATE.as_millis();
        for machine in &together.machines {
            let ms = |ns: u64| ns as f64 / 1e6;
            let device = &machine.device;
            let at = format!("{id}, {phase}, run {} of trial {}", run + 1, trial + 1);
            if machine.start_delay_ns > LATE.as_nanos() as i64 {
                self.warn(format!(
                    "{at}: {device} began {:.0} ms after the agreed time, more than {bound} ms: its rate \
                     counts from there on",
                    ms(machine.start_delay_ns.unsigned_abs())
                ))?;
            }
            if u128::from(machine.clock.error_ns) > LATE.as_nanos() {
                self.warn(format!(
                    "{at}: the clock of {device} is known only within {:.0} ms, so it may not have begun with the \
                     others",
                    ms(machine.clock.error_ns)
                ))?;
            }
        }
        Ok(())
    }
}
