//! `zen`: Actian Zen, formerly PSQL and Btrieve, by its Btrieve 2 C interface, from a library that
//! is opened at run time.
//!
//! Zen stores records with fields at fixed offsets under keys (ISAM). A table is a file; a record
//! is the key followed by the value; the file's first index is the key, unique; each index of the
//! definition is another index, with duplicates. The engine maintains them.
//!
//! Zen is proprietary and in no package registry, so this module could never be run against it. It
//! is written from the names, numbers and remarks of the public header and from the manual, and its
//! tests drive it with a stand-in of our own. No public text states the following, which is assumed
//! here:
//! - a bulk result counts its records from 0;
//! - a bulk retrieval that comes to the end of the file returns its last records together with the
//!   status 9, or 64, as the operation below it does;
//! - the status 5 of a failed creation leaves the transaction as it was;
//! - a client is distinguished from the others of its process only by its two numbers.
//!
//! If one of the first two were wrong, that would show as an error or a wrong answer, not as a
//! speed.

mod bulk;
mod client;
mod ffi;
mod file;
mod scan;
mod scope;
mod store;
mod table;
mod tier;

use crate::{Availability, Embedded, Info};
use client::Client;
use ffi::{LIBRARY, OpenMode, VARIABLE};

const NAME: &str = "zen";

pub(crate) static ENGINE: Embedded<OpenMode> = Embedded {
    origin: || LIBRARY.origin(VARIABLE),
    has_maintenance: false,
    forbids_publishing: true,
    ..Embedded::new(
        Info::key_value(NAME, "Actian Zen", "proprietary"),
        tier::tiers,
        availability,
        store::open,
    )
};

fn availability() -> Availability {
    let Ok(api) = LIBRARY.get() else { return LIBRARY.availability(|_| String::new()) };
    match Client::new(api).and_then(|client| client.versions()) {
        Ok(versions) => Availability::Ready { version: versions.engine },
        Err(error) => Availability::Missing {
            why: format!("its library is installed, but its engine does not answer: {error}"),
            remedy: "start Zen's engine".to_owned(),
        },
    }
}
