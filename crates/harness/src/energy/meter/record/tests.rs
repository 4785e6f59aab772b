use super::*;

fn samples(text: &str) -> Vec<(f64, f64)> {
    let record = Record::parse(text).unwrap();
    let [first, last] = record.curve.ends().unwrap();
    let watts: Vec<f64> = record.curve.within(first, last + 1.0).collect();
    vec![(first, watts[0]), (last, *watts.last().unwrap())]
}

fn refused(text: &str) -> String {
    Record::parse(text).unwrap_err()
}

#[test]
fn times_and_powers_are_read_as_meters_write_them() {
    let wanted = [(1_767_225_600.0, 2.5), (1_767_225_601.0, 3.0)];
    assert_eq!(samples("time,watts\n1767225600,2.5\n1767225601,3\n"), wanted);
    assert_eq!(
        samples("Timestamp,Power (W)\n2026-01-01T00:00:00Z,2.5\n2026-01-01T01:00:01+01:00,3\n"),
        wanted
    );
    assert_eq!(
        samples("date;voltage;current\n2026-01-01 00:00:00;5,0;0,5\n2026-01-01 00:00:01;6;0,5\n"),
        wanted
    );
    assert_eq!(
        samples(
            "timestamp_ms\tVoltage(mV)\tCurrent(mA)\n1767225600000\t5000\t500\n1767225601000\t6000\t500\n"
        ),
        wanted
    );
    // Columns that nobody asks for, and a mark before the first line.
    assert_eq!(samples("\u{feff}note,s,W\nx,0.0,1\ny,0.5,2\n"), [(0.0, 1.0), (0.5, 2.0)]);
    assert!(Record::parse("s,w\n0,1\n1,1\n").unwrap().is_relative);
    assert!(!Record::parse("time,w\n1767225600,1\n1767225601,1\n").unwrap().is_relative);
}

#[test]
fn lines_of_one_time_are_one_sample() {
    assert_eq!(samples("s,w\n0,1\n0,3\n1,4\n"), [(0.0, 2.0), (1.0, 4.0)]);
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let why = refused("when,heat\n0,1\n1,2\n");
    assert!(why.contains("no column of time") && why.contains("when, heat"), "{why}");
    assert!(refused("time,volts\n0,1\n").contains("no column of watts"));
    assert!(refused("s,w\n0,1\n1,much\n").contains("line 3: 'much' is no number"));
    assert!(refused("s,w\n0,1\nnoon,1\n").contains("line 3: 'noon' is no time"));
    assert!(refused("s,w\n2,1\n1,1\n").contains("line 3: its time is before"));
    assert!(refused("s,w\n0,nan\n1,1\n").contains("line 2"));
    assert!(refused("s,w\n0,1\n").contains("no two lines"));
    assert!(refused("s,w\n0\n1,1\n").contains("line 2: '' is no number"));
}
