//! The series store over InfluxDB.

use std::path::PathBuf;

use super::NAME;
use super::idle;
use super::line;
use super::session::{Session, Version};
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

/// Bytes after which a request is sent, even if it has fewer points than [`BATCH`]. The server
/// accepts 25 MB
/// (<https://docs.influxdata.com/influxdb/v1.8/administration/config/#max-body-size--25000000>).
const BATCH_BYTES: usize = 8 << 20;

pub(super) struct InfluxStore {
    // Dropped before the server.
    session: Session,
    server: Option<Server>,
    sender: Option<Sender>,
    lines: Vec<u8>,
    /// Folder of a private server's [cold shards](idle::cold_shards).
    cold_shards: Option<PathBuf>,
    /// Whether anything was written or deleted since the server was last idle.
    changed: bool,
}

impl InfluxStore {
    /// Creates the store on a private server, which ends with it, or on a given one. Points go
    /// through `sender`, if there is one. `cold_shards` is the result of [`idle::cold_shards`].
    pub fn new(
        session: Session,
        server: Option<Server>,
        sender: Option<Sender>,
        cold_shards: Option<PathBuf>,
    ) -> Self {
        let lines = Vec::with_capacity(1 << 20);
        Self { session, server, sender, lines, cold_shards, changed: false }
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

    fn post(&mut self) -> Result<()> {
        let answered = self.session.write(&self.lines);
        self.lines.clear();
        answered
    }
}

impl Lifecycle for InfluxStore {
    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        settings::tier_settings(&mut self.session)
    }

    fn maintain(&mut self) -> Result<()> {
        self.flush()?;
        if self.changed {
            match &self.cold_shards {
                Some(data) => idle::wait_until_cold(&mut self.session, data)?,
                None => idle::wait_for_compactions(&mut self.session)?,
            }
        }
        self.changed = false;
        Ok(())
    }

    fn reconnect(&mut self) -> Option<Result<()>> {
        // A new client would miss points that are still on their way.
        let flushed = self.flush();
        self.session.client.reconnect();
        Some(flushed.and_then(|()| self.sender.as_mut().map_or(Ok(()), Sender::reconnect)))
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
        Join::At(self.session.client.join_address.clone())
    }

    /// Opens another connection, over HTTP.
    fn open_client(&mut self) -> Result<ClientOpener> {
        if self.sender.is_some() {
            let what = "more than one client at a time with points over UDP: the server counts \
                        points, not points per client";
            return Err(EngineError::unsupported(NAME, what));
        }
        let at = self.session.client.join_address.clone();
        Ok(ClientOpener::new(move || {
            Ok(Store::Series(Box::new(Self::new(Session::join(&at)?, None, None, None))))
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
        self.changed = true;
        self.session.drop_measurement(measurement)
    }

    fn write(&mut self, measurement: &str, point: &Point<'_>) -> Result<()> {
        self.changed = true;
        self.lines.clear();
        line::append(&mut self.lines, measurement, point)?;
        match &mut self.sender {
            Some(sender) => sender.send_line(&self.lines),
            None => self.post(),
        }
    }

    fn bulk(&mut self, measurement: &str, points: &mut dyn Points) -> Result<u64> {
        self.changed = true;
        match &mut self.sender {
            Some(sender) => sender.send_all(measurement, points),
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
        if !matches!(self.session.version, Version::First) {
            let what =
                "dropping a shard in versions 2 and 3: their servers only do so by the wall clock";
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
        self.changed = true;
        self.session.execute(influxql)
    }
}
