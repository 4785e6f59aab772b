use super::*;

#[test]
fn nonsense_is_quoted_by_its_beginning_alone() {
    assert_eq!(beginning(b"Segmentation fault\n"), "Segmentation fault");
    assert_eq!(beginning("é".repeat(500).as_bytes()), format!("{}…", "é".repeat(80)));
    assert_eq!(beginning(b"\xff\xfe\n"), "\u{fffd}\u{fffd}");
}
