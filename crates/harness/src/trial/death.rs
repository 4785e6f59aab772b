//! Describes how a worker died, and keeps its log short.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use embermark_model::foreign::clipped;
use nix::sys::signal::Signal;

use crate::disk;
use crate::protocol::Job;

/// Number of lines of the worker's standard error that a failure quotes.
const LOG_LINES: usize = 5;

/// Largest number of characters of the log that a failure quotes.
const LOG_QUOTED: usize = 2_000;

/// Size in bytes at which a log is cut, and how much of its beginning is kept. Engines may write
/// without end.
const LONGEST_LOG: u64 = 8 << 20;
const KEPT_OF_LOG: u64 = 1 << 20;

/// Creates a worker's log. Everything is appended, also after it was cut.
pub(super) fn create(log: &Path) -> io::Result<File> {
    File::create(log)?;
    File::options().append(true).open(log)
}

/// Cuts a log that has become too long: keeps its beginning and what is written from now on.
pub(super) fn bound(log: &Path) {
    let is_long = |meta: Metadata| meta.is_file() && meta.len() > LONGEST_LOG;
    if !log.metadata().is_ok_and(is_long) {
        return;
    }
    // A trial does not fail because its log cannot be written.
    let cut = File::options().write(true).open(log).and_then(|file| file.set_len(KEPT_OF_LOG));
    if cut.is_ok() {
        note(log, "the log was longer than 8 MiB: here a part of it is left out");
    }
}

/// Describes how and where a worker died, with the end of its output.
pub(super) fn report(exit: ExitStatus, position: &str, log: &Path) -> String {
    let how = match (exit.signal(), exit.code()) {
        (Some(number), _) => {
            let name = Signal::try_from(number).map_or("unknown", Signal::as_str);
            let hint = match name {
                "SIGKILL" => ", perhaps out of memory (see the kernel's log)",
                _ => "",
            };
            format!("was killed by signal {number} ({name}){hint}")
        }
        (None, Some(code)) => format!("exited with status {code}"),
        (None, None) => "ended".to_owned(),
    };
    let tail = tail(log);
    let colon = if tail.is_empty() { "" } else { "; its last output: " };
    format!("the worker {how} in {position}{colon}{tail}")
}

/// Returns the last lines of a log on one line. For a panic it returns the message without the
/// backtrace.
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
    clipped(&last.join(" | "), LOG_QUOTED)
}

/// Messages of engines and the system about a full disk.
const FULL: [&str; 4] = ["no space left", "disk is full", "disk full", "enospc"];

/// Whether a trial failed because its disk was full: its message says so, or the disk has no space
/// left. In the latter case an engine may have died by a signal or reported something else.
pub(super) fn by_full_disk(how: &str, job: &Job) -> bool {
    let how = how.to_ascii_lowercase();
    FULL.iter().any(|words| how.contains(words)) || disk::is_full(&job.site)
}

/// Adds the parent's line to a worker's log.
pub(super) fn note(log: &Path, text: &str) {
    // A trial does not fail because its log cannot be written.
    let log = File::options().append(true).open(log);
    let _ = log.and_then(|mut log| writeln!(log, "embermark: {text}"));
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
         its last output: 2 | 3 | 4 | 5 | 6"
        );
        let absent = dir.path().join("absent");
        let text = report(ExitStatus::from_raw(101 << 8), "opening the engine", &absent);
        assert_eq!(text, "the worker exited with status 101 in opening the engine");
    }

    #[test]
    fn a_log_that_grows_without_end_is_cut_and_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let mut file = create(&log).unwrap();
        file.write_all(b"first\n").unwrap();
        bound(&log);
        assert_eq!(fs::read_to_string(&log).unwrap(), "first\n");
        file.write_all(&vec![b'x'; 9 << 20]).unwrap();
        bound(&log);
        file.write_all(b"\nlast\n").unwrap();
        let text = fs::read_to_string(&log).unwrap();
        assert!(text.len() < 2 << 20 && text.starts_with("first\n"), "{}", text.len());
        assert!(text.ends_with("a part of it is left out\n\nlast\n"));
        assert!(tail(&log).chars().count() <= LOG_QUOTED);
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
