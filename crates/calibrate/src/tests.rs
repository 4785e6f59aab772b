use super::*;

#[test]
fn engines_are_those_that_are_named_or_all_and_pairs_are_five_or_more() {
    assert_eq!(asked(&[]), Some((PAIRS, ENGINES.to_vec())));
    assert_eq!(asked(&["--pairs", "5", "lmdb"]), Some((5, vec!["lmdb"])));
    assert_eq!(asked(&["--pairs", "4"]), None);
    assert_eq!(asked(&["oracle"]), None);
    assert_eq!(asked(&["--pairs"]), None);
}
