//! The store.

use super::NAME;
use super::line;
use super::rest;
use super::session::Session;
use super::settings;
use super::shards;
use super::udp::Sender;
use crate::row::Visit;
use crate::series::{Point, Points, SeriesStore};
use crate::server::{self, Server};
use crate::{Checked, ClientOpener, EngineError, Join, Lifecycle, Result, Store};

/// Points per request, by the manual's advice
/// (<https://docs.influxdata.com/influxdb/v1.8/guides/write_data/>: 5,000 to 10,000 per batch).
const BATCH: u64 = 5_000;

/// Bytes after which a request is sent, whatever it contains. The server accepts 25 MB
/// (<https://docs.influxdata.com/influxdb/v1.8/administration/config/#max-body-size--25000000>).
const BATCH_BYTES: usize = 8 << 20;

/// A database on a server.
pub(super) struct InfluxStore {
    // Dropped before the server.
    session: Session,
    server: Option<Server>,
    sender: Option<Sender>,
    lines: Vec<u8>,
    /// Whether the server becomes idle by the settings of a private one.
    rests: bool,
    /// Whether anything was written or deleted since the server was last idle.
    written: bool,
    deleted: bool,
}

impl InfluxStore {
    /// Creates the store on a private server, which ends with it, or on a given one. Points go
    /// through `sender`, if there is one. The server [becomes idle](rest::is_ours) by the settings
    /// of a private one, or not.
    pub fn new(
        session: Session,
        server: Option<Server>,
        sender: Option<Sender>,
        rests: bool,
    ) -> Self {
        let lines = Vec::with_capacity(1 << 20);
        Self { session, server, sender, lines, rests, written: false, deleted: false }
    }

    fn post_all(&mut self, measurement: &str, points: &mut dyn Points) -> Result<u64> {
        self.lines.clear();
        let mut count = 0;
        while let Some(point) = points.next() {
            line::append(&mut self.lines, measurement, &point)?;
            count += 1;
            if count % BATCH == 0 || self.lines.len() >= BATCH_BYTES {
                self.post()?;
            }
        }
        if !self.lines.is_empty() {
            self.post()?;
        }
        Ok(count)
    }

    fn send_all(&mut self, measurement: &str, points: &mut dyn Points) -> Result<u64> {
        let Some(sender) = &mut self.sender else { return Ok(0) };
        let mut count = 0;
        let mut send = || {
            while let Some(point) = points.next() {
                sender.pack(measurement, &point)?;
                count += 1;
            }
            sender.rest()
        };
        let sent = send();
        sender.forget();
        sent.map(|()| count)
    }

    /// Sends the lines that were gathered.
    fn post(&mut self) -> Result<()> {
        let answered = self.session.write(&self.lines);
        self.lines.clear();
        answered
    }
}

impl Lifecycle for InfluxStore {
    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        settings::of_tier(&mut self.session)
    }

    fn maintain(&mut self) -> Result<()> {
        self.flush()?;
        if self.written || self.deleted {
            if self.rests {
                rest::ours(&mut self.session, self.deleted)?;
            } else {
                rest::given(&mut self.session)?;
            }
        }
        (self.written, self.deleted) = (false, false);
        Ok(())
    }

    fn reconnect(&mut self) -> Option<Result<()>> {
        // A new client would miss points that are still on their way.
        let flushed = self.flush();
        self.session.client.renew();
        Some(flushed.and_then(|()| self.sender.as_mut().map_or(Ok(()), Sender::renew)))
    }

    fn connects_by_request(&self) -> bool {
        true
    }

    fn crash_on_close(&mut self) -> Result<()> {
        Err(server::no_log(NAME))
    }

    fn check(&mut self) -> Result<Checked> {
        let what = "a check by a client: influx_inspect verify is a program that reads the files of \
                    a shard (https://docs.influxdata.com/influxdb/v1.8/tools/influx_inspect/)";
        Err(EngineError::unsupported(NAME, what))
    }

    fn join(&self) -> Join {
        Join::At(self.session.client.at.clone())
    }

    /// Opens another connection, over HTTP.
    fn open_client(&mut self) -> Result<ClientOpener> {
        if self.sender.is_some() {
            let what = "more than one client at a time where points go over UDP: the server counts \
                        what arrives, not from whom";
            return Err(EngineError::unsupported(NAME, what));
        }
        let at = self.session.client.at.clone();
        Ok(ClientOpener::new(move || {
            Ok(Store::Series(Box::new(Self::new(Session::join(&at)?, None, None, false))))
        }))
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        let flushed = self.flush();
        let ended = self.session.end();
        let stopped = self.server.take().map_or(Ok(()), Server::stop);
        flushed.and(ended).and(stopped)
    }
}

impl SeriesStore for InfluxStore {
    fn clear(&mut self, measurement: &str) -> Result<()> {
        // It must not overtake points that were sent before it.
        self.flush()?;
        self.deleted = true;
        self.session.drop_measurement(measurement)
    }

    fn write(&mut self, measurement: &str, point: &Point<'_>) -> Result<()> {
        self.written = true;
        self.lines.clear();
        line::append(&mut self.lines, measurement, point)?;
        match &mut self.sender {
            Some(sender) => sender.one(&self.lines),
            None => self.post(),
        }
    }

    fn bulk(&mut self, measurement: &str, points: &mut dyn Points) -> Result<u64> {
        self.written = true;
        match self.sender {
            Some(_) => self.send_all(measurement, points),
            None => self.post_all(measurement, points),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match &mut self.sender {
            Some(sender) => sender.flush(&mut self.session),
            None => self.session.flush(),
        }
    }

    fn query(&mut self, influxql: &str, columns: &[&str], visit: &mut Visit<'_>) -> Result<()> {
        self.session.query(influxql, columns, visit)
    }

    /// Sets the duration of the database's shards from now on. They span a year by default.
    fn keep_by(&mut self, span_ns: i64) -> Result<()> {
        if self.session.second().is_some() || self.session.third().is_some() {
            let what = "dropping a shard in versions 2 and 3: their servers do so by the time of day alone";
            return Err(EngineError::unsupported(NAME, what));
        }
        shards::set_duration(&mut self.session, span_ns)
    }

    /// Drops the shards that are too old, as the server's own retention service does by the wall
    /// clock
    /// (<https://docs.influxdata.com/influxdb/v1.8/query_language/manage-database/#delete-a-shard-with-drop-shard>).
    fn expire(&mut self, _: &str, before_ns: i64) -> Result<()> {
        self.flush()?;
        shards::drop_before(&mut self.session, before_ns)
    }

    fn expires_by(&self) -> &'static str {
        "DROP SHARD, what a retention policy does"
    }

    fn execute(&mut self, influxql: &str) -> Result<()> {
        // It must not overtake points that were sent before it.
        self.flush()?;
        self.deleted = true;
        self.session.execute(influxql)
    }
}
