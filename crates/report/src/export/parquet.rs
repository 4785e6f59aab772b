//! The runs in columns: one row a run.

use std::io::Write;
use std::sync::Arc;

use embermark_model::result::ResultFile;
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::columns::{Get, Header, Kind};
use super::lines::Line;
use super::several::{self, Rows};
use crate::ReportError;
use crate::shown::Record;

/// Writes every run of a device's result as Parquet, compressed by Snappy: the columns of the CSV, as texts,
/// booleans, whole numbers of 64 bits (INT64) and DOUBLE, NULL where something was not measured.
/// `durability` tells what tiers rest on.
///
/// # Errors
/// When `file` cannot be written.
pub fn parquet<W: Write + Send>(
    device: &str,
    result: &ResultFile,
    durability: &Record,
    file: W,
) -> Result<(), ReportError> {
    let header = several::header_of(device, result, durability);
    let mut rows = Parquet::new(&header, file)?;
    several::add(&mut rows, &header, device, result, durability, |line| line.run.is_some())?;
    rows.end()
}

/// Rows of Parquet, a group for each result.
pub(super) struct Parquet<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    kinds: Vec<Kind>,
}

impl<W: Write + Send> Parquet<W> {
    /// Begins the file.
    pub fn new(header: &Header, file: W) -> Result<Self, ReportError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("embermark ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let fields = header.iter().map(field).collect::<Result<Vec<TypePtr>, ParquetError>>()?;
        let schema = Type::group_type_builder("runs").with_fields(fields).build()?;
        let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
        Ok(Self { writer, kinds: header.iter().map(|(_, kind)| *kind).collect() })
    }
}

impl<W: Write + Send> Rows for Parquet<W> {
    fn add(&mut self, columns: &[Option<&Get>], rows: &[Line<'_>]) -> Result<(), ReportError> {
        let mut group = self.writer.next_row_group()?;
        for (get, kind) in columns.iter().zip(&self.kinds) {
            match (get, kind) {
                (Some(Get::Text(get)), _) => {
                    let bytes = |row: &Line<'_>| Some(ByteArray::from(get(row)?.into_bytes()));
                    write::<W, ByteArrayType>(&mut group, rows.iter().map(bytes))
                }
                (Some(Get::Flag(get)), _) => write::<W, BoolType>(&mut group, rows.iter().map(get)),
                (Some(Get::Whole(get)), _) => {
                    write::<W, Int64Type>(&mut group, rows.iter().map(get))
                }
                (Some(Get::Real(get)), _) => {
                    write::<W, DoubleType>(&mut group, rows.iter().map(get))
                }
                (None, Kind::Text) => none::<W, ByteArrayType>(&mut group, rows.len()),
                (None, Kind::Flag) => none::<W, BoolType>(&mut group, rows.len()),
                (None, Kind::Whole) => none::<W, Int64Type>(&mut group, rows.len()),
                (None, Kind::Real) => none::<W, DoubleType>(&mut group, rows.len()),
            }?;
        }
        group.close()?;
        Ok(())
    }

    fn end(self) -> Result<(), ReportError> {
        self.writer.close()?;
        Ok(())
    }
}

fn field((name, kind): &(String, Kind)) -> Result<TypePtr, ParquetError> {
    let physical = match kind {
        Kind::Text => PhysicalType::BYTE_ARRAY,
        Kind::Flag => PhysicalType::BOOLEAN,
        Kind::Whole => PhysicalType::INT64,
        Kind::Real => PhysicalType::DOUBLE,
    };
    let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
    let field = match kind {
        Kind::Text => field
            .with_logical_type(Some(LogicalType::String))
            .with_converted_type(ConvertedType::UTF8),
        _ => field,
    };
    field.build().map(Arc::new)
}

/// Writes the next column of the schema, which this result lacks.
fn none<W: Write + Send, T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: usize,
) -> Result<(), ParquetError> {
    write::<W, T>(group, std::iter::repeat_n(None, rows))
}

/// Writes the next column of the schema.
fn write<W: Write + Send, T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else { return Ok(()) };
    let values: Vec<Option<T::T>> = values.collect();
    let present: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.into_iter().flatten().collect();
    writer.typed::<T>().write_batch(&values, Some(&present), None)?;
    writer.close()
}
