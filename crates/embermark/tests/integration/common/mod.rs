//! Runs the program as a user does.

#![allow(dead_code, reason = "each test file uses its part")]

pub mod message_queue;
pub mod run_processes;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use embermark_engines::{Kind, registry};
use embermark_model::Status;
use embermark_model::result::ResultFile;
use embermark_skips::{sampled, skipped};
use tempfile::TempDir;

/// A folder for one test, in which the program runs.
pub struct Sandbox {
    dir: TempDir,
}

impl Sandbox {
    pub fn new() -> Self {
        // Not in /tmp, which is a RAM disk on some machines.
        Self::new_in(env!("CARGO_TARGET_TMPDIR"))
    }

    pub fn new_in(parent: &str) -> Self {
        Self { dir: TempDir::new_in(parent).unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// Returns the command that runs the program with these words here.
    pub fn command(&self, words: &[&str]) -> Command {
        self.command_for(Path::new(env!("CARGO_BIN_EXE_embermark")), words)
    }

    /// Returns the same command for another program, such as [`Sandbox::copied_program`].
    pub fn command_for(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(words).current_dir(self.dir.path()).stdin(Stdio::null());
        command.env(run_processes::MARK, self.path(""));
        command
    }

    /// Puts the program into this folder, for a user that cannot access the folder of the build: as
    /// another name of its file, or as a copy on another file system.
    pub fn copied_program(&self) -> PathBuf {
        let (program, copy) = (env!("CARGO_BIN_EXE_embermark"), self.path("embermark"));
        if fs::hard_link(program, &copy).is_err() {
            fs::copy(program, &copy).unwrap();
        }
        copy
    }

    /// Runs a copy of the program as an ordinary user, with all permissions in this folder.
    pub fn as_ordinary_user(&self, words: &[&str]) -> ProgramOutput {
        let program = self.copied_program();
        fs::set_permissions(self.path(""), fs::Permissions::from_mode(0o777)).unwrap();
        let mut command = self.command_for(&program, words);
        ProgramOutput::from(command.uid(65_534).gid(65_534).output().unwrap())
    }

    /// Runs the program and waits for it.
    pub fn embermark(&self, words: &[&str]) -> ProgramOutput {
        ProgramOutput::from(self.command(words).output().unwrap())
    }

    /// Reads the result that a run left in `out`.
    pub fn result(&self, out: &str) -> ResultFile {
        read_result(&self.path(out))
    }
}

pub fn read_result(out: &Path) -> ResultFile {
    serde_json::from_slice(&fs::read(out.join("result.json")).unwrap()).unwrap()
}

/// Whether an engine is in this build and can run here.
pub fn is_here(engine: &str) -> bool {
    registry::find(engine).is_ok_and(embermark_skips::is_here)
}

/// Returns SQLite and two other embedded engines, as [`sampled`], for the command line. `embermark
/// verify` checks the answers of every engine. Append-only engines are left out, because they do
/// not have every phase.
pub fn some_embedded() -> String {
    let embedded = registry::ENGINES.iter().filter(|engine| !engine.is_append_only());
    let embedded = embedded.map(|engine| engine.info());
    let others = embedded.filter(|info| info.kind == Kind::Embedded && info.id != "sqlite");
    [&["sqlite"], &sampled(others.map(|info| info.id), 2)[..]].concat().join(",")
}

/// Returns the word that leaves out the trials that count, for runs whose counts a test does not
/// look at. Long campaigns keep them.
pub fn uncounted() -> &'static [&'static str] {
    if embermark_skips::is_long() { &[] } else { &["--no-counting"] }
}

/// Names the engines that a run left out because they are not here.
pub fn name_absent(result: &ResultFile) {
    for cell in result.cells.iter().filter(|cell| cell.status == Status::Unavailable) {
        skipped(&cell.id.engine, cell.reason.as_deref().unwrap_or_default());
    }
}

/// Exit status and output of the program.
pub struct ProgramOutput {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for ProgramOutput {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl ProgramOutput {
    /// Asserts that it ended with this status. Shows its output if not.
    #[track_caller]
    pub fn expect_status(self, status: i32) -> Self {
        assert_eq!(self.status, status, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Asserts that neither output contains a secret.
    #[track_caller]
    pub fn expect_not_printed(&self, secret: &str) {
        assert!(!self.stdout.contains(secret) && !self.stderr.contains(secret), "{}", self.stderr);
    }

    /// Asserts that standard error contains each of these texts.
    #[track_caller]
    pub fn expect_stderr(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "no '{word}' in:\n{}", self.stderr);
        }
        self
    }
}

/// Waits until `found` returns something, at most ten minutes because other tests run at the same
/// time.
pub fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(600) {
        let look = Instant::now();
        if let Some(thing) = found() {
            return thing;
        }
        // A look at every process takes milliseconds. It may use at most a quarter of a processor.
        let pause = look.elapsed() * 3;
        std::thread::sleep(pause.clamp(Duration::from_millis(5), Duration::from_millis(100)));
    }
    panic!("waited in vain for {what}");
}

/// Returns the ids of all processes.
pub fn processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// Returns the processes that have a file below `dir` open, or that have it in their command line.
pub fn processes_using(dir: &Path) -> Vec<String> {
    let dir = dir.to_str().unwrap().to_owned();
    processes()
        .into_iter()
        .filter_map(|pid| {
            let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            let files = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
            let holds = files.flatten().any(|fd| {
                fs::read_link(fd.path())
                    .is_ok_and(|target| target.to_string_lossy().starts_with(&dir))
            });
            (command.contains(&dir) || holds).then_some(format!("{pid} {command}"))
        })
        .collect()
}

/// A small file system in memory, unmounted when dropped.
pub struct Mounted(PathBuf);

impl Mounted {
    /// Mounts one with these options at `at`. `None` without root.
    pub fn new(at: PathBuf, options: &str) -> Option<Self> {
        fs::create_dir(&at).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "embermark-test"]).arg(&at).stderr(Stdio::null());
        if mount.status().is_ok_and(|status| status.success()) {
            return Some(Self(at));
        }
        skipped("root", "mounting a small file system takes it");
        None
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(&self.0).status();
        assert!(
            unmounted.is_ok_and(|status| status.success()),
            "{} stays mounted",
            self.0.display()
        );
    }
}
