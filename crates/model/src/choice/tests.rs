use super::*;

#[test]
fn a_misspelt_name_is_answered_with_the_nearest_and_all_valid_ones() {
    let error = unknown("engine", "sqlight", ["sqlite", "duckdb"]);
    assert_eq!(
        error.to_string(),
        "unknown engine 'sqlight', did you mean 'sqlite'?; valid: sqlite, duckdb"
    );
}

#[test]
fn a_name_like_none_of_them_gets_no_suggestion() {
    assert_eq!(unknown("engine", "xyz", ["sqlite", "duckdb"]).nearest, None);
}
