//! Identifies the published log by its SHA-256.

use sha2::{Digest, Sha256};

/// SHA-256 of the published `data.txt` and `data.txt.gz`.
const PUBLISHED: [&str; 2] = [
    "21d156880db48eb140390beffc18b017282777cdc41e30e665072544ecf0913e",
    "d99288c8f406ca6604d359ceaa0d8adfffa79e7095061a1e27dc4399f48c7225",
];

/// Returns the SHA-256 in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(Sha256::new_with_prefix(bytes))
}

/// Returns the SHA-256 of what was hashed in hexadecimal.
pub(crate) fn hex(hasher: Sha256) -> String {
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the name of the file with this digest.
pub(super) fn name(sha256: &str) -> &'static str {
    if PUBLISHED.contains(&sha256) {
        "Intel Berkeley Research Lab log (the published file)"
    } else {
        "Intel Berkeley Research Lab log (another file)"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        // FIPS 180-2, appendix B.1.
        assert_eq!(
            sha256(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn only_the_two_published_digests_name_the_published_file() {
        for published in PUBLISHED {
            assert_eq!(published.len(), 64);
            assert!(name(published).ends_with("(the published file)"));
        }
        assert!(name(&sha256(b"abc")).ends_with("(another file)"));
    }
}
