//! Background CPU time of a run: of other programs, and of the host of a virtual machine.

use std::time::Duration;

use embermark_model::result::{BackgroundCpu, Trial};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::unistd::{SysconfVar, sysconf};

use crate::system::System;

/// Share of all CPUs that other programs may take without a warning.
const BUSY: f64 = 0.15;

/// Share of all CPUs that a host may take without a warning.
const STOLEN: f64 = 0.05;

/// Least CPU time for computing a share. Ticks of 10 ms are too coarse for less.
const MIN_CPU_TIME: Duration = Duration::from_secs(1);

/// CPU time since boot, in ns over all CPUs, at one point of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CpuSnapshot {
    /// All CPU time, busy or idle.
    all: u64,
    /// Time of programs.
    busy: u64,
    /// Time that the host of a virtual machine gave to other machines.
    stolen: u64,
    /// Time of this process and of its children that have been waited for.
    own: u64,
}

impl CpuSnapshot {
    /// Takes a snapshot. `None` if the system does not report it.
    pub fn now(system: &System) -> Option<Self> {
        let tick_ns = 1_000_000_000 / sysconf(SysconfVar::CLK_TCK).ok()??.unsigned_abs();
        let own = [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN].into_iter().map(|who| {
            let usage = getrusage(who).ok()?;
            let time = usage.user_time() + usage.system_time();
            u64::try_from(time.num_nanoseconds()).ok()
        });
        Self::parse(&system.text("proc/stat")?, tick_ns, own.sum::<Option<u64>>()?)
    }

    /// Reads the first line of `proc_stat(5)`.
    fn parse(stat: &str, tick_ns: u64, own: u64) -> Option<Self> {
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        // user nice system idle iowait irq softirq steal; guest time follows and is included in
        // user.
        let ticks = line.split_whitespace().take(8).map(str::parse::<u64>);
        let ticks = ticks.collect::<Result<Vec<_>, _>>().ok()?;
        let [user, nice, system, idle, iowait, irq, softirq, stolen] = ticks[..] else {
            return None;
        };
        let busy = user + nice + system + irq + softirq;
        let ns = |ticks: u64| ticks.checked_mul(tick_ns);
        let all = ns(busy + idle + iowait + stolen)?;
        Some(Self { all, busy: ns(busy)?, stolen: ns(stolen)?, own })
    }

    /// Returns the background CPU time since an earlier snapshot. `None` if a counter went
    /// backwards.
    pub fn since(&self, before: &Self) -> Option<BackgroundCpu> {
        let between = |of: fn(&Self) -> u64| of(self).checked_sub(of(before));
        let (busy, own) = (between(|m| m.busy)?, between(|m| m.own)?);
        Some(BackgroundCpu {
            // Ticks are coarser than this process's own time and may show less.
            cpu_ns: busy.saturating_sub(own),
            stolen_ns: between(|m| m.stolen)?,
            total_cpu_ns: between(|m| m.all)?,
        })
    }
}

/// Returns the current background CPU time, measured while this process sleeps for a moment. The
/// load average would still show a build that has just ended.
pub(crate) fn now(system: &System) -> Option<BackgroundCpu> {
    const INTERVAL: Duration = Duration::from_millis(250);
    let before = CpuSnapshot::now(system)?;
    std::thread::sleep(INTERVAL);
    CpuSnapshot::now(system)?.since(&before)
}

/// Returns warnings about background CPU time during trials, and names the trial with most of it.
pub(crate) fn during<'a>(trials: impl Iterator<Item = (String, &'a Trial)>) -> Vec<String> {
    let mut sum = BackgroundCpu::default();
    let mut worst: Option<(f64, String)> = None;
    for (name, trial) in trials {
        let Some(background) = trial.background_cpu else { continue };
        sum.cpu_ns = sum.cpu_ns.saturating_add(background.cpu_ns);
        sum.stolen_ns = sum.stolen_ns.saturating_add(background.stolen_ns);
        sum.total_cpu_ns = sum.total_cpu_ns.saturating_add(background.total_cpu_ns);
        let taken = background.cpu_ns.saturating_add(background.stolen_ns);
        if let Some(share) = share(taken, background.total_cpu_ns)
            && worst.as_ref().is_none_or(|(most, _)| share > *most)
        {
            worst = Some((share, name));
        }
    }
    let when = match worst {
        Some((share, name)) => {
            format!("while trials ran (most, {:.0} %, in trial {name})", share * 100.0)
        }
        None => "while trials ran".to_owned(),
    };
    warnings(sum, &when)
}

/// Returns warnings about background CPU time of a period.
pub(crate) fn warnings(background: BackgroundCpu, when: &str) -> Vec<String> {
    let BackgroundCpu { cpu_ns, stolen_ns, total_cpu_ns } = background;
    let percent = |ns, limit| {
        share(ns, total_cpu_ns).filter(|share| *share > limit).map(|share| share * 100.0)
    };
    let busy = percent(cpu_ns, BUSY).map(|taken| {
        format!(
            "other programs took {taken:.0} % of the machine's CPUs {when}: the engines lack it; \
             stop them and run again"
        )
    });
    let stolen = percent(stolen_ns, STOLEN).map(|taken| {
        format!(
            "the host of this virtual machine took {taken:.0} % of its CPUs {when}; run again when \
             the host is idle, or on a machine of its own"
        )
    });
    busy.into_iter().chain(stolen).collect()
}

fn share(part_ns: u64, total_ns: u64) -> Option<f64> {
    // At the start a quarter of a second on each CPU must be enough.
    let least = MIN_CPU_TIME.as_nanos() as u64 / 4;
    (total_ns >= least).then(|| part_ns as f64 / total_ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_the_disk_is_idle_and_what_is_stolen_is_told_apart() {
        let moment =
            CpuSnapshot::parse("cpu  10 20 30 400 50 6 7 8 9 0\ncpu0 1 2 3 4", 1, 5).unwrap();
        assert_eq!(moment, CpuSnapshot { all: 531, busy: 73, stolen: 8, own: 5 });
        assert_eq!(CpuSnapshot::parse("cpu  1 2 x", 1, 0), None);
        assert_eq!(CpuSnapshot::parse("cpu  1 2 3 4", 1, 0), None);
        assert_eq!(CpuSnapshot::parse("cpu  1 2 3 4 5 6 7 8", u64::MAX, 0), None);
    }

    #[test]
    fn a_machine_that_tells_nothing_and_counters_that_go_backwards_are_not_measured() {
        let tree = tempfile::tempdir().unwrap();
        assert_eq!(now(&System::at(tree.path())), None);
        let moment = |all, busy| CpuSnapshot { all, busy, stolen: 0, own: 0 };
        assert_eq!(moment(10, 5).since(&moment(20, 5)), None);
        assert_eq!(moment(30, 4).since(&moment(20, 5)), None);
        let background = moment(30, 9).since(&moment(20, 5));
        assert_eq!(background, Some(BackgroundCpu { cpu_ns: 4, stolen_ns: 0, total_cpu_ns: 10 }));
        // There are no warnings without measurements.
        assert_eq!(during(std::iter::empty()), Vec::<String>::new());
    }

    #[test]
    fn another_program_is_seen_and_our_own_children_are_not() {
        let system = System::here();
        let share = |background: Option<BackgroundCpu>| {
            let background = background.unwrap();
            background.cpu_ns as f64 / background.total_cpu_ns as f64
        };
        let burn = |own: bool| {
            let before = CpuSnapshot::now(&system).unwrap();
            let script = match own {
                true => "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done",
                false => "while :; do :; done",
            };
            let mut child = std::process::Command::new("sh").args(["-c", script]).spawn().unwrap();
            if own {
                child.wait().unwrap();
                return share(CpuSnapshot::now(&system).unwrap().since(&before));
            }
            std::thread::sleep(Duration::from_millis(500));
            // The child has not been waited for, so its time is not counted as own yet.
            let seen = share(CpuSnapshot::now(&system).unwrap().since(&before));
            let _ = child.kill();
            child.wait().unwrap();
            seen
        };
        // On a machine that runs other tests, part of the CPUs may be busy at any time. The own
        // time must not be added to it.
        let (ours, theirs) = (burn(true), burn(false));
        let cpus = std::thread::available_parallelism().unwrap().get() as f64;
        assert!(theirs > 0.3 / cpus, "{theirs}");
        assert!((0.0..=1.0).contains(&ours) && (0.0..=1.0).contains(&theirs), "{ours} {theirs}");
    }

    #[test]
    fn background_cpu_is_told_with_when_and_what_to_do() {
        let second = 1_000_000_000;
        let background =
            BackgroundCpu { cpu_ns: second / 2, stolen_ns: second / 10, total_cpu_ns: 2 * second };
        let said = warnings(background, "at the start");
        assert!(said.len() == 1 && said[0].contains("took 25 %") && said[0].contains("stop them"));
        let stolen = BackgroundCpu { cpu_ns: 0, stolen_ns: second / 5, total_cpu_ns: 2 * second };
        let said = warnings(stolen, "at the start");
        assert!(
            said.len() == 1 && said[0].contains("host") && said[0].contains("10 %"),
            "{said:?}"
        );
        let short = BackgroundCpu { total_cpu_ns: second / 10, ..background };
        assert_eq!(warnings(short, "at the start"), Vec::<String>::new());
    }
}
