//! A document in the driver's memory.

use std::slice;

use super::answer::Document;
use super::api::{Bson, BsonError};
use super::failure::Failure;
use super::library::MongoLib;

/// An initialised `bson_t`, destroyed when dropped.
pub(super) struct Owned {
    library: &'static MongoLib,
    /// A boxed value, because it can contain its own address.
    bson: *mut Bson,
}

impl Owned {
    /// Returns a document without elements.
    pub fn empty(library: &'static MongoLib) -> Self {
        let bson = Box::into_raw(Box::new(Bson::room()));
        // SAFETY: room for a document.
        unsafe { (library.bson.init)(bson) };
        Self { library, bson }
    }

    /// Parses a document in MongoDB's extended JSON.
    pub fn of_json(library: &'static MongoLib, json: &str) -> Result<Self, Failure> {
        let mut error = BsonError::none();
        let mut bson = Box::new(Bson::room());
        let length = json.len().cast_signed();
        let room: *mut Bson = &raw mut *bson;
        // SAFETY: a text and its length, and room for a document and for an error. If it fails, it
        // keeps no memory.
        let is_read = unsafe {
            (library.bson.init_from_json)(room, json.as_ptr().cast(), length, &raw mut error)
        };
        match is_read {
            true => Ok(Self { library, bson: Box::into_raw(bson) }),
            false => Err(Failure::new(error.message())),
        }
    }

    /// Returns it for a function of the driver, which must leave it initialised.
    pub fn bson(&mut self) -> *mut Bson {
        self.bson
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: it is initialised, and whoever changes it borrows it mutably.
        unsafe {
            let data = (self.library.bson.get_data)(self.bson);
            slice::from_raw_parts(data, (*self.bson).len as usize)
        }
    }

    pub fn document(&self) -> Result<Document<'_>, Failure> {
        Document::new(self.bytes())
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: it is initialised, and the box is the one that was taken apart.
        unsafe {
            (self.library.bson.destroy)(self.bson);
            drop(Box::from_raw(self.bson));
        }
    }
}
