//! `influxdb`: InfluxDB 1.x as a private server on a Unix socket, or a database on a given server,
//! which can also have version 2 or 3.
//!
//! Points are written with the line protocol, over HTTP, or over UDP where no acknowledgement is
//! needed. Questions are in InfluxQL over HTTP. Answers are in MessagePack, which distinguishes
//! integers from floats.

mod answer;
mod idle;
mod installation;
mod line;
mod managed;
mod msgpack;
mod queue;
mod session;
mod settings;
mod shards;
mod store;
mod udp;
mod version_2;
mod version_3;

use embermark_model::Durability;

use crate::http::HttpClient;
use crate::server::Server;
use crate::server::engine::ServerEngine;
use crate::{DataModel, Engine, EngineError, Info, Store, TierSetting, TierTable};
use session::Session;
use store::InfluxStore;
use udp::Sender;

const NAME: &str = "influxdb";

/// Whether points are sent over UDP.
///
/// Over HTTP a write is acknowledged after its log was synced, whatever `wal-fsync-delay` is: a
/// delay above zero combines the syncs of several writers
/// (<https://docs.influxdata.com/influxdb/v1.8/administration/config/#wal-fsync-delay--0s>), and
/// each still waits for its own. So nothing is cheaper for `process`. Over UDP nothing is
/// acknowledged, and a point can be lost before it reaches the server
/// (<https://docs.influxdata.com/influxdb/v1.8/supported_protocols/udp/>).
///
/// The log is synced, but the file of the series is not. After a power cut the points are there and
/// the server does not start. `embermark durability` found this in 60 of 60 states, and others have
/// too (<https://github.com/influxdata/influxdb/issues/10543>). No setting changes it.
static TIERS: TierTable<bool> = TierTable {
    none: TierSetting::new(
        Durability::None,
        true,
        "points sent over UDP",
        "https://docs.influxdata.com/influxdb/v1.8/supported_protocols/udp/",
    ),
    process: synced("points sent over HTTP, wal-fsync-delay=0s"),
    power: synced(
        "after a power cut its server does not start: the log is synced before the answer, the file \
         of the series is not (https://github.com/influxdata/influxdb/issues/10543)",
    ),
};

const fn synced(words: &'static str) -> TierSetting<bool> {
    let manual =
        "https://docs.influxdata.com/influxdb/v1.8/administration/config/#wal-fsync-delay--0s";
    TierSetting::new(Durability::Process, false, words, manual)
}

pub(crate) static ENGINE: &dyn Engine = &ServerEngine {
    info: Info::server(NAME, "InfluxDB", DataModel::Series, "MIT"),
    forbids_publishing: false,
    has_maintenance: true,
    tier: |durability| TIERS.tier(durability),
    weaker_settings: |tier, found| TIERS.for_tier(tier).weaker_settings(found),
    settings: settings::SETTINGS,
    explained: &[],
    variable: installation::VARIABLE.name,
    find: || installation::find().map(|(influxd, version)| (vec![("influxd", influxd)], version)),
    system: None,
    library: |found| found,
    check_url: |url| HttpClient::from_url(NAME, url, "").map(drop),
    given: Session::given,
    private: managed::start,
    read_back: settings::read_back,
    // A joined client writes over HTTP in every tier.
    store: |session, server, options| {
        let pid =
            server.as_ref().filter(|_| TIERS.for_tier(options.durability).set).map(Server::pid);
        if pid.is_some() && embermark_network::has_link() {
            let what = "points over UDP behind an imitated link, which drops datagrams for good";
            return Err(EngineError::unsupported(NAME, what));
        }
        let sender = pid.map(Sender::connect).transpose()?;
        let cold = idle::cold_shards(options);
        Ok(Store::Series(Box::new(InfluxStore::new(session, server, sender, cold))))
    },
    join: |at, _| Session::join(at),
    remove_abandoned: |_| false,
    remove_left: |url, name| Session::reach(url, name)?.end(),
};

fn failed(doing: impl Into<String>, why: impl ToString) -> EngineError {
    EngineError::failed(NAME, doing, why)
}
