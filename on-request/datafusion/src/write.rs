//! Writes files with the rows of a transaction, or of several merged files.

use std::fs::File;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::catalog::TableProvider;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{LogicalPlanBuilder, ident};
use datafusion::parquet::arrow::ArrowWriter;
use futures::StreamExt;

use crate::database::Database;
use crate::failure::{Done, cannot};
use crate::folder::Part;
use crate::table::listing;

/// Size in bytes from which maintenance does not merge a file with others.
const LARGE: u64 = 128 << 20;

impl Database {
    fn writer(&self, table: &str) -> Done<ArrowWriter<File>> {
        let (schema, path) =
            (self.tables[table].source.schema(), self.folder.temporary_path(table));
        let file = File::create(&path).map_err(cannot(format!("make {}", path.display())))?;
        Ok(ArrowWriter::try_new(file, schema, Some(self.how.clone()))?)
    }

    /// Writes rows to the next file of a table.
    pub fn write(&mut self, table: &str, rows: &[RecordBatch]) -> Done {
        let mut writer = self.writer(table)?;
        rows.iter().try_for_each(|batch| writer.write(batch))?;
        writer.close()?;
        let next = self.tables[table].parts.last().map_or(0, |part| part.last + 1);
        let part = Part { first: next, last: next };
        self.finish(table, part)?;
        self.stored(table)?.parts.push(part);
        Ok(())
    }

    /// Gives a file its name, and makes DataFusion list the folder again.
    fn finish(&self, table: &str, part: Part) -> Done {
        self.folder.finish(table, part)?;
        self.forget_listings();
        Ok(())
    }

    /// Merges small files that follow each other. Their rows are sorted by the columns from the
    /// first on, which in most tables are the key.
    fn merge(&mut self, table: &str, is_small: impl Fn(&Self, Part) -> bool) -> Done {
        let (mut left, parts) = (Vec::new(), self.tables[table].parts.clone());
        let mut rest = &parts[..];
        while let [first, ..] = rest {
            let small = rest.iter().take_while(|part| is_small(self, **part)).count();
            let (run, behind) = rest.split_at(small.max(1));
            let merged = Part { first: first.first, last: run[run.len() - 1].last };
            if run.len() > 1 {
                self.write_sorted(table, run)?;
                self.finish(table, merged)?;
                run.iter().try_for_each(|part| self.folder.remove_part(table, *part))?;
                self.forget_listings();
            }
            left.push(merged);
            rest = behind;
        }
        self.stored(table)?.parts = left;
        Ok(())
    }

    fn write_sorted(&self, table: &str, parts: &[Part]) -> Done {
        let schema = self.tables[table].source.schema();
        let paths: Vec<_> = parts.iter().map(|part| self.folder.file(table, *part)).collect();
        let by = schema.fields().iter().map(|field| ident(field.name()).sort(true, false));
        let files = provider_as_source(Arc::new(listing(&self.state, schema.clone(), &paths)?));
        let plan = LogicalPlanBuilder::scan(table, files, None)?.sort(by)?.build()?;
        let mut rows = self.ask(&plan)?;
        let mut writer = self.writer(table)?;
        while let Some(batch) = self.runtime.block_on(rows.next()) {
            writer.write(&batch?)?;
        }
        writer.close()?;
        Ok(())
    }

    /// Merges the files of a table that have one commit each, if there are too many.
    pub fn merge_commits(&mut self, table: &str) -> Done {
        let is_alone = |part: Part| part.first == part.last;
        let parts = self.tables[table].parts.iter().rev();
        if parts.take_while(|part| is_alone(**part)).count() <= self.most {
            return Ok(());
        }
        self.merge(table, |_, part| is_alone(part))
    }

    /// Merges all files except large ones.
    pub fn merge_all(&mut self) -> Done {
        let names: Vec<String> = self.tables.keys().cloned().collect();
        names.iter().try_for_each(|table| {
            self.merge(table, |database, part| {
                let file = database.folder.file(table, part).metadata();
                file.is_ok_and(|file| file.len() < LARGE)
            })
        })
    }
}
