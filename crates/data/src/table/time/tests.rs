use super::*;

fn read(text: &str) -> Option<(i64, u32)> {
    parse(text.as_bytes()).map(|time| (time.seconds, time.nanos))
}

#[test]
fn every_day_of_eight_centuries_is_where_another_calendar_has_it() {
    let mut day = jiff::civil::date(1600, 1, 1);
    while day.year() < 2400 {
        let expected = day.since(jiff::civil::date(1970, 1, 1)).unwrap().get_days();
        assert_eq!(read(&day.to_string()), Some((86_400 * i64::from(expected), 0)), "{day}");
        day = day.tomorrow().unwrap();
    }
}

#[test]
fn times_are_read_with_and_without_seconds_fraction_and_zone() {
    let second = 1_077_929_956;
    assert_eq!(read("2004-02-28 00:59:16"), Some((second, 0)));
    assert_eq!(read("2004-02-28T00:59:16Z"), Some((second, 0)));
    assert_eq!(read("2004-02-28 00:59:16 UTC"), Some((second, 0)));
    assert_eq!(read("2004-02-28 00:59:16.02785"), Some((second, 27_850_000)));
    assert_eq!(read("2004-02-28T01:59:16,5+01:00"), Some((second, 500_000_000)));
    assert_eq!(read("2004-02-27T21:29:16-0330"), Some((second, 0)));
    assert_eq!(read("2004-02-28T02:59:16+02"), Some((second, 0)));
    assert_eq!(read("2004-02-28 00:59"), Some((second - 16, 0)));
    assert!(parse(b"2004-02-28 00:59:16.0000000001").unwrap().cut);
    assert!(!parse(b"2004-02-28 00:59:16.0000000010").unwrap().cut);
}

#[test]
fn what_is_no_time_is_refused() {
    let texts = [
        "",
        "2004",
        "2004-2-8",
        "2004-02-30",
        "2003-02-29",
        "1900-02-29",
        "2004-13-01",
        "2004-00-01",
        "2004-01-00",
        "2004-01-01 24:00:00",
        "2004-01-01 00:60",
        "2004-01-01T",
        "2004-01-01 00:00:61",
        "2004-01-01 00:00:00.",
        "2004-01-01 00:00:00+25:00",
        "2004-01-01 00:00:00 CET",
        "20040101T000000",
        "2004-01-01X00:00:00",
    ];
    for text in texts {
        assert_eq!(read(text), None, "{text}");
    }
}
