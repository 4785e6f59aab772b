//! Finds parts of a text that identify a person, a place or a computer, and replaces each with a
//! word for what it was.

use std::net::{IpAddr, SocketAddr};

/// Stands for a path.
const PATH: &str = "(path)";

/// Names that are always private, such as those of this computer and its user.
pub(super) struct Names<'a>(pub &'a [String]);

/// Separators of words. Slashes, points, colons, `@` and dashes are parts of words.
const BETWEEN: &[char] = &[
    ' ', '\t', '\n', '\r', '"', '\'', '`', ',', ';', '(', ')', '[', ']', '{', '}', '<', '>', '=',
    '|',
];

impl Names<'_> {
    /// Returns the text without absolute paths, URLs, computer and e-mail addresses, and these
    /// names.
    pub fn hidden(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut was_path = false;
        for part in text.split_inclusive(BETWEEN) {
            let word = part.trim_end_matches(BETWEEN);
            // A full stop or colon after a word is not part of it.
            let bare = word.trim_end_matches(['.', ':', '!', '?']);
            // The rest of a path that contains a blank.
            let is_rest = was_path && !bare.starts_with('/') && bare.contains('/');
            let replaced = if is_rest { Some(PATH.to_owned()) } else { self.replaced(bare) };
            was_path = replaced.as_deref() == Some(PATH) && part[bare.len()..] == *" ";
            match replaced {
                Some(instead) => {
                    out.push_str(&instead);
                    out.push_str(&part[bare.len()..]);
                }
                None => out.push_str(part),
            }
        }
        out
    }

    /// Returns the replacement for a word. `None` if the word may stay.
    fn replaced(&self, word: &str) -> Option<String> {
        if self.0.iter().any(|name| name == word) {
            return Some("(name)".to_owned());
        }
        if let Some((scheme, _)) = word.split_once("://") {
            return Some(format!("{scheme}://(host)"));
        }
        let from_root = word.find('/').map(|at| &word[at..]);
        let is_path = word.starts_with("~/")
            || from_root.is_some_and(|path| {
                let is_first =
                    word.starts_with('/') || word[..word.len() - path.len()].ends_with(':');
                is_first && path[1..].contains('/')
            });
        if is_path {
            return Some(PATH.to_owned());
        }
        if word.parse::<IpAddr>().is_ok() || word.parse::<SocketAddr>().is_ok() {
            return Some("(address)".to_owned());
        }
        let is_user = word.split_once('@').is_some_and(|(user, host)| {
            !user.is_empty() && host.starts_with(|c: char| c.is_ascii_alphabetic())
        });
        is_user.then(|| "(user)".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_private_is_replaced_and_all_else_stays() {
        let names = ["anna".to_owned(), "buildbox".to_owned()];
        let hidden = |text: &str| Names(&names).hidden(text);
        assert_eq!(
            hidden("cannot open '/home/anna/x.db': no such file"),
            "cannot open '(path)': no such file"
        );
        assert_eq!(hidden("/home/anna/my files/y.db: no file"), "(path) (path): no file");
        assert_eq!(hidden("at postgres://me@db.example/x."), "at postgres://(host).");
        assert_eq!(
            hidden("10.0.0.7:5432, fe80::1 and anna@example.org"),
            "(address), (address) and (user)"
        );
        assert_eq!(hidden("on buildbox as anna"), "on (name) as (name)");
        assert_eq!(hidden("log=/var/log/x.log ~/y file:/a/b"), "log=(path) (path) (path)");
        for kept in [
            "3.50.4",
            "a /b c",
            "MB/s and rows/s/core",
            "wal, synchronous=NORMAL; 1 < 2",
            "annabel",
            "12:30:00",
            "p99 @ 5 ms",
            "",
        ] {
            assert_eq!(hidden(kept), kept);
        }
    }
}
