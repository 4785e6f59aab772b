//! Whether the CPU is slowed down: by heat, a weak power supply, or a setting.

use std::path::{Path, PathBuf};

use crate::progress::counted;
use crate::system::{self, System};

/// Returns what slows the CPU down now, each in a few words. Empty if nothing does or nothing is
/// reported.
pub(crate) fn now(system: &System) -> Vec<String> {
    clock_limits(system).into_iter().chain(passing(system)).collect()
}

/// Returns the causes that are not settings and may pass: heat, and a weak power supply.
pub(crate) fn passing(system: &System) -> Vec<String> {
    let thermal = system.entries("sys/class/thermal").into_iter().filter_map(|entry| {
        match entry.file_name()?.to_str()? {
            name if name.starts_with("thermal_zone") => too_hot(&entry),
            name if name.starts_with("cooling_device") => active_cooling(&entry),
            _ => None,
        }
    });
    thermal.chain(raspberry_pi(system)).collect()
}

/// Returns how often the CPUs were throttled since boot. Only x86 counts it.
pub(crate) fn count(system: &System) -> Option<u64> {
    let count = |cpu: &Path| number(&cpu.join("thermal_throttle/core_throttle_count"));
    let counts = system.cpus().into_iter().filter_map(|(_, cpu)| count(&cpu));
    counts.reduce(u64::saturating_add)
}

/// Returns the zones that report their temperature: name and degrees Celsius.
pub(crate) fn temperatures(system: &System) -> Vec<(String, i64)> {
    // Cooling devices, which are in the same directory, have no temperature.
    let told = system.entries("sys/class/thermal").into_iter().filter_map(|zone| {
        let degrees: i64 = system::read(&zone.join("temp"))?.parse().ok()?;
        Some((system::read(&zone.join("type"))?, degrees / 1000))
    });
    told.collect()
}

/// Checks from time to time whether the CPU has been slowed down since the start.
#[derive(Debug)]
pub(crate) struct ThrottleMonitor {
    system: System,
    count: Option<u64>,
    /// Whether it was slowed down at the start, or that has been reported.
    reported: bool,
}

impl ThrottleMonitor {
    /// Records the state at the start.
    pub fn begin(system: System) -> Self {
        let (count, reported) = (count(&system), !now(&system).is_empty());
        Self { system, count, reported }
    }

    /// Returns a warning the first time that the CPU has been slowed down since the start.
    pub fn poll(&mut self) -> Option<String> {
        if self.reported {
            return None;
        }
        let mut seen = now(&self.system);
        let times =
            count(&self.system).zip(self.count).and_then(|(now, then)| now.checked_sub(then));
        let times = times.filter(|times| *times > 0);
        seen.extend(times.map(|times| format!("it was throttled {}", counted(times, "time"))));
        self.reported = !seen.is_empty();
        self.reported.then(|| {
            format!(
                "the CPU was slowed down while trials ran: {}; cool it, check its power supply, \
                 and run again",
                seen.join("; ")
            )
        })
    }
}

fn number(path: &Path) -> Option<u64> {
    system::read(path)?.parse().ok()
}

/// Describes clock limits below the CPUs' maximum (kernel documentation, `admin-guide/pm/cpufreq`;
/// kHz).
fn clock_limits(system: &System) -> Vec<String> {
    let limit_of = |(_, cpu): (usize, PathBuf)| {
        let of = |name: &str| number(&cpu.join("cpufreq").join(name));
        let (limit, most) = (of("scaling_max_freq")?, of("cpuinfo_max_freq")?);
        (limit < most)
            .then(|| format!("its clock is limited to {} of {} MHz", limit / 1000, most / 1000))
    };
    let mut limits: Vec<String> = system.cpus().into_iter().filter_map(limit_of).collect();
    limits.sort();
    limits.dedup();
    limits
}

/// Describes a zone that is as hot as one of its trip points at which the kernel slows the CPU down
/// (kernel documentation, `driver-api/thermal/sysfs-api`; thousandths of a degree).
fn too_hot(zone: &Path) -> Option<String> {
    let degrees = number(&zone.join("temp"))?;
    let passive = (0..16).filter(|trip| {
        let kind = system::read(&zone.join(format!("trip_point_{trip}_type")));
        kind.is_some_and(|kind| kind == "passive")
    });
    let limit =
        passive.filter_map(|trip| number(&zone.join(format!("trip_point_{trip}_temp")))).min()?;
    let name = system::read(&zone.join("type")).unwrap_or_else(|| "a sensor".to_owned());
    // A trip point of 0 is switched off.
    (limit > 0 && degrees >= limit).then(|| {
        format!("{name} is at {} °C, and from {} °C on it is slowed", degrees / 1000, limit / 1000)
    })
}

/// Describes an active cooling device that slows the CPU down.
fn active_cooling(device: &Path) -> Option<String> {
    let kind = system::read(&device.join("type"))?;
    let slows = kind == "Processor" || kind.contains("cpufreq") || kind == "intel_powerclamp";
    let state = number(&device.join("cur_state")).filter(|state| slows && *state > 0)?;
    Some(format!("it is slowed to cool it ({kind}, step {state})"))
}

/// Returns what a Raspberry Pi's firmware reports for now: the low bits of `get_throttled`.
fn raspberry_pi(system: &System) -> Option<String> {
    let names =
        ["the voltage is too low", "its clock is capped", "it is throttled", "it is too hot"];
    Some(format!("the firmware reports that {}", firmware(system, 0, names)?))
}

/// Returns what it has detected since boot: the same bits, 16 higher.
pub(crate) fn since_boot(system: &System) -> Option<String> {
    let names =
        ["the voltage was too low", "its clock was capped", "it was throttled", "it was too hot"];
    firmware(system, 16, names)
}

/// Returns the names of the set bits of `get_throttled`, beginning with bit `first`
/// (<https://www.raspberrypi.com/documentation/computers/os.html#get_throttled>).
fn firmware(system: &System, first: usize, names: [&str; 4]) -> Option<String> {
    let text = system.text("sys/devices/platform/soc/soc:firmware/get_throttled")?;
    let bits = u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()?;
    let set = names.into_iter().enumerate().filter(|(bit, _)| bits >> (first + bit) & 1 == 1);
    let set: Vec<&str> = set.map(|(_, name)| name).collect();
    (!set.is_empty()).then(|| set.join(" and "))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::system::tests::tree;

    fn seen(files: &[(&str, &str)]) -> Vec<String> {
        now(&System::at(tree(files).path()))
    }

    #[test]
    fn a_cool_machine_and_one_that_tells_nothing_are_not_slowed() {
        assert_eq!(seen(&[]), Vec::<String>::new());
        let cool = [
            ("sys/class/thermal/thermal_zone0/temp", "45000"),
            ("sys/class/thermal/thermal_zone0/trip_point_0_type", "critical"),
            ("sys/class/thermal/thermal_zone0/trip_point_0_temp", "40000"),
            ("sys/class/thermal/thermal_zone0/trip_point_1_type", "passive"),
            ("sys/class/thermal/thermal_zone0/trip_point_1_temp", "80000"),
            ("sys/class/thermal/thermal_zone1/temp", "-3000"),
            ("sys/class/thermal/cooling_device0/type", "Fan"),
            ("sys/class/thermal/cooling_device0/cur_state", "3"),
            ("sys/class/thermal/cooling_device1/type", "Processor"),
            ("sys/class/thermal/cooling_device1/cur_state", "0"),
            ("sys/devices/platform/soc/soc:firmware/get_throttled", "50000"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "1500000"),
            ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "1500000"),
        ];
        assert_eq!(seen(&cool), Vec::<String>::new());
    }

    #[test]
    fn heat_a_capped_clock_and_a_weak_supply_are_each_seen() {
        let hot = [
            ("sys/class/thermal/thermal_zone0/type", "cpu-thermal"),
            ("sys/class/thermal/thermal_zone0/temp", "82000"),
            ("sys/class/thermal/thermal_zone0/trip_point_0_type", "passive"),
            ("sys/class/thermal/thermal_zone0/trip_point_0_temp", "80000"),
            ("sys/class/thermal/cooling_device0/type", "cpufreq-cpu0"),
            ("sys/class/thermal/cooling_device0/cur_state", "2"),
            ("sys/devices/platform/soc/soc:firmware/get_throttled", "50005"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "600000"),
            ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "1500000"),
        ];
        let expected = [
            "its clock is limited to 600 of 1500 MHz",
            "it is slowed to cool it (cpufreq-cpu0, step 2)",
            "cpu-thermal is at 82 °C, and from 80 °C on it is slowed",
            "the firmware reports that the voltage is too low and it is throttled",
        ];
        assert_eq!(seen(&hot), expected);
    }

    #[test]
    fn a_limit_of_the_fast_cpus_is_seen_too() {
        let limited = [
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "1800000"),
            ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "1800000"),
            ("sys/devices/system/cpu/cpu4/cpufreq/scaling_max_freq", "1200000"),
            ("sys/devices/system/cpu/cpu4/cpufreq/cpuinfo_max_freq", "2400000"),
            ("sys/devices/system/cpu/cpu5/cpufreq/scaling_max_freq", "1200000"),
            ("sys/devices/system/cpu/cpu5/cpufreq/cpuinfo_max_freq", "2400000"),
        ];
        assert_eq!(seen(&limited), ["its clock is limited to 1200 of 2400 MHz"]);
    }

    #[test]
    fn the_throttlings_of_all_cpus_are_counted_and_absent_where_nobody_counts() {
        let two = tree(&[
            ("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "3"),
            ("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "4"),
            ("sys/devices/system/cpu/cpufreq/boost", "1"),
        ]);
        assert_eq!(count(&System::at(two.path())), Some(7));
        assert_eq!(count(&System::at(tree(&[]).path())), None);
    }

    #[test]
    fn a_watch_tells_once_of_what_was_not_there_when_it_began() {
        let file = "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";
        let tree = tree(&[(file, "3")]);
        let mut watch = ThrottleMonitor::begin(System::at(tree.path()));
        assert_eq!(watch.poll(), None);
        // A counter that wrapped says nothing.
        fs::write(tree.path().join(file), "1").unwrap();
        assert_eq!(watch.poll(), None);
        fs::write(tree.path().join(file), "5").unwrap();
        let told = watch.poll();
        assert!(told.is_some_and(|text| text.contains("throttled 2 times")));
        fs::write(tree.path().join(file), "9").unwrap();
        assert_eq!(watch.poll(), None);
    }
}
