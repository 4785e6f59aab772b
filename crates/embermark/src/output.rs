//! Writes to standard output, standard error and files.

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use comfy_table::{Row, Table, TableStyle};
use embermark_model::foreign;
use serde::Serialize;

use crate::error::Failure;

/// Prints a message to standard error, without control characters and with long lines cut. If
/// standard error is closed, the message is lost without an error.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{}", foreign::message(text));
}

/// Prints a finished text. A reader that closes the pipe early (`| head`) is not an error.
pub fn print(text: &str) -> Result<ExitCode, Failure> {
    let mut out = io::stdout().lock();
    let text = foreign::screen(text, colour(&io::stdout()));
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::runtime(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Prints a value as JSON.
pub fn print_json(value: &impl Serialize) -> Result<ExitCode, Failure> {
    print(&(serde_json::to_string_pretty(value).map_err(Failure::runtime)? + "\n"))
}

/// Returns a table with this header and no rows.
pub fn table(header: impl Into<Row>) -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new()).set_header(header);
    table
}

/// Writes a file, which replaces an older one.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    fs::write(path, content).map_err(Failure::unwritable(path))
}

/// Width in columns of texts that are written to a file.
pub const FILE_WIDTH: usize = 120;

/// Checks that a file can be written, before the work for it begins. Pipes and devices are not
/// opened: the reader of a named pipe would take the check for the whole output.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    let is_new = !path.exists();
    if !is_new && !path.is_file() && !path.is_dir() {
        return Ok(());
    }
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .map_err(|error| usage!("cannot write {}: {error}; name another file", path.display()))?;
    if is_new {
        // The work may still fail, so the empty file is removed.
        let _ = fs::remove_file(path);
    }
    Ok(())
}

/// Creates the folder of a command's result, unless it exists.
pub fn create_folder(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|error| {
        let path = path.display();
        usage!("cannot create {path}: {error}; name another folder with --out")
    })
}

/// Returns the columns of the terminal on standard output, or [`FILE_WIDTH`] if it is a file or a
/// pipe.
pub fn width() -> usize {
    // Not `terminal_size()`, which would return the terminal of standard error in its place.
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map_or(FILE_WIDTH, |(width, _)| usize::from(width.0))
}

/// Returns the columns and rows of the terminal on standard error. If it is not a terminal, returns
/// 100 columns and no limit of rows.
pub fn terminal() -> (usize, Option<usize>) {
    match terminal_size::terminal_size_of(io::stderr()) {
        Some((width, height)) => (width.0.into(), Some(height.0.into())),
        None => (100, None),
    }
}

/// Whether a stream takes colours: it is a terminal, and `NO_COLOR` is not set.
pub fn colour(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Returns a path as a word of a shell, for commands that a user copies.
pub fn word(path: &Path) -> String {
    foreign::word(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        for path in ["results/2026-08-01", "my card/run", "it's", "$HOME", "a;b", ""] {
            let word = word(Path::new(path));
            assert_eq!(shlex::split(&word).unwrap(), [path], "{word}");
        }
        assert_eq!(word(Path::new("results/2026-08-01")), "results/2026-08-01");
    }

    #[test]
    fn a_named_pipe_is_not_opened_before_its_text_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let (done, checked) = std::sync::mpsc::channel();
        // Opening it waits until somebody reads.
        std::thread::spawn(move || done.send(check_writable(&pipe).is_ok()));
        assert_eq!(checked.recv_timeout(std::time::Duration::from_secs(60)), Ok(true));
    }
}
