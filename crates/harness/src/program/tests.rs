use super::*;

#[test]
fn what_a_program_writes_is_read_whole_and_how_it_ended_told() {
    let said = output(Path::new("sh"), &["-c", "head -c 300000 /dev/zero; exit 3"]).unwrap();
    assert_eq!((said.stdout.len(), said.status.code()), (300_000, Some(3)));
    assert_eq!(output(Path::new("no-such-program"), &[]).unwrap_err(), "no no-such-program");
}

#[test]
fn one_that_hangs_is_ended() {
    let began = Instant::now();
    let why = output(Path::new("sleep"), &["60"]).unwrap_err();
    assert!(why.contains("did not end within") && began.elapsed() < TAKES * 3, "{why}");
}
