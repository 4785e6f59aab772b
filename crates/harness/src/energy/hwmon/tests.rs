use super::*;
use crate::machine::tests::tree;

fn watts(found: &Found) -> Vec<(&str, f64)> {
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
        // A battery's current is no draw of the machine, and a temperature no power.
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
