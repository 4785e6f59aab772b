//! A network namespace for one server.

use std::io::{self, PipeReader, PipeWriter, Read, Write};

use embermark_network::namespace::{self, Identity};

/// Advice if the kernel refuses a network namespace.
const ADVICE: &str = "run as root, or let ordinary users have them \
    (`sysctl -w kernel.unprivileged_userns_clone=1` or \
    `kernel.apparmor_restrict_unprivileged_userns=0`, where there is such a setting, and \
    `user.max_user_namespaces` above 0), or name a running server with --url";

/// What a child process needs to enter a new namespace. It is created before the fork.
pub(super) struct NamespaceEntry {
    identity: Identity,
    /// Receives one byte if the namespace failed, because a parent only learns the number of a
    /// child's error.
    failed: PipeWriter,
}

/// Creates an entry, and the pipe that receives a byte if it failed.
pub(super) fn entry() -> io::Result<(NamespaceEntry, PipeReader)> {
    let (told, failed) = io::pipe()?;
    Ok((NamespaceEntry { identity: Identity::current()?, failed }, told))
}

/// Explains an error of starting the child, once the child's [`NamespaceEntry`] is closed.
pub(super) fn explain(error: io::Error, mut told: PipeReader) -> io::Error {
    match told.read(&mut [0]) {
        Ok(1) => io::Error::other(format!(
            "it has to run in a network namespace of its own, and the kernel refuses one \
             ({error}); {ADVICE}"
        )),
        _ => error,
    }
}

impl NamespaceEntry {
    /// Enters a new network namespace, in a child process between fork and exec.
    pub fn enter(&self) -> io::Result<()> {
        namespace::enter(&self.identity).inspect_err(|_| _ = (&self.failed).write(b"!"))
    }
}
