//! Devices that a fleet reaches by SSH: servers on 127.0.0.1, each with a home folder.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use embermark_skips::skipped;

use crate::common::run_processes::signal;
use crate::common::{Sandbox, processes, wait_for};
use nix::sys::signal::Signal;

/// A device of a fleet: an SSH server.
pub struct Device {
    pub name: &'static str,
    folder: PathBuf,
    /// Path of the SSH server.
    sshd: PathBuf,
    port: u16,
    _reserved: UnixListener,
    server: Option<Child>,
}

/// Returns a free port of 127.0.0.1, and a socket that reserves it among these tests while it is
/// kept. The port is above those that the kernel gives to outgoing connections (ip(7),
/// `ip_local_port_range`), so that none of these takes it before a server listens there.
fn free_port() -> (u16, UnixListener) {
    let mut ports = 61_000..=65_535;
    let reserved = |port: &u16| {
        let name = SocketAddr::from_abstract_name(format!("embermark-test-port-{port}")).unwrap();
        let reserved = UnixListener::bind_addr(&name).ok()?;
        TcpListener::bind(("127.0.0.1", *port)).is_ok().then_some((*port, reserved))
    };
    ports.find_map(|port| reserved(&port)).unwrap()
}

/// Returns the path of the SSH server. `None` if it or Ansible is missing.
fn sshd() -> Option<PathBuf> {
    let unpacked = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.deps/sshd/usr/sbin/sshd");
    let found = [PathBuf::from("/usr/sbin/sshd"), unpacked].into_iter().find(|path| path.is_file());
    let found = found.and_then(|path| path.canonicalize().ok());
    if found.is_none() {
        skipped("sshd", "no OpenSSH server; make test-deps unpacks one");
    }
    let path = env::var_os("PATH").unwrap_or_default();
    if !env::split_paths(&path).any(|folder| folder.join("ansible-playbook").is_file()) {
        skipped("ansible", "no ansible-playbook in PATH; make test-deps installs it");
        return None;
    }
    found
}

impl Device {
    /// Creates devices with these names in a sandbox. `None` if a program is missing.
    pub fn all(sandbox: &Sandbox, names: &[&'static str]) -> Option<Vec<Self>> {
        let sshd = sshd()?;
        let keygen = |name: &str| {
            let path = sandbox.path(name);
            let mut keygen = Command::new("ssh-keygen");
            let made = keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path).status();
            assert!(made.unwrap().success());
        };
        keygen("host");
        keygen("key");
        let devices = names.iter().map(|name| {
            let of = sandbox.path(name);
            fs::create_dir(&of).unwrap();
            let (port, _reserved) = free_port();
            Self { name, folder: of, sshd: sshd.clone(), port, _reserved, server: None }
        });
        Some(devices.collect())
    }

    /// Switches it on. `path` goes before its search path.
    pub fn on(&mut self, path: Option<&Path>) {
        let of = |name: &str| self.folder.parent().unwrap().join(name).display().to_string();
        let mut config = format!(
            "ListenAddress 127.0.0.1:{}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\n\
             PidFile none\nUsePAM no\nMaxStartups 100\n",
            self.port,
            of("host"),
            of("key.pub"),
        );
        // With this level, Debian's bash does not read the user's `.bashrc` at each login.
        config += "SetEnv SHLVL=1";
        if let Some(path) = path {
            // Writing to a String cannot fail.
            let _ = write!(config, " PATH={}:/usr/bin:/bin", path.display());
        }
        config.push('\n');
        let file = self.folder.join("config");
        fs::write(&file, config).unwrap();
        // A server that runs as root drops its privileges there.
        if nix::unistd::geteuid().is_root() {
            fs::create_dir_all("/run/sshd").unwrap();
        }
        let mut server = Command::new(&self.sshd);
        server.args(["-D", "-e", "-f"]).arg(&file).stdin(Stdio::null()).stdout(Stdio::null());
        server.stderr(fs::File::create(self.folder.join("said")).unwrap());
        self.server = Some(server.spawn().unwrap());
        wait_for("the server", || {
            let said = fs::read_to_string(self.folder.join("said")).unwrap();
            assert!(!said.contains("fatal") && !said.contains("does not exist"), "{said}");
            said.contains("Server listening").then_some(())
        });
    }

    /// Imitates a power failure: kills the server, its connections and all processes of the device
    /// at once.
    pub fn off(&mut self) {
        let Some(mut server) = self.server.take() else { return };
        let connections = descendants(server.id());
        server.kill().unwrap();
        server.wait().unwrap();
        for pid in connections {
            signal(pid, Signal::SIGKILL);
        }
        let home = self.home().display().to_string();
        // Repeats until nothing is found, because the first pass misses processes that just start.
        wait_for("its processes to end", || {
            let of = processes().into_iter().filter(|pid| {
                let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                let folder = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
                String::from_utf8_lossy(&command).contains(&home) || folder.starts_with(&home)
            });
            let found: Vec<u32> = of.collect();
            for pid in &found {
                signal(*pid, Signal::SIGKILL);
            }
            found.is_empty().then_some(())
        });
    }

    /// Returns the device's folder of a fleet. Its path has a space, as that of a USB disk may.
    pub fn home(&self) -> PathBuf {
        self.folder.join("USB DISK")
    }

    /// Returns its line in an inventory, with more variables.
    pub fn line(&self, more: &str) -> String {
        let common =
            "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR";
        format!(
            "{} ansible_host=127.0.0.1 ansible_port={} ansible_ssh_private_key_file={} \
             ansible_ssh_common_args='{common}' ansible_remote_tmp={} embermark_home='{}' {more}\n",
            self.name,
            self.port,
            self.folder.parent().unwrap().join("key").display(),
            self.folder.join("tmp").display(),
            self.home().display(),
        )
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.off();
    }
}

/// Returns the descendants of a process.
fn descendants(of: u32) -> Vec<u32> {
    let children = |pid: u32| {
        let all = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        let pids = all.unwrap_or_default();
        pids.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<u32>>()
    };
    let mut found = children(of);
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        found.extend(children(*pid));
        next += 1;
    }
    found
}

/// Writes a program that is a script of the shell, into `folder`.
pub fn write_program(folder: &Path, program: &str, script: &str) {
    fs::create_dir_all(folder).unwrap();
    let path = folder.join(program);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}
