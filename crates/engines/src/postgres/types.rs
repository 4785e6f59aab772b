//! Types by number, which are the same in every PostgreSQL:
//! <https://github.com/postgres/postgres/blob/REL_15_STABLE/src/include/catalog/pg_type.dat>.

use std::borrow::Cow;

use super::api::Oid;

pub(super) const BOOL: Oid = 16;
pub(super) const BYTEA: Oid = 17;
pub(super) const NAME: Oid = 19;
pub(super) const INT8: Oid = 20;
pub(super) const INT2: Oid = 21;
pub(super) const INT4: Oid = 23;
pub(super) const TEXT: Oid = 25;
pub(super) const JSON: Oid = 114;
pub(super) const FLOAT4: Oid = 700;
pub(super) const FLOAT8: Oid = 701;
pub(super) const UNKNOWN: Oid = 705;
pub(super) const BPCHAR: Oid = 1042;
pub(super) const VARCHAR: Oid = 1043;
pub(super) const DATE: Oid = 1082;
pub(super) const TIME: Oid = 1083;
pub(super) const TIMESTAMP: Oid = 1114;
pub(super) const TIMESTAMPTZ: Oid = 1184;
pub(super) const NUMERIC: Oid = 1700;
pub(super) const JSONB: Oid = 3802;

/// Returns whether a type's binary form is its text.
pub(super) fn is_text(of: Oid) -> bool {
    matches!(of, TEXT | VARCHAR | BPCHAR | NAME | UNKNOWN | JSON)
}

/// Returns the name of a type, for a person.
pub(super) fn name(of: Oid) -> Cow<'static, str> {
    Cow::Borrowed(match of {
        BOOL => "bool",
        BYTEA => "bytea",
        NAME => "name",
        INT8 => "int8",
        INT2 => "int2",
        INT4 => "int4",
        TEXT => "text",
        JSON => "json",
        FLOAT4 => "float4",
        FLOAT8 => "float8",
        UNKNOWN => "unknown",
        BPCHAR => "bpchar",
        VARCHAR => "varchar",
        DATE => "date",
        TIME => "time",
        TIMESTAMP => "timestamp",
        TIMESTAMPTZ => "timestamptz",
        1186 => "interval",
        NUMERIC => "numeric",
        2950 => "uuid",
        JSONB => "jsonb",
        other => return Cow::Owned(format!("the type with OID {other}")),
    })
}
