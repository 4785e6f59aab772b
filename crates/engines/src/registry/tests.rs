use super::*;
use crate::Info;

#[test]
fn every_adapter_has_a_plausible_number_of_lines_and_what_is_no_engine_none() {
    for engine in ENGINES {
        let Info { id, kind, .. } = engine.info();
        let lines = adapter_lines(id).unwrap();
        assert!(lines > if kind == Kind::Reference { 50 } else { 100 }, "{id}: {lines}");
        assert!(lines < 5_000, "{id}: {lines}");
    }
    assert_eq!((adapter_lines("kv"), adapter_lines("memori")), (None, None));
}

#[test]
fn lines_are_counted_without_blanks_comments_and_modules_for_tests() {
    let text = "//! A module.\n\nuse a::b; // counts\n\n/// Says why.\nfn f() {\n    // why\n    \
                g()\n}\n\n#[cfg(test)]\nfn h() {}\n\n#[cfg(test)]\nmod tests {\n    fn t() {\n        \
                u();\n    }\n}\n\n#[cfg(test)]\n#[path = \"x.rs\"]\nmod more;\nfn last() {}\n";
    assert_eq!(lines::rust(text), (7, vec!["more"]));
    let text =
        "/* one\n   two\n*/ int a; /* three */\n\n// four\n/* five */ int b;\nint c; // six\n";
    assert_eq!(lines::c(text), 3);
}

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
