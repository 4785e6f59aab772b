use super::*;

#[test]
fn a_record_is_read_and_one_that_is_cut_short_or_of_another_kind_is_not() {
    let long = [7; 300];
    let mut data = vec![PUT, 0x81, 0x01, 2, b'a', b'b', 0xac, 0x02];
    data.extend(long);
    let mut rest = &data[..];
    assert_eq!(record(&mut rest), Some((129, &b"ab"[..], &long[..])));
    assert!(rest.is_empty() && record(&mut rest).is_none());
    assert_eq!(record(&mut &data[..data.len() - 1]), None);
    assert_eq!(record(&mut &[1, 1, 0, 0][..]), None);
}
