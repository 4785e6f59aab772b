use super::*;

#[test]
fn times_are_written_as_iso_8601_has_them_without_idle_zeros() {
    let written = |nanoseconds, form| {
        let mut room = "before".to_owned();
        write(nanoseconds, form, &mut room).map(|()| room)
    };
    let leap = 1_709_251_199_500_000_000;
    assert_eq!(written(leap, Form::Date).as_deref(), Some("2024-02-29"));
    assert_eq!(written(leap, Form::Time).as_deref(), Some("23:59:59.5"));
    assert_eq!(written(leap, Form::DateTime).as_deref(), Some("2024-02-29 23:59:59.5"));
    assert_eq!(written(leap, Form::Instant).as_deref(), Some("2024-02-29 23:59:59.5+00"));
    assert_eq!(written(-1, Form::DateTime).as_deref(), Some("1969-12-31 23:59:59.999999999"));
    assert_eq!(written(0, Form::Time).as_deref(), Some("00:00:00"));
    assert_eq!(written(i128::MAX, Form::Date), None);
}
