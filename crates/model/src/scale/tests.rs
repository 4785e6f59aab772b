use super::*;

#[test]
fn scales_read_back_as_they_are_written() {
    for text in ["1", "999", "1k", "10k", "1M", "full"] {
        assert_eq!(text.parse::<Scale>().unwrap().to_string(), text);
    }
    assert_eq!("1_000_000".parse(), Ok(Scale::Rows(1_000_000)));
}

#[test]
fn zero_absurd_and_foreign_scales_are_refused_by_name() {
    assert_eq!("0".parse::<Scale>(), Err(ScaleError::Zero));
    assert!(matches!("99999999999999999999".parse::<Scale>(), Err(ScaleError::Absurd(_))));
    assert!(matches!("99999999M".parse::<Scale>(), Err(ScaleError::Absurd(_))));
    for text in ["", "-5", "k", "ten", "1.5k", "10kk"] {
        assert!(matches!(text.parse::<Scale>(), Err(ScaleError::NotAScale(_))), "{text}");
    }
}
