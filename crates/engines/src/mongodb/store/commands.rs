//! Commands on a collection, in memory that all of them share.

use super::super::answer::Document as Answer;
use super::super::bson::{OpenElement, Writer};
use super::super::failed;
use super::super::failure::Failure;
use super::super::row::Columns;
use super::{BATCH, MongoStore};
use crate::Result;
use crate::clients::retry_if;
use crate::document::CollectionDef;
use crate::row::Visit;

impl MongoStore {
    pub(super) fn begin(&mut self, verb: &str, def: &CollectionDef) -> &mut Writer {
        self.command.clear();
        self.command.text(verb, def.name);
        &mut self.command
    }

    /// Runs the current command, which defines something.
    pub(super) fn define(&mut self, doing: &str) -> Result<()> {
        let done = self.command.finish().and_then(|command| self.session.run(command));
        done.map(|_| ()).map_err(|e| failed(doing, &e))
    }

    /// Runs the current command, which changes documents. Returns their number. A change that is
    /// refused because of another client's is repeated. If some of several were already made, they
    /// set the same values once more.
    pub(super) fn write(&mut self, doing: &str, def: &CollectionDef) -> Result<u64> {
        self.command.concern(self.waits);
        let Self { session, command, .. } = self;
        let written = command
            .finish()
            .and_then(|command| retry_if(Failure::is_conflict, || session.write(command)));
        written.map_err(|e| failed(format!("{doing} `{}`", def.name), &e))
    }

    /// Runs the current command, which returns documents.
    pub(super) fn stream(
        &mut self,
        def: &CollectionDef,
        columns: &Columns<'_>,
        visit: &mut Visit<'_>,
        doing: impl Fn() -> String,
    ) -> Result<()> {
        let mut each = |document: Answer<'_>| visit(&columns.row(document)?);
        self.session.stream(&mut self.command, def.name, BATCH, &mut each, doing)
    }

    /// Begins a command that loads documents, unordered, as the manual advises
    /// (<https://www.mongodb.com/docs/v6.0/core/bulk-write-operations/#strategies-for-bulk-inserts-to-a-sharded-collection>).
    pub(super) fn begin_load(&mut self, def: &CollectionDef) -> OpenElement {
        let command = self.begin("insert", def);
        command.bool("ordered", false);
        command.begin_list("documents")
    }
}
