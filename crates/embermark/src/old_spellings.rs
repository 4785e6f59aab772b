//! Spellings of the previous release. They work until the next release, with a hint on standard
//! error.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use Replacement::{Renamed, Setting, Shown};

/// Replacement of an option.
#[derive(Clone, Copy)]
enum Replacement {
    /// Another option, with the same value.
    Renamed(&'static str),
    /// The option `--show` with the name of this flag.
    Shown,
    /// A key of the plan file with the same name, which `--set` sets.
    Setting,
}

/// Commands that measure a plan.
const PLANS: &[&str] = &["run", "rate", "reproduce"];

/// Commands that show a result.
const SHOWS: &[&str] = &["run", "reproduce", "report"];

/// Commands that had the old spellings, the spellings, and their replacement.
const RENAMED: &[(&[&str], &[&str], Replacement)] = &[
    (&["run", "verify", "durability"], &["--durability"], Renamed("--tier")),
    (&["run", "verify", "durability", "tune"], &["-d"], Renamed("-t")),
    (PLANS, &["--memory"], Renamed("--cache")),
    (PLANS, &["--budget", "--within"], Renamed("--for")),
    (PLANS, &["--warmup-runs", "--max-run-time", "--window", "--warm-up"], Setting),
    (PLANS, &["--timeout", "--seed", "--disk-size"], Setting),
    (&["run"], &["--p99-limit"], Setting),
    (SHOWS, &["--tables", "--latency", "--intervals", "--explain", "--published"], Shown),
    (SHOWS, &["--weights"], Renamed("--weight")),
    (&["advise"], &["--memory"], Renamed("--max-rss")),
    (&["advise"], &["--rows"], Renamed("--scale")),
    (&["data"], &["--output"], Renamed("--out")),
];

/// Returns the old spellings of a command, and their replacements.
fn renamed_in(command: &str) -> impl Iterator<Item = (&'static str, Replacement)> {
    let known = RENAMED.iter().filter(move |(commands, ..)| commands.contains(&command));
    known.flat_map(|(_, old, new)| old.iter().map(move |old| (*old, *new)))
}

/// Returns the words of a command line in today's spelling, and a hint for each old one.
pub fn modernize(words: impl IntoIterator<Item = OsString>) -> (Vec<OsString>, Vec<String>) {
    let mut words: Vec<OsString> = words.into_iter().collect();
    let mut hints = Vec::new();
    replace_run(&mut words, &mut hints);
    let Some(command) = words.get(1).and_then(|word| word.to_str()).map(str::to_owned) else {
        return (words, hints);
    };
    let mut modern: Vec<OsString> = Vec::with_capacity(words.len());
    let mut rest = words.into_iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            modern.push(word);
            modern.extend(rest);
            break;
        }
        let Some((old, value, new)) = renamed(&command, &word) else {
            modern.push(word);
            continue;
        };
        let key = old.trim_start_matches('-');
        hints.push(match new {
            Renamed(name) => {
                modern.extend([name.into()].into_iter().chain(value));
                hint(old, name)
            }
            Shown => {
                modern.extend(["--show".into(), key.into()]);
                hint(old, &format!("--show {key}"))
            }
            Setting => {
                let mut setting = OsString::from(format!("{key}="));
                setting.push(value.or_else(|| rest.next()).unwrap_or_default());
                modern.extend(["--set".into(), setting]);
                hint(old, &format!("a key of the plan file, or --set {key}=…"))
            }
        });
    }
    (modern, hints)
}

/// Replaces `run --as-published SOURCE` and `run --rate max`, which now have their own commands.
fn replace_run(words: &mut Vec<OsString>, hints: &mut Vec<String>) {
    if words.get(1).is_none_or(|command| command != "run") {
        return;
    }
    let text = |word: &OsString| word.to_str().map(str::to_owned).unwrap_or_default();
    let all: Vec<String> = words.iter().map(text).collect();
    if let Some(at) = all.iter().position(|word| word.starts_with("--as-published")) {
        match all[at].split_once('=') {
            Some((_, sources)) => words[at] = sources.into(),
            None => drop(words.remove(at)),
        }
        words[1] = "reproduce".into();
        hints.push(hint("run --as-published", "reproduce"));
    } else if let Some(at) = all.iter().position(|word| word == "--rate=max") {
        words.remove(at);
        words[1] = "rate".into();
        hints.push(hint("run --rate max", "rate"));
    } else if let Some(at) = all.windows(2).position(|pair| pair == ["--rate", "max"]) {
        words.drain(at..at + 2);
        words[1] = "rate".into();
        hints.push(hint("run --rate max", "rate"));
    }
}

/// Splits a word with an old option into the option, its value in the same word, and the new
/// spelling.
fn renamed(command: &str, word: &OsStr) -> Option<(&'static str, Option<OsString>, Replacement)> {
    let text = word.to_str()?;
    renamed_in(command).find_map(|(old, new)| {
        let value = text.strip_prefix(old)?;
        let value = match value.strip_prefix('=') {
            Some(value) => Some(value.into()),
            None if value.is_empty() => None,
            // -dpower
            None if !old.starts_with("--") => Some(value.into()),
            None => return None,
        };
        Some((old, value, new))
    })
}

fn hint(old: &str, new: &str) -> String {
    format!("{old} is now {new}; the old spelling works until the next release")
}

/// Prints hints for the keys of a plan file that have new names.
pub fn hint_renamed_keys(path: &Path, plan: &toml::Table) {
    for (old, new) in renamed_in("run") {
        if let Renamed(new) = new
            && let Some(key) = old.strip_prefix("--").filter(|key| plan.contains_key(*key))
        {
            let new = new.trim_start_matches('-');
            say!("embermark: {}: {}", path.display(), hint(key, new));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modernize_line(line: &str) -> (String, usize) {
        let (words, hints) = modernize(line.split(' ').map(OsString::from));
        let words: Vec<String> =
            words.into_iter().map(|word| word.into_string().unwrap()).collect();
        (words.join(" "), hints.len())
    }

    #[test]
    fn an_old_spelling_is_todays_with_a_hint() {
        for (old, new) in [
            ("e run -d power", "e run -t power"),
            ("e run -dpower,none", "e run -t power,none"),
            ("e run --durability=power", "e run --tier power"),
            ("e run --window 50ms a", "e run --set window=50ms a"),
            ("e run --tables", "e run --show tables"),
            ("e report x --intervals", "e report x --show intervals"),
            ("e advise x --memory 64M", "e advise x --max-rss 64M"),
            ("e run --as-published ulb -o x", "e reproduce ulb -o x"),
            ("e run --as-published=all", "e reproduce all"),
            ("e run machine --rate max", "e rate machine"),
            ("e run machine --rate=max", "e rate machine"),
        ] {
            assert_eq!(modernize_line(old), (new.to_owned(), 1), "{old}");
        }
        let both = modernize_line("e run --as-published ulb --within 2h");
        assert_eq!(both, ("e reproduce ulb --for 2h".to_owned(), 2));
    }

    #[test]
    fn what_is_spelled_as_today_stays() {
        for line in [
            "e",
            "e run sensors -t power --rate 1000 --memory-limit 64MiB",
            "e report x --durability y",
            "e run -- --durability",
            "e durability sqlite --device-lies",
        ] {
            assert_eq!(modernize_line(line), (line.to_owned(), 0), "{line}");
        }
    }
}
