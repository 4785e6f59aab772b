//! The queue between sensor and writer: a System V message queue of 16 KiB (`msgget(2)`,
//! `msgop(2)`, `msgctl(2)`), as the source has it. What does not fit is lost.

use std::io;
use std::ptr;

use embermark_data::machine::{CHANNELS, Values};

/// Bytes of messages that the queue holds.
pub(super) const CAPACITY: libc::msglen_t = 16 * 1024;

/// A sample.
const SAMPLE: libc::c_long = 1;
/// The last message: nothing more comes.
const END: libc::c_long = 2;

/// Bytes of a message: the sample's number and its values.
const LENGTH: usize = 8 + 2 * CHANNELS;

#[repr(C)]
struct Message {
    kind: libc::c_long,
    bytes: [u8; LENGTH],
}

/// What comes out of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// A sample, by its number.
    Sample(u64, Values),
    /// Nothing more comes.
    End,
}

/// A queue, as this process knows it. It outlives its processes until somebody removes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue(libc::c_int);

impl Queue {
    /// Makes one.
    pub(super) fn create() -> io::Result<Self> {
        // SAFETY: takes no pointer.
        let queue = Self(check(unsafe { libc::msgget(libc::IPC_PRIVATE, 0o600) })?);
        if let Err(error) = queue.resize() {
            queue.remove();
            return Err(error);
        }
        Ok(queue)
    }

    /// The queue of an id that [`create`](Self::create) gave.
    pub(super) const fn of(id: i32) -> Self {
        Self(id)
    }

    /// Its id.
    pub(super) const fn id(self) -> i32 {
        self.0
    }

    fn resize(self) -> io::Result<()> {
        // SAFETY: zeroes are a value of that structure, which the call fills in.
        let mut status: libc::msqid_ds = unsafe { std::mem::zeroed() };
        // SAFETY: the structure is ours and of the size that this command writes.
        check(unsafe { libc::msgctl(self.0, libc::IPC_STAT, &raw mut status) })?;
        if status.msg_qbytes == CAPACITY {
            return Ok(());
        }
        status.msg_qbytes = CAPACITY;
        // SAFETY: as above; it reads the structure.
        check(unsafe { libc::msgctl(self.0, libc::IPC_SET, &raw mut status) })?;
        Ok(())
    }

    /// Puts a sample in if there is room; whether there was.
    pub(super) fn offer(self, number: u64, values: &Values) -> io::Result<bool> {
        let mut message = Message { kind: SAMPLE, bytes: [0; LENGTH] };
        message.bytes[..8].copy_from_slice(&number.to_le_bytes());
        for (place, value) in message.bytes[8..].as_chunks_mut::<2>().0.iter_mut().zip(values) {
            *place = value.to_le_bytes();
        }
        match self.send(&message, libc::IPC_NOWAIT) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Says that nothing more comes, if there is room for it; whether there was.
    pub(super) fn end(self) -> io::Result<bool> {
        match self.send(&Message { kind: END, bytes: [0; LENGTH] }, libc::IPC_NOWAIT) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn send(self, message: &Message, flags: libc::c_int) -> io::Result<()> {
        loop {
            // SAFETY: the message is a long and LENGTH bytes, as the call reads them.
            let sent =
                unsafe { libc::msgsnd(self.0, ptr::from_ref(message).cast(), LENGTH, flags) };
            match check(sent) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                sent => return sent.map(drop),
            }
        }
    }

    /// Waits for what comes next.
    pub(super) fn receive(self) -> io::Result<Received> {
        let mut message = Message { kind: 0, bytes: [0; LENGTH] };
        let received = loop {
            // SAFETY: the message has room for a long and LENGTH bytes.
            let received =
                unsafe { libc::msgrcv(self.0, ptr::from_mut(&mut message).cast(), LENGTH, 0, 0) };
            if received >= 0 {
                break received;
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        };
        if message.kind == END || received.cast_unsigned() != LENGTH {
            return Ok(Received::End);
        }
        let (number, values) = message.bytes.split_at(8);
        let mut decoded = Values::default();
        for (value, place) in decoded.iter_mut().zip(values.as_chunks::<2>().0) {
            *value = u16::from_le_bytes(*place);
        }
        let number = number.try_into().map(u64::from_le_bytes).unwrap_or_default();
        Ok(Received::Sample(number, decoded))
    }

    /// Removes it. Who waits at it is woken with an error.
    pub(super) fn remove(self) {
        // SAFETY: this command reads no structure. It may be gone already, which is as good.
        unsafe { libc::msgctl(self.0, libc::IPC_RMID, ptr::null_mut()) };
    }
}

fn check(returned: libc::c_int) -> io::Result<libc::c_int> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_sixteen_kibibytes_in_order_and_refuses_what_does_not_fit() {
        let queue = Queue::create().unwrap();
        let values = |number: u64| [number as u16, 1, 2, 3, 4_095];
        let mut fits = 0;
        while queue.offer(fits, &values(fits)).unwrap() {
            fits += 1;
        }
        assert_eq!(fits, 16 * 1024 / LENGTH as u64);
        assert!(!queue.end().unwrap());
        for number in 0..fits {
            assert_eq!(queue.receive().unwrap(), Received::Sample(number, values(number)));
        }
        assert!(queue.end().unwrap());
        assert_eq!(queue.receive().unwrap(), Received::End);
        queue.remove();
        assert!(queue.offer(0, &values(0)).is_err() && queue.receive().is_err());
    }

    #[test]
    fn who_waits_is_woken_when_it_is_removed() {
        let queue = Queue::create().unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(move || queue.receive());
            std::thread::sleep(std::time::Duration::from_millis(20));
            queue.remove();
            assert!(waiting.join().unwrap().is_err());
        });
    }
}
