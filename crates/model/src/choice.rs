//! Errors for names that a user chooses from a list.

/// A name that is not in the list. The text lists the valid names and the nearest one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} '{given}'{}; valid: {}", nearest_hint(.nearest), .valid.join(", "))]
pub struct UnknownName {
    /// Kind of name ("engine", "workload", …).
    pub what: &'static str,
    /// The name that was given.
    pub given: String,
    /// The most similar valid name, if any is close.
    pub nearest: Option<String>,
    /// Every valid name.
    pub valid: Vec<String>,
}

fn nearest_hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!(", did you mean '{name}'?"))
}

/// Makes the error for `given`, which is not among `valid`.
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
