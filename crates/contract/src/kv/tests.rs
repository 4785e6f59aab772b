use super::beyond;

#[test]
fn what_lies_beyond_a_prefix_is_above_all_that_begins_with_it_and_no_higher() {
    assert_eq!(beyond(b"ab"), Some(b"ac".to_vec()));
    assert_eq!(beyond(&[1, 255, 255]), Some(vec![2]));
    assert_eq!(beyond(&[255]), None);
    assert_eq!(beyond(b""), None);
}
