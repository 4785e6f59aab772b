//! Finds what is private in a text: paths, URLs, addresses and names.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// What names a computer and its user.
#[derive(Clone, Debug, Default)]
pub struct Private {
    /// Names of the computer and the user.
    pub names: Vec<String>,
    /// Absolute paths. They are replaced whole, whatever words they consist of.
    pub paths: Vec<String>,
}

/// Stands for a path.
const PATH: &str = "(path)";

/// Stands for a name of this computer or its user.
const NAME: &str = "(name)";

/// Separators of words. Slashes, points, colons, `@` and dashes are parts of words.
const BETWEEN: &[char] = &[
    ' ', '\t', '\n', '\r', '"', '\'', '`', ',', ';', '(', ')', '[', ']', '{', '}', '<', '>', '=',
    '|',
];

/// Characters that are not part of a word at its end.
const ENDS: &[char] = &['.', ':', '!', '?'];

/// Words with a slash that are in no path.
const WORDS: &[&str] =
    &["and/or", "read/write", "reads/writes", "input/output", "I/O", "key/value", "client/server"];

/// Ends of units, such as MB/s.
const PER: &[&str] = &["/s", "/sec", "/second", "/min", "/row", "/op", "/s/core"];

impl Private {
    /// Returns the text without absolute paths, URLs, computer and e-mail addresses, and names.
    pub(super) fn hidden(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        while at < text.len() {
            let (before, rest) = text.split_at(at);
            let word = first_word(rest);
            let place = self.place(rest, before.chars().next_back());
            let (length, shown) = place.unwrap_or_else(|| (word.len(), self.shown(word)));
            out.push_str(&shown);
            // What follows, up to the next word.
            let rest = &rest[length..];
            let (ends, after) = rest.split_at(rest.find(BETWEEN).unwrap_or(rest.len()));
            let blank = after.len() - after.trim_start_matches(BETWEEN).len();
            let next = ends.len() + blank;
            out.push_str(&rest[..next]);
            at += length + next;
        }
        out
    }

    /// Returns the length of the path or URL that the text starts with, and what stands for it.
    /// `before` is the character before the text.
    fn place(&self, text: &str, before: Option<char>) -> Option<(usize, String)> {
        let word = first_word(text);
        if let Some((scheme, _)) = word.split_once("://").filter(|(own, _)| !own.contains('/')) {
            // No blank is in a web address.
            let is_web = scheme.starts_with("http");
            let length = if is_web { word.len() } else { self.length(text, before) };
            return Some((length, format!("{scheme}://(host)")));
        }
        let start = start_of_path(word, before)?;
        Some((start + self.length(&text[start..], before), PATH.to_owned()))
    }

    /// Returns the length of the path that the text starts with. It ends with a known path, with
    /// the quotation, or with the last word that has a slash.
    fn length(&self, text: &str, before: Option<char>) -> usize {
        let known = self.paths.iter().map(|path| path.trim_end_matches('/'));
        let known = known.filter(|path| begins_with(text, path)).map(str::len).max().unwrap_or(0);
        let rest = &text[known..];
        let quote = before.filter(|sign| matches!(sign, '"' | '\'' | '`'));
        let quoted = quote.and_then(|quote| rest.split_once(quote));
        if let Some((quoted, _)) = quoted.filter(|(quoted, _)| !quoted.contains('\n')) {
            return known + quoted.len();
        }
        let mut end = first_word(rest).len();
        let mut at = end;
        while let Some(next) = rest[at..].strip_prefix(' ') {
            let word = first_word(next);
            let is_other = word.contains("://") || start_of_path(word, None).is_some();
            if word.is_empty() || is_other {
                break;
            }
            at += 1 + word.len();
            let is_usual = WORDS.contains(&word) || PER.iter().any(|per| word.ends_with(per));
            if word.contains('/') && !is_usual {
                end = at;
            }
        }
        known + end
    }

    /// Returns what is shown of a word that is in no path or URL.
    fn shown(&self, word: &str) -> String {
        let is_user = word.split_once('@').is_some_and(|(user, host)| {
            let is_host = host.is_empty() || host.starts_with(|c: char| c.is_ascii_alphabetic());
            !user.is_empty() && (is_host || has_address(host))
        });
        if is_user {
            return "(user)".to_owned();
        }
        if has_address(word) {
            return "(address)".to_owned();
        }
        // The word, a folder of a relative path, or a computer with its port.
        let mut shown = String::with_capacity(word.len());
        for part in word.split_inclusive(['/', ':']) {
            let name = part.trim_end_matches(['/', ':']);
            let is_name = self.names.iter().any(|own| own == name);
            shown.push_str(if is_name { NAME } else { name });
            shown.push_str(&part[name.len()..]);
        }
        shown
    }
}

/// Returns the first word of a text, without a full stop or colon after it. Empty if the text
/// starts with a separator.
fn first_word(text: &str) -> &str {
    text.split(BETWEEN).next().unwrap_or_default().trim_end_matches(ENDS)
}

/// Whether a text begins with a path, or with one below it.
fn begins_with(text: &str, path: &str) -> bool {
    text.strip_prefix(path).is_some_and(|after| {
        let end = after.trim_start_matches(ENDS);
        !path.is_empty() && (after.starts_with('/') || end.is_empty() || end.starts_with(BETWEEN))
    })
}

/// Returns where an absolute path starts in a word, which follows the character `before`.
fn start_of_path(word: &str, before: Option<char>) -> Option<usize> {
    let (start, path) = word.split_once('/')?;
    if start == "~" || start.strip_prefix('~').is_some_and(|user| user.starts_with(is_letter)) {
        return Some(0);
    }
    let is_option = start.len() == 2 && start.starts_with('-');
    let is_from_root = start.is_empty() || start.ends_with([':', '@']) || is_option;
    // A part of a unit, as in "(rows)/row", or of a mark, as in "</b>".
    let is_part = before.is_some_and(|sign| matches!(sign, ')' | ']' | '}' | '>' | '<'));
    let is_one_name = path.chars().nth(1).is_some() && path.starts_with(is_letter) && !is_part;
    let is_path = is_one_name || path.contains('/') && path.contains(char::is_alphanumeric);
    (is_from_root && is_path).then_some(start.len())
}

fn is_letter(sign: char) -> bool {
    sign.is_alphabetic()
}

/// Whether a part of a word is an address: of `10.0.0.7/24`, `fe80::1%eth0`, `root@10.0.0.7`.
fn has_address(word: &str) -> bool {
    word.split(['/', '%', '@']).any(is_address)
}

/// Whether a text is an address, perhaps with a scheme before it and a port after it.
fn is_address(text: &str) -> bool {
    let is_within = |(first, rest): (&str, &str)| {
        first.parse::<Ipv4Addr>().is_ok() || !rest.starts_with(':') && is_address(rest)
    };
    text.parse::<IpAddr>().is_ok()
        || text.parse::<SocketAddr>().is_ok()
        || text.split_once(':').is_some_and(is_within)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn private() -> Private {
        Private {
            names: ["anna", "buildbox", "pi"].map(str::to_owned).into(),
            paths: ["/", "/tmp/Acme secret project/", "/tmp/Acme"].map(str::to_owned).into(),
        }
    }

    #[test]
    fn what_is_private_is_replaced() {
        for (text, shown) in [
            ("cannot open '/home/anna/x.db': no such file", "cannot open '(path)': no such file"),
            ("/home/anna/my files/y.db: no file", "(path): no file"),
            ("at postgres://me@db.example/x.", "at postgres://(host)."),
            ("10.0.0.7:5432, fe80::1 and anna@example.org", "(address), (address) and (user)"),
            ("on buildbox as anna", "on (name) as (name)"),
            ("role \"pi\" of /home/pi/x", "role \"(name)\" of (path)"),
            ("home/pi/x: pi, pi.", "home/(name)/x: (name), (name)."),
            ("log=/var/log/x.log ~/y file:/a/b", "log=(path) (path) (path)"),
            // Names with blanks: up to the last word with a slash, or the end of the quotation.
            ("/home/Anna Maria Meier/db.sqlite", "(path)"),
            ("/home/Anna Maria/My Files/x, no room", "(path), no room"),
            ("smb://srv/My Share Name/x", "smb://(host)"),
            ("no \"/home/My Files\" here", "no \"(path)\" here"),
            ("moved /a/b to /c/My d/e", "moved (path) to (path)"),
            ("see https://x.org/a and docs/x", "see https://(host) and docs/x"),
            // Known paths.
            ("in /tmp/Acme secret project/data is no room", "in (path) is no room"),
            ("no room in /tmp/Acme secret project; free some", "no room in (path); free some"),
            ("file:/tmp/Acme secret project.", "(path)."),
            ("/tmp/Acme2 is full", "(path) is full"),
            // Paths of one name, of a user, of an option.
            ("/mueller", "(path)"),
            ("no /mueller: make it", "no (path): make it"),
            ("~anna/x and -I/opt/x", "(path) and (path)"),
            // What is around an address.
            ("root@10.0.0.5", "(user)"),
            ("fe80::1%eth0", "(address)"),
            ("10.0.0.7/24", "(address)"),
            ("tcp:10.1.2.3:5432", "(address)"),
            ("/10.1.2.3:5432 and [fe80::1%eth0]:22", "(address) and [(address)]:22"),
            ("10.1.2.3:5432:db and tcp:fe80::1", "(address) and (address)"),
            ("no answer from buildbox:5432", "no answer from (name):5432"),
        ] {
            assert_eq!(private().hidden(text), shown);
        }
    }

    #[test]
    fn all_else_stays() {
        for kept in [
            "3.50.4",
            "a /b c",
            "MB/s and rows/s/core, ops/s, 1/s",
            "read/write and/or I/O",
            "docs/durability.md",
            "(bytes)/row, </table>, ts // 5",
            "wal, synchronous=NORMAL; 1 < 2",
            "annabel",
            "pi3 of api, lib/api/pi3 and pi-hole",
            "12:30:00",
            "p99 @ 5 ms",
            "rocksdb::db::add in std::fs",
            "harperdb@4.7.29",
            "... !",
            "",
        ] {
            assert_eq!(private().hidden(kept), kept);
        }
        let text = "in /a/b are 5 ops/s or 1/s by read/write and/or I/O";
        let shown = "in (path) are 5 ops/s or 1/s by read/write and/or I/O";
        assert_eq!(private().hidden(text), shown);
    }
}
