//! Blobs: long texts and bytes, which a message refers to by id.

use std::ptr;

use super::api::{Blob, BlobId, Transaction, answer};
use super::connection::{Connection, FbResult, Open};

/// Most bytes of one call.
const SEGMENT: usize = 65_535;

/// `isc_bpb_version1`, `isc_bpb_type`, of one byte, `isc_bpb_type_stream`: without segments.
const STREAM: [u8; 4] = [1, 3, 1, 1];

/// Stores a value in a transaction. Returns its id.
pub(super) fn store(
    connection: &Connection,
    transaction: Transaction,
    value: &[u8],
) -> FbResult<BlobId> {
    let (status, attachment) = (connection.status, connection.attachment()?);
    let mut id = 0;
    // SAFETY: attachment and transaction are alive, and the number is written to at once.
    let blob = unsafe {
        let (bytes, parameters) = (STREAM.len() as u32, STREAM.as_ptr());
        let blob = attachment.create_blob(status, transaction, &raw mut id, bytes, parameters);
        Open::new(connection, connection.check_object(blob)?, Blob::close, Blob::release)
    };
    for part in value.chunks(SEGMENT) {
        // SAFETY: the blob is open, and the part has the given length.
        unsafe { blob.object.put_segment(status, part.len() as u32, part.as_ptr().cast()) };
        connection.check_status(())?;
    }
    blob.close().map(|()| id)
}

/// Reads a whole value, which replaces the content of `into`.
pub(super) fn read(
    connection: &Connection,
    transaction: Transaction,
    mut id: BlobId,
    into: &mut Vec<u8>,
) -> FbResult<()> {
    let (status, attachment) = (connection.status, connection.attachment()?);
    // SAFETY: attachment and transaction are alive.
    let blob = unsafe {
        let blob = attachment.open_blob(status, transaction, &raw mut id, 0, ptr::null());
        Open::new(connection, connection.check_object(blob)?, Blob::close, Blob::release)
    };
    into.clear();
    loop {
        let (held, mut length) = (into.len(), 0);
        into.reserve(SEGMENT);
        // SAFETY: the blob is open, and there is as much room as given, of which the returned
        // length is written.
        let came = unsafe {
            let room = into.spare_capacity_mut().as_mut_ptr().cast();
            let came = blob.object.get_segment(status, SEGMENT as u32, room, &raw mut length);
            into.set_len(held + length as usize);
            came
        };
        match connection.check_status(came)? {
            answer::OK | answer::SEGMENT => {}
            _ => return blob.close(),
        }
    }
}
