//! A network namespace for a server alone.

use std::io::{self, PipeReader, PipeWriter, Read, Write};

use crate::network::namespace::{self, Identity};

/// What to do where the kernel gives no network namespace.
const ADVICE: &str = "run as root, or let ordinary users have them \
    (`sysctl -w kernel.unprivileged_userns_clone=1` or \
    `kernel.apparmor_restrict_unprivileged_userns=0`, where there is such a setting, and \
    `user.max_user_namespaces` above 0), or name a running server with --url";

/// What a child needs to enter a namespace of its own: all of it made before the fork.
pub(super) struct NamespaceEntry {
    identity: Identity,
    /// Told by one byte that it was the namespace that failed: of an error in a child, its parent
    /// learns no more than the number.
    failed: PipeWriter,
}

/// Makes an entry, and what tells afterwards whether it stayed shut.
pub(super) fn entry() -> io::Result<(NamespaceEntry, PipeReader)> {
    let (told, failed) = io::pipe()?;
    Ok((NamespaceEntry { identity: Identity::ours()?, failed }, told))
}

/// What an error of starting the child means, once the child's [`NamespaceEntry`] is closed.
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
    /// Enters a network namespace of its own, in a child between fork and exec.
    pub fn enter(&self) -> io::Result<()> {
        namespace::enter(&self.identity).inspect_err(|_| _ = (&self.failed).write(b"!"))
    }
}
