//! Any workload file is read, or its mistakes are shown.

use std::path::{Path, PathBuf};

use embermark_data::table::{infer, stage};
use embermark_language::{BUILT_IN, ProposalOptions, parse, propose};
use embermark_skips::cases;
use proptest::prelude::*;
use proptest::sample::Index;

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        if let Err(mistakes) = parse("a.toml", &text, &["sqlite"]) {
            prop_assert!(!mistakes.to_string().is_empty());
        }
    }

    /// Replaces a few pieces of a built-in file by others of it, or by noise.
    #[test]
    fn a_mutated_file_is_read_or_refused(
        file in 0..BUILT_IN.len(),
        edits in prop::collection::vec((any::<Index>(), any::<Index>(), 0..20_usize, "[^a-z]{0,6}"), 1..6),
    ) {
        let mut text: Vec<char> = BUILT_IN[file].1.chars().collect();
        for (at, from, length, noise) in edits {
            let (at, from) = (at.index(text.len()), from.index(text.len()));
            let piece: Vec<char> = text[from..].iter().copied().take(length).chain(noise.chars()).collect();
            let end = (at + length).min(text.len());
            text.splice(at..end, piece);
        }
        let text: String = text.into_iter().collect();
        if let Err(mistakes) = parse("a\u{1b}.toml", &text, &["sqlite"]) {
            let shown = mistakes.to_string();
            prop_assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
        }
    }
}

/// Each reads a file several times.
fn few() -> ProptestConfig {
    let known = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: known.unwrap_or_else(|| cases(8, 24)), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(few())]

    /// Rows with some bytes replaced get a proposal that can be read, or are refused.
    #[test]
    fn mutated_rows_are_proposed_or_refused(
        file in any::<Index>(),
        edits in prop::collection::vec((any::<Index>(), any::<Index>(), 0..40_usize, noise()), 0..6),
        cut in any::<Index>(),
    ) {
        let files = rows();
        let file = &files[file.index(files.len())];
        let mut bytes = std::fs::read(file).unwrap();
        for (at, from, length, noise) in edits {
            let (at, from) = (at.index(bytes.len() + 1), from.index(bytes.len() + 1));
            let piece: Vec<u8> = bytes[from..].iter().copied().take(length).chain(noise).collect();
            let end = (at + length).min(bytes.len());
            bytes.splice(at..end, piece);
        }
        if bytes.len().is_multiple_of(3) {
            bytes.truncate(cut.index(bytes.len() + 1));
        }
        let folder = tempfile::tempdir().unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        std::fs::write(folder.path().join(&name), &bytes).unwrap();
        match infer(&(&*name).into(), folder.path()) {
            Err(error) => prop_assert!(error.to_string().contains(&name), "{error}"),
            Ok(inferred) => {
                let text = propose("own", std::slice::from_ref(&inferred), &ProposalOptions::default()).0;
                let file = parse("own.toml", &text, &[]);
                prop_assert!(file.is_ok(), "{text}");
                // Too many rows that do not match are refused, and without matching rows there is
                // no proposal.
                let to = folder.path().join("staged");
                let staged = stage(&file.unwrap().tables, 0, folder.path(), None, 1, 1.0, &to);
                prop_assert!(staged.as_ref().is_ok_and(|staged| staged.rows == inferred.rows || inferred.near_key.is_some()), "{staged:?}");
            }
        }
    }
}

/// Bytes with a meaning for a reader, or without one.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "\"", "'", ",", ";", "\n", "\r\n", "\r", "\0", "\u{feff}", "{", "}", "[", "]", "#", "NA",
        "-9999", "1e9",
    ];
    let pieces = pieces.map(|piece| piece.as_bytes().to_vec()).to_vec();
    prop_oneof![prop::sample::select(pieces), prop::collection::vec(any::<u8>(), 0..6)]
}

/// The files of the cases.
fn rows() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_rows = path.extension().is_some_and(|end| end != "toml" && end != "zip");
            if path.is_dir() {
                folders.push(path)
            } else if is_rows {
                files.push(path)
            }
        }
    }
    files.sort();
    files
}
