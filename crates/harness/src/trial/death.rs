//! What a worker died of.

use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use nix::sys::signal::Signal;

/// Lines of the worker's standard error that a failure quotes.
const LOG_LINES: usize = 5;

/// How a worker died and where, with the end of what it had to say.
pub(super) fn report(exit: ExitStatus, whereabouts: &str, log: &Path) -> String {
    let how = match (exit.signal(), exit.code()) {
        (Some(number), _) => {
            let name = Signal::try_from(number).map_or("unknown", Signal::as_str);
            let hint = match name {
                "SIGKILL" => ", perhaps for want of memory (the kernel's log tells)",
                _ => "",
            };
            format!("was killed by signal {number} ({name}){hint}")
        }
        (None, Some(code)) => format!("exited with status {code}"),
        (None, None) => "ended".to_owned(),
    };
    let tail = tail(log);
    let colon = if tail.is_empty() { "" } else { "; its last words: " };
    format!("the worker {how} in {whereabouts}{colon}{tail}")
}

/// The last lines of a log, on one line; of a panic what it said, without its backtrace.
fn tail(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let backtrace =
        |line: &&&str| line.starts_with("stack backtrace:") || line.starts_with("note: ");
    let panic = lines.iter().rposition(|l| l.starts_with("thread '") && l.contains("panicked at"));
    let last: Vec<&str> = match panic {
        Some(panic) => {
            lines[panic..].iter().take_while(|l| !backtrace(l)).take(LOG_LINES).copied().collect()
        }
        None => lines[lines.len().saturating_sub(LOG_LINES)..].to_vec(),
    };
    last.join(" | ")
}

/// Adds a line of the parent's to a worker's log.
pub(super) fn note(log: &Path, text: &str) {
    // The log is a help, not a result: a trial does not fail for want of it.
    let _ = fs::OpenOptions::new()
        .append(true)
        .open(log)
        .and_then(|mut file| writeln!(file, "embermark: {text}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_named_and_the_end_of_the_log_quoted() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        fs::write(&log, "1\n2\n3\n\n4\n5\n6\n").unwrap();
        assert_eq!(
            report(ExitStatus::from_raw(11), "run 2 of phase read", &log),
            "the worker was killed by signal 11 (SIGSEGV) in run 2 of phase read; \
         its last words: 2 | 3 | 4 | 5 | 6"
        );
        let absent = dir.path().join("absent");
        let text = report(ExitStatus::from_raw(101 << 8), "opening the engine", &absent);
        assert_eq!(text, "the worker exited with status 101 in opening the engine");
    }

    #[test]
    fn of_a_panic_its_message_is_quoted_and_not_its_backtrace() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let text = "warming up\n\nthread 'main' (7) panicked at a.rs:1:2:\npage 7 is gone\n\
                stack backtrace:\n 0: a\n 1: b\n 2: c\n 3: d\n 4: e\nnote: Some\n";
        fs::write(&log, text).unwrap();
        assert_eq!(tail(&log), "thread 'main' (7) panicked at a.rs:1:2: | page 7 is gone");
    }
}
