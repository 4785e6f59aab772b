//! Messages: the parameters of an execution, or the values of a row, in one block of memory.

use std::ffi::{CStr, c_void};

use super::api;
use super::connection::{Connection, FbResult};

/// Offset and type of a value in a message.
pub(super) struct Field {
    pub name: Box<str>,
    /// One of [`types`](api::types).
    pub sql_type: u32,
    pub sub_type: i32,
    /// Its character set, and in the second byte its collation.
    pub character_set: u32,
    /// Most bytes of the value. For a text without its length.
    pub length: usize,
    /// Digits after the point, as a negative number.
    pub scale: i32,
    pub offset: usize,
    /// Offset of two bytes for whether there is a value: 0 if there is one.
    pub null: usize,
}

impl Field {
    /// Returns whether it is NULL in a message.
    #[inline]
    pub fn is_null(&self, message: &[u8]) -> bool {
        message[self.null..self.null + 2] != [0; 2]
    }
}

/// Returns some bytes of a message.
#[inline]
pub(super) fn bytes_at<const N: usize>(message: &[u8], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&message[at..at + N]);
    bytes
}

/// A requested type of a value in a message.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub sql_type: u32,
    pub length: usize,
    pub character_set: u32,
}

/// A description of messages, with memory for one.
pub(super) struct Message {
    /// Released when this is dropped.
    pub metadata: api::Metadata,
    pub fields: Vec<Field>,
    /// As words, because numbers are read in place.
    memory: Vec<u64>,
    /// Bytes of it that are used.
    pub length: usize,
    /// Bytes from one message to the next, if several are in sequence.
    pub stride: usize,
}

impl Message {
    /// Creates it from the engine's description, which it releases.
    pub fn new(connection: &Connection, metadata: api::Metadata) -> FbResult<Self> {
        let mut message =
            Self { metadata, fields: Vec::new(), memory: Vec::new(), length: 0, stride: 0 };
        let status = connection.status;
        // SAFETY: the description is alive; names are copied before it is released.
        unsafe {
            let count = metadata.count(status);
            for position in 0..count {
                let alias = metadata.alias(status, position);
                let alias = if alias.is_null() { c"" } else { CStr::from_ptr(alias) };
                message.fields.push(Field {
                    name: alias.to_string_lossy().into(),
                    sql_type: metadata.sql_type(status, position) & !1,
                    sub_type: metadata.sub_type(status, position),
                    character_set: metadata.character_set(status, position),
                    length: metadata.length(status, position) as usize,
                    scale: metadata.scale(status, position),
                    offset: metadata.offset(status, position) as usize,
                    null: metadata.null_offset(status, position) as usize,
                });
            }
            message.length = metadata.message_length(status) as usize;
            message.stride = metadata.aligned_length(status) as usize;
        }
        message.memory = vec![0; message.length.div_ceil(size_of::<u64>())];
        connection.check_status(message)
    }

    /// Returns a message with other types, where they are given, and without values.
    pub fn shaped(&self, connection: &Connection, shapes: &[Option<Shape>]) -> FbResult<Self> {
        let status = connection.status;
        // SAFETY: the description is alive.
        let builder = connection.check_object(unsafe { self.metadata.builder(status) })?;
        for (position, shape) in (0..).zip(shapes) {
            let Some(Shape { sql_type, length, character_set }) = *shape else { continue };
            // SAFETY: the builder is alive and has that position.
            unsafe {
                builder.set_type(status, position, sql_type);
                builder.set_sub_type(status, position, 0);
                builder.set_scale(status, position, 0);
                builder.set_length(status, position, length as u32);
                builder.set_character_set(status, position, character_set);
            }
        }
        // SAFETY: as above; it is released once.
        let metadata = unsafe {
            let metadata = connection.check_object(builder.metadata(status));
            builder.release();
            metadata?
        };
        Self::new(connection, metadata)
    }

    /// Changes the types, where other ones are given. Its values are lost then.
    pub fn reshape(&mut self, connection: &Connection, shapes: &[Option<Shape>]) -> FbResult<()> {
        if shapes.iter().any(Option::is_some) {
            *self = self.shaped(connection, shapes)?;
        }
        Ok(())
    }

    /// Returns its fields and its memory.
    #[inline]
    pub fn parts(&mut self) -> (&[Field], &mut [u8]) {
        (&self.fields, &mut bytemuck::cast_slice_mut(&mut self.memory)[..self.length])
    }

    /// Returns its memory, for a call that reads or writes a message.
    pub fn raw(&mut self) -> *mut c_void {
        self.memory.as_mut_ptr().cast()
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        // SAFETY: it is not used again.
        unsafe { self.metadata.release() };
    }
}
