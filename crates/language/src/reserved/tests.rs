use super::{WORDS, is_reserved};

#[test]
fn words_are_sorted_and_found_in_any_case() {
    let words: Vec<_> = WORDS.split(' ').collect();
    assert!(words.is_sorted() && !words.contains(&""));
    assert!(is_reserved("Order", false) && is_reserved("zerofill", true));
    assert!(is_reserved("value", true) && !is_reserved("value", false));
    for free in ["time", "timestamp", "date", "temp", "station", "status", "type", "text"] {
        assert!(!is_reserved(free, true), "{free}");
    }
}
