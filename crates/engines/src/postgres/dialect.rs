//! PostgreSQL's SQL where the standard leaves something open.

use embermark_model::Durability;

use super::tier;
use crate::sql::{Dialect, TableDef};

/// The dialect of a tier: tables that may vanish in a crash are created UNLOGGED.
pub(super) fn of(durability: Durability) -> &'static dyn Dialect {
    if tier::setting(durability).unlogged { &Unlogged } else { &Logged }
}

struct Logged;

struct Unlogged;

impl Dialect for Logged {
    fn placeholder(&self, n: usize) -> String {
        format!("${n}")
    }
}

impl Dialect for Unlogged {
    fn placeholder(&self, n: usize) -> String {
        Logged.placeholder(n)
    }

    fn create_table(&self, table: &TableDef) -> String {
        Logged.create_table(table).replacen("CREATE TABLE", "CREATE UNLOGGED TABLE", 1)
    }
}
