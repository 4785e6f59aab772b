use super::*;

#[test]
fn the_median_stands_in_the_middle() {
    assert_eq!(median(vec![]), None);
    assert_eq!(median(vec![3.0]), Some(3.0));
    assert_eq!(median(vec![9.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(vec![9.0, 1.0, 2.0, 4.0]), Some(3.0));
}
