//! Blobs: long texts and bytes, which a message refers to by id.

use std::ffi::c_uint;
use std::ptr;

use super::api::{self, Quad, Transaction, answer};
use super::connection::{Connection, FbResult};

/// Most bytes of one call.
const SEGMENT: usize = 65_535;

/// `isc_bpb_version1`, `isc_bpb_type`, of one byte, `isc_bpb_type_stream`: without segments.
const STREAM: [u8; 4] = [1, 3, 1, 1];

/// Stores a value in a transaction. Returns its id.
pub(super) fn store(
    connection: &Connection,
    transaction: Transaction,
    value: &[u8],
) -> FbResult<Quad> {
    let (status, attachment) = (connection.status, connection.attachment()?);
    let mut id = Quad::default();
    // SAFETY: attachment and transaction are alive, and the number is written to at once.
    let blob = connection.check_object(unsafe {
        let (bytes, parameters) = (STREAM.len() as c_uint, STREAM.as_ptr());
        attachment.create_blob(status, transaction, &raw mut id, bytes, parameters)
    })?;
    let put = value.chunks(SEGMENT).try_for_each(|part| {
        // SAFETY: the blob is open, and the part has the given length.
        unsafe { blob.put_segment(status, part.len() as c_uint, part.as_ptr().cast()) };
        connection.check_status(())
    });
    close(connection, blob, put).map(|()| id)
}

/// Reads a whole value, which replaces the content of `into`.
pub(super) fn read(
    connection: &Connection,
    transaction: Transaction,
    mut id: Quad,
    into: &mut Vec<u8>,
) -> FbResult<()> {
    let (status, attachment) = (connection.status, connection.attachment()?);
    // SAFETY: attachment and transaction are alive.
    let blob = connection.check_object(unsafe {
        attachment.open_blob(status, transaction, &raw mut id, 0, ptr::null())
    })?;
    into.clear();
    let read = loop {
        let (held, mut length) = (into.len(), 0);
        into.reserve(SEGMENT);
        // SAFETY: the blob is open, and there is as much room as given, of which the returned
        // length is written.
        let came = unsafe {
            let room = into.spare_capacity_mut().as_mut_ptr().cast();
            let came = blob.get_segment(status, SEGMENT as c_uint, room, &raw mut length);
            into.set_len(held + length as usize);
            came
        };
        match connection.check_status(came) {
            Ok(answer::OK | answer::SEGMENT) => {}
            other => break other.map(drop),
        }
    };
    close(connection, blob, read)
}

/// Closes a blob, and returns the first error.
fn close(connection: &Connection, blob: api::Blob, done: FbResult<()>) -> FbResult<()> {
    // SAFETY: it is not used again. If it could not be closed, this must release it.
    let closed = unsafe {
        blob.close(connection.status);
        connection.check_status(()).inspect_err(|_| {
            blob.release();
        })
    };
    done.and(closed)
}
