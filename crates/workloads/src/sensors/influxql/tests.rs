use super::*;

fn text(query: Query<'_>) -> String {
    let mut text = "left over".to_owned();
    query.write(&mut text);
    text
}

#[test]
fn keys_are_written_as_the_tag_s_text_and_nanoseconds() {
    let key = Key { sensor: 7, ts: -3 };
    let expected = "DELETE FROM readings WHERE sensor = '7' AND time = -3000";
    assert_eq!(text(Query::Delete(key)), expected);
    assert!(text(Query::Read(key)).ends_with("WHERE sensor = '7' AND time = -3000"));
    let expected = "WHERE sensor = '1' OR sensor = '20' GROUP BY sensor ORDER BY time DESC LIMIT 1";
    assert!(text(Query::NewestOf(&[1, 20])).ends_with(expected));
}

#[test]
fn bounds_are_written_in_full_and_without_exponents() {
    let bands =
        [Band { sensor: 1, low: -0.1, high: 1e-7 }, Band { sensor: 2, low: 1.0 / 3.0, high: 1e20 }];
    let expected = "WHERE (sensor = '1' AND (temperature < -0.1 OR temperature > 0.0000001)) \
                    OR (sensor = '2' AND (temperature < 0.3333333333333333 \
                    OR temperature > 100000000000000000000.0)) GROUP BY sensor";
    assert!(text(Query::Outside(&bands)).ends_with(expected));
}

#[test]
fn ranges_and_questions_of_one_sensor_are_bounded() {
    let span = Span { sensor: 7, from: -3, to: 5, readings: 9 };
    let expected = "FROM readings WHERE sensor = '7' AND time >= -3000 AND time <= 5000";
    assert_eq!(text(Query::DeleteRange(span)), format!("DELETE {expected}"));
    assert_eq!(text(Query::TimesIn(span)), format!("SELECT reading {expected}"));
    assert!(
        text(Query::AvgSensor(Some(7)))
            .ends_with("FROM readings WHERE sensor = '7' GROUP BY sensor")
    );
    assert!(text(Query::AvgSensor(None)).ends_with("FROM readings GROUP BY sensor"));
    assert!(text(Query::Outages(Some(7))).contains("readings WHERE sensor = '7' GROUP BY sensor)"));
}
