//! Settings, clients, and the end of a store.

use super::super::rest::Rest;
use super::super::session::Session;
use super::super::{NAME, settings};
use super::HarperStore;
use crate::http::HttpClient;
use crate::server::address::{self, Address};
use crate::server::{self, Server};
use crate::{
    Checked, ClientOpener, ConnectionParameters, EngineError, Join, Lifecycle, Limits, Result,
    Store, TextOrder,
};

impl Lifecycle for HarperStore {
    fn limits(&self) -> Limits {
        Limits {
            // LMDB's limit for keys, as HarperDB builds it.
            key_text: Some(1_978),
            // One bound of a range is compared in LMDB, and the other one in JavaScript.
            text_order: TextOrder::Utf16,
            manual: "https://github.com/kriszyp/lmdb-js#keys",
            ..Limits::default()
        }
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        settings::tier_settings(&mut self.session)
    }

    /// HarperDB has no checkpoint and no statistics of its own to bring up to date; files are
    /// compacted only while it does not run.
    fn maintain(&mut self) -> Result<()> {
        Ok(())
    }

    fn reconnect(&mut self) -> Option<Result<()>> {
        self.session.http.reconnect();
        if let Some(rest) = &mut self.session.rest {
            rest.http.reconnect();
        }
        Some(Ok(()))
    }

    fn connection(&mut self) -> Result<ConnectionParameters> {
        if self.session.rest.is_some() {
            let why = "clients in another language do not use the REST interface";
            return Err(EngineError::impossible(why));
        }
        let http = &self.session.http;
        let [_, _, for_others] = address::parts(NAME, &http.join_address)?;
        let server = Address::from(for_others).parameter();
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
        Join::At(self.session.http.join_address.clone())
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        let at = self.session.http.join_address.clone();
        let rest = self.session.rest.as_ref().map(|rest| rest.http.join_address.clone());
        Ok(ClientOpener::new(move || {
            let mut session = Session::join(&at)?;
            session.rest = rest.map(|at| HttpClient::join(NAME, &at).map(Rest::new)).transpose()?;
            Ok(Store::Document(Box::new(Self::new(session, None))))
        }))
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { mut session, server, .. } = *self;
        let left = session.drop_own_database();
        drop(session);
        server.map_or(Ok(()), Server::stop).and(left)
    }
}
