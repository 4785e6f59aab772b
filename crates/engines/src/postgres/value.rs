//! Parameters on their way to the server.

use std::error::Error;

use bytes::{BufMut, BytesMut};
use postgres::types::{Format, IsNull, ToSql, Type};

use crate::sql::Param;

/// A parameter, encoded as the statement expects it: in the binary form of the common types, and
/// as text, which the server reads itself, for every other (NUMERIC, JSON, TIMESTAMP, UUID …).
#[derive(Debug)]
pub(super) struct Value<'a>(pub Param<'a>);

/// The types that are sent in their binary form.
#[derive(Clone, Copy, PartialEq)]
enum Binary {
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    Text,
}

fn binary(of: &Type) -> Option<Binary> {
    Some(match *of {
        Type::INT8 => Binary::Int8,
        Type::INT2 => Binary::Int2,
        Type::FLOAT8 => Binary::Float8,
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN => Binary::Text,
        Type::INT4 => Binary::Int4,
        Type::FLOAT4 => Binary::Float4,
        _ => return None,
    })
}

type Encoded = Result<IsNull, Box<dyn Error + Sync + Send>>;

impl ToSql for Value<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Encoded {
        let Some(binary) = binary(ty) else { return as_text(self.0, out) };
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
        match (self.0, binary) {
            (Param::Null, _) => return Ok(IsNull::Yes),
            (Param::Int(value), Binary::Int8) => out.put_i64(value),
            (Param::Int(value), Binary::Int4) => out.put_i32(value.try_into()?),
            (Param::Int(value), Binary::Int2) => out.put_i16(value.try_into()?),
            (Param::Int(value), Binary::Float8) => out.put_f64(value as f64),
            (Param::Int(value), Binary::Float4) => out.put_f32(value as f32),
            (Param::Float(value), Binary::Float8) => out.put_f64(value),
            (Param::Float(value), Binary::Float4) => out.put_f32(value as f32),
            (Param::Text(value), Binary::Text) => out.put_slice(value.as_bytes()),
            (other, _) => return Err(format!("{other:?} where the statement wants {ty}").into()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        // Every type: what does not fit is refused above, by value and type.
        true
    }

    fn encode_format(&self, ty: &Type) -> Format {
        if binary(ty).is_some() { Format::Binary } else { Format::Text }
    }

    fn to_sql_checked(&self, ty: &Type, out: &mut BytesMut) -> Encoded {
        self.to_sql(ty, out)
    }
}

fn as_text(param: Param<'_>, out: &mut BytesMut) -> Encoded {
    use std::fmt::Write;
    match param {
        Param::Null => return Ok(IsNull::Yes),
        Param::Int(value) => write!(out, "{value}")?,
        Param::Float(value) => write!(out, "{value}")?,
        Param::Text(value) => out.put_slice(value.as_bytes()),
    }
    Ok(IsNull::No)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(param: Param<'_>, ty: &Type) -> Result<Vec<u8>, String> {
        let mut out = BytesMut::new();
        Value(param).to_sql(ty, &mut out).map(|_| out.to_vec()).map_err(|e| e.to_string())
    }

    #[test]
    fn an_integer_takes_the_width_the_statement_expects_or_is_refused() {
        assert_eq!(encoded(Param::Int(-2), &Type::INT2), Ok(vec![255, 254]));
        assert_eq!(encoded(Param::Int(1), &Type::INT8), Ok(vec![0, 0, 0, 0, 0, 0, 0, 1]));
        assert_eq!(encoded(Param::Int(2), &Type::FLOAT8), Ok(2f64.to_be_bytes().to_vec()));
        assert!(encoded(Param::Int(40_000), &Type::INT2).is_err());
        assert!(encoded(Param::Text("x"), &Type::INT8).unwrap_err().contains("int8"));
        assert!(encoded(Param::Float(1.5), &Type::INT8).is_err());
    }

    #[test]
    fn other_types_are_sent_as_text_for_the_server_to_read() {
        assert_eq!(encoded(Param::Float(1.25), &Type::NUMERIC), Ok(b"1.25".to_vec()));
        assert_eq!(encoded(Param::Text("{}"), &Type::JSONB), Ok(b"{}".to_vec()));
        assert!(matches!(Value(Param::Int(1)).encode_format(&Type::NUMERIC), Format::Text));
        assert!(matches!(Value(Param::Int(1)).encode_format(&Type::INT8), Format::Binary));
    }
}
