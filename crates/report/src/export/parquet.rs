//! The raw runs in columns: one row a run.

use std::io::Write;
use std::sync::Arc;

use embermark_model::result::{Cell, Execution, PhaseResult, ResultFile, Run, Trial};
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::columns::{self, At, Column};
use crate::ReportError;

/// A run and what it belongs to.
#[derive(Clone, Copy)]
struct Row<'a> {
    run_id: &'a str,
    cell: &'a Cell,
    trial: &'a Trial,
    part: &'a PhaseResult,
    index: usize,
    run: &'a Run,
}

/// How a column gets its value from a row.
#[derive(Clone, Copy)]
enum Get {
    Text(fn(&Row<'_>) -> String),
    Flag(fn(&Row<'_>) -> bool),
    Number(fn(&Row<'_>) -> u64),
}

/// The first columns, by name; then those of [`columns`].
const COLUMNS: [(&str, Get); 20] = [
    ("run_id", Get::Text(|row| row.run_id.to_owned())),
    ("workload", Get::Text(|row| row.cell.id.workload.clone())),
    ("scale", Get::Text(|row| row.cell.id.scale.to_string())),
    ("durability", Get::Text(|row| row.cell.id.durability.to_string())),
    ("variant", Get::Text(|row| row.cell.id.variant.clone())),
    ("engine", Get::Text(|row| row.cell.id.engine.clone())),
    ("reference", Get::Flag(|row| row.cell.reference)),
    ("publishable", Get::Flag(|row| !row.cell.unpublishable)),
    ("cell_status", Get::Text(|row| row.cell.status.name().replace(' ', "-"))),
    ("trial", Get::Number(|row| row.trial.index.into())),
    ("order", Get::Number(|row| row.trial.order.into())),
    ("phase", Get::Text(|row| row.part.phase.clone())),
    ("how", Get::Text(how)),
    ("phase_status", Get::Text(|row| row.part.status.name().replace(' ', "-"))),
    ("run", Get::Number(|row| row.index as u64)),
    ("discarded", Get::Flag(|row| row.run.discarded)),
    ("capped", Get::Flag(|row| row.run.capped)),
    ("counting", Get::Flag(|row| row.cell.is_counting(row.trial))),
    ("ops", Get::Number(|row| row.run.ops)),
    ("elapsed_ns", Get::Number(|row| row.run.elapsed_ns)),
];

fn how(row: &Row<'_>) -> String {
    match row.part.execution {
        Execution::Native => "native".to_owned(),
        Execution::ClientSide => "client-side".to_owned(),
    }
}

/// Writes every run of a result as Parquet, compressed by Snappy: texts, booleans, and whole numbers
/// of 64 bits (INT64), NULL where something was not measured. Column names are those of the CSV.
///
/// # Errors
/// When `file` cannot be written.
pub fn parquet<W: Write + Send>(result: &ResultFile, file: W) -> Result<(), ReportError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("embermark ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let further = columns::with_usage(result);
    let schema = Arc::new(schema(&further)?);
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
    let rows = rows(result);
    let mut group = writer.next_row_group()?;
    // One writer for each column of the schema, in its order.
    COLUMNS.iter().try_for_each(|(_, get)| write(&mut group, get, &rows))?;
    further.iter().try_for_each(|column| {
        let values = rows.iter().map(|row| {
            column.of(&At { trial: Some(row.trial), phase: Some(row.part), run: Some(row.run) })
        });
        measured(&mut group, &values.collect::<Vec<Option<i64>>>())
    })?;
    group.close()?;
    writer.close()?;
    Ok(())
}

fn schema(further: &[Column]) -> Result<Type, ParquetError> {
    let field = |name: &str, get: Option<&Get>| {
        let physical = match get {
            Some(Get::Text(_)) => PhysicalType::BYTE_ARRAY,
            Some(Get::Flag(_)) => PhysicalType::BOOLEAN,
            Some(Get::Number(_)) | None => PhysicalType::INT64,
        };
        let repetition = match get {
            Some(_) => Repetition::REQUIRED,
            None => Repetition::OPTIONAL,
        };
        let field = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        let field = match get {
            Some(Get::Text(_)) => field
                .with_logical_type(Some(LogicalType::String))
                .with_converted_type(ConvertedType::UTF8),
            _ => field,
        };
        field.build().map(Arc::new)
    };
    let first = COLUMNS.iter().map(|(name, get)| field(name, Some(get)));
    let fields = first.chain(further.iter().map(|column| field(&column.name, None)));
    Type::group_type_builder("runs").with_fields(fields.collect::<Result<Vec<_>, _>>()?).build()
}

fn rows(result: &ResultFile) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for cell in &result.cells {
        for trial in cell.trials.iter().chain(cell.counting.as_deref()) {
            for part in &trial.phases {
                let of = |(index, run)| {
                    let run_id = result.manifest.run_id.as_str();
                    Row { run_id, cell, trial, part, index, run }
                };
                rows.extend(part.runs.iter().enumerate().map(of));
            }
        }
    }
    rows
}

fn write<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    get: &Get,
    rows: &[Row<'_>],
) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else { return Ok(()) };
    match get {
        Get::Text(get) => {
            let values: Vec<ByteArray> =
                rows.iter().map(|row| ByteArray::from(get(row).into_bytes())).collect();
            writer.typed::<ByteArrayType>().write_batch(&values, None, None)?
        }
        Get::Flag(get) => {
            let values: Vec<bool> = rows.iter().map(get).collect();
            writer.typed::<BoolType>().write_batch(&values, None, None)?
        }
        Get::Number(get) => {
            let values: Vec<i64> = rows.iter().map(|row| get(row) as i64).collect();
            writer.typed::<Int64Type>().write_batch(&values, None, None)?
        }
    };
    writer.close()
}

/// NULL where there is none.
fn measured<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[Option<i64>],
) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else { return Ok(()) };
    let present: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<i64> = values.iter().flatten().copied().collect();
    writer.typed::<Int64Type>().write_batch(&values, Some(&present), None)?;
    writer.close()
}
