//! Runs another program, which may hang.

use std::io::{ErrorKind, Read};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::processes::wait_or_kill;

/// Time limit of a program.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Returns the output of a program, whatever its exit status. A program that takes too long is
/// killed.
///
/// # Errors
/// If there is no output. The error gives the reason.
pub(crate) fn output(program: &Path, args: &[&str]) -> Result<Output, String> {
    let name = program.display();
    let refused = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => format!("no {name}"),
        _ => format!("{name} cannot be started: {error}"),
    };
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(refused)?;
    // In a thread, because output longer than the pipe would prevent it from ending.
    let (send, output) = channel();
    if let Some(mut out) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut stdout = Vec::new();
            let read = out.read_to_end(&mut stdout);
            // The receiver is gone if this took too long.
            let _ = send.send(read.map(|_| stdout).unwrap_or_default());
        });
    }
    let late = || format!("{name} did not end within {} s", TIMEOUT.as_secs());
    let status = wait_or_kill(&mut child, TIMEOUT).ok_or_else(late)?;
    // A process that it started may hold the pipe open.
    let stdout = output.recv_timeout(TIMEOUT).map_err(|_| late())?;
    Ok(Output { status, stdout, stderr: Vec::new() })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn what_a_program_writes_is_read_whole_and_how_it_ended_told() {
        let said = output(Path::new("sh"), &["-c", "head -c 300000 /dev/zero; exit 3"]).unwrap();
        assert_eq!((said.stdout.len(), said.status.code()), (300_000, Some(3)));
        assert_eq!(output(Path::new("no-such-program"), &[]).unwrap_err(), "no no-such-program");
    }

    #[test]
    fn one_that_hangs_is_ended() {
        let began = Instant::now();
        let why = output(Path::new("sleep"), &["60"]).unwrap_err();
        let sleeps = Duration::from_secs(60);
        assert!(why.contains("did not end within") && began.elapsed() < sleeps, "{why}");
        // It ends, and a process of it keeps its output open.
        let why = output(Path::new("sh"), &["-c", "sleep 60 & exit 0"]).unwrap_err();
        assert!(why.contains("did not end within") && began.elapsed() < sleeps, "{why}");
    }
}
