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

use super::columns::{self, Column, Get};
use super::lines::{self, Line};
use super::statistics;
use crate::shown::Record;
use crate::{ReportError, summary};

/// Writes every run of a result as Parquet, compressed by Snappy: the columns of the CSV, as texts,
/// booleans, whole numbers of 64 bits (INT64) and DOUBLE, NULL where something was not measured.
/// `durability` tells what tiers rest on.
///
/// # Errors
/// When `file` cannot be written.
pub fn parquet<W: Write + Send>(
    result: &ResultFile,
    durability: &Record,
    file: W,
) -> Result<(), ReportError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("embermark ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let comparison = summary::compare(result, &[]);
    let statistics = statistics::of(&comparison);
    let mut rows = lines::of(result, &statistics);
    rows.retain(|line| line.run.is_some());
    let columns = columns::of(result, durability);
    let fields = columns.iter().map(field).collect::<Result<Vec<TypePtr>, ParquetError>>()?;
    let schema = Type::group_type_builder("runs").with_fields(fields).build()?;
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for column in &columns {
        match &column.get {
            Get::Text(get) => {
                let bytes = |row: &Line<'_>| Some(ByteArray::from(get(row)?.into_bytes()));
                write::<W, ByteArrayType>(&mut group, rows.iter().map(bytes))
            }
            Get::Flag(get) => write::<W, BoolType>(&mut group, rows.iter().map(get)),
            Get::Whole(get) => write::<W, Int64Type>(&mut group, rows.iter().map(get)),
            Get::Real(get) => write::<W, DoubleType>(&mut group, rows.iter().map(get)),
        }?;
    }
    group.close()?;
    writer.close()?;
    Ok(())
}

fn field(column: &Column) -> Result<TypePtr, ParquetError> {
    let physical = match column.get {
        Get::Text(_) => PhysicalType::BYTE_ARRAY,
        Get::Flag(_) => PhysicalType::BOOLEAN,
        Get::Whole(_) => PhysicalType::INT64,
        Get::Real(_) => PhysicalType::DOUBLE,
    };
    let field =
        Type::primitive_type_builder(&column.name, physical).with_repetition(Repetition::OPTIONAL);
    let field = match column.get {
        Get::Text(_) => field
            .with_logical_type(Some(LogicalType::String))
            .with_converted_type(ConvertedType::UTF8),
        _ => field,
    };
    field.build().map(Arc::new)
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
