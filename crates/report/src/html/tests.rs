#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn no_text_of_a_result_can_end_the_element_that_holds_the_data() {
    let hostile = "</script><script>alert(1)</script><!--";
    let json = inert(&serde_json::to_string(hostile).unwrap());
    assert!(!json.contains('<'), "{json}");
    assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
}

#[test]
fn the_data_takes_the_place_that_the_page_has_for_it() {
    let page = gather::gather(&[], PageOptions::default());
    let filled = fill("<script>\"EMBERMARK-DATA\"</script>", &page).unwrap();
    assert!(filled.starts_with("<script>{\"page\":1,"), "{filled}");
    assert!(filled.ends_with("}</script>"), "{filled}");
}

#[test]
fn the_page_of_this_build_has_one_place_for_the_data() {
    if is_built() {
        assert_eq!(TEMPLATE.matches(MARK).count(), 1);
    }
}
