//! Has the client machines measure a plan, trial by trial.

use std::path::Path;
use std::time::{Duration, Instant};

use embermark_meter::merge as add_up;
use embermark_model::plan::Plan;
use embermark_model::result::{
    ClockOffset, Execution, Latency, Machine, PhaseResult, ResultFile, Run, Trial,
};
use embermark_model::{CellId, Status};

use super::machine::wall_ns;
use super::merge::{Merged, OfMachine, merge};
use super::protocol::{Facts, Job, OpenedPhase, Order, Ran, Reply};
use crate::cells::{self, PlannedCell};
use crate::journal::{self, EndedTrial, Head, Line, Prepared};
use crate::outdir::OutDir;
use crate::progress::Progress;
use crate::run_options::RunOptions;
use crate::{HarnessError, manifest, schedule};

/// A machine that begins later than this after the agreed moment is told of as late, as is one whose clock is
/// not known within it.
pub const LATE: Duration = Duration::from_millis(100);

/// The least time from handing out the order to begin to the moment of beginning.
const LEAD: Duration = Duration::from_secs(2);

/// What brings orders to the machines.
pub trait Carrier {
    /// The machines' names, in the order of their shares.
    fn names(&self) -> Vec<String>;

    /// What each machine is.
    ///
    /// # Errors
    /// When one cannot be asked: its name, and why.
    fn facts(&mut self) -> Result<Vec<Facts>, String>;

    /// Starts a process on every machine, with the job of each.
    ///
    /// # Errors
    /// When one cannot be started: its name, and why.
    fn start(&mut self, jobs: &[Job]) -> Result<(), String>;

    /// Hands orders to machines, all at the same time, and returns when all have replied. Where `clocks` is
    /// set, the clock of each machine named is asked for before.
    fn carry(&mut self, orders: &[(usize, Vec<Order>)], clocks: bool) -> Vec<Carried>;
}

/// What a machine replied.
pub struct Carried {
    /// A reply to each order, up to the first that failed; or why there is none.
    pub replies: Result<Vec<Reply>, String>,
    /// By how much its clock is ahead of this machine's.
    pub clock: Option<ClockOffset>,
}

/// Measures a plan into a new folder: its clients are those of each machine, and its URLs the server's.
///
/// # Errors
/// As [`crate::run()`]. When a machine is lost the run ends: the trials that had ended are in the result, and a
/// warning says which machine it was.
pub fn conduct(
    plan: &Plan,
    out: &Path,
    carrier: &mut dyn Carrier,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<ResultFile, HarnessError> {
    let names = carrier.names();
    let each = plan.clients;
    let all = u32::try_from(names.len()).ok().and_then(|machines| machines.checked_mul(each));
    let plan = &Plan { clients: all.unwrap_or(u32::MAX), ..plan.clone() };
    if plan.clients < 2 {
        return Err(HarnessError::Plan(
            "one client on one machine is an ordinary run: embermark run --url".to_owned(),
        ));
    }
    let catalog = &options.catalog;
    let cells = cells::planned(plan, catalog)?;
    let run_id = manifest::run_id();
    let dirs = OutDir::prepare(out, None, &run_id, false)?;
    let lost = |why: String| HarnessError::Plan(format!("the client machines: {why}"));
    let facts = carrier.facts().map_err(lost)?;
    let mut manifest = manifest::begin(&run_id, &dirs.data);
    manifest.machine = in_common(&facts);
    manifest.tool = one_tool(&names, &facts)?;
    manifest.client_machines =
        names.iter().cloned().zip(facts.into_iter().map(|facts| facts.machine)).collect();
    manifest.engines = manifest::engines(&cells, plan, catalog)?;
    let head = Head {
        embermark_journal: journal::VERSION,
        manifest,
        plan: plan.clone(),
        databases: None,
        counts: false,
        explains: false,
        cells,
    };
    let journal = journal::Writer::create(&dirs.journal(), head)?;
    let guest = manifest::guest(&run_id);
    let mut conductor = Conductor { plan, names, each, guest, carrier, journal, progress, options };
    let ended = conductor.trials();
    conductor.progress.finished();
    let complete = ended?;
    if complete {
        conductor.journal.add(Line::End { finished: manifest::now() })?;
    }
    let result = journal::assemble(&conductor.journal);
    journal::write_result(&dirs.result(), &result)?;
    match complete || !options.interrupt.is_set() {
        true => Ok(result),
        false => Err(HarnessError::Interrupted { result: Some(Box::new(result)) }),
    }
}

/// What all machines have in common; absent where they differ.
fn in_common(facts: &[Facts]) -> Machine {
    let mut machines = facts.iter().map(|facts| &facts.machine);
    let Some(mut common) = machines.next().cloned() else { return Machine::default() };
    // Of the moment at which each was asked.
    common.load = None;
    fn keep<T: PartialEq>(own: &mut Option<T>, other: &Option<T>) {
        if own != other {
            *own = None;
        }
    }
    for other in machines {
        keep(&mut common.board, &other.board);
        keep(&mut common.cpu, &other.cpu);
        keep(&mut common.cpus, &other.cpus);
        keep(&mut common.memory_bytes, &other.memory_bytes);
        keep(&mut common.kernel, &other.kernel);
        keep(&mut common.os, &other.os);
        keep(&mut common.governor, &other.governor);
        keep(&mut common.file_system, &other.file_system);
        keep(&mut common.mount_options, &other.mount_options);
        keep(&mut common.device, &other.device);
    }
    common
}

/// The program of all machines, which must be one.
fn one_tool(
    names: &[String],
    facts: &[Facts],
) -> Result<embermark_model::result::Tool, HarnessError> {
    let tools = || names.iter().zip(facts.iter().map(|facts| &facts.tool));
    let Some((first, tool)) = tools().next() else {
        return Err(HarnessError::Plan("there is no client machine".to_owned()));
    };
    let same = |other: &embermark_model::result::Tool| {
        (&other.version, &other.commit, &other.profile)
            == (&tool.version, &tool.commit, &tool.profile)
    };
    match tools().find(|(_, other)| !same(other)) {
        Some((other, _)) => Err(HarnessError::Plan(format!(
            "{first} and {other} have different builds of embermark, whose figures do not belong \
             together: put packages of one build into the fleet's folder"
        ))),
        None => Ok(tool.clone()),
    }
}

struct Conductor<'a> {
    plan: &'a Plan,
    names: Vec<String>,
    /// Clients on each machine.
    each: u32,
    guest: String,
    carrier: &'a mut dyn Carrier,
    journal: journal::Writer,
    progress: &'a mut dyn Progress,
    options: &'a RunOptions,
}

/// Why a trial has no end.
enum Stop {
    /// A machine is lost, or the run is interrupted: nothing follows.
    Lost(String),
    /// A machine cannot go on with this trial.
    Failed(Status, String),
    /// The journal cannot be written.
    Run(HarnessError),
}

impl From<HarnessError> for Stop {
    fn from(error: HarnessError) -> Self {
        Self::Run(error)
    }
}

impl Conductor<'_> {
    /// Every trial in its turn; whether it came to the last.
    fn trials(&mut self) -> Result<bool, HarnessError> {
        let cells = self.journal.head.cells.iter();
        let runnable: Vec<PlannedCell> =
            cells.filter(|cell| cell.skip.is_none()).cloned().collect();
        let trials = cells::trials(self.plan, &runnable, &self.options.catalog)?;
        let turns = schedule::order(&trials, self.plan.seed);
        self.progress.started(turns.len() as u32);
        for (number, turn) in turns.iter().enumerate() {
            if self.options.interrupt.is_set() {
                return Ok(false);
            }
            let PlannedCell { id, phases, .. } = &runnable[turn.cell];
            self.progress.trial(number as u32 + 1, id, turn.trial);
            let began = Instant::now();
            let mut trial = Trial { index: turn.trial, order: turn.order, ..Trial::default() };
            let ended = self.trial(id, phases, &mut trial);
            trial.wall_ns = began.elapsed().as_nanos() as u64;
            let lost = match ended {
                Ok(()) => None,
                Err(Stop::Run(error)) => return Err(error),
                Err(Stop::Failed(status, reason)) => {
                    (trial.status, trial.reason) = (status, Some(reason));
                    None
                }
                Err(Stop::Lost(reason)) => {
                    (trial.status, trial.reason) = (Status::Failed, Some(reason.clone()));
                    Some(reason)
                }
            };
            trial.colour();
            self.progress.trial_ended(trial.status, trial.reason.as_deref(), began.elapsed());
            self.journal.add(Line::Trial(Box::new(EndedTrial { cell: id.clone(), trial })))?;
            if let Some(reason) = lost {
                let says = format!(
                    "the run ended before its end, because a client machine was lost: {reason}"
                );
                self.warn(says)?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One trial, with processes of its own on every machine.
    fn trial(&mut self, id: &CellId, phases: &[String], trial: &mut Trial) -> Result<(), Stop> {
        let jobs: Vec<Job> = (0..self.names.len() as u32)
            .map(|machine| Job {
                cell: id.clone(),
                plan: self.plan.clone(),
                url: self.plan.urls.get(&id.engine).map_or("", |url| url.reveal()).to_owned(),
                guest: self.guest.clone(),
                own_clients: machine * self.each..(machine + 1) * self.each,
            })
            .collect();
        let ended = match self.carrier.start(&jobs) {
            Ok(()) => self.measured(id, phases, trial),
            Err(why) => Err(Stop::Lost(why)),
        };
        // All of them, also where one is lost. The database last: closing it removes what it made.
        let (owner, others) = (vec![(0, vec![Order::Close])], self.of_others(&[Order::Close]));
        let closed = [others, owner]
            .into_iter()
            .filter(|orders| !orders.is_empty())
            .map(|orders| self.carry(&orders).map(drop))
            .fold(Ok(()), Result::and);
        ended.and(closed)
    }

    fn measured(&mut self, id: &CellId, phases: &[String], trial: &mut Trial) -> Result<(), Stop> {
        let replies = self.carry(&self.of_all(&[Order::Prepare]))?;
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
        let opened = self.carry(&[(0, vec![Order::Open])])?;
        let Some(Reply::Opened { at, trial: known, phases: all }) =
            opened.into_iter().flatten().next()
        else {
            return Err(unheard("open the database"));
        };
        (trial.version, trial.settings) = (known.version, known.settings);
        let others = self.of_others(&[Order::Join { at }]);
        if !others.is_empty() {
            self.carry(&others)?;
        }
        for phase in all.iter().filter(|phase| phases.contains(&phase.name)) {
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

    /// Every run of a phase, and why the trial has to end, if so. A wrong answer ends the phase alone.
    fn phase(
        &mut self,
        id: &CellId,
        phase: &OpenedPhase,
        trial: u32,
    ) -> (PhaseResult, Option<Stop>) {
        let OpenedPhase { name, ops, execution } = phase.clone();
        let execution: Execution = execution;
        let mut result =
            PhaseResult { phase: name.clone(), execution, ops, ..PhaseResult::default() };
        let (mut latencies, mut responses): (Vec<Latency>, Vec<Latency>) = Default::default();
        let mut stop = None;
        for run in 0..self.plan.runs {
            self.progress.phase(&name, run + 1, self.plan.runs);
            let discarded = run < self.plan.warmup_runs;
            match self.run(&name, run) {
                Ok(Ok(merged)) => {
                    let Merged { run: ran, latency, response, .. } = merged;
                    if let Err(error) = self.tell_late(id, &name, trial, run, &ran) {
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
                Ok(Err((ran, status, reason))) => {
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

    /// One run of a phase on all machines; `Ok(Err(…))` where its answer was wrong, or nothing can be said of
    /// it.
    #[allow(clippy::type_complexity, reason = "what ends a phase and what ends a trial")]
    fn run(
        &mut self,
        phase: &str,
        _run: u32,
    ) -> Result<Result<Merged, (Option<Box<Run>>, Status, String)>, Stop> {
        if self.options.interrupt.is_set() {
            return Err(Stop::Lost("interrupted".to_owned()));
        }
        let ready = Order::Ready { phase: phase.to_owned() };
        self.carry(&[(0, vec![ready.clone()])])?;
        // The others' clients, and the clocks of all.
        let mut orders = vec![(0, Vec::new())];
        orders.extend(self.of_others(&[ready]));
        let began = Instant::now();
        let (_, clocks) = self.carry_with_clocks(&orders)?;
        // An order took so long to reach them.
        let lead = LEAD.max(began.elapsed() * 2);
        let moment = wall_ns() + i64::try_from(lead.as_nanos()).unwrap_or(i64::MAX);
        let begins: Vec<i64> = clocks.iter().map(|clock| moment + clock.offset_ns).collect();
        let orders: Vec<(usize, Vec<Order>)> = (begins.iter().enumerate())
            .map(|(machine, begin_ns)| {
                (machine, vec![Order::Run { phase: phase.to_owned(), begin_ns: *begin_ns }])
            })
            .collect();
        let ran =
            self.carry(&orders)?.into_iter().map(|replies| match replies.into_iter().next() {
                Some(Reply::Ran(ran)) => Ok(*ran),
                _ => Err(unheard("run a phase")),
            });
        let ran: Vec<Ran> = ran.collect::<Result<_, Stop>>()?;
        let of = (self.names.iter().zip(clocks).zip(begins).zip(ran))
            .map(|(((device, clock), begin_ns), ran)| OfMachine {
                device: device.clone(),
                clock,
                begin_ns,
                ran,
            })
            .collect::<Vec<_>>();
        let merged = match merge(&of, self.plan.target_rate) {
            Ok(merged) => merged,
            Err(why) => return Ok(Err((None, Status::Failed, why))),
        };
        let check = Order::Check {
            phase: phase.to_owned(),
            answer: merged.answer,
            done: merged.done.clone(),
            capped: merged.run.capped,
            elapsed_ns: merged.run.elapsed_ns,
        };
        match self.carry(&[(0, vec![check])])?.into_iter().flatten().next() {
            Some(Reply::Checked { status: Status::Ok, .. }) => Ok(Ok(merged)),
            Some(Reply::Checked { status, reason }) => {
                Ok(Err((Some(Box::new(merged.run)), status, reason.unwrap_or_default())))
            }
            _ => Err(unheard("check the answer")),
        }
    }

    /// Warns of machines that began late, or whose clock is not known well enough to tell.
    fn tell_late(
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
                    "{at}: {device} began {:.0} ms after the agreed moment, more than {bound} ms: its rate \
                     counts from there on",
                    ms(machine.start_delay_ns.unsigned_abs())
                ))?;
            }
            if u128::from(machine.clock.error_ns) > LATE.as_nanos() {
                self.warn(format!(
                    "{at}: the clock of {device} is known within {:.0} ms only: whether it began with the \
                     others is not",
                    ms(machine.clock.error_ns)
                ))?;
            }
        }
        Ok(())
    }

    fn warn(&mut self, warning: String) -> Result<(), HarnessError> {
        self.progress.note(&warning);
        self.journal.warn(warning)
    }

    fn of_all(&self, orders: &[Order]) -> Vec<(usize, Vec<Order>)> {
        (0..self.names.len()).map(|machine| (machine, orders.to_vec())).collect()
    }

    fn of_others(&self, orders: &[Order]) -> Vec<(usize, Vec<Order>)> {
        (1..self.names.len()).map(|machine| (machine, orders.to_vec())).collect()
    }

    /// Hands orders out, and returns the replies of each machine; the first that failed ends the trial.
    fn carry(&mut self, orders: &[(usize, Vec<Order>)]) -> Result<Vec<Vec<Reply>>, Stop> {
        let carried = self.carrier.carry(orders, false);
        self.replies(orders, carried).map(|(replies, _)| replies)
    }

    fn carry_with_clocks(
        &mut self,
        orders: &[(usize, Vec<Order>)],
    ) -> Result<(Vec<Vec<Reply>>, Vec<ClockOffset>), Stop> {
        let carried = self.carrier.carry(orders, true);
        let (replies, clocks) = self.replies(orders, carried)?;
        let all: Option<Vec<ClockOffset>> = clocks.iter().copied().collect();
        let unknown = clocks.iter().position(Option::is_none).unwrap_or_default();
        let says = || {
            let name = &self.names[orders[unknown].0];
            Stop::Lost(format!(
                "{name}: its clock cannot be told: `date +%s%N` there gives no nanoseconds"
            ))
        };
        Ok((replies, all.ok_or_else(says)?))
    }

    #[allow(clippy::type_complexity, reason = "replies and clocks, by machine")]
    fn replies(
        &self,
        orders: &[(usize, Vec<Order>)],
        carried: Vec<Carried>,
    ) -> Result<(Vec<Vec<Reply>>, Vec<Option<ClockOffset>>), Stop> {
        let mut all = Vec::with_capacity(orders.len());
        let mut clocks = Vec::with_capacity(orders.len());
        let mut stop = None;
        for ((machine, _), carried) in orders.iter().zip(carried) {
            let name = &self.names[*machine];
            clocks.push(carried.clock);
            match carried.replies {
                // A machine that is lost says more than what fails because of it.
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

fn unheard(what: &str) -> Stop {
    Stop::Failed(
        Status::Failed,
        format!("a client machine replied to another order than to {what}"),
    )
}
