use super::*;

#[test]
fn a_name_with_blanks_and_brackets_does_not_shift_the_fields() {
    let line = "42 (a) b (c) S 7 42 42 0 -1 0 1 2 3 4 11 22 33 44 20 0 1 0 99 0 0";
    let expected = Stat {
        parent: 7,
        zombie: false,
        own_ticks: 33,
        children_ticks: 77,
        minor_faults: 3,
        major_faults: 7,
    };
    assert_eq!(parse(line), Some(expected));
    assert_eq!(parse("42 (cut"), None);
}

#[test]
fn a_tree_begins_with_its_root_and_a_process_that_is_gone_has_none() {
    let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let own = tree(std::process::id());
    assert_eq!(own[0], std::process::id());
    assert!(own.contains(&child.id()));
    assert_eq!(tree(child.id()), [child.id()]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(tree(child.id()), Vec::<u32>::new());
}
