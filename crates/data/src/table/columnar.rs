//! Reads Parquet: flat columns, one row group after the other and so many rows of it at once.

mod batch;

use std::fs::File;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use self::batch::Column;
use super::record::{Field, Names, Record, Sink};
use super::source::Source;
use crate::DataError;

/// Rows that are decoded at once.
const BATCH: usize = 4096;

pub(super) fn read(source: &Source, sink: &mut impl Sink) -> Result<Names, DataError> {
    let failed =
        |error: ParquetError| source.not_tabular(format!("reading it as Parquet failed: {error}"));
    let file = File::open(&source.path)
        .map_err(|cause| DataError::Unreadable { path: source.path.clone(), cause })?;
    let reader = SerializedFileReader::new(file).map_err(failed)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let flat: Vec<usize> =
        (0..schema.num_columns()).filter(|&leaf| is_flat(&schema.column(leaf))).collect();
    let mut names = Names::new(flat.iter().map(|&leaf| schema.column(leaf).name().to_owned()));
    sink.begin(&mut names).map_err(|unknown| source.no_field(unknown))?;
    let mut columns: Vec<Option<Column>> = flat
        .iter()
        .enumerate()
        .map(|(place, &leaf)| names.is_wanted(place).then(|| Column::new(&schema.column(leaf))))
        .collect();
    let mut before = 0;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(failed)?;
        if !read_group(&*group, &flat, &mut columns, before, sink, failed)? {
            break;
        }
        before += group.metadata().num_rows() as u64;
    }
    Ok(names)
}

fn is_flat(column: &ColumnDescriptor) -> bool {
    column.path().parts().len() == 1 && column.max_rep_level() == 0
}

/// Hands out the rows of a group; says whether more are wanted.
fn read_group(
    group: &dyn RowGroupReader,
    leaves: &[usize],
    columns: &mut [Option<Column>],
    before: u64,
    sink: &mut impl Sink,
    failed: impl Fn(ParquetError) -> DataError,
) -> Result<bool, DataError> {
    let mut readers = Vec::with_capacity(leaves.len());
    for (&leaf, column) in leaves.iter().zip(&*columns) {
        let reader = column.as_ref().map(|_| group.get_column_reader(leaf)).transpose();
        readers.push(reader.map_err(&failed)?);
    }
    let rows = group.metadata().num_rows() as usize;
    for first in (0..rows).step_by(BATCH) {
        let batch = BATCH.min(rows - first);
        for (reader, column) in readers.iter_mut().zip(&mut *columns) {
            if let (Some(reader), Some(column)) = (reader, column) {
                column.read(reader, batch).map_err(&failed)?;
            }
        }
        for row in 0..batch {
            let number = before + (first + row) as u64 + 1;
            if !sink.record(&Row { columns, row, number })? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// A row of a batch.
struct Row<'a> {
    columns: &'a [Option<Column>],
    row: usize,
    number: u64,
}

impl Record for Row<'_> {
    #[inline]
    fn field(&self, place: usize) -> Field<'_> {
        match &self.columns[place] {
            Some(column) => column.field(self.row),
            None => Field::Absent,
        }
    }

    fn width(&self) -> usize {
        self.columns.len()
    }

    fn line(&self) -> u64 {
        self.number
    }
}
