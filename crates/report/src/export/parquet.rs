//! The runs in columns, with one row per run.

use std::io::Write;
use std::sync::Arc;

use embermark_model::result::ResultFile;
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::column::{Get, Header, Kind};
use super::lines::Line;
use super::rows::{self, Rows};
use crate::ReportError;
use crate::evidence::Record;

/// Writes every run of a device's result as Parquet, compressed with Snappy. It has the columns of
/// the CSV as text, BOOLEAN, INT64 and DOUBLE. Unmeasured values are NULL. `durability` has the
/// evidence for the tiers.
///
/// # Errors
/// If `file` cannot be written.
pub fn parquet<W: Write + Send>(
    device: &str,
    result: &ResultFile,
    durability: &Record,
    file: W,
) -> Result<(), ReportError> {
    let header = rows::header_of(device, result, durability);
    let mut rows = Parquet::new(&header, file)?;
    rows::add(&mut rows, &header, device, result, durability, |line| line.run.is_some())?;
    rows.end()
}

/// Number of rows from which a row group is written. Row groups have whole results. Each one
/// describes every column, and these descriptions stay in memory until the file ends.
const GROUP: usize = 4_096;

/// A writer of Parquet rows, with several results per row group.
pub(super) struct Parquet<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    /// Row group that is not written yet, by column.
    group: Vec<Values>,
    rows: usize,
}

/// Values of one column.
enum Values {
    Text(Vec<Option<ByteArray>>),
    Flag(Vec<Option<bool>>),
    Whole(Vec<Option<i64>>),
    Real(Vec<Option<f64>>),
}

impl Values {
    const fn empty(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text(Vec::new()),
            Kind::Flag => Self::Flag(Vec::new()),
            Kind::Whole => Self::Whole(Vec::new()),
            Kind::Real => Self::Real(Vec::new()),
        }
    }

    /// Adds a result's values of the column, or NULL for each of its rows if it has no such column.
    fn add(&mut self, get: Option<&Get>, rows: &[Line<'_>]) {
        match (self, get) {
            (Self::Text(all), Some(Get::Text(get))) => {
                all.extend(rows.iter().map(|row| Some(ByteArray::from(get(row)?.into_bytes()))));
            }
            (Self::Flag(all), Some(Get::Flag(get))) => all.extend(rows.iter().map(get)),
            (Self::Whole(all), Some(Get::Whole(get))) => all.extend(rows.iter().map(get)),
            (Self::Real(all), Some(Get::Real(get))) => all.extend(rows.iter().map(get)),
            (Self::Text(all), _) => all.extend(rows.iter().map(|_| None)),
            (Self::Flag(all), _) => all.extend(rows.iter().map(|_| None)),
            (Self::Whole(all), _) => all.extend(rows.iter().map(|_| None)),
            (Self::Real(all), _) => all.extend(rows.iter().map(|_| None)),
        }
    }

    /// Writes the values as the next column of a row group, and empties them.
    fn write<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        match self {
            Self::Text(all) => write::<W, ByteArrayType>(group, all),
            Self::Flag(all) => write::<W, BoolType>(group, all),
            Self::Whole(all) => write::<W, Int64Type>(group, all),
            Self::Real(all) => write::<W, DoubleType>(group, all),
        }
    }
}

impl<W: Write + Send> Parquet<W> {
    /// Begins a file.
    pub fn new(header: &Header, file: W) -> Result<Self, ReportError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("embermark ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let fields = header.iter().map(field).collect::<Result<Vec<TypePtr>, ParquetError>>()?;
        let schema = Type::group_type_builder("runs").with_fields(fields).build()?;
        let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
        let group = header.iter().map(|(_, kind)| Values::empty(*kind)).collect();
        Ok(Self { writer, group, rows: 0 })
    }

    /// Writes the collected row group.
    fn flush(&mut self) -> Result<(), ReportError> {
        let mut group = self.writer.next_row_group()?;
        for column in &mut self.group {
            column.write(&mut group)?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

impl<W: Write + Send> Rows for Parquet<W> {
    fn add(&mut self, columns: &[Option<&Get>], rows: &[Line<'_>]) -> Result<(), ReportError> {
        for (column, get) in self.group.iter_mut().zip(columns) {
            column.add(*get, rows);
        }
        self.rows += rows.len();
        if self.rows >= GROUP { self.flush() } else { Ok(()) }
    }

    fn end(mut self) -> Result<(), ReportError> {
        if self.rows > 0 {
            self.flush()?;
        }
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

/// Writes `values` as the next column of the schema, and empties them.
fn write<W: Write + Send, T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &mut Vec<Option<T::T>>,
) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else { return Ok(()) };
    let present: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.drain(..).flatten().collect();
    writer.typed::<T>().write_batch(&values, Some(&present), None)?;
    writer.close()
}
