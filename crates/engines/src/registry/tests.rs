use super::*;

#[test]
fn ids_are_unique_and_found() {
    for (i, engine) in ENGINES.iter().enumerate() {
        let id = engine.info().id;
        assert!(ENGINES[..i].iter().all(|other| other.info().id != id), "{id} twice");
        assert_eq!(find(id).map(|found| found.info().id), Ok(id));
    }
}

#[test]
fn groups_hold_their_kind_and_an_unknown_word_is_answered_with_the_valid_ones() {
    let ids = |word| select(word).unwrap().iter().map(|e| e.info().id).collect::<Vec<_>>();
    assert!(ids("embedded").contains(&"memory") && !ids("all").contains(&"null"));
    assert_eq!(ids("null"), ["null"]);
    let error = select("memori").err().unwrap().to_string();
    assert!(error.contains("did you mean 'memory'?") && error.contains("servers"), "{error}");
}
