//! Removes the secrets of a server's URL from texts: its user, its passwords, its parameters.

use percent_encoding::{percent_decode_str, utf8_percent_encode};

use super::keywords::keywords;
use super::parts::is_scheme;
use super::{HIDDEN, RESERVED, ServerUrl};

/// Passwords of at least this length are hidden inside words too. A shorter one would also occur in
/// unrelated words.
const HIDDEN_IN_WORDS: usize = 4;

/// Names of parameters that every client takes, whose values are not secret.
const HARMLESS: [&str; 5] = ["host", "hostaddr", "port", "dbname", "socket"];

/// The fewest characters of a parameter's value that may be a secret although its name does not say
/// so.
const LEAST_SECRET: usize = 8;

/// The secrets of a server's URL, to be removed from messages of its client.
#[derive(Clone, Default)]
pub struct Secrets {
    /// The longest first, so that none is missed because it is a part of another.
    words: Vec<String>,
}

impl Secrets {
    /// Collects the secrets of a URL in each form in which a client or a server may repeat them.
    pub(super) fn from_url(url: &ServerUrl) -> Self {
        let text = url.reveal();
        let mut words = vec![text.to_owned()];
        for part in hidden(text) {
            let decoded = percent_decode_str(&part).decode_utf8_lossy().into_owned();
            let encoded = [&part, &decoded].map(|of| utf8_percent_encode(of, RESERVED).to_string());
            words.extend(encoded.into_iter().chain([part, decoded]));
        }
        words.retain(|word| !word.is_empty());
        words.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        words.dedup();
        Self { words }
    }

    /// Replaces each secret in a text by `***`. The name of `engine` at its beginning stays, in
    /// case a user has the same name.
    pub fn redact(&self, engine: &str, text: &str) -> String {
        let (name, said) = match text.strip_prefix(engine) {
            Some(said) if said.starts_with(' ') => text.split_at(text.len() - said.len()),
            _ => ("", text),
        };
        let hidden = self.words.iter().fold(said.to_owned(), |said, word| without(&said, word));
        format!("{name}{hidden}")
    }
}

/// Replaces a secret in a text. A short secret is replaced only where it is a whole word.
fn without(text: &str, word: &str) -> String {
    let inside = word.chars().count() >= HIDDEN_IN_WORDS;
    let is_apart = |c: Option<char>| !c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, found) = rest.split_at(at);
        let after = &found[word.len()..];
        let previous = before.chars().next_back().or_else(|| out.chars().next_back());
        let alone = is_apart(previous) && is_apart(after.chars().next());
        out.push_str(before);
        out.push_str(if inside || alone { HIDDEN } else { word });
        rest = after;
    }
    out + rest
}

/// Returns what no text may show, as the URL has it: the user, the password and the values of
/// parameters of a URL or of libpq's keywords.
fn hidden(text: &str) -> Vec<String> {
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
    found
}
