use super::*;

#[test]
fn a_month_begins_at_its_first_millisecond() {
    for number in 1..=12 {
        let span = month(number);
        for timestamp in [span.start, span.end - 1] {
            let mut found = QueryResults::default();
            found.see_co2(timestamp, 7.0);
            found.conclude();
            assert_eq!(found.means, [(number as i64, 7.0)]);
        }
    }
    assert_eq!((month(1).start, month(12).end), (YEAR.start, YEAR.end));
}

#[test]
fn room_that_is_used_again_holds_nothing_of_the_request_before() {
    let mut found = QueryResults::default();
    for _ in 0..2 {
        found.clear();
        found.see_point(7.0, 46.0);
        found.see_point(6.0, 46.0);
        found.see_error("a");
        found.see_error("b");
        found.see_error("a");
        found.conclude();
        assert_eq!((found.points.len(), found.means.len(), found.errors.len()), (1, 0, 2));
        assert_eq!(found.errors[1].1, 2);
    }
}
