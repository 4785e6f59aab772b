//! What `nix` lacks of ptrace(2): signals without a name, as glibc and Go use them, and the system
//! call at which a thread stopped.

use std::io;
use std::mem::{MaybeUninit, size_of};

use libc::{
    PTRACE_SYSCALL_INFO_ENTRY, PTRACE_SYSCALL_INFO_EXIT, c_int, pid_t, ptrace_syscall_info,
};

/// Bit that marks a stop for a system call, with `PTRACE_O_TRACESYSGOOD`.
const SYSGOOD: c_int = 0x80;

/// State change of a traced thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It exited with this status.
    Exited(c_int),
    /// This signal killed it.
    Killed(c_int),
    /// It stopped before or after a system call.
    SystemCall,
    /// It stopped for an event, `PTRACE_EVENT_…`.
    Event(c_int),
    /// It stopped with its whole process, by SIGSTOP or a similar signal.
    GroupStopped,
    /// It is about to receive this signal.
    Signal(c_int),
}

/// A system call at which a thread stopped.
#[derive(Clone, Copy, Debug)]
pub(super) enum SystemCall {
    /// Before the call.
    Entry { number: u64, arguments: [u64; 6] },
    /// After the call, with its result. Negative for an error.
    Exit { returned: i64 },
}

/// Waits for a change of any traced thread or running child.
pub(super) fn wait() -> io::Result<(pid_t, Change)> {
    let mut status = 0;
    let thread = loop {
        // SAFETY: the status is written to a variable that lives as long as the call.
        let thread = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL) };
        match thread {
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            -1 => return Err(io::Error::last_os_error()),
            thread => break thread,
        }
    };
    Ok((thread, change(status)))
}

fn change(status: c_int) -> Change {
    if libc::WIFEXITED(status) {
        return Change::Exited(libc::WEXITSTATUS(status));
    }
    if libc::WIFSIGNALED(status) {
        return Change::Killed(libc::WTERMSIG(status));
    }
    let signal = libc::WSTOPSIG(status);
    match status >> 16 {
        libc::PTRACE_EVENT_STOP if signal != libc::SIGTRAP => Change::GroupStopped,
        0 if signal == libc::SIGTRAP | SYSGOOD => Change::SystemCall,
        0 => Change::Signal(signal),
        event => Change::Event(event),
    }
}

/// Resumes a stopped thread until its next system call, and delivers `signal` unless it is 0.
pub(super) fn resume(thread: pid_t, signal: c_int) -> io::Result<()> {
    request(libc::PTRACE_SYSCALL, thread, 0, signal as usize)
}

/// Leaves a thread stopped with its process until that is continued.
pub(super) fn listen(thread: pid_t) -> io::Result<()> {
    request(libc::PTRACE_LISTEN, thread, 0, 0)
}

/// Returns the system call at which a thread stopped. `None` if it stopped for another reason.
pub(super) fn system_call(thread: pid_t) -> io::Result<Option<SystemCall>> {
    let mut info = MaybeUninit::<ptrace_syscall_info>::zeroed();
    let (size, place) = (size_of::<ptrace_syscall_info>(), info.as_mut_ptr() as usize);
    request(libc::PTRACE_GET_SYSCALL_INFO, thread, size, place)?;
    // SAFETY: it was all zeros, which is a valid value of this type of integers, and the kernel
    // wrote at most its size.
    let info = unsafe { info.assume_init() };
    Ok(match info.op {
        PTRACE_SYSCALL_INFO_ENTRY => {
            // SAFETY: the kernel reports that it wrote this part. All parts are integers.
            let entry = unsafe { info.u.entry };
            Some(SystemCall::Entry { number: entry.nr, arguments: entry.args })
        }
        PTRACE_SYSCALL_INFO_EXIT => {
            // SAFETY: as above.
            let exit = unsafe { info.u.exit };
            Some(SystemCall::Exit { returned: exit.sval })
        }
        _ => None,
    })
}

/// Makes a request with two words, one of which may be an address to write to.
fn request(request: libc::c_uint, thread: pid_t, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: of the requests in this module only PTRACE_GET_SYSCALL_INFO touches this process's
    // memory. Its `data` points to `address` writable bytes.
    match unsafe { libc::ptrace(request, thread, address, data) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
