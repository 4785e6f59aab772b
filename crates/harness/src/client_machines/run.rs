//! Runs a phase once: prepares every machine, begins at the same time, merges and checks.

use std::time::{Duration, Instant};

use embermark_model::result::Run;
use embermark_model::{CellId, Status};

use super::conduct::{Conductor, Stop, unexpected_reply};
use super::machine::wall_ns;
use super::merge::{MachineRun, Merged, merge};
use super::protocol::{Order, Ran, Reply};
use crate::HarnessError;

/// Tolerance after which a machine is reported: it began this much later than agreed, or its clock
/// is less exactly known.
pub const LATE: Duration = Duration::from_millis(100);

/// Least time from sending the order to begin until the beginning.
const LEAD: Duration = Duration::from_secs(2);

/// Outcome of a run.
pub(super) enum Ended {
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
    /// Runs a phase on all machines once.
    pub(super) fn run(&mut self, phase: &str) -> Result<Ended, Stop> {
        if self.options.interrupt.is_set() {
            return Err(Stop::Interrupted);
        }
        let ready = Order::Ready { phase: phase.to_owned() };
        self.send(&[(0, vec![ready.clone()])])?;
        // The other machines' clients, and the clocks of all.
        let mut orders = vec![(0, Vec::new())];
        orders.extend(self.orders_for_others(&[ready]));
        let began = Instant::now();
        let (_, clocks) = self.send_with_clocks(&orders)?;
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
    pub(super) fn warn_late(
        &mut self,
        id: &CellId,
        phase: &str,
        trial: u32,
        run: u32,
        ran: &Run,
    ) -> Result<(), HarnessError> {
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
