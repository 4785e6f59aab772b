//! Names of machines, engines and results in addresses and file names of the site.

use std::collections::HashSet;

use embermark_model::fingerprint::Fingerprint;

/// Longest name, without the suffix that makes it unique.
const LONGEST: usize = 60;

/// Whether a character needs no escape in file names and addresses.
const fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

/// Reduces a text to letters, digits, dashes and underscores: `Raspberry-Pi-4`.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if is_plain(c) {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() == LONGEST_SLUG {
            break;
        }
    }
    slug.trim_end_matches('-').to_owned()
}

/// Returns eight hexadecimal digits of a hash of a text.
pub(super) fn digest(text: &str) -> String {
    format!("{:08x}", Fingerprint::default().text(text).bits() >> 32)
}

/// Longest readable part of a name with a digest.
const LONGEST_SLUG: usize = 24;

/// Makes a name from a readable part and the digest of `key`, which makes it unique.
pub(super) fn with_digest(says: &str, key: &str) -> String {
    let says = slug(says).to_lowercase();
    [&*says, if says.is_empty() { "" } else { "-" }, &digest(key)].concat()
}

/// A set of unique names.
#[derive(Debug, Default)]
pub(super) struct UniqueNames(HashSet<String>);

impl UniqueNames {
    /// Returns the text itself if it is a plain name that is still free. Otherwise appends the
    /// digest of `key`.
    pub fn unique(&mut self, text: &str, key: &str) -> String {
        let is_name = !text.is_empty() && text.len() <= LONGEST && text.chars().all(is_plain);
        // Some file systems do not distinguish lower and upper case.
        if is_name && self.0.insert(text.to_lowercase()) {
            return text.to_owned();
        }
        let mut name = with_digest(text, key);
        while !self.0.insert(name.clone()) {
            name.push('x');
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_name_stays_and_any_other_becomes_one() {
        let mut names = UniqueNames::default();
        assert_eq!(names.unique("20261122T191306Z-8e07f8bd", "a"), "20261122T191306Z-8e07f8bd");
        for text in ["../../etc/passwd", "a b", "", "<script>", "é", &"x".repeat(500)] {
            let name = names.unique(text, text);
            assert!(name.chars().all(is_plain) && !name.is_empty() && name.len() < 80, "{name}");
        }
    }

    #[test]
    fn two_that_look_alike_are_told_apart() {
        let mut names = UniqueNames::default();
        let all = ["fast", "fast", "FAST", "a/b", "a:b"].map(|text| names.unique(text, text));
        let known: HashSet<String> = all.iter().map(|name| name.to_lowercase()).collect();
        assert_eq!(known.len(), all.len(), "{all:?}");
    }
}
