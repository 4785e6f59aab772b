//! `timescaledb`: a schema on a given PostgreSQL server with the extension TimescaleDB.
//!
//! A table with a time in its key becomes a hypertable, and other tables stay plain tables.
//! Everything else is PostgreSQL's adapter, whose name is in the errors of statements.

use embermark_model::Durability;

use super::extension::{Extension, OLDEST};
use super::session::Session;
use super::tier::TIERS;
use super::{POSTGRES, external};
use crate::{
    Availability, DataModel, Engine, EngineError, Info, OpenOptions, Opened, Result, Store, Tier,
};

const NAME: &str = "timescaledb";

const REMEDY: &str = "give yours as --url timescaledb=postgres://user:password@host:port/database";

/// How tables are stored, for the settings of a result.
const TABLES: &str = "hypertables in chunks of 7 days where the key has a time, else plain tables";

pub(crate) struct TimescaleDb;

impl Engine for TimescaleDb {
    fn info(&self) -> Info {
        Info::server(NAME, "TimescaleDB", DataModel::Sql, "Apache-2.0 and Timescale License")
    }

    fn availability(&self) -> Availability {
        Availability::Missing {
            why: "embermark installs no server of it".to_owned(),
            remedy: REMEDY.to_owned(),
        }
    }

    fn is_given(&self) -> bool {
        true
    }

    fn tier(&self, durability: Durability) -> Tier {
        TIERS.tier(durability)
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let Some(url) = &options.url else {
            let why = format!("embermark installs none; {REMEDY}");
            return Err(EngineError::failed(NAME, "start a server", why));
        };
        let mut session = external::connect(url, options)?;
        let extension = extension_of(&mut session)?;
        let version = extension.version.clone();
        let session = session.with_hypertables(extension);
        let mut opened = POSTGRES.opened(NAME, options, None, session)?;
        opened.version = format!("{version} on PostgreSQL {}", opened.version);
        opened.settings.push(("tables".to_owned(), TABLES.to_owned()));
        Ok(opened)
    }

    fn join(&self, options: &OpenOptions, at: &str) -> Result<Store> {
        Session::join(at, options.durability).map(Session::into_store)
    }

    fn check_url(&self, url: &str) -> std::result::Result<(), String> {
        external::check_url(url)
    }

    fn remove_left(&self, url: &str, name: &str) -> Result<()> {
        external::remove_left(url, name)
    }
}

/// Returns the extension of a session's database.
///
/// # Errors
/// The database lacks the extension, or has one that is too old.
fn extension_of(session: &mut Session) -> Result<Extension> {
    let sql = "SELECT extversion, format('%I', nspname) FROM pg_extension \
               JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'timescaledb'";
    let found = session.ask(sql)?.texts();
    let unusable = |why: String| EngineError::failed(NAME, "use the server of its URL", why);
    let [row] = &found[..] else {
        let why = "its database lacks the extension; run CREATE EXTENSION timescaledb there";
        return Err(unusable(why.to_owned()));
    };
    let [Some(version), Some(schema)] = &row[..] else {
        return Err(unusable("it reports no version of the extension".to_owned()));
    };
    Extension::new(version, schema).ok_or_else(|| {
        let [major, minor] = OLDEST;
        unusable(format!(
            "its extension has version {version}; update it to {major}.{minor} or newer"
        ))
    })
}
