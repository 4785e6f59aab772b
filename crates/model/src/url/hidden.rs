//! Finds the parts of a server's URL that no text may show.

use super::keywords::keywords;
use super::parts::is_scheme;

/// A part of a URL that no text may show, as the URL has it.
pub(super) struct Hidden(pub String);

/// Names of parameters that every client takes, whose values are not secret.
const HARMLESS: [&str; 5] = ["host", "hostaddr", "port", "dbname", "socket"];

/// The fewest characters of a parameter's value that may be a secret although its name does not say
/// so.
const LEAST_SECRET: usize = 8;

/// Returns the user, the password and the values of parameters of a URL or of libpq's keywords.
pub(super) fn hidden(text: &str) -> Vec<Hidden> {
    let is_secret = |name: &str, value: &str| {
        let name = name.to_ascii_lowercase();
        let said = ["user", "pass", "token", "secret"].iter().any(|word| name.contains(word));
        let said = said || matches!(&*name, "u" | "p");
        !HARMLESS.contains(&&*name) && (said || value.chars().count() >= LEAST_SECRET)
    };
    let mut found: Vec<String> = Vec::new();
    if let Some((_, rest)) = text.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) {
        let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
        if let Some((user, _)) = before.rsplit_once('@') {
            found.push(user.to_owned());
            let (user, password) = user.split_once(':').unwrap_or((user, ""));
            found.extend([user.to_owned(), password.to_owned()]);
        }
        let query = query.split_once('#').map_or(query, |(query, _)| query);
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if is_secret(name, value) {
                found.push(value.to_owned());
                // `authMechanismProperties=AWS_SESSION_TOKEN:…`
                found.extend(value.rsplit_once([':', '=']).map(|(_, value)| value.to_owned()));
            }
        }
    } else {
        let values = keywords(text).unwrap_or_default().into_iter();
        let secret = values.filter(|(name, value)| is_secret(name, value));
        found.extend(secret.map(|(_, value)| value));
    }
    found.into_iter().map(Hidden).collect()
}
