//! Power inputs in `/sys/class/hwmon` (kernel documentation, `hwmon/sysfs-interface`): INA2xx and
//! INA3221 of boards, power supplies, graphics cards.

use std::path::Path;

use super::source::{EnergySources, Kind, Power, Source};
use crate::system::{System, read};

const FOLDER: &str = "sys/class/hwmon";

/// Finds every readable input, each as its own source. One may be part of another, and the labels
/// are the board manufacturer's.
pub(super) fn find(system: &System) -> EnergySources {
    let mut sources: Vec<Source> = Vec::new();
    for chip in system.entries(FOLDER) {
        let Some(name) = read(&chip.join("name")) else { continue };
        let powers = inputs(&chip);
        let is_ina = name.starts_with("ina");
        let own = if powers.is_empty() && is_ina { products(&chip) } else { powers };
        for (label, power) in own.into_iter().filter(|(_, power)| power.watts().is_some()) {
            let mut id = format!("{name} {label}");
            // Two chips of one kind.
            if sources.iter().any(|other| other.id == id) {
                let folder = chip.file_name().unwrap_or_default().to_string_lossy();
                id = format!("{folder} {id}");
            }
            let about = format!("{id} by hwmon");
            sources.push(Source { id, about, kind: Kind::Power(power) });
        }
    }
    let absent =
        if sources.is_empty() { vec![format!("no power input in /{FOLDER}")] } else { Vec::new() };
    EnergySources { sources, absent }
}

/// Returns the powers by their labels, in the order of their numbers. For a power with several files
/// it is the first one.
fn inputs(chip: &Path) -> Vec<(String, Power)> {
    let inputs = (1..=16).filter_map(|number| {
        let stem = format!("power{number}");
        let files = ["_input", "_average"].map(|end| chip.join(format!("{stem}{end}")));
        let file = files.into_iter().find(|path| path.exists())?;
        Some((read(&chip.join(format!("{stem}_label"))).unwrap_or(stem), Power::Input(file)))
    });
    inputs.collect()
}

/// Returns products of currents and the voltages of their channels.
fn products(chip: &Path) -> Vec<(String, Power)> {
    let channels = (1..=8).filter_map(|number| {
        let (current, voltage) =
            (chip.join(format!("curr{number}_input")), chip.join(format!("in{number}_input")));
        let there = current.exists() && voltage.exists();
        let label = [format!("in{number}_label"), format!("curr{number}_label")];
        let label = label.iter().find_map(|file| read(&chip.join(file)));
        there.then(|| {
            (label.unwrap_or_else(|| format!("channel {number}")), Power::Product(current, voltage))
        })
    });
    channels.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::tests::tree;

    fn watts(found: &EnergySources) -> Vec<(&str, f64)> {
        let of = |source: &'_ Source| match &source.kind {
            Kind::Power(power) => power.watts().unwrap(),
            Kind::Counter(_) => f64::NAN,
        };
        found.sources.iter().map(|source| (source.id.as_str(), of(source))).collect()
    }

    #[test]
    fn inputs_are_sources_by_their_labels_in_watts() {
        let hwmon = "sys/class/hwmon";
        let tree = tree(&[
            (&format!("{hwmon}/hwmon0/name"), "ina226"),
            (&format!("{hwmon}/hwmon0/power1_input"), "4250000"),
            (&format!("{hwmon}/hwmon0/curr1_input"), "850"),
            (&format!("{hwmon}/hwmon0/in1_input"), "5000"),
            // Three channels, whose powers are currents times voltages.
            (&format!("{hwmon}/hwmon1/name"), "ina3221"),
            (&format!("{hwmon}/hwmon1/in1_label"), "VDD_IN"),
            (&format!("{hwmon}/hwmon1/in1_input"), "5040"),
            (&format!("{hwmon}/hwmon1/curr1_input"), "1000"),
            (&format!("{hwmon}/hwmon1/in2_input"), "5000"),
            (&format!("{hwmon}/hwmon1/curr2_input"), "200"),
            // A battery's current is not the machine's draw, and a temperature is not a power.
            (&format!("{hwmon}/hwmon2/name"), "BAT0"),
            (&format!("{hwmon}/hwmon2/in0_input"), "11400"),
            (&format!("{hwmon}/hwmon2/curr1_input"), "1400"),
            (&format!("{hwmon}/hwmon3/name"), "cpu_thermal"),
            (&format!("{hwmon}/hwmon3/temp1_input"), "48000"),
            (&format!("{hwmon}/hwmon4/name"), "ina226"),
            (&format!("{hwmon}/hwmon4/power1_average"), "1000000"),
        ]);
        let found = find(&System::at(tree.path()));
        let wanted = [
            ("ina226 power1", 4.25),
            ("ina3221 VDD_IN", 5.04),
            ("ina3221 channel 2", 1.0),
            ("hwmon4 ina226 power1", 1.0),
        ];
        assert_eq!(watts(&found), wanted);
        assert_eq!(found.absent, Vec::<String>::new());
    }

    #[test]
    fn none_is_said_and_no_number_is_none() {
        let tree = tree(&[
            ("sys/class/hwmon/hwmon0/name", "ina226"),
            ("sys/class/hwmon/hwmon0/power1_input", "what"),
        ]);
        let found = find(&System::at(tree.path()));
        assert!(found.sources.is_empty());
        assert_eq!(found.absent, ["no power input in /sys/class/hwmon"]);
    }
}
