use super::*;

fn shares(events: &[Event]) -> [usize; 3] {
    ["location", "co2", "logs"]
        .map(|bucket| events.iter().filter(|event| event.data.bucket() == bucket).count())
}

#[test]
fn a_year_has_the_published_rows() {
    let events = generate(PUBLISHED_ROWS, 42);
    assert_eq!(shares(&events), [52_560, 525_600, 87_570]);
    assert!(events.is_sorted_by_key(|event| event.timestamp));
    assert!(events.iter().zip(1..).all(|(event, id)| event.id == id));
    assert!(events.iter().all(|event| YEAR.contains(&event.timestamp)));
    let co2: Vec<i64> =
        events.iter().filter(|e| e.data.bucket() == "co2").map(|e| e.timestamp).collect();
    assert!(co2.windows(2).all(|pair| pair[1] - pair[0] == 60_000));
}

#[test]
fn fewer_rows_have_the_same_shares_and_span_the_year_too() {
    let events = generate(10_000, 1);
    let [places, co2, logs] = shares(&events);
    assert_eq!(places + co2 + logs, 10_000);
    assert!((780..800).contains(&places) && (1_300..1_330).contains(&logs), "{places} {logs}");
    assert!(events[9_999].timestamp > YEAR.end - 7 * 86_400_000);
    for rows in [0, 1, 2, 15] {
        assert_eq!(generate(rows, 1).len() as u64, rows);
    }
}

#[test]
fn one_log_line_in_twenty_is_an_error_and_a_burst_has_one_endpoint() {
    let events = generate(100_000, 3);
    let lines: Vec<LogLine> = events
        .iter()
        .filter_map(|event| match event.data {
            Payload::Log(line) => Some(line),
            _ => None,
        })
        .collect();
    let errors = lines.iter().filter(|line| line.is_error).count() as f64;
    assert!((0.04..0.06).contains(&(errors / lines.len() as f64)), "{errors}");
    let burst = &lines[..BURST as usize];
    assert!(burst.iter().all(|line| line.endpoint == burst[0].endpoint));
    assert_ne!(burst[0].endpoint, lines[BURST as usize].endpoint);
}

#[test]
fn the_json_reads_back_as_it_was() {
    for event in generate(3_000, 9) {
        let mut text = String::new();
        event.data.json(&mut text);
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        match event.data {
            Payload::Location { longitude, latitude } => {
                assert_eq!(read["longitude"].as_f64(), Some(longitude));
                assert_eq!(read["latitude"].as_f64(), Some(latitude));
            }
            Payload::Co2 { co2 } => assert_eq!(read["co2"].as_f64(), Some(co2)),
            Payload::Log(line) => {
                assert_eq!(read["span_id"].as_i64(), Some(line.span_id));
                assert_eq!(read["level"], line.level());
                assert_eq!(read["endpoint"], line.endpoint.as_str());
                assert_eq!(read["message"], line.message.as_str());
            }
        }
    }
}

#[test]
fn an_event_weighs_its_key_its_time_and_what_it_tells() {
    for event in generate(1_000, 42) {
        let tells = match event.data {
            Payload::Location { .. } => 16,
            Payload::Co2 { .. } => 8,
            Payload::Log(line) => {
                let LogLine { user, message, endpoint, .. } = line;
                8 + format!("{}{user}{message}{endpoint}", line.level()).len() as u64
            }
        };
        assert_eq!(event.value_bytes(), 16 + tells, "{event:?}");
    }
}
