use embermark_meter::{Histogram, summary};
use embermark_model::result::ClientRun;

use super::*;

const SECOND: i64 = 1_000_000_000;

fn latency(of_ns: &[u64]) -> Option<Latency> {
    let mut histogram = Histogram::new_with_bounds(1, 3_600 * SECOND as u64, 3).unwrap();
    of_ns.iter().for_each(|ns| histogram.record(*ns).unwrap());
    summary(&histogram, 1)
}

/// A machine whose clock is ahead by `offset`, which worked from `from` to `to` of the true time at an even
/// rate.
fn machine(device: &str, offset: i64, (from, to): (i64, i64), ops: u64) -> OfMachine {
    let (began_ns, ended_ns) = (from + offset, to + offset);
    OfMachine {
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
            answer: Part::Checksum { rows: ops, sum: u64::MAX - 1 },
            latency: latency(&[ops, 2 * ops]),
            response: None,
            late: None,
            achieved: Vec::new(),
            client: Some(Resources { cpu_ns: Some(ops), ..Resources::default() }),
        },
    }
}

#[test]
fn clocks_that_differ_by_hours_are_put_on_one() {
    // The attic begins half a second late, and its clock is 3 hours behind; the roof's is a day ahead.
    let of = [
        machine("roof", 86_400 * SECOND, (10 * SECOND, 14 * SECOND), 4_000),
        machine("attic", -10_800 * SECOND, (10 * SECOND + SECOND / 2, 15 * SECOND), 900),
    ];
    let Merged { run, answer, done, latency, .. } = merge(&of, None).unwrap();
    assert_eq!((run.elapsed_ns, run.ops, &done[..]), (5 * SECOND as u64, 4_900, &[4_000, 900][..]));
    let together = run.client_machines.as_ref().unwrap();
    assert_eq!(together.start_spread_ns, SECOND as u64 / 2);
    assert_eq!(together.common_ns, 7 * SECOND as u64 / 2);
    // 1,000 a second and 200 a second, for three and a half seconds.
    assert_eq!(together.common_ops, 3_500 + 700);
    let each: Vec<_> = (together.machines.iter())
        .map(|one| (&*one.device, one.start_delay_ns, one.ops, one.common_ops, one.elapsed_ns))
        .collect();
    let (roof, attic) = (4 * SECOND as u64, 9 * SECOND as u64 / 2);
    assert_eq!(each, [("roof", 0, 4_000, 3_500, roof), ("attic", SECOND / 2, 900, 700, attic)]);
    assert_eq!(answer, Part::Checksum { rows: 4_900, sum: u64::MAX - 3 });
    let latency = latency.unwrap();
    assert_eq!((latency.samples, latency.min), (4, 900));
    assert_eq!(run.client.unwrap().cpu_ns, Some(4_900));
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
    of[1].ran.answer = Part::Count(1);
    assert!(merge(&of, None).is_err(), "answers of two kinds");
}
