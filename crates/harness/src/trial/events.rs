//! Receives the events of a worker.

use std::io::{BufRead, BufReader, Read};
use std::process::ChildStdout;
use std::sync::mpsc::{Receiver, channel};

use embermark_model::foreign;

use crate::protocol::Event;

/// Longest line of an event: far longer than any histogram.
const LONGEST_LINE: u64 = 16 << 20;

/// Reads events in a separate thread. An invalid line is returned as its beginning.
pub(super) fn listen_to(stdout: ChildStdout) -> Receiver<Result<Event, String>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut stdout).take(LONGEST_LINE).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            // An incomplete last line is what a dying worker left of an event.
            if line.last() != Some(&b'\n') && (line.len() as u64) < LONGEST_LINE {
                return;
            }
            let event = serde_json::from_slice(&line).map_err(|_| beginning(&line));
            let garbled = event.is_err();
            if sender.send(event).is_err() || garbled {
                return;
            }
        }
    });
    receiver
}

/// Returns the beginning of an invalid line, and whether it is too long.
fn beginning(line: &[u8]) -> String {
    const SHOWN: usize = 80;
    let shown =
        foreign::clipped(&String::from_utf8_lossy(&line[..line.len().min(4 * SHOWN)]), SHOWN);
    match line.len() as u64 {
        LONGEST_LINE => format!("{shown} (a line of more than {} MiB)", LONGEST_LINE >> 20),
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_quoted_by_its_beginning_alone() {
        assert_eq!(beginning(b"Segmentation fault\n"), "Segmentation fault");
        assert_eq!(beginning("é".repeat(500).as_bytes()), format!("{}…", "é".repeat(79)));
        assert_eq!(beginning(b"\xff\xfe\n"), "\u{fffd}\u{fffd}");
        assert!(beginning(&vec![b'v'; 16 << 20]).ends_with("v… (a line of more than 16 MiB)"));
    }
}
