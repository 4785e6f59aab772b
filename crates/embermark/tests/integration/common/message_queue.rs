//! A System V message queue that another process left on the machine.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A message queue whose last sender has died. It is removed when dropped.
pub struct AbandonedQueue(libc::c_int);

impl AbandonedQueue {
    pub fn new() -> Self {
        // SAFETY: takes no pointer.
        let id = unsafe { libc::msgget(libc::IPC_PRIVATE, 0o600) };
        assert!(id >= 0, "{}", io::Error::last_os_error());
        let queue = Self(id);
        let mut sender = Command::new("true");
        let send = move || {
            let message: [libc::c_long; 2] = [1, 7];
            let length = size_of::<libc::c_long>();
            // SAFETY: the message is a long, its type, and `length` bytes after it.
            let sent = unsafe { libc::msgsnd(id, message.as_ptr().cast(), length, 0) };
            if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
        };
        // SAFETY: between fork and exec it makes one system call.
        unsafe { sender.pre_exec(send) };
        assert!(sender.status().unwrap().success());
        queue
    }

    /// Returns the number of messages, and the process that sent the last one. `None` if the queue
    /// was removed.
    pub fn state(&self) -> Option<(u64, u32)> {
        let table = fs::read_to_string("/proc/sysvipc/msg").unwrap();
        table.lines().skip(1).find_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let is_this = fields[1] == self.0.to_string();
            is_this.then(|| (fields[4].parse().unwrap(), fields[5].parse().unwrap()))
        })
    }
}

impl Drop for AbandonedQueue {
    fn drop(&mut self) {
        // SAFETY: this command reads no structure.
        unsafe { libc::msgctl(self.0, libc::IPC_RMID, std::ptr::null_mut()) };
    }
}
