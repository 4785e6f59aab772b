use super::*;

fn event(task: &str, status: Status, message: &str, out: &str) -> Event {
    Event {
        device: "roof".to_owned(),
        task: task.to_owned(),
        status,
        message: message.to_owned(),
        out: out.to_owned(),
        probes: Vec::new(),
    }
}

fn device() -> Device {
    Device::new("roof".to_owned())
}

fn begun() -> Device {
    let mut device = device();
    assert_eq!(device.record(&event("begin", Status::Ok, "", "begun\n")).as_deref(), Some("begun"));
    device
}

#[test]
fn a_run_is_begun_tells_how_far_it_is_and_ends_with_its_result() {
    let mut device = begun();
    let watched = |said: &str| event("watch", Status::Ok, "", said);
    assert_eq!(device.record(&watched("running ")), None);
    let line = "running [1/12] sqlite: ok\n";
    assert_eq!(device.record(&watched(line)).as_deref(), Some("[1/12] sqlite: ok"));
    assert_eq!(device.record(&watched(line)), None, "said before");
    device.record(&watched("ended 0"));
    assert_eq!(device.outcome, None, "its result is not here yet");
    device.record(&event("result", Status::Ok, "", ""));
    assert_eq!(device.outcome, Some(Outcome::Done { status: 0 }));

    let mut device = begun();
    device.record(&watched("ended 1"));
    device.record(&event("result", Status::Ok, "", ""));
    let outcome = device.outcome.unwrap();
    assert!(outcome.has_result() && !outcome.is_well());
    assert_eq!(outcome.to_string(), "done; a cell was wrong, failed or timed out");
}

#[test]
fn a_cell_that_was_wrong_stays_wrong_when_its_result_is_there_already() {
    let before = Outcome::DoneBefore { status: 1 };
    assert!(before.has_result() && !before.is_well());
    assert_eq!(before.to_string(), "done before; a cell was wrong, failed or timed out");
    let before = Outcome::DoneBefore { status: 0 };
    assert!(before.has_result() && before.is_well());
    assert_eq!(before.to_string(), "done before");
}

#[test]
fn a_device_that_is_off_is_not_waited_for_and_one_that_runs_is_tried_again() {
    let lost = event("watch", Status::Unreachable, "Connection refused\nmore", "");
    let mut off = device();
    assert_eq!(off.record(&lost), None);
    let why = "Connection refused".to_owned();
    assert_eq!(off.outcome, Some(Outcome::Unreachable { why, begun: false }));

    let mut away = begun();
    for _ in 1..MOST_LOST {
        assert!(away.record(&lost).unwrap().contains("for a moment"));
        assert_eq!(away.outcome, None);
    }
    away.record(&event("watch", Status::Ok, "", "running x"));
    for _ in 1..MOST_LOST {
        away.record(&lost);
    }
    assert_eq!(away.outcome, None, "in a row");
    away.record(&lost);
    assert!(matches!(away.outcome, Some(Outcome::Unreachable { begun: true, .. })));
}

#[test]
fn a_run_that_was_cut_off_is_resumed_but_not_for_ever() {
    let mut device = begun();
    let ended = event("ended", Status::Failed, "its run cut off", "");
    for _ in 0..MOST_CUT {
        device.record(&event("watch", Status::Ok, "", "cut off"));
        device.record(&ended);
        device.resume_if_cut();
        assert!(device.outcome.is_none() && device.cut);
        device.record(&event("begin", Status::Ok, "", "resumed"));
        assert!(!device.cut);
    }
    device.record(&event("watch", Status::Ok, "", "cut off"));
    device.record(&ended);
    device.resume_if_cut();
    assert_eq!(device.outcome.unwrap().to_string(), "its run cut off (see its log)");
}

#[test]
fn what_fails_says_what_it_was() {
    let fails = |event: &Event| {
        let mut device = device();
        assert_eq!(device.record(event), None);
        device.outcome.unwrap().to_string()
    };
    for (task, why) in [
        ("space", "too little space: 12 MB are free"),
        ("tidy", "the run of plan 0123456789ab is active: wait until it has ended"),
    ] {
        assert_eq!(fails(&event(task, Status::Failed, why, "")), why);
    }
    let doctor = r#"{"facts": [], "warnings": [], "passing": ["cpu is at 85 °C", "busy"]}"#;
    assert_eq!(
        fails(&event("doctor", Status::Failed, "", doctor)),
        "busy or hot, and did not calm down: cpu is at 85 °C; busy"
    );
    assert_eq!(
        fails(&event("doctor", Status::Failed, "no such program", "")),
        "embermark doctor failed: no such program"
    );
    assert_eq!(
        fails(&event("copy", Status::Failed, "[Errno 28] No space left on device", "")),
        "'copy' failed: [Errno 28] No space left on device"
    );
    let mut hot = device();
    let says = hot.record(&event("doctor", Status::Retry, "", doctor));
    assert_eq!(says.as_deref(), Some("waits, busy or hot: cpu is at 85 °C; busy"));
    assert_eq!(hot.record(&event("doctor", Status::Retry, "", doctor)), None, "said once");
    assert_eq!(hot.outcome, None);
}
