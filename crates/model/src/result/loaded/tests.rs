use super::super::Observed;
use super::*;

fn run() -> Run {
    let written = |bytes| Resources { written_bytes: Some(bytes), ..Resources::default() };
    let device = |written_bytes| Some(DeviceIo { written_bytes, ..DeviceIo::default() });
    let maintenance = Maintenance {
        elapsed_ns: 1,
        engine: written(300),
        disk_before: None,
        disk_after: None,
        device_io: device(500),
    };
    let loaded =
        Loaded { user_bytes: 100, device_io: device(1_000), maintenance: Some(maintenance) };
    Run { elapsed_ns: 1, ops: 1, engine: written(200), loaded: Some(loaded), ..Run::default() }
}

fn amplifications(run: &Run) -> [Option<f64>; 3] {
    [run.write_amplification(), run.amplification_with_maintenance(), run.device_amplification()]
}

#[test]
fn amplification_is_bytes_written_over_bytes_of_the_user() {
    assert_eq!(amplifications(&run()), [Some(2.0), Some(5.0), Some(15.0)]);
}

#[test]
fn a_run_that_put_nothing_in_or_was_not_measured_has_no_amplification() {
    let mut nothing = run();
    nothing.loaded.as_mut().unwrap().user_bytes = 0;
    assert_eq!(amplifications(&nothing), [None; 3]);
    assert_eq!(amplifications(&Run { loaded: None, ..run() }), [None; 3]);
    let unseen = Run { engine: Resources::default(), ..run() };
    assert_eq!(amplifications(&unseen), [None, None, Some(15.0)]);
    let mut at_once = run();
    at_once.loaded.as_mut().unwrap().maintenance = None;
    assert_eq!(amplifications(&at_once), [Some(2.0), None, Some(10.0)]);
}

#[test]
fn of_a_run_with_a_window_what_was_written_in_it_counts() {
    let mut run = Run { observed: Some(Observed::default()), ..run() };
    assert_eq!(amplifications(&run), [None; 3]);
    let processes = &mut run.observed.as_mut().unwrap().processes;
    processes.insert("sensor".into(), Resources { written_bytes: Some(9), ..run.engine });
    processes.insert("writer".into(), Resources { written_bytes: Some(700), ..run.engine });
    assert_eq!(amplifications(&run), [Some(7.0), None, None]);
}
