use super::{HOUR_MS, HOURS, Rows, SENSORS};

#[test]
fn a_day_has_about_as_many_rows_as_asked_for_and_hours_that_are_alike() {
    for (asked, kept) in [(1, 480), (480, 480), (1_000, 960), (100_000, 99_840)] {
        let rows = Rows::new(1, asked).unwrap();
        assert_eq!((rows.kept(), rows.hour() * HOURS), (kept, kept), "{asked}");
        for hour in 0..30 {
            let first = rows.row(hour * rows.hour());
            assert_eq!(first.time_ms, Rows::hour_ms(hour));
            assert_eq!(first.time_ms % HOUR_MS, 0);
            assert!(rows.row((hour + 1) * rows.hour() - 1).time_ms < Rows::hour_ms(hour + 1));
        }
    }
    assert!(Rows::new(1, Rows::MOST).is_some());
    assert!(Rows::new(1, Rows::MOST + SENSORS * HOURS).is_none());
}

#[test]
fn rows_come_in_the_order_of_their_keys_and_are_known_by_them() {
    let rows = Rows::new(7, 100_000).unwrap();
    let key = |number| (rows.row(number).time_ms, rows.row(number).sensor);
    for number in 0..20_000 {
        assert!(key(number) < key(number + 1), "{number}");
        assert_eq!(rows.number_of(key(number).0, key(number).1), Some(number));
    }
    assert_eq!(rows.number_of(key(0).0 - 1, 0), None);
    assert_eq!(rows.number_of(key(0).0 + 1, 0), None);
    assert_eq!(rows.number_of(key(0).0, SENSORS as i32), None);
}

#[test]
fn the_same_seed_makes_the_same_rows_and_another_one_others() {
    let [one, same, other] = [7, 7, 8].map(|seed| Rows::new(seed, 1_000).unwrap());
    assert_eq!(one.row(5), same.row(5));
    assert!((0..100).any(|number| one.row(number) != other.row(number)));
    for number in 0..10_000 {
        let row = one.row(number);
        assert!(
            (-16.0..=47.75).contains(&row.temperature) && (0.0..=100.0).contains(&row.humidity)
        );
        assert_eq!(row.temperature * 4.0, (row.temperature * 4.0).round());
    }
}

#[test]
fn an_hour_goes_when_all_of_it_is_older_than_a_day() {
    let rows = Rows::new(7, 480).unwrap();
    assert_eq!(rows.there(0), 0..0);
    assert_eq!(rows.there(480), 0..480);
    assert_eq!(rows.there(500), 0..500);
    assert_eq!(rows.there(501), 20..501);
    assert_eq!(rows.there(520), 20..520);
    assert_eq!(rows.there(521), 40..521);
}
