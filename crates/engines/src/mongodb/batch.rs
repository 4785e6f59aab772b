//! Parts of a bulk load.

use itoa::Buffer;

use super::bson::{Begun, Writer};
use super::failure::Failure;
use super::store::COMMAND;
use crate::document::CollectionDef;

/// Documents sent at a time.
const COUNT: usize = 10_000;

/// Bytes sent at a time. A command may have 16 MiB
/// (<https://www.mongodb.com/docs/v6.0/reference/limits/#mongodb-limit-BSON-Document-Size>).
const BYTES: usize = 8 << 20;

/// The command that loads some documents, and after them others in the same memory.
pub(super) struct Batch {
    collection: &'static str,
    command: Writer,
    documents: Option<Begun>,
    count: usize,
}

impl Batch {
    /// An empty one.
    pub fn new(def: &CollectionDef) -> Self {
        let command = Writer::new(COMMAND);
        let mut this = Self { collection: def.name, command, documents: None, count: 0 };
        this.begin();
        this
    }

    /// Makes it empty again.
    pub fn begin(&mut self) {
        self.command.clear();
        self.command.text("insert", self.collection);
        self.command.bool("ordered", false);
        self.documents = Some(self.command.begin_list("documents"));
        self.count = 0;
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether a further document would be too many.
    pub fn is_full_with(&self, one: &Writer) -> bool {
        self.count > 0 && (self.count == COUNT || self.command.len() + one.len() > BYTES)
    }

    pub fn push(&mut self, one: &Writer) {
        let document = self.command.begin(Buffer::new().format(self.count));
        self.command.elements_of(one);
        self.command.end(document);
        self.count += 1;
    }

    /// The command; nothing more can be pushed until it is begun again. Fails when a name in it
    /// holds a NUL.
    pub fn finish(&mut self, waits: bool) -> Result<&[u8], Failure> {
        if let Some(documents) = self.documents.take() {
            self.command.end(documents);
            self.command.concern(waits);
        }
        self.command.finish()
    }
}
