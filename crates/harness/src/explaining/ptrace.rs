//! What `nix` lacks of ptrace(2): signals that have no name, as glibc and Go use them, and the system
//! call that a thread stopped at.

use std::io;
use std::mem::{MaybeUninit, size_of};

use libc::{
    PTRACE_SYSCALL_INFO_ENTRY, PTRACE_SYSCALL_INFO_EXIT, c_int, pid_t, ptrace_syscall_info,
};

/// What a stop for a system call is told apart by, with `PTRACE_O_TRACESYSGOOD`.
const SYSGOOD: c_int = 0x80;

/// What a thread that is traced came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It is gone: it exited with this status.
    Exited(c_int),
    /// It is gone: this signal killed it.
    Killed(c_int),
    /// It stopped before or after a system call.
    SystemCall,
    /// It stopped for an event, `PTRACE_EVENT_…`.
    Event(c_int),
    /// It stopped with its whole process, by SIGSTOP and the like.
    GroupStopped,
    /// It is about to be given this signal.
    Signal(c_int),
}

/// A system call that a thread stopped at.
#[derive(Clone, Copy, Debug)]
pub(super) enum SystemCall {
    /// Before it.
    Entry { number: u64, arguments: [u64; 6] },
    /// After it, with what it returned: below 0 for an error.
    Exit { returned: i64 },
}

/// Waits for a change of any thread that is traced or child that runs.
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

/// Lets a stopped thread go on to its next system call, giving it `signal` where that is not 0.
pub(super) fn resume(thread: pid_t, signal: c_int) -> io::Result<()> {
    request(libc::PTRACE_SYSCALL, thread, 0, signal as usize)
}

/// Leaves a thread stopped with its process, until that is told to continue.
pub(super) fn listen(thread: pid_t) -> io::Result<()> {
    request(libc::PTRACE_LISTEN, thread, 0, 0)
}

/// The system call that a thread stopped at; `None` where it stopped elsewhere.
pub(super) fn system_call(thread: pid_t) -> io::Result<Option<SystemCall>> {
    let mut info = MaybeUninit::<ptrace_syscall_info>::zeroed();
    let (size, place) = (size_of::<ptrace_syscall_info>(), info.as_mut_ptr() as usize);
    request(libc::PTRACE_GET_SYSCALL_INFO, thread, size, place)?;
    // SAFETY: it was all zeros, which is a value of this type of integers, and the kernel wrote no
    // more than its size.
    let info = unsafe { info.assume_init() };
    Ok(match info.op {
        PTRACE_SYSCALL_INFO_ENTRY => {
            // SAFETY: the kernel says that this is the part it wrote; all parts are integers.
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

/// A request with two words, one of which may be the address of something it writes.
fn request(request: libc::c_uint, thread: pid_t, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: none of the requests of this module touches this process's memory but
    // PTRACE_GET_SYSCALL_INFO, whose `data` points to `address` writable bytes.
    match unsafe { libc::ptrace(request, thread, address, data) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
