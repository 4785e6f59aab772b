use super::*;

fn one(bytes: &[u8]) -> io::Result<Token> {
    Decoder::new(bytes).token()
}

#[test]
fn integers_of_every_width_and_floats_are_exact() {
    for (bytes, expected) in [
        (&[0x7f][..], 127),
        (&[0xe0], -32),
        (&[0xcc, 200], 200),
        (&[0xcd, 1, 0], 256),
        (&[0xce, 0xff, 0xff, 0xff, 0xff], 0xffff_ffff),
        (&[0xcf, 0x7f, 255, 255, 255, 255, 255, 255, 255], i64::MAX),
        (&[0xd0, 0x80], -128),
        (&[0xd1, 0x80, 0], -32768),
        (&[0xd2, 0x80, 0, 0, 0], i64::from(i32::MIN)),
        (&[0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0], i64::MIN),
    ] {
        assert_eq!(one(bytes).unwrap(), Token::Int(expected));
    }
    let mut bytes = vec![0xcb];
    bytes.extend(0.1f64.to_be_bytes());
    assert_eq!(one(&bytes).unwrap(), Token::Float(0.1));
    assert!(one(&[0xcf, 0x80, 0, 0, 0, 0, 0, 0, 0]).is_err());
}

#[test]
fn what_has_no_meaning_is_passed_over_and_an_end_too_early_is_an_error() {
    // [{"a": [nil, true]}, an extension of four bytes, 1], then "bc".
    let bytes =
        [0x93, 0x81, 0xa1, b'a', 0x92, 0xc0, 0xc3, 0xd6, 5, 1, 2, 3, 4, 1, 0xa2, b'b', b'c'];
    let mut decoder = Decoder::new(&bytes[..]);
    let token = decoder.token().unwrap();
    decoder.skip(token).unwrap();
    assert_eq!(decoder.token().unwrap(), Token::Text(2));
    let mut text = "a".to_owned();
    decoder.text(2, &mut text).unwrap();
    assert_eq!(text, "abc");
    assert!(decoder.at_end().unwrap() && decoder.token().is_err());
    assert!(Decoder::new(&b"b"[..]).text(2, &mut text).is_err());
}
