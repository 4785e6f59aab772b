//! The variants: how events are represented, and what is indexed.

use embermark_contract::EngineError;
use embermark_model::choice;

use crate::{VariantInfo, WorkloadError};

/// How what an event tells is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As JSON text, or as fields of a document or a point where a store is made of those.
    Json,
    /// As JSON in the engine's binary form.
    Binary,
    /// In nullable columns of their types.
    Typed,
}

/// What is indexed beside the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Index {
    None,
    Timestamp,
    Bucket,
    /// Bucket, then timestamp.
    Combined,
}

/// A variant of the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    pub form: Form,
    pub index: Index,
}

/// What index and form change: everything but the opening.
const CHANGES: &[&str] = &["insert", "insert_buffered", "gps", "co2", "logs"];

const fn info(name: &'static str, about: &'static str) -> VariantInfo {
    VariantInfo { name, about, changes: CHANGES }
}

pub(super) static VARIANTS: [VariantInfo; 9] = [
    info("none", "JSON, no index beside the key"),
    info("timestamp", "an index of the timestamp"),
    info("bucket", "an index of the bucket"),
    info("combined", "an index of bucket and timestamp, in this order"),
    info("jsonb", "JSON in the engine's binary form, no index"),
    info("typed", "columns of their types in place of JSON, no index"),
    VariantInfo {
        name: "offthread",
        about: "the buffer on a thread of its own (none's table): runs when it is asked for",
        changes: &["insert_offthread"],
    },
    VariantInfo {
        name: "http",
        about: "rows over HTTP (none's table): runs when it is asked for",
        changes: &["insert_http"],
    },
    VariantInfo {
        name: "large-log",
        about: "a log that holds every row (none's table): runs when it is asked for",
        changes: &["open_large_log"],
    },
];

impl Index {
    /// Its columns, in order.
    pub(super) const fn columns(self) -> &'static [&'static str] {
        match self {
            Self::None => &[],
            Self::Timestamp => &["timestamp"],
            Self::Bucket => &["bucket"],
            Self::Combined => &["bucket", "timestamp"],
        }
    }
}

impl Variant {
    /// The variant that is called so.
    pub(super) fn named(name: &str) -> Result<Self, WorkloadError> {
        let of = |form, index| Ok(Self { form, index });
        match name {
            "none" | "offthread" | "http" | "large-log" => of(Form::Json, Index::None),
            "timestamp" => of(Form::Json, Index::Timestamp),
            "bucket" => of(Form::Json, Index::Bucket),
            "combined" => of(Form::Json, Index::Combined),
            "jsonb" => of(Form::Binary, Index::None),
            "typed" => of(Form::Typed, Index::None),
            _ => Err(choice::unknown("variant", name, VARIANTS.iter().map(|v| v.name)).into()),
        }
    }

    /// Says of a kind of store that keeps events in one form only that it has no other.
    pub(super) fn in_one_form(self, store: &'static str) -> Result<(), EngineError> {
        match self.form {
            Form::Json => Ok(()),
            Form::Binary => Err(EngineError::unsupported(store, "JSON columns of a binary form")),
            Form::Typed => {
                Err(EngineError::unsupported(store, "typed columns beside its own form"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_is_known_by_its_name_and_differs_from_the_others() {
        let all: Vec<(Variant, &[&str])> = VARIANTS
            .iter()
            .map(|info| (Variant::named(info.name).unwrap(), info.changes))
            .collect();
        for (place, one) in all.iter().enumerate() {
            assert!(all[..place].iter().all(|other| other != one), "{one:?}");
        }
        let error = Variant::named("combine").unwrap_err().to_string();
        assert!(error.contains("combined"), "{error}");
    }
}
