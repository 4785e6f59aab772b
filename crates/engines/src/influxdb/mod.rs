//! `influxdb`: InfluxDB 1.x, a private server on a Unix socket, or a database of one given by URL.
//!
//! Points go in by the line protocol, over HTTP or, where nobody has to acknowledge them, over
//! UDP; questions are asked in InfluxQL over HTTP and answered in MessagePack, which tells an
//! integer from a float.

mod answer;
mod external;
mod installation;
mod line;
mod managed;
mod msgpack;
mod queue;
mod rest;
mod selected;
mod session;
mod settings;
mod store;
mod udp;

use std::path::PathBuf;

use embermark_model::Durability;

use crate::server::{self, Server, program};
use crate::{
    Availability, DataModel, Engine, Info, Kind, OpenOptions, Opened, Result, Store, Tier,
    TierSetting, TierTable,
};
use session::Session;
use store::InfluxStore;

/// Its name in errors.
const NAME: &str = "influxdb";

/// Whether points go over UDP, which nobody acknowledges.
static TIERS: TierTable<bool> = TierTable {
    none: TierSetting::of(
        Durability::None,
        true,
        "points sent over UDP",
        "https://docs.influxdata.com/influxdb/v1.8/supported_protocols/udp/",
    ),
    process: SYNCED,
    power: SYNCED,
};

const SYNCED: TierSetting<bool> = TierSetting::of(
    Durability::Power,
    false,
    "points sent over HTTP, wal-fsync-delay=0s",
    "https://docs.influxdata.com/influxdb/v1.8/administration/config/#wal-fsync-delay--0s",
);

/// The engine.
pub(crate) struct InfluxDb;

impl Engine for InfluxDb {
    fn info(&self) -> Info {
        Info {
            id: NAME,
            name: "InfluxDB",
            kind: Kind::Server,
            family: DataModel::Series,
            licence: "MIT",
        }
    }

    fn availability(&self) -> Availability {
        program::availability(installation::find().map(|found| found.version))
    }

    fn programs(&self) -> Vec<(&'static str, PathBuf)> {
        let found = installation::find().ok();
        found.map_or_else(Vec::new, |found| [("influxd", found.influxd)].to_vec())
    }

    /// A write is acknowledged over HTTP after its log was synced, whatever `wal-fsync-delay`
    /// says: a delay above zero gathers the syncs of several writers
    /// (<https://docs.influxdata.com/influxdb/v1.8/administration/config/#wal-fsync-delay--0s>)
    /// and lets each of them wait for its own. So there is nothing cheaper for `process`. Over
    /// UDP nothing is acknowledged, and a point may be lost before it has reached the server
    /// (<https://docs.influxdata.com/influxdb/v1.8/supported_protocols/udp/>).
    fn tier(&self, durability: Durability) -> Tier {
        TIERS.tier(durability)
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let (mut session, server) = server::connect(options, external::connect, managed::start)?;
        let pid = server.as_ref().map(Server::pid);
        let (version, mut settings) = settings::read_back(&mut session, pid.is_none())?;
        // As a private one is given `--memory`: what is written and what gathers meanwhile.
        let cache = server::bytes(&settings, settings::SNAPSHOT).map(|bytes| 2 * bytes);
        server::check(NAME, options, &mut settings, cache, |tier, found| {
            TIERS.of(tier).misfit(found)
        })?;
        let sender = pid.filter(|_| TIERS.of(options.durability).set).map(udp::Sender::to);
        let sender = sender.transpose()?;
        settings.extend(sender.iter().map(udp::Sender::setting));
        let store = Store::Series(Box::new(InfluxStore::new(session, server, sender)));
        Ok(Opened { store, version, settings, server: pid })
    }

    /// What it would write goes over HTTP, in every tier.
    fn join(&self, _: &OpenOptions, at: &str) -> Result<Store> {
        Ok(Store::Series(Box::new(InfluxStore::new(Session::join(at)?, None, None))))
    }

    fn remove_left(&self, url: &str, name: &str) -> Result<()> {
        external::reach(url, name)?.end()
    }
}
