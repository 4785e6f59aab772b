use super::*;

#[test]
fn waiting_for_the_disk_is_idle_and_what_is_stolen_is_told_apart() {
    let moment = CpuSnapshot::of("cpu  10 20 30 400 50 6 7 8 9 0\ncpu0 1 2 3 4", 1, 5).unwrap();
    assert_eq!(moment, CpuSnapshot { all: 531, busy: 73, stolen: 8, own: 5 });
    assert_eq!(CpuSnapshot::of("cpu  1 2 x", 1, 0), None);
    assert_eq!(CpuSnapshot::of("cpu  1 2 3 4", 1, 0), None);
    assert_eq!(CpuSnapshot::of("cpu  1 2 3 4 5 6 7 8", u64::MAX, 0), None);
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
    // Nothing is warned of where nothing was measured.
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
        // It has not been waited for: its time is not yet ours.
        let seen = share(CpuSnapshot::now(&system).unwrap().since(&before));
        let _ = child.kill();
        child.wait().unwrap();
        seen
    };
    // A machine on which other tests run takes part of the CPUs at any time; what is ours must
    // not be added to it.
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
    assert!(said.len() == 1 && said[0].contains("host") && said[0].contains("10 %"), "{said:?}");
    let short = BackgroundCpu { total_cpu_ns: second / 10, ..background };
    assert_eq!(warnings(short, "at the start"), Vec::<String>::new());
}
