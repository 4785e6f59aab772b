//! Warnings about conditions that may disturb the figures, with advice.

use std::path::Path;

use embermark_model::result::{BackgroundCpu, Machine};

use crate::{background_cpu, device, file_system};

/// Conditions from which warnings are derived. Sizes are in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions<'a> {
    pub machine: &'a Machine,
    /// Folder of the databases.
    pub data: &'a Path,
    /// Whether the program was built without optimisation.
    pub debug: bool,
    pub background_cpu: Option<BackgroundCpu>,
    /// Warning of CPUs of different speed.
    pub uneven_cpus: Option<&'a str>,
    /// What slows the CPU down, each in a few words.
    pub slowed: &'a [String],
    /// The causes among these that may pass.
    pub passing: &'a [String],
    /// Whether a battery is discharging.
    pub discharging: bool,
    pub swap_used: Option<u64>,
    /// Free space in the folder of the databases.
    pub free: Option<u64>,
    /// Size of the largest database.
    pub needed: u64,
}

/// What may disturb a run.
#[derive(Clone, Debug)]
pub(crate) struct Warnings {
    /// Most serious first.
    pub all: Vec<String>,
    /// Disturbances that may pass in a minute, in a few words: the work of other programs, heat.
    pub passing: Vec<String>,
}

/// Returns the disturbances that may pass, in a few words.
pub(crate) fn passing(conditions: &Conditions<'_>) -> Vec<String> {
    let background = conditions.background_cpu.into_iter();
    let background = background.flat_map(|cpu| background_cpu::warnings(cpu, "now"));
    let in_short = background.map(|warning| match warning.split_once([':', ';']) {
        Some((seen, _)) => seen.to_owned(),
        None => warning,
    });
    in_short.chain(conditions.passing.iter().cloned()).collect()
}

/// Returns the warnings, most serious first.
pub(crate) fn all(conditions: &Conditions<'_>) -> Vec<String> {
    let Conditions { machine, data, .. } = conditions;
    let mut warnings: Vec<String> = machine.emulates.iter().map(device::warning).collect();
    if conditions.debug {
        warnings.push(
            "this is a debug build, several times slower than a release build; build with \
             'cargo build --release'"
                .to_owned(),
        );
    }
    warnings.extend(file_system::warnings(machine, data));
    warnings.extend(machine.limits_in_words().map(|limits| {
        format!(
            "this process is limited to {limits} (cgroup): figures are those of a machine with these limits; run it outside the container or service, or keep the limits if your \
             programs have them"
        )
    }));
    let background = conditions.background_cpu.into_iter();
    warnings.extend(background.flat_map(|cpu| background_cpu::warnings(cpu, "at the start")));
    if let Some(governor) = machine.governor.as_deref().filter(|name| *name != "performance") {
        warnings.push(format!(
            "the CPU frequency governor is '{governor}', so the clock speed may depend on the \
             load; set 'performance' with 'cpupower frequency-set -g performance'"
        ));
    }
    warnings.extend(conditions.uneven_cpus.map(str::to_owned));
    if !conditions.slowed.is_empty() {
        warnings.push(format!(
            "the CPU is slowed down at the start: {}; cool it, check its power supply and its \
             settings, and run again",
            conditions.slowed.join("; ")
        ));
    }
    if conditions.discharging {
        warnings.push(
            "the machine runs on battery and may slow itself down; connect it to power".to_owned(),
        );
    }
    if let Some(swap) = conditions.swap_used.filter(|swap| *swap >= 16 << 20) {
        warnings.push(format!(
            "{} MB of swap are in use: memory is scarce and pages may be fetched from disk inside \
             the clock; stop other programs or choose a smaller scale",
            swap / 1_000_000
        ));
    }
    if let Some(free) = conditions.free.filter(|free| *free < conditions.needed) {
        warnings.push(format!(
            "{} MB are free at {}, and the largest database may take {} MB; free some, or name a \
             folder on another disk with --dir",
            free / 1_000_000,
            data.display(),
            conditions.needed.div_ceil(1_000_000)
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calm() -> Machine {
        Machine {
            cpus: Some(4),
            governor: Some("performance".to_owned()),
            file_system: Some("ext4".to_owned()),
            ..Machine::default()
        }
    }

    fn conditions(machine: &Machine) -> Conditions<'_> {
        Conditions {
            machine,
            data: Path::new("/out/data"),
            debug: false,
            background_cpu: Some(BackgroundCpu {
                cpu_ns: 20_000_000,
                stolen_ns: 0,
                total_cpu_ns: 1_000_000_000,
            }),
            uneven_cpus: None,
            slowed: &[],
            passing: &[],
            discharging: false,
            swap_used: Some(0),
            free: Some(1_000_000_000),
            needed: 1_000_000,
        }
    }

    #[test]
    fn a_calm_machine_and_one_that_tells_nothing_get_no_warning() {
        assert_eq!(all(&conditions(&calm())), Vec::<String>::new());
        let unknown = Machine::default();
        let blind = Conditions {
            background_cpu: None,
            swap_used: None,
            free: None,
            ..conditions(&unknown)
        };
        assert_eq!(all(&blind), Vec::<String>::new());
    }

    #[test]
    fn each_trouble_is_named_with_what_was_seen_and_what_to_do() {
        let machine = Machine {
            governor: Some("powersave".to_owned()),
            file_system: Some("tmpfs".to_owned()),
            limits: [("memory.max".to_owned(), "512000000".to_owned())].into(),
            ..calm()
        };
        let warnings = all(&Conditions {
            debug: true,
            background_cpu: Some(BackgroundCpu {
                cpu_ns: 550_000_000,
                stolen_ns: 250_000_000,
                total_cpu_ns: 1_000_000_000,
            }),
            uneven_cpus: Some("4 of 8 CPUs are slower; use taskset"),
            slowed: &["it is hot".to_owned()],
            discharging: true,
            swap_used: Some(100_000_000),
            free: Some(5_000_000),
            needed: 5_000_001,
            ..conditions(&machine)
        });
        let expected = [
            ("debug build", "cargo build --release"),
            ("tmpfs at /out/data", "on a disk with --dir"),
            ("limited to 512 MB of memory", "outside the container"),
            ("took 55 % of", "stop them"),
            ("host of this virtual machine took 25 %", "machine of its own"),
            ("'powersave'", "cpupower"),
            ("4 of 8 CPUs are slower", "taskset"),
            ("slowed down at the start: it is hot", "cool it"),
            ("on battery", "connect it"),
            ("100 MB of swap", "smaller scale"),
            ("5 MB are free at /out/data, and the largest database may take 6 MB", "free some"),
        ];
        assert_eq!(warnings.len(), expected.len());
        for (warning, (seen, remedy)) in warnings.iter().zip(expected) {
            assert!(warning.contains(seen) && warning.contains(remedy), "{warning}");
        }
    }

    #[test]
    fn work_of_others_and_heat_may_pass_and_a_setting_does_not() {
        let machine = calm();
        assert_eq!(passing(&conditions(&machine)), Vec::<String>::new());
        let busy = BackgroundCpu {
            cpu_ns: 900_000_000,
            stolen_ns: 90_000_000,
            total_cpu_ns: 1_000_000_000,
        };
        let (hot, limited) = (["cpu at 85 °C".to_owned()], "its clock is limited".to_owned());
        let slowed = [limited, hot[0].clone()];
        let conditions = Conditions {
            background_cpu: Some(busy),
            slowed: &slowed,
            passing: &hot,
            ..conditions(&machine)
        };
        let expected = [
            "other programs took 90 % of the machine's CPUs now",
            "the host of this virtual machine took 9 % of its CPUs now",
            "cpu at 85 °C",
        ];
        assert_eq!(passing(&conditions), expected);
    }
}
