//! Runs Ansible's programs.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Lines, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;
use std::{env, thread};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::device::Event;
use crate::{FleetError, Result};

/// The Ansible programs in PATH, for the fleet in a folder.
pub(crate) struct Ansible<'a> {
    fleet: &'a Path,
    playbook: PathBuf,
    inventory: PathBuf,
}

/// A playbook, the devices to play it on, and its variables.
#[derive(Clone, Copy)]
pub(crate) struct Play<'a> {
    pub playbook: &'a str,
    pub devices: &'a [String],
    pub variables: &'a [String],
    /// Only the tasks with this tag.
    pub tags: Option<&'a str>,
    /// Variables of Ansible's own environment.
    pub environment: &'a [(String, String)],
    /// Number of devices that are worked on at the same time. `None`: as many as the fleet's
    /// configuration says.
    pub forks: Option<usize>,
    /// Whether Ctrl-C in a terminal does not reach it, but only embermark.
    pub outlives_interrupt: bool,
}

impl<'a> Play<'a> {
    /// Makes a play of all tasks of a playbook on these devices, with these variables.
    pub const fn new(playbook: &'a str, devices: &'a [String], variables: &'a [String]) -> Self {
        Self {
            playbook,
            devices,
            variables,
            tags: None,
            environment: &[],
            forks: None,
            outlives_interrupt: false,
        }
    }
}

impl<'a> Ansible<'a> {
    /// Finds Ansible's programs in PATH.
    pub fn find(fleet: &'a Path) -> Result<Self> {
        let (playbook, inventory) = (find_program("ansible-playbook")?, find_program("ansible")?);
        Ok(Self { fleet, playbook, inventory })
    }

    /// Returns the devices of the inventory that a pattern names, or all without a pattern.
    pub fn devices(&self, limit: Option<&str>) -> Result<Vec<String>> {
        let mut command = self.command(&self.inventory);
        command.args(["all", "--list-hosts"]).args(limit.map(|limit| format!("--limit={limit}")));
        let said = command.output().map_err(ansible_error)?;
        if !said.status.success() {
            return Err(FleetError::Ansible(last_lines(&String::from_utf8_lossy(&said.stderr))));
        }
        let out = String::from_utf8_lossy(&said.stdout);
        // The first line has the number.
        Ok(out.lines().skip(1).map(|line| line.trim().to_owned()).collect())
    }

    /// Runs a play, and passes each event to `heard` as it happens.
    pub fn play(&self, play: &Play<'_>, mut heard: impl FnMut(Event)) -> Result<()> {
        let mut playing = self.start(play)?;
        let (events, errors) = (playing.events(), playing.errors());
        let mut nothing = true;
        for event in events {
            nothing = false;
            heard(event.map_err(ansible_error)?);
        }
        let status = playing.0.wait().map_err(ansible_error)?;
        // Other statuses concern devices, which have reported them.
        if nothing && !status.success() {
            return Err(errors.failure());
        }
        Ok(())
    }

    /// Starts a play.
    pub fn start(&self, play: &Play<'_>) -> Result<RunningPlay> {
        let mut command = self.command(&self.playbook);
        command.env("ANSIBLE_STDOUT_CALLBACK", "embermark_events");
        command.envs(play.environment.iter().map(|(name, value)| (name, value)));
        command.arg(play.playbook).arg("--limit").arg(play.devices.join(","));
        command.args(play.tags.map(|tags| format!("--tags={tags}")));
        command.args(play.forks.map(|forks| format!("--forks={forks}")));
        for variable in play.variables {
            command.args(["--extra-vars", &extra_variable(variable)]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if play.outlives_interrupt {
            command.process_group(0);
        }
        command.spawn().map(RunningPlay).map_err(ansible_error)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.fleet).env("ANSIBLE_CONFIG", "ansible.cfg");
        command.env("ANSIBLE_NOCOLOR", "1").env("ANSIBLE_DEPRECATION_WARNINGS", "0");
        command.env("ANSIBLE_LOCALHOST_WARNING", "0").env("PYTHONUNBUFFERED", "1");
        command
    }
}

/// A running play. Dropping it ends the play.
pub(crate) struct RunningPlay(Child);

impl RunningPlay {
    /// Returns its events, as they happen. Can be called once.
    pub fn events(&mut self) -> Events {
        Events(self.0.stdout.take().map(|out| BufReader::new(out).lines()))
    }

    /// Reads its errors. Can be called once.
    pub fn errors(&mut self) -> Errors {
        let read = |mut errors: ChildStderr| {
            let mut text = Vec::new();
            // What could be read is reported.
            let _ = errors.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        };
        Errors(self.0.stderr.take().map(|errors| thread::spawn(move || read(errors))))
    }
}

impl Drop for RunningPlay {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            // It then ends its own processes.
            let _ = kill(Pid::from_raw(self.0.id() as i32), Signal::SIGTERM);
            let _ = self.0.wait();
        }
    }
}

/// The events of a play, until it ends.
pub(crate) struct Events(Option<Lines<BufReader<ChildStdout>>>);

impl Iterator for Events {
    type Item = io::Result<Event>;

    fn next(&mut self) -> Option<Self::Item> {
        let lines = self.0.as_mut()?;
        // Other lines are not events.
        lines.find_map(|line| match line {
            Ok(line) => serde_json::from_str(&line).ok().map(Ok),
            Err(error) => Some(Err(error)),
        })
    }
}

/// The errors of a play, which are read meanwhile.
pub(crate) struct Errors(Option<JoinHandle<String>>);

impl Errors {
    /// Waits for the play's end. Returns the error with its last words.
    pub fn failure(self) -> FleetError {
        let errors = self.0.and_then(|errors| errors.join().ok()).unwrap_or_default();
        FleetError::Ansible(last_lines(&errors))
    }
}

/// Returns a variable in the form that Ansible takes whole. It splits `NAME=VALUE` at spaces, unless
/// the value has quotes. It also takes objects and `@FILE`.
fn extra_variable(variable: &str) -> String {
    match variable.split_once('=') {
        Some((name, value))
            if !name.starts_with(['{', '[', '@']) && !value.starts_with(['\'', '"']) =>
        {
            Value::from_iter([(name, value)]).to_string()
        }
        _ => variable.to_owned(),
    }
}

fn ansible_error(error: io::Error) -> FleetError {
    FleetError::Ansible(error.to_string())
}

fn find_program(program: &'static str) -> Result<PathBuf> {
    let path: OsString = env::var_os("PATH").unwrap_or_default();
    let mut places = env::split_paths(&path).map(|folder| folder.join(program));
    let place = places.find(|place| place.is_file()).ok_or(FleetError::NoAnsible(program))?;
    // A program given by a relative path is started in another folder.
    std::path::absolute(place).map_err(ansible_error)
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(4)..].join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_with_spaces_stays_whole() {
        let home = "embermark_home=/media/pi/USB DISK/a=b";
        assert_eq!(extra_variable(home), r#"{"embermark_home":"/media/pi/USB DISK/a=b"}"#);
        // What Ansible takes whole already.
        for variable in ["embermark_home='/media/pi/USB DISK'", r#"{"a": "b=c"}"#, "@file=x.yml"] {
            assert_eq!(extra_variable(variable), variable);
        }
    }
}
