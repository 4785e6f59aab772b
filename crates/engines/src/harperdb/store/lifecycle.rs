//! Settings, clients, and the end of a store.

use super::super::rest::Rest;
use super::super::session::Session;
use super::super::{NAME, settings};
use super::HarperStore;
use crate::server::address::{self, Address};
use crate::server::{self, Server};
use crate::{
    Checked, ClientOpener, ConnectionParameters, EngineError, Join, Lifecycle, Limits, Result,
    Store,
};

impl Lifecycle for HarperStore {
    fn limits(&self) -> Limits {
        // LMDB's limit for keys, as HarperDB builds it.
        let manual = "https://github.com/kriszyp/lmdb-js#keys";
        Limits { key_text: Some(1_978), manual, ..Limits::default() }
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        settings::of_tier(&mut self.session)
    }

    /// HarperDB has no checkpoint and no statistics of its own to bring up to date; files are
    /// compacted only while it does not run.
    fn maintain(&mut self) -> Result<()> {
        Ok(())
    }

    fn reconnect(&mut self) -> Option<Result<()>> {
        self.session.http.renew();
        if let Some(rest) = &mut self.session.rest {
            rest.renew();
        }
        Some(Ok(()))
    }

    fn connection(&mut self) -> Result<ConnectionParameters> {
        if self.session.rest.is_some() {
            return Err(EngineError::impossible(
                "clients in another language use no REST interface",
            ));
        }
        let http = &self.session.http;
        let [_, _, elsewhere] = address::parts(NAME, &http.at)?;
        let server = Address::from(elsewhere).parameter();
        let user = http.authorization.clone().unwrap_or_default();
        Ok(vec![server, ("authorization", user), ("database", http.database.clone())])
    }

    fn connects_by_request(&self) -> bool {
        true
    }

    fn crash_on_close(&mut self) -> Result<()> {
        Err(server::no_log(NAME))
    }

    fn check(&mut self) -> Result<Checked> {
        let what = "a check by a client: its operations API has none \
                    (https://docs.harperdb.io/docs/developers/operations-api)";
        Err(EngineError::unsupported(NAME, what))
    }

    fn join(&self) -> Join {
        Join::At(self.session.http.at.clone())
    }

    /// Another connection.
    fn open_client(&mut self) -> Result<ClientOpener> {
        let at = self.session.http.at.clone();
        let rest = self.session.rest.as_ref().map(|rest| rest.at().to_owned());
        Ok(ClientOpener::new(move || {
            let rest = rest.map(|at| Rest::another(&at)).transpose()?;
            let session = Session::join(&at)?.with_rest(rest);
            Ok(Store::Document(Box::new(Self::new(session, None))))
        }))
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { mut session, server, .. } = *self;
        let left = session.leave();
        drop(session);
        server.map_or(Ok(()), Server::stop).and(left)
    }
}
