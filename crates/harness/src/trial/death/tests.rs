use super::*;

#[test]
fn a_signal_is_named_and_the_end_of_the_log_quoted() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    fs::write(&log, "1\n2\n3\n\n4\n5\n6\n").unwrap();
    assert_eq!(
        report(ExitStatus::from_raw(11), "run 2 of phase read", &log),
        "the worker was killed by signal 11 (SIGSEGV) in run 2 of phase read; \
         its last words: 2 | 3 | 4 | 5 | 6"
    );
    let absent = dir.path().join("absent");
    let text = report(ExitStatus::from_raw(101 << 8), "opening the engine", &absent);
    assert_eq!(text, "the worker exited with status 101 in opening the engine");
}

#[test]
fn of_a_panic_its_message_is_quoted_and_not_its_backtrace() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let text = "warming up\n\nthread 'main' (7) panicked at a.rs:1:2:\npage 7 is gone\n\
                stack backtrace:\n 0: a\n 1: b\n 2: c\n 3: d\n 4: e\nnote: Some\n";
    fs::write(&log, text).unwrap();
    assert_eq!(tail(&log), "thread 'main' (7) panicked at a.rs:1:2: | page 7 is gone");
}
