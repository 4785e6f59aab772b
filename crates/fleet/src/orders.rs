//! The play that carries orders to client machines. Ansible has a process for each device, which stays
//! as long as the play: an order takes a session of SSH instead of a play of its own.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::ansible::{Ansible, Errors, Play, RunningPlay};
use crate::clock::Probe;
use crate::device::{Event, Status};
use crate::error::at;
use crate::files::CLIENTS;
use crate::{FleetError, Result};

/// Variable of Ansible's environment with the path of the socket that its processes join. Only this
/// user may enter the socket's folder.
const SOCKET: &str = "EMBERMARK_ORDERS";

/// Time in which the play ends once no orders follow.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a device has not joined although its task has ended.
const NOT_JOINED: &str = "Ansible ended its task at once: the fleet's action_plugins/embermark_order.py and \
                          roles are not those of this embermark; make the fleet anew";

/// An order for a device: the plugin `embermark_order` reads it as one line.
#[derive(Debug, Serialize)]
pub(crate) struct Order<'a> {
    /// The subcommand that gets it. `None` only reads the clock.
    pub command: Option<&'a str>,
    /// Standard input of the subcommand.
    pub input: &'a str,
    /// Number of times that the device's clock is read before.
    pub probes: u32,
}

/// The plugin's answer, also one line.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Answered {
    pub status: Status,
    /// Why it failed, in the words of what failed.
    pub message: String,
    /// Output of the subcommand.
    pub out: String,
    pub probes: Vec<Probe>,
}

/// First line of a process that joins.
#[derive(Debug, Deserialize)]
struct Joined {
    device: String,
}

/// What happened in the play.
enum Heard {
    Joined(String, BufReader<UnixStream>),
    Event(Event),
    Ended,
}

/// A play with a process for each device. Dropping it ends the play.
pub(crate) struct OrderPlay {
    processes: BTreeMap<String, BufReader<UnixStream>>,
    heard: Receiver<Heard>,
    _play: RunningPlay,
    _folder: TempDir,
}

impl OrderPlay {
    /// Begins the play on these devices, and waits until each has its process.
    pub fn begin(ansible: &Ansible<'_>, names: &[String], variables: &[String]) -> Result<Self> {
        let folder = tempfile::tempdir().map_err(at(&std::env::temp_dir()))?;
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).map_err(at(&path))?;
        let environment = [(SOCKET.to_owned(), path.display().to_string())];
        let play = Play {
            tags: Some("order"),
            environment: &environment,
            // Each process holds one of them until the end.
            forks: Some(names.len()),
            // So that the clients can be closed after an interrupt.
            outlives_interrupt: true,
            ..Play::new(CLIENTS, names, variables)
        };
        let mut play = ansible.start(&play)?;
        let (tell, heard) = channel();
        let (joins, many) = (tell.clone(), names.len());
        thread::spawn(move || accept(&listener, many, &joins));
        let (events, errors) = (play.events(), play.errors());
        thread::spawn(move || {
            // Once every device has joined, only the end matters.
            let events = events.map_while(io::Result::ok);
            events.for_each(|event| _ = tell.send(Heard::Event(event)));
            let _ = tell.send(Heard::Ended);
        });
        let mut this = Self { processes: BTreeMap::new(), heard, _play: play, _folder: folder };
        this.wait_for_all(names, errors).map(|()| this)
    }

    fn wait_for_all(&mut self, names: &[String], errors: Errors) -> Result<()> {
        let refused = |device: &str, why: &str| FleetError::Clients(format!("{device}: {why}"));
        while !names.iter().all(|name| self.processes.contains_key(name)) {
            match self.heard.recv() {
                Ok(Heard::Joined(device, process)) => _ = self.processes.insert(device, process),
                Ok(Heard::Event(Event { device, status: Status::Ok, .. })) => {
                    return Err(refused(&device, NOT_JOINED));
                }
                Ok(Heard::Event(Event { device, message, .. })) => {
                    return Err(refused(&device, &message));
                }
                Ok(Heard::Ended) | Err(_) => return Err(errors.failure()),
            }
        }
        Ok(())
    }

    /// Sends each device its order, all at the same time, and returns the answers. `None` if a
    /// device's process has ended.
    pub fn send(&mut self, orders: &[(&str, Order<'_>)]) -> Vec<Option<Answered>> {
        let sent: Vec<bool> = orders
            .iter()
            .map(|(device, order)| {
                let process = self.processes.get_mut(*device);
                process.is_some_and(|process| write_line(process.get_mut(), order).is_ok())
            })
            .collect();
        let answer = |((device, _), sent): (&(&str, Order<'_>), bool)| {
            let process = self.processes.get_mut(*device).filter(|_| sent)?;
            read_line(process).ok()
        };
        orders.iter().zip(sent).map(answer).collect()
    }
}

impl Drop for OrderPlay {
    /// Ends the processes, and with them the play, which then removes its own files.
    fn drop(&mut self) {
        for process in self.processes.values() {
            // One that has ended is shut down already.
            let _ = process.get_ref().shutdown(Shutdown::Both);
        }
        let began = Instant::now();
        loop {
            let left = END_TIMEOUT.saturating_sub(began.elapsed());
            match self.heard.recv_timeout(left) {
                Ok(Heard::Joined(..) | Heard::Event(_)) => {}
                Ok(Heard::Ended) | Err(_) => return,
            }
        }
    }
}

/// Accepts the processes of so many devices.
fn accept(listener: &UnixListener, many: usize, joins: &Sender<Heard>) {
    for process in listener.incoming().flatten().take(many) {
        let mut process = BufReader::new(process);
        let Ok(Joined { device }) = read_line(&mut process) else { continue };
        if joins.send(Heard::Joined(device, process)).is_err() {
            return;
        }
    }
}

fn write_line(to: &mut UnixStream, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    to.write_all(&line)
}

fn read_line<T: serde::de::DeserializeOwned>(from: &mut impl BufRead) -> io::Result<T> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}
