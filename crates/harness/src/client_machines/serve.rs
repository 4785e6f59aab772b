//! The process on a client machine. It is started once per trial and waits for orders at a socket
//! in its directory.

use std::fs;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nix::unistd::setsid;

use super::machine::Machine;
use super::protocol::{Facts, Order, Reply};
use crate::child::exit;
use crate::protocol::send;
use crate::system::{System, read_lossy};
use crate::{Catalog, manifest};

/// The socket's name in its directory. Short, because a socket's path has at most 108 bytes.
const SOCKET: &str = "socket";

/// File for its standard error.
const LOG: &str = "log";

/// Longest wait for an order. The process then closes its clients and ends, because the conductor
/// is probably gone.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// Time in which the process must start to listen.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// Prints a description of this machine as JSON.
pub fn facts(dir: &Path) -> ExitCode {
    exit("client-machine", {
        let machine = System::here().machine(dir);
        send(&mut io::stdout(), &Facts { tool: manifest::tool(), machine })
    })
}

/// Starts the process in an empty directory, in its own session, so that it continues when this
/// process ends. Passes it the job from standard input. Returns once it listens.
pub fn start_machine(dir: &Path) -> ExitCode {
    exit("client-machine", start(dir))
}

fn start(dir: &Path) -> io::Result<()> {
    let mut job = String::new();
    io::stdin().read_to_string(&mut job)?;
    if let Ok(mut before) = UnixStream::connect(dir.join(SOCKET)) {
        // A process of an abandoned trial closes what it has on the server.
        let _ = before.write_all(&serde_json::to_vec(&[Order::Close])?);
        let _ = before.shutdown(Shutdown::Write);
        let _ = before.read_to_end(&mut Vec::new());
    }
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    fs::create_dir_all(dir)?;
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
    let log = fs::File::create(dir.join(LOG))?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["client-machine", "serve"]).arg(dir);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log);
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(job.as_bytes())?;
    }
    let began = Instant::now();
    while UnixStream::connect(dir.join(SOCKET)).is_err() {
        if let Some(status) = child.try_wait()? {
            let said = read_lossy(dir.join(LOG)).unwrap_or_default();
            return Err(io::Error::other(format!("it ended with {status}: {}", said.trim())));
        }
        if began.elapsed() > START_TIMEOUT {
            child.kill()?;
            return Err(io::Error::other("it does not listen"));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Passes the orders from standard input to the process in a directory and prints its replies.
pub fn order(dir: &Path) -> ExitCode {
    let ended = |why: String| {
        let said = read_lossy(dir.join(LOG)).unwrap_or_default();
        let last = said.lines().last().unwrap_or("it wrote nothing");
        io::Error::other(format!("the client process ended{why}: {last}"))
    };
    let hand_over = || {
        let mut orders = Vec::new();
        io::stdin().read_to_end(&mut orders)?;
        let mut socket =
            UnixStream::connect(dir.join(SOCKET)).map_err(|error| ended(format!(" ({error})")))?;
        socket.write_all(&orders)?;
        socket.shutdown(Shutdown::Write)?;
        let mut replies = Vec::new();
        socket.read_to_end(&mut replies)?;
        if replies.is_empty() {
            return Err(ended(String::new()));
        }
        io::stdout().write_all(&replies)
    };
    exit("client-machine", hand_over())
}

/// Runs the process: reads its job from standard input and executes orders until the one to close,
/// with the engines and workloads of this build.
pub fn serve_machine(dir: &Path) -> ExitCode {
    exit("client-machine", serve(dir, &Catalog::default()))
}

fn serve(dir: &Path, catalog: &Catalog) -> io::Result<()> {
    // Continues when the process that started it has ended.
    setsid()?;
    let mut job = Vec::new();
    io::stdin().read_to_end(&mut job)?;
    let job = serde_json::from_slice(&job)?;
    let site = dir.join("site");
    fs::create_dir_all(&site)?;
    let mut machine = Machine::new(job, &site, catalog)
        .map_err(|refused| io::Error::other(format!("{:?}", Reply::from(refused))))?;
    let listener = UnixListener::bind(dir.join(SOCKET))?;
    listener.set_nonblocking(true)?;
    let mut heard = Instant::now();
    loop {
        let mut socket = match listener.accept() {
            Ok((socket, _)) => socket,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if heard.elapsed() > PATIENCE {
                    // There is nothing left to report to.
                    let _ = machine.execute(&Order::Close, catalog);
                    return Err(io::Error::other("no order arrived in time"));
                }
                std::thread::sleep(Duration::from_millis(5));
                continue;
            }
            Err(error) => return Err(error),
        };
        socket.set_nonblocking(false)?;
        let mut text = Vec::new();
        socket.read_to_end(&mut text)?;
        // A connection that only checks whether it listens sends none.
        let orders: Vec<Order> =
            if text.is_empty() { Vec::new() } else { serde_json::from_slice(&text)? };
        let mut replies = Vec::with_capacity(orders.len());
        for order in &orders {
            let done = machine.execute(order, catalog);
            let failed = done.is_err();
            replies.push(done.unwrap_or_else(Reply::from));
            if failed {
                break;
            }
        }
        // A peer that is gone cannot be reached.
        let _ = socket.write_all(&serde_json::to_vec(&replies)?);
        heard = Instant::now();
        if orders.contains(&Order::Close) {
            let _ = fs::remove_dir_all(&site);
            let _ = fs::remove_file(dir.join(SOCKET));
            return Ok(());
        }
    }
}
