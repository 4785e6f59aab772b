//! Starts this test program as another process: as the owner of a server, or to run a single test.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use std::{env, fs};

use embermark_model::Durability;

use super::processes::{Processes, is_running};
use super::{ServerEngine, options, rows};

/// Environment variable with the task of a helper process.
const TASK: &str = "EMBERMARK_TEST_SERVER";

/// Returns the command that runs an ignored test of this program in another process, with a task.
pub fn test_command(test: &str, task: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    run(&mut command, test);
    command.env(TASK, task);
    command
}

fn run(command: &mut Command, test: &str) {
    command.args([test, "--exact", "--ignored", "--nocapture"]);
}

/// Returns the task of such a test. `None` if no test has started it.
pub fn task() -> Option<String> {
    env::var(TASK).ok()
}

/// Runs such a test, which must pass, and returns its output.
pub fn run_passing(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    said
}

/// A process that has opened a private server and written to it.
pub struct Owner {
    process: Child,
    /// The server.
    pub server: u32,
    /// The processes of the server and those it has started.
    pub processes: Processes,
}

impl Owner {
    /// Starts a process with a server in the new folder `dir`, as another user if `uid` is given.
    /// It knows no home and no cache folder except those in `variables`.
    pub fn start(
        engine: ServerEngine,
        dir: &Path,
        uid: Option<u32>,
        variables: &[(&str, &Path)],
    ) -> Self {
        fs::create_dir(dir).unwrap();
        let mut command = match uid {
            Some(uid) => as_user(uid, engine, dir),
            None => Command::new(env::current_exe().unwrap()),
        };
        let this_module = module_path!().split_once("::").unwrap().1;
        run(&mut command, &format!("{this_module}::owns_a_server"));
        command.env(TASK, format!("{}\n{}", engine.0, dir.display()));
        command.env_remove("HOME").env_remove("XDG_CACHE_HOME").envs(variables.iter().copied());
        let mut process = command.current_dir("/").stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut lines = lines.map_while(std::io::Result::ok);
        let server = lines.find_map(|line| line.strip_prefix("server ")?.parse().ok());
        let server = server.expect("the owner failed, see above");
        Self { process, server, processes: Processes::of(server, dir) }
    }

    /// Kills it and checks that its server dies with it.
    pub fn kill(mut self) {
        assert!(is_running(self.server));
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.processes.end();
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // This is for a test that has failed; otherwise the process has ended.
        let _ = self.process.kill().and_then(|()| self.process.wait());
    }
}

/// Returns this program as another user's, who becomes the owner of the folder `dir`. Files that
/// this user cannot read, because they are below somebody's home, are copied beside it: the program,
/// and what `make servers` has fetched for the engine, which is found in `lib/embermark` beside a
/// program's `bin`.
fn as_user(uid: u32, engine: ServerEngine, dir: &Path) -> Command {
    let place = dir.parent().unwrap();
    fs::set_permissions(place, fs::Permissions::from_mode(0o755)).unwrap();
    chown(dir, Some(uid), Some(uid)).unwrap();
    let mut program = env::current_exe().unwrap();
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.deps").join(engine.0);
    if !is_readable_by_anybody(&program) || !is_readable_by_anybody(&fetched) {
        fs::create_dir(place.join("bin")).unwrap();
        let copy = place.join("bin/program");
        copy_for_anybody(&program, &copy);
        program = copy;
        if fetched.exists() {
            let libraries = place.join("lib/embermark");
            fs::create_dir_all(&libraries).unwrap();
            copy_for_anybody(&fetched, &libraries.join(engine.0));
        }
    }
    let mut command = Command::new(program);
    command.uid(uid).gid(uid);
    command
}

/// Whether anybody can read a file, or everything below a folder, and run what its owner can run.
/// True for a path that does not exist.
fn is_readable_by_anybody(path: &Path) -> bool {
    let Ok(path) = path.canonicalize() else { return true };
    let is_open = |folder: &Path| fs::metadata(folder).unwrap().permissions().mode() & 0o001 != 0;
    let closed = "( ! -perm -o=r -o -perm -u=x ! -perm -o=x ) -print -quit".split(' ');
    let found = Command::new("find").arg(&path).args(closed).output().unwrap();
    assert!(found.status.success(), "{found:?}");
    path.ancestors().skip(1).all(is_open) && found.stdout.is_empty()
}

/// Copies a file, or a folder with everything below it, so that anybody can read and run it.
/// Another program does the copying: a file that this process has open for writing is for a moment
/// also open in a child that another test starts, and a program that somebody has open for writing
/// cannot be run.
fn copy_for_anybody(from: &Path, to: &Path) {
    let run = |command: &mut Command| {
        assert!(command.status().unwrap().success(), "{command:?}");
    };
    run(Command::new("cp").args(["-rH", "--reflink=auto"]).arg(from).arg(to));
    run(Command::new("chmod").args(["-R", "a+rX"]).arg(to));
}

#[test]
#[ignore = "run in a process of its own by other tests"]
fn owns_a_server() {
    let Some(task) = task() else { return };
    let (id, dir) = task.split_once('\n').unwrap();
    let id = embermark_engines::registry::find(id).unwrap().info().id;
    let opened = ServerEngine(id).open(&options(Path::new(dir), Durability::Process));
    let server = opened.server.unwrap();
    let mut store = opened.store;
    rows::create(&mut store).unwrap();
    rows::write(&mut store, 1, 1).unwrap();
    assert_eq!(rows::count(&mut store).unwrap(), 1);
    println!("\nserver {server}");
    sleep(Duration::from_secs(60));
}
