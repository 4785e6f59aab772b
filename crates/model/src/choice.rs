//! Names a user chooses from: what to say when a name is not one of them.

/// A name that is none of the valid ones; the text says which are, and the nearest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} '{given}'{}; valid: {}", nearest_hint(.nearest), .valid.join(", "))]
pub struct UnknownName {
    /// What kind of name it is ("engine", "workload", …).
    pub what: &'static str,
    /// What was written.
    pub given: String,
    /// The valid name that looks most like it, if any is close.
    pub nearest: Option<String>,
    /// Every valid name.
    pub valid: Vec<String>,
}

fn nearest_hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!(", did you mean '{name}'?"))
}

/// Makes the error for `given`, which is none of `valid`.
pub fn unknown<I>(what: &'static str, given: &str, valid: I) -> UnknownName
where
    I: IntoIterator,
    I::Item: Into<String>,
{
    let valid: Vec<String> = valid.into_iter().map(Into::into).collect();
    let lower = given.to_lowercase();
    let nearest = valid
        .iter()
        .map(|name| (strsim::jaro_winkler(&lower, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness >= 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name.clone());
    UnknownName { what, given: given.to_owned(), nearest, valid }
}

#[cfg(test)]
mod tests {
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
}
