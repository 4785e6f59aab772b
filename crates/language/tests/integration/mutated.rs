//! Whatever a workload file holds, it is read or its mistakes are shown.

use embermark_language::{BUILT_IN, parse};
use proptest::prelude::*;
use proptest::sample::Index;

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        if let Err(mistakes) = parse("a.toml", &text, &["sqlite"]) {
            prop_assert!(!mistakes.to_string().is_empty());
        }
    }

    /// A few pieces of a built-in file are replaced by others of it, or by noise.
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
