//! `embermark storage try`: a command on an imitated storage.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use embermark_durability::{FileSystem, enter_mount_namespace};
use embermark_harness::interrupt::{Interrupt, on_signals};
use embermark_harness::kill_with_parent;
use embermark_model::Storage;
use embermark_report::{LATE, format, near_path};
use embermark_storage::{ImitationError, Imitator};

use crate::error::{Failure, INTERRUPTED};
use crate::plan::size;

/// Smallest size of the file system, in bytes.
const LEAST: u64 = 16 << 20;
/// Time that a command has to end after a signal.
const PATIENCE: Duration = Duration::from_secs(5);

/// The arguments of `embermark storage try`.
#[derive(Args)]
pub struct TryArgs {
    /// A built-in storage, or a file
    #[arg(value_name = "NAME|FILE.toml")]
    storage: String,

    /// Size of the file system
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    size: String,

    /// The command and its arguments [default: your shell]. It runs in a folder on the storage, which
    /// EMBERMARK_STORAGE names
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs the command, and exits with its status, or with 130 if a signal asked to stop before it had
/// ended.
pub fn run(args: &TryArgs) -> Result<ExitCode, Failure> {
    let storage = super::find_storage(&args.storage)?;
    let size = match size("--size", &args.size)? {
        bytes if bytes >= LEAST => bytes,
        _ => return Err(usage!("--size {} is too small: give 16MiB or more", args.size)),
    };
    enter_mount_namespace().map_err(|error| not_imitable(&storage, &error))?;
    let interrupt = on_signals()?;
    let scratch = tempfile::Builder::new().prefix("embermark-storage-").tempdir();
    let scratch = scratch.map_err(|error| {
        Failure::runtime(format!("cannot make a folder in {}: {error}", env::temp_dir().display()))
    })?;
    let ended = run_on_storage(args, &storage, size, scratch.path(), &interrupt);
    let folder = scratch.path().to_owned();
    scratch.close().map_err(|error| {
        Failure::runtime(format!("cannot remove {}: {error}", folder.display()))
    })?;
    let Some(status) = ended? else { return Ok(ExitCode::from(INTERRUPTED)) };
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    Ok(ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

/// Returns the status of the command, and `None` if a signal asked to stop. One that comes before
/// the command has started leaves it out.
fn run_on_storage(
    args: &TryArgs,
    storage: &Storage,
    size: u64,
    scratch: &Path,
    interrupt: &Interrupt,
) -> Result<Option<ExitStatus>, Failure> {
    let imitator = Imitator::begin(scratch).map_err(|error| not_imitable(storage, &error))?;
    imitator.check_imitable(storage, size).map_err(Failure::usage)?;
    let image = scratch.join("image");
    match FileSystem::Ext4.make(&image, size) {
        // The terminal's signal also ends the program that makes it.
        _ if interrupt.is_set() => return Ok(None),
        made => made.map_err(|error| not_imitable(storage, &error))?,
    }
    let mounted = imitator.mount(storage, scratch, &image, FileSystem::Ext4);
    let mounted = mounted.map_err(|error| match error {
        ImitationError::Device(error) => not_imitable(storage, &error),
        error => Failure::usage(error),
    })?;
    let starts = !interrupt.is_set();
    let ended = if starts { run_command(args, storage, &mounted.at, interrupt) } else { Ok(None) };
    let (_, kept) = mounted.unmount().map_err(|error| {
        Failure::runtime(format!("{error}; a process that the command started may still use it"))
    })?;
    let status = ended?;
    if !starts {
        return Ok(None);
    }
    let us = |ns: u64| format::duration(ns as f64);
    let share = kept.late as f64 / kept.requests.max(1) as f64;
    let path = imitator.path();
    say!(
        "{}: {} requests took {} by the model; {} were {LATE}, the latest by {}",
        storage.name,
        format::count(kept.requests),
        us(kept.time_ns),
        format::percent(share),
        us(kept.latest_ns)
    );
    say!(
        "the path costs {} for a read of 4 KiB, {} for a write, {} for a flush, and is subtracted",
        us(path.read_ns),
        us(path.write_ns),
        us(path.flush_ns)
    );
    if let Some(says) = near_path(storage, &path) {
        say!("{says}");
    }
    if share > 0.05 {
        say!(
            "too many requests were late for the storage's times to be right: try it on a quiet machine"
        );
    }
    Ok(status)
}

/// Runs the command in a folder. A signal to this process ends the command, and then there is no
/// status.
fn run_command(
    args: &TryArgs,
    storage: &Storage,
    folder: &Path,
    interrupt: &Interrupt,
) -> Result<Option<ExitStatus>, Failure> {
    let program = match args.command.split_first() {
        Some((program, _)) => program.clone(),
        None => env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into()),
    };
    let mut command = Command::new(&program);
    command.args(args.command.iter().skip(1));
    command.current_dir(folder).env("EMBERMARK_STORAGE", folder);
    // Without this program there is no storage.
    kill_with_parent(&mut command);
    if args.command.is_empty() {
        say!("{}: ext4 at {}; 'exit' ends it", storage.name, folder.display());
    }
    let mut child = command
        .spawn()
        .map_err(|error| usage!("cannot run {}: {error}", Path::new(&program).display()))?;
    let mut asked: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait().map_err(Failure::runtime)? {
            return Ok(asked.is_none().then_some(status));
        }
        match asked {
            None if interrupt.is_set() => {
                let _ = Command::new("kill").arg(child.id().to_string()).status();
                asked = Some(Instant::now());
            }
            Some(at) if at.elapsed() > PATIENCE => {
                let _ = child.kill();
            }
            _ => {}
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the error that this machine cannot imitate the storage.
fn not_imitable(storage: &Storage, error: &impl std::fmt::Display) -> Failure {
    usage!("{} cannot be imitated: {error}", storage.name)
}
