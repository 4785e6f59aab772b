use super::*;

#[test]
fn a_key_is_one_part_of_a_path() {
    let encoded = |text: &str| {
        let mut path = String::new();
        encode(&mut path, text);
        path
    };
    assert_eq!(encoded("6f1c-ab.c_d~"), "6f1c-ab.c_d~");
    assert_eq!(encoded("a/b c?d#ä%"), "a%2Fb%20c%3Fd%23%C3%A4%25");
}

#[test]
fn the_component_is_there_when_it_is_wanted_alone() {
    let data = tempfile::tempdir().unwrap();
    place(data.path(), true).unwrap();
    let file = data.path().join(COMPONENT).join("resources.js");
    assert!(file.is_file());
    place(data.path(), false).unwrap();
    assert!(!file.exists() && data.path().join("root/components").is_dir());
}
