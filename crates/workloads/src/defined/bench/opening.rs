//! Opens a prepared cell on a database.

use std::sync::Arc;

use embermark_clients::Tape;
use embermark_contract::{EngineError, Reopener, Store};

use super::super::family;
use super::super::foreign_client::ForeignClient;
use super::super::prepared::PreparedCell;
use super::FileBench;
use crate::observer::no_companions;
use crate::{Bench, Prepared};

impl Prepared for PreparedCell {
    fn open(
        self: Box<Self>,
        store: Store,
        reopener: Reopener,
    ) -> Result<Box<dyn Bench>, EngineError> {
        let tape = self.program.is_some().then(Tape::default);
        let (store, reopener) = match &tape {
            Some(tape) => (tape.wrap(store)?, tape.reopener(reopener)),
            None => (store, reopener),
        };
        let mut database = family::open(store, reopener, Arc::clone(&self.cell))?;
        let client = match (&self.program, tape) {
            (Some(program), Some(tape)) => {
                let companions = self.companions.clone().ok_or_else(no_companions)?;
                let opened = database.lifecycle();
                let told = (opened.connection()?, opened.tier_settings()?);
                Some(ForeignClient::new(program.clone(), companions, tape, told))
            }
            _ => None,
        };
        if self.clients > 1 {
            // An engine with one client at a time reports it here, before anything is loaded.
            database.lifecycle().open_client()?;
        }
        Ok(Box::new(FileBench::new(*self, database, client)))
    }

    fn join(mut self: Box<Self>, store: Store) -> Result<Box<dyn Bench>, EngineError> {
        self.is_guest = true;
        let database = family::attach(store, Arc::clone(&self.cell))?;
        Ok(Box::new(FileBench::new(*self, database, None)))
    }
}
