//! A gate as JUnit XML, which build servers read. It has a test per engine, per phase, and per cell
//! that changed its status.

use std::fmt::Write as _;

use super::{EngineTotal, Gate, JudgedPhase, Outcome, Verdict, render};
use crate::text;

/// Result of one test: its element and message, or `None` if it passed.
type Ended = Option<(&'static str, String)>;

/// Formats a gate as JUnit XML. Failures are what the gate fails by, and `skipped` is what could
/// not be judged, or not be compared. If the gate is unclear, there is an error.
pub fn junit(gate: &Gate) -> String {
    let wholes = gate.wholes.iter().map(whole);
    let turned = gate.turned.iter().filter(|turn| turn.was.has_figures()).map(|turn| {
        let reason = turn.reason.as_ref().map(|reason| format!(": {reason}"));
        let says = turn.words() + &reason.unwrap_or_default();
        let name = turn.phase.clone().unwrap_or_else(|| "whole cell".to_owned());
        (turn.cell.to_string(), name, Some((if turn.broke { "failure" } else { "skipped" }, says)))
    });
    let absent = gate.only_old.iter().map(|cell| {
        let says = "the new result does not have this cell".to_owned();
        (cell.to_string(), "whole cell".to_owned(), Some(("skipped", says)))
    });
    let unlike = &gate.differences.incomparable;
    let unlike = (!unlike.is_empty()).then(|| {
        let says = format!("NOT COMPARABLE, judged all the same: {}", unlike.join("; "));
        ("gate".to_owned(), "can be compared".to_owned(), Some(("skipped", says)))
    });
    let unclear = (gate.outcome == Outcome::Unclear).then(|| {
        ("gate".to_owned(), "can be judged".to_owned(), Some(("error", gate.why.join("; "))))
    });
    let phases = gate.phases.iter().map(phase);
    let tests = unlike.into_iter().chain(unclear).chain(wholes).chain(phases);
    let tests: Vec<(String, String, Ended)> = tests.chain(turned).chain(absent).collect();
    let ends = || tests.iter().filter_map(|(.., ended)| ended.as_ref());
    let count = |kind: &str| ends().filter(|(ended, _)| *ended == kind).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        tests.len(),
        count("failure"),
        count("error"),
        count("skipped")
    );
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a String cannot fail.
    let _ = writeln!(out, "<testsuites name=\"embermark gate\" {counts}>");
    let _ = writeln!(out, "  <testsuite name=\"embermark gate\" {counts}>");
    for (class, name, ended) in &tests {
        let test = format!("<testcase classname=\"{}\" name=\"{}\"", escaped(class), escaped(name));
        let _ = match ended {
            None => writeln!(out, "    {test}/>"),
            Some((kind, says)) => {
                writeln!(out, "    {test}><{kind} message=\"{}\"/></testcase>", escaped(says))
            }
        };
    }
    out + "  </testsuite>\n</testsuites>\n"
}

fn whole(whole: &EngineTotal) -> (String, String, Ended) {
    let ended = whole.is_slower.then(|| ("failure", render::describe_engine(whole)));
    (whole.engine.clone(), "as a whole".to_owned(), ended)
}

fn phase(judged: &JudgedPhase) -> (String, String, Ended) {
    let says = || render::describe_phase(judged);
    let ended = match judged.verdict {
        Verdict::Slower | Verdict::NoLongerKeepsUp => Some(("failure", says())),
        Verdict::DidNotKeepUp | Verdict::TooFewTrials => Some(("skipped", says())),
        Verdict::NotSlower => None,
    };
    (judged.cell.to_string(), judged.phase.clone(), ended)
}

/// Escapes text as one line of XML 1.0, for the content of an element or of a double-quoted
/// attribute. Characters that XML cannot have (<https://www.w3.org/TR/xml/#charsets>), like terminal
/// control characters, are shown as text.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text::plain(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup_or_no_character_of_xml() {
        assert_eq!(escaped("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &apos;d&apos;");
        assert_eq!(escaped("]]>\x1b[31m\u{0}\u{ffff}\nx"), "]]&gt;\\u{1b}[31m\\u{0}\\u{ffff} x");
    }
}
