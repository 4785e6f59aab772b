use super::*;

fn numeric(weight: i16, sign: u16, digits: &[u16]) -> Vec<u8> {
    let head = [digits.len() as u16, weight.cast_unsigned(), sign, 0];
    head.iter().chain(digits).flat_map(|number| number.to_be_bytes()).collect()
}

#[test]
fn whole_numbers_of_64_bits_are_integers_and_others_floats() {
    let one = numeric(0, 0, &[1]);
    assert_eq!((whole(&one), float(&one)), (Some(1), Some(1.0)));
    let zero = numeric(0, 0, &[]);
    assert_eq!((whole(&zero), float(&zero)), (Some(0), Some(0.0)));
    // -120,000: the digits behind the first are left out.
    let thousands = numeric(1, NEGATIVE, &[12]);
    assert_eq!((whole(&thousands), float(&thousands)), (Some(-120_000), Some(-120_000.0)));
    let half = numeric(0, 0, &[3, 5_000]);
    assert_eq!((whole(&half), float(&half)), (None, Some(3.5)));
    let small = numeric(-2, NEGATIVE, &[1, 2_345]);
    assert_eq!((whole(&small), float(&small)), (None, Some(-0.000_000_012_345)));
    let least = numeric(4, NEGATIVE, &[922, 3_372, 368, 5_477, 5_808]);
    assert_eq!(whole(&least), Some(i64::MIN));
    let beyond = numeric(4, 0, &[922, 3_372, 368, 5_477, 5_808]);
    assert_eq!((whole(&beyond), float(&beyond)), (None, Some(9_223_372_036_854_775_808.0)));
}

#[test]
fn what_is_no_number_and_what_is_cut_off_are_told_apart() {
    assert!(float(&numeric(0, NAN, &[])).unwrap().is_nan());
    assert_eq!(float(&numeric(0, NEGATIVE_INFINITE, &[])), Some(f64::NEG_INFINITY));
    assert_eq!(whole(&numeric(0, INFINITE, &[])), None);
    assert_eq!((float(&[0, 1, 0]), float(&numeric(0, 0, &[1])[..9])), (None, None));
}
