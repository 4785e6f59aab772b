use super::*;

#[test]
fn kinds_are_listed_in_the_order_of_their_discriminants_under_distinct_reasons() {
    for (i, fault) in Fault::ALL.into_iter().enumerate() {
        assert_eq!(fault as usize, i, "{fault:?}");
        assert!(Fault::ALL[..i].iter().all(|other| other.reason() != fault.reason()), "{fault:?}");
    }
}
