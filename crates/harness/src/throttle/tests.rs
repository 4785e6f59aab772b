use std::fs;

use super::*;
use crate::machine::tests::tree;

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
        "the firmware says that the voltage is too low and it is throttled",
    ];
    assert_eq!(seen(&hot), expected);
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
    let mut watch = PhaseObserver::begin(System::at(tree.path()));
    assert_eq!(watch.look(), None);
    // A counter that wrapped says nothing.
    fs::write(tree.path().join(file), "1").unwrap();
    assert_eq!(watch.look(), None);
    fs::write(tree.path().join(file), "5").unwrap();
    let told = watch.look();
    assert!(told.is_some_and(|text| text.contains("throttled 2 times")));
    fs::write(tree.path().join(file), "9").unwrap();
    assert_eq!(watch.look(), None);
}
