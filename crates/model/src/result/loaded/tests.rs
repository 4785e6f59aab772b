use super::super::Observed;
use super::*;

fn run() -> Run {
    let device = |written_bytes| Some(DeviceIo { written_bytes, ..DeviceIo::default() });
    let maintenance = Maintenance {
        elapsed_ns: 1,
        engine: Resources { written_bytes: Some(7), ..Resources::default() },
        disk_before: None,
        disk_after: None,
        device_io: device(500),
    };
    let loaded = Loaded { user_bytes: 100, device_io: None, maintenance: Some(maintenance) };
    let engine = Resources { written_bytes: Some(9), ..Resources::default() };
    let device_io = device(1_000);
    Run { elapsed_ns: 1, ops: 1, engine, device_io, loaded: Some(loaded), ..Run::default() }
}

fn amplifications(run: &Run) -> [Option<f64>; 2] {
    [run.write_amplification(), run.amplification_with_maintenance()]
}

#[test]
fn amplification_is_bytes_that_reached_the_device_over_bytes_of_the_user() {
    assert_eq!(amplifications(&run()), [Some(10.0), Some(15.0)]);
}

#[test]
fn a_run_that_put_nothing_in_or_had_no_device_of_its_own_has_no_amplification() {
    let mut nothing = run();
    nothing.loaded.as_mut().unwrap().user_bytes = 0;
    assert_eq!(amplifications(&nothing), [None; 2]);
    assert_eq!(amplifications(&Run { loaded: None, ..run() }), [None; 2]);
    // Pages that became dirty are not what reached the device.
    assert_eq!(amplifications(&Run { device_io: None, ..run() }), [None; 2]);
    let mut at_once = run();
    at_once.loaded.as_mut().unwrap().maintenance = None;
    assert_eq!(amplifications(&at_once), [Some(10.0), None]);
}

#[test]
fn of_a_run_with_a_window_maintenance_does_not_count() {
    let run = Run { observed: Some(Observed::default()), ..run() };
    assert_eq!(amplifications(&run), [Some(10.0), None]);
}
