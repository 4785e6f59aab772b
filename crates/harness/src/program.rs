//! Runs another program, which may hang.

use std::env;
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
    output_within(TIMEOUT, program, args)
}

fn output_within(timeout: Duration, program: &Path, args: &[&str]) -> Result<Output, String> {
    let name = program.display();
    let refused = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => format!("no {name}"),
        ErrorKind::PermissionDenied if !is_found(program) => format!("no {name}"),
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
    let late = || format!("{name} did not end within {} s", timeout.as_secs_f64());
    let status = wait_or_kill(&mut child, timeout).ok_or_else(late)?;
    // A process that it started may hold the pipe open.
    let stdout = output.recv_timeout(timeout).map_err(|_| late())?;
    Ok(Output { status, stdout, stderr: Vec::new() })
}

/// Whether a program is a file, or one in a folder of PATH. A folder of PATH that may not be read
/// makes the system refuse a program that is in no other one.
fn is_found(program: &Path) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    // An absolute path replaces the folder.
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Instant;

    use super::*;

    #[test]
    fn what_a_program_writes_is_read_whole_and_how_it_ended_told() {
        let said = output(Path::new("sh"), &["-c", "head -c 300000 /dev/zero; exit 3"]).unwrap();
        assert_eq!((said.stdout.len(), said.status.code()), (300_000, Some(3)));
        assert_eq!(output(Path::new("no-such-program"), &[]).unwrap_err(), "no no-such-program");
    }

    #[test]
    fn a_file_that_may_not_be_executed_is_told_from_one_that_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        fs::create_dir(&program).unwrap();
        assert!(output(&program, &[]).unwrap_err().starts_with("no "));
        fs::remove_dir(&program).unwrap();
        fs::write(&program, "").unwrap();
        let why = output(&program, &[]).unwrap_err();
        assert!(why.contains("cannot be started: Permission denied"), "{why}");
    }

    #[test]
    fn one_that_hangs_is_ended() {
        let (began, soon) = (Instant::now(), Duration::from_millis(500));
        let why = output_within(soon, Path::new("sleep"), &["60"]).unwrap_err();
        let sleeps = Duration::from_secs(60);
        assert!(why.contains("did not end within") && began.elapsed() < sleeps, "{why}");
        // It ends, and a process of it keeps its output open.
        let kept_open = ["-c", "sleep 60 & exit 0"];
        let why = output_within(soon, Path::new("sh"), &kept_open).unwrap_err();
        assert!(why.contains("did not end within") && began.elapsed() < sleeps, "{why}");
    }
}
