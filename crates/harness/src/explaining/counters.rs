//! Hardware counters, if the kernel offers them: `perf_event_open(2)`.

use std::io;

use perf_event::events::{Event, Hardware};
use perf_event::{Builder, Counter, ReadFormat};

use crate::processes::threads;

/// Instructions and cache misses of processes in user space, including those of threads that they
/// start later.
pub(super) struct Counters([Result<Vec<Counter>, String>; 2]);

impl Counters {
    /// Begins to count.
    pub fn begin(pids: &[u32]) -> Self {
        let events =
            [(Hardware::INSTRUCTIONS, "instructions"), (Hardware::CACHE_MISSES, "cache misses")];
        Self(events.map(|(event, what)| {
            count(event, pids).map_err(|error| {
                let remedy = match error.kind() {
                    io::ErrorKind::PermissionDenied => {
                        "set /proc/sys/kernel/perf_event_paranoid to 2 or less"
                    }
                    _ => "a virtual machine often has no such counter",
                };
                format!("{what} were not counted: {error}; {remedy}")
            })
        }))
    }

    /// Returns the counts, instructions first, and why any is missing.
    pub fn end(self) -> ([Option<u64>; 2], Vec<String>) {
        let mut why = Vec::new();
        let counts = self.0.map(|counters| match counters {
            Ok(mut counters) => sum(&mut counters),
            Err(reason) => {
                why.push(reason);
                None
            }
        });
        (counts, why)
    }
}

/// Makes a counter for each existing thread.
fn count<E: Event + Clone>(event: E, pids: &[u32]) -> io::Result<Vec<Counter>> {
    let mut counters = Vec::new();
    for thread in pids.iter().flat_map(|pid| threads(*pid)) {
        let mut builder = Builder::new(event.clone());
        builder.observe_pid(thread.cast_signed()).any_cpu().inherit(true);
        builder.read_format(ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING);
        match builder.build() {
            Ok(counter) => counters.push(counter),
            // The thread has ended.
            Err(gone) if gone.raw_os_error() == Some(libc::ESRCH) => {}
            Err(error) => return Err(error),
        }
    }
    counters.iter_mut().try_for_each(Counter::enable)?;
    Ok(counters)
}

/// Returns the sum of the counters. If several shared one of the CPU's, extrapolates by their time.
fn sum(counters: &mut [Counter]) -> Option<u64> {
    let mut sum = 0.0;
    for counter in counters {
        let read = counter.read_count_and_time().ok()?;
        // A thread that did not run counted nothing.
        if read.time_enabled > 0 {
            let share = read.time_running as f64 / read.time_enabled as f64;
            if share == 0.0 {
                return None;
            }
            sum += read.count as f64 / share;
        }
    }
    Some(sum as u64)
}

#[cfg(test)]
mod tests {
    use perf_event::events::Software;

    use super::*;

    #[test]
    fn a_counter_of_a_process_counts_what_threads_do_that_it_starts_afterwards() {
        // The kernel's own counters exist even if hardware counters do not.
        let mut counters = match count(Software::PAGE_FAULTS, &[std::process::id()]) {
            Ok(counters) => counters,
            Err(why) => {
                embermark_skips::skipped("perf_event_open", why.to_string());
                return;
            }
        };
        let fresh = || std::hint::black_box(vec![1_u8; 1 << 24]).len();
        assert_eq!(std::thread::spawn(fresh).join().unwrap(), 1 << 24);
        let faults = sum(&mut counters).unwrap();
        // 16 MiB in pages of 4 KiB, unless the kernel gives huge ones.
        assert!(faults >= 8, "{faults}");
    }

    #[test]
    fn what_the_kernel_does_not_count_has_a_reason() {
        let (counts, why) = Counters::begin(&[std::process::id()]).end();
        let absent = counts.iter().filter(|count| count.is_none()).count();
        assert_eq!(why.len(), absent, "{counts:?} {why:?}");
        assert!(why.iter().all(|why| why.contains("were not counted")), "{why:?}");
    }
}
