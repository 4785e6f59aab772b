//! Merges the measurements of clients on several machines on one clock.

use embermark_meter::merge as add_up;
use embermark_model::answer::Answer;
use embermark_model::result::{
    ClientMachine, ClientMachines, ClockOffset, Latency, OpenLoopSchedule, Resources, Run,
};

use super::protocol::Ran;

/// The run of one machine, and the offset of its clock.
pub(super) struct MachineRun {
    pub device: String,
    pub clock: ClockOffset,
    /// Agreed start of the run on its own clock, in ns since 1970.
    pub begin_ns: i64,
    pub ran: Ran,
}

impl MachineRun {
    /// Converts a time of its clock to the conductor's.
    const fn conductor_time(&self, ns: i64) -> i64 {
        ns - self.clock.offset_ns
    }

    /// Returns the number of operations done by a time of its own clock, interpolated between the
    /// points of its curve.
    fn done_by(&self, ns: i64) -> f64 {
        let Ran { began_ns, ended_ns, curve, .. } = &self.ran;
        let last = curve.last().copied().unwrap_or_default() as f64;
        if ns >= *ended_ns {
            return last;
        }
        if ns <= *began_ns || curve.len() < 2 {
            return 0.0;
        }
        let place =
            (ns - began_ns) as f64 / (ended_ns - began_ns) as f64 * (curve.len() - 1) as f64;
        let before = (place as usize).min(curve.len() - 2);
        let (low, high) = (curve[before] as f64, curve[before + 1] as f64);
        low + (high - low) * (place - before as f64)
    }
}

/// A run of all machines together, and their answers.
pub(super) struct Merged {
    pub run: Run,
    pub answer: Answer,
    /// Operations of each client of every machine, in order.
    pub done: Vec<u64>,
    pub latency: Option<Latency>,
    pub response: Option<Latency>,
}

/// Merges a run, which has a `target_rate` if one was requested.
///
/// # Errors
/// If the machines were never working at the same time, or their answers are of different kinds.
pub(super) fn merge(of: &[MachineRun], target_rate: Option<u64>) -> Result<Merged, String> {
    let starts = of.iter().map(|one| one.conductor_time(one.ran.began_ns));
    let first = starts.clone().min().unwrap_or_default();
    let spread = starts.max().unwrap_or_default() - first;
    let end = of.iter().map(|one| one.conductor_time(one.ran.ended_ns)).max().unwrap_or_default();
    // The time in which every client of every machine was working.
    let from = of.iter().map(|one| one.conductor_time(one.ran.all_ns.0)).max().unwrap_or_default();
    let to = of.iter().map(|one| one.conductor_time(one.ran.all_ns.1)).min().unwrap_or_default();
    if to <= from {
        return Err(
            "the client machines were never all at work at the same time: give them more operations \
             (a larger scale)"
                .to_owned(),
        );
    }
    let machines: Vec<ClientMachine> = of.iter().map(|one| machine(one, from, to)).collect();
    let answers = of.iter().map(|one| Some(one.ran.answer));
    let answer = answers.reduce(|all, one| all?.and(one?)).flatten();
    let answer = answer.ok_or("the machines' answers are of different kinds")?;
    let all =
        |part: fn(&Ran) -> Option<&Latency>| add_up(of.iter().filter_map(|one| part(&one.ran)));
    let latency = all(|ran| ran.latency.as_ref());
    let response = all(|ran| ran.response.as_ref());
    let late = all(|ran| ran.late.as_ref());
    let done: Vec<u64> = of.iter().flat_map(|one| one.ran.done.iter().copied()).collect();
    let run = Run {
        elapsed_ns: u64::try_from(end - first).unwrap_or_default(),
        ops: done.iter().sum(),
        capped: of.iter().any(|one| one.ran.capped),
        client: Some(client_resources(of)),
        clients: of.iter().flat_map(|one| one.ran.clients.iter().copied()).collect(),
        schedule: target_rate
            .and_then(|rate| merged_schedule(of, rate as f64, response.as_ref(), late)),
        client_machines: Some(Box::new(ClientMachines {
            start_spread_ns: u64::try_from(spread).unwrap_or_default(),
            common_ns: u64::try_from(to - from).unwrap_or_default(),
            common_ops: machines.iter().map(|machine| machine.common_ops).sum(),
            machines,
        })),
        ..Run::default()
    };
    Ok(Merged { run, answer, done, latency, response })
}

fn machine(one: &MachineRun, from: i64, to: i64) -> ClientMachine {
    let ran = &one.ran;
    let own = |here: i64| here + one.clock.offset_ns;
    let common = one.done_by(own(to)) - one.done_by(own(from));
    ClientMachine {
        device: one.device.clone(),
        clients: u32::try_from(ran.done.len()).unwrap_or(u32::MAX),
        clock: one.clock,
        start_delay_ns: ran.began_ns - one.begin_ns,
        elapsed_ns: u64::try_from(ran.ended_ns - ran.began_ns).unwrap_or_default(),
        ops: ran.done.iter().sum(),
        common_ops: common.round() as u64,
        latency: ran.latency.clone(),
    }
}

/// Returns how well the clients of all machines together kept a schedule.
fn merged_schedule(
    of: &[MachineRun],
    target_rate: f64,
    response: Option<&Latency>,
    late: Option<Latency>,
) -> Option<OpenLoopSchedule> {
    let shares: Vec<f64> = of.iter().flat_map(|one| one.ran.achieved.iter().copied()).collect();
    let share = shares.iter().sum::<f64>() / shares.len() as f64;
    let response_ns = response?.mean;
    share.is_finite().then(|| OpenLoopSchedule {
        target_rate,
        achieved_rate: share * target_rate,
        response_ns,
        on_time: late.as_ref().map_or(0, |late| late.samples),
        late_p99_ns: late.and_then(|late| late.p99),
    })
}

/// Returns the resources that the client processes used together.
fn client_resources(of: &[MachineRun]) -> Resources {
    let sum = |part: fn(&Resources) -> Option<u64>| {
        of.iter().map(|one| one.ran.client.as_ref().and_then(part)).sum::<Option<u64>>()
    };
    Resources {
        cpu_ns: sum(|used| used.cpu_ns),
        peak_bytes: sum(|used| used.peak_bytes),
        // Not sampled on client machines.
        mean_bytes: None,
        read_bytes: sum(|used| used.read_bytes),
        written_bytes: sum(|used| used.written_bytes),
    }
}

#[cfg(test)]
mod tests {
    use embermark_meter::{Histogram, summary};
    use embermark_model::fingerprint::Checksum;
    use embermark_model::result::ClientRun;

    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn latency(of_ns: &[u64]) -> Option<Latency> {
        let mut histogram = Histogram::new_with_bounds(1, 3_600 * SECOND as u64, 3).unwrap();
        of_ns.iter().for_each(|ns| histogram.record(*ns).unwrap());
        summary(&histogram, 1)
    }

    /// A machine whose clock is ahead by `offset` and which worked at an even rate between `from`
    /// and `to` of the true time.
    fn machine(device: &str, offset: i64, (from, to): (i64, i64), ops: u64) -> MachineRun {
        let (began_ns, ended_ns) = (from + offset, to + offset);
        MachineRun {
            device: device.to_owned(),
            clock: ClockOffset { offset_ns: offset, error_ns: 1_000, probes: 20 },
            begin_ns: 10 * SECOND + offset,
            ran: Ran {
                began_ns,
                ended_ns,
                all_ns: (began_ns, ended_ns),
                curve: (0..=100).map(|point| ops * point / 100).collect(),
                capped: false,
                clients: vec![ClientRun { elapsed_ns: (to - from) as u64, ops }],
                done: vec![ops],
                answer: Answer::Checksum(Checksum { rows: ops, sum: u64::MAX - 1 }),
                latency: latency(&[ops, 2 * ops]),
                response: None,
                late: None,
                achieved: Vec::new(),
                client: Some(Resources {
                    cpu_ns: Some(ops),
                    read_bytes: Some(2 * ops),
                    written_bytes: (device == "roof").then_some(1),
                    ..Resources::default()
                }),
            },
        }
    }

    #[test]
    fn clocks_that_differ_by_hours_are_put_on_one() {
        // The attic begins half a second late, and its clock is 3 hours behind. The roof's is a day
        // ahead.
        let of = [
            machine("roof", 86_400 * SECOND, (10 * SECOND, 14 * SECOND), 4_000),
            machine("attic", -10_800 * SECOND, (10 * SECOND + SECOND / 2, 15 * SECOND), 900),
        ];
        let Merged { run, answer, done, latency, .. } = merge(&of, None).unwrap();
        assert_eq!(
            (run.elapsed_ns, run.ops, &done[..]),
            (5 * SECOND as u64, 4_900, &[4_000, 900][..])
        );
        let together = run.client_machines.as_ref().unwrap();
        assert_eq!(together.start_spread_ns, SECOND as u64 / 2);
        assert_eq!(together.common_ns, 7 * SECOND as u64 / 2);
        // 1,000 and 200 per second for three and a half seconds.
        assert_eq!(together.common_ops, 3_500 + 700);
        let each: Vec<_> = (together.machines.iter())
            .map(|one| (&*one.device, one.start_delay_ns, one.ops, one.common_ops, one.elapsed_ns))
            .collect();
        let (roof, attic) = (4 * SECOND as u64, 9 * SECOND as u64 / 2);
        assert_eq!(each, [("roof", 0, 4_000, 3_500, roof), ("attic", SECOND / 2, 900, 700, attic)]);
        assert_eq!(answer, Answer::Checksum(Checksum { rows: 4_900, sum: u64::MAX - 3 }));
        let latency = latency.unwrap();
        assert_eq!((latency.samples, latency.min), (4, 900));
        let client = run.client.unwrap();
        assert_eq!((client.cpu_ns, client.read_bytes), (Some(4_900), Some(9_800)));
        assert_eq!(client.written_bytes, None, "not measured on every machine");
        assert_eq!((run.at_work(), run.clients.len()), ((4_200, 7 * SECOND as u64 / 2), 2));
    }

    #[test]
    fn machines_that_were_never_at_work_together_have_no_figure() {
        let of = [
            machine("roof", 0, (10 * SECOND, 11 * SECOND), 100),
            machine("attic", 5, (12 * SECOND, 13 * SECOND), 100),
        ];
        assert!(merge(&of, None).err().unwrap().contains("never all at work at the same time"));
    }

    #[test]
    fn a_schedule_is_kept_by_all_machines_together() {
        let mut of = [
            machine("roof", 0, (10 * SECOND, 11 * SECOND), 100),
            machine("attic", 0, (10 * SECOND, 11 * SECOND), 100),
        ];
        for (one, share) in of.iter_mut().zip([1.0, 0.5]) {
            one.ran.achieved = vec![share];
            one.ran.response = latency(&[1_000; 60]);
            one.ran.late = latency(&[70; 60]);
        }
        let schedule = merge(&of, Some(200)).unwrap().run.schedule.unwrap();
        assert_eq!((schedule.target_rate, schedule.achieved_rate), (200.0, 150.0));
        assert_eq!((schedule.on_time, schedule.late_p99_ns), (120, Some(70)));
        assert!((schedule.response_ns - 1_000.0).abs() < 2.0 && !schedule.kept_up());
        of[1].ran.answer = Answer::Count(1);
        assert!(merge(&of, None).is_err(), "answers of two kinds");
    }
}
