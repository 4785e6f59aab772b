//! CPUs of different speed, as in ARM's big.LITTLE: figures depend on where a process runs.

use std::path::PathBuf;

use nix::sched::sched_getaffinity;
use nix::unistd::Pid;

use crate::system::{System, read};

/// Least share of the fastest CPU's speed that counts as the same. A CPU's cores may differ a
/// little in their highest clock.
const SAME: f64 = 0.8;

/// Returns a warning if the CPUs that this process may use differ in speed.
pub(crate) fn warning(system: &System) -> Option<String> {
    let allowed = sched_getaffinity(Pid::from_raw(0)).ok()?;
    let mut cpus = system.cpus();
    cpus.retain(|(number, _)| allowed.is_set(*number).unwrap_or(false));
    difference(&cpus)
}

/// Compares the CPUs by what the kernel calls their capacity, or else by their highest clock
/// (kernel documentation, `scheduler/sched-capacity` and `admin-guide/pm/cpufreq`).
fn difference(cpus: &[(usize, PathBuf)]) -> Option<String> {
    let speeds = |file: &str| -> Vec<(usize, f64)> {
        let speed = |dir: &PathBuf| read(&dir.join(file))?.parse().ok();
        cpus.iter().filter_map(|(number, dir)| Some((*number, speed(dir)?))).collect()
    };
    let capacities = speeds("cpu_capacity");
    let speeds = match capacities.len() {
        0 => speeds("cpufreq/cpuinfo_max_freq"),
        _ => capacities,
    };
    let fastest = speeds.iter().map(|(_, speed)| *speed).reduce(f64::max)?;
    let fast = speeds.iter().filter(|(_, speed)| *speed >= SAME * fastest);
    let fast: Vec<String> = fast.map(|(number, _)| number.to_string()).collect();
    (fast.len() < speeds.len()).then(|| {
        format!(
            "{} of {} CPUs are slower than the others, and which ones a process gets may change \
             from trial to trial; run on CPUs of one speed: 'taskset -c {} embermark run …'",
            speeds.len() - fast.len(),
            speeds.len(),
            fast.join(",")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::tests::tree;

    #[test]
    fn cpus_of_two_speeds_are_found_and_the_fast_ones_named() {
        const CLOCK: &str = "cpufreq/cpuinfo_max_freq";
        let cpu = "sys/devices/system/cpu";
        let told = |files: &[(usize, &str, &str)]| {
            let files: Vec<(String, &str)> = files
                .iter()
                .map(|(number, file, text)| (format!("{cpu}/cpu{number}/{file}"), *text))
                .collect();
            let files: Vec<(&str, &str)> =
                files.iter().map(|(file, text)| (file.as_str(), *text)).collect();
            difference(&System::at(tree(&files).path()).cpus())
        };
        assert_eq!(told(&[]), None);
        assert_eq!(told(&[(0, CLOCK, "5000000"), (1, CLOCK, "5200000")]), None);
        let warning = told(&[(0, CLOCK, "1800000"), (4, CLOCK, "2400000"), (10, CLOCK, "2400000")]);
        let warning = warning.unwrap();
        assert!(warning.starts_with("1 of 3 CPUs are slower"), "{warning}");
        assert!(warning.contains("taskset -c 4,10 "), "{warning}");
        // A little core may have the higher clock.
        let capacities = [(0, "cpu_capacity", "446"), (1, "cpu_capacity", "1024")];
        let clocks = [(0, CLOCK, "2000000"), (1, CLOCK, "2000000")];
        assert!(told(&[capacities, clocks].concat()).is_some());
    }
}
