use super::*;
use crate::Key;

fn row(sensor: u16, ts: i64, temperature: f64) -> Reading {
    Reading::new(Key { sensor, ts }, [Some(temperature), None, Some(2.0), Some(3.0)])
}

#[test]
fn order_does_not_matter_but_every_field_does() {
    let (a, b) = (row(1, 10, 20.0), row(2, 10, 21.0));
    let both: Checksum = [&a, &b].into_iter().collect();
    assert_eq!(both, [&b, &a].into_iter().collect());

    let swapped_values: Checksum = [&row(1, 10, 21.0), &row(2, 10, 20.0)].into_iter().collect();
    assert_ne!(both, swapped_values);
    for changed in [row(3, 10, 20.0), row(1, 11, 20.0), row(1, 10, 20.000_000_1)] {
        assert_ne!(fingerprint(&a), fingerprint(&changed));
    }
}

#[test]
fn columns_are_bound_in_their_order_and_at_their_borders() {
    let row = |id, a: &str, b: &str| Fingerprint::default().int(id).text(a).text(b);
    let different = [
        row(1, "ab", "c"),
        row(1, "a", "bc"),
        row(1, "c", "ab"),
        row(2, "ab", "c"),
        row(1, "abc", ""),
        row(1, "ab\0", "c"),
        row(1, "abcdefgh", "c"),
        row(1, "abcdefghi", "c"),
    ];
    for (i, one) in different.iter().enumerate() {
        assert!(different[..i].iter().all(|other| other != one), "{i}");
    }
    let sum = |rows: [Fingerprint; 2]| rows.into_iter().collect::<Checksum>();
    let [a, b, ..] = different;
    assert_eq!(sum([a, b]), sum([b, a]));
    assert_ne!(sum([a, a]), sum([a, b]));
}

#[test]
fn null_and_zero_differ_but_the_sign_of_zero_does_not_count() {
    let zero = row(1, 1, 0.0);
    let mut null = zero;
    null.set(Reading::TEMPERATURE, None);
    assert_ne!(fingerprint(&zero), fingerprint(&null));
    assert_eq!(fingerprint(&zero), fingerprint(&row(1, 1, -0.0)));
}
