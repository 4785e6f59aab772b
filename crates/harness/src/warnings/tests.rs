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
    assert_eq!(of(&conditions(&calm())), Vec::<String>::new());
    let unknown = Machine::default();
    let blind =
        Conditions { background_cpu: None, swap_used: None, free: None, ..conditions(&unknown) };
    assert_eq!(of(&blind), Vec::<String>::new());
}

#[test]
fn each_trouble_is_named_with_what_was_seen_and_what_to_do() {
    let machine = Machine {
        governor: Some("powersave".to_owned()),
        file_system: Some("tmpfs".to_owned()),
        ..calm()
    };
    let warnings = of(&Conditions {
        debug: true,
        background_cpu: Some(BackgroundCpu {
            cpu_ns: 550_000_000,
            stolen_ns: 250_000_000,
            total_cpu_ns: 1_000_000_000,
        }),
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
        ("took 55 % of", "stop them"),
        ("host of this virtual machine took 25 %", "machine of its own"),
        ("'powersave'", "cpupower"),
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
    let busy =
        BackgroundCpu { cpu_ns: 900_000_000, stolen_ns: 90_000_000, total_cpu_ns: 1_000_000_000 };
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
