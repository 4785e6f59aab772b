//! The variants: how rows go in, what is indexed, and who inserts them.

use embermark_model::choice;

use crate::{Strategy, VariantInfo, WorkloadError};

/// What is indexed beside the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indexes {
    /// Nothing.
    None,
    /// Each attribute.
    Every,
}

/// Who inserts the rows and counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Client {
    /// This program.
    Own,
    /// A Node.js program, beside this one.
    Node,
}

/// A variant of the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    pub strategy: Strategy,
    pub indexes: Indexes,
    pub client: Client,
}

const fn info(name: &'static str, about: &'static str) -> VariantInfo {
    VariantInfo { name, about, changes: &["insert_count"] }
}

pub(super) static VARIANTS: [VariantInfo; 6] = [
    info("commit-each", "one commit a row, as published"),
    info("single", "row by row in one transaction, from 100,000 on in transactions of 10,000"),
    info("bulk", "all rows in one batch, by the engine's fastest path"),
    info("indexed", "every attribute indexed, as HarperDB does by itself; one commit a row"),
    info("node", "by a Node.js program, which takes the time, as published; one commit a row"),
    info("node-batch", "by a Node.js program, all rows in one transaction or one request"),
];

impl Variant {
    /// The variant of that name.
    pub(super) fn named(name: &str) -> Result<Self, WorkloadError> {
        let of = |strategy, indexes, client| Self { strategy, indexes, client };
        Ok(match name {
            "commit-each" => of(Strategy::CommitEach, Indexes::None, Client::Own),
            "single" => of(Strategy::Single, Indexes::None, Client::Own),
            "bulk" => of(Strategy::Bulk, Indexes::None, Client::Own),
            "indexed" => of(Strategy::CommitEach, Indexes::Every, Client::Own),
            "node" => of(Strategy::CommitEach, Indexes::None, Client::Node),
            "node-batch" => of(Strategy::OneTransaction, Indexes::None, Client::Node),
            _ => {
                let known = VARIANTS.iter().map(|variant| variant.name);
                return Err(choice::unknown("variant", name, known).into());
            }
        })
    }
}
