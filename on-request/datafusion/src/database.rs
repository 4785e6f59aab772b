//! A database: its tables, and how DataFusion finds and queries them.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::SchemaProvider;
use datafusion::common::TableReference;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::LogicalPlan;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::physical_plan::execute_stream;
use datafusion::prelude::SessionConfig;
use embermark_abi as abi;
use tokio::runtime::Runtime;

use crate::columns::Columns;
use crate::failure::{Done, Failure, cannot};
use crate::folder::{Folder, Part};
use crate::settings::{COMPRESSION, FILES, GROUP, PARTITIONS, PUSHDOWN};
use crate::table::{Table, listing};

/// A table of the database.
pub(crate) struct StoredTable {
    pub source: Arc<Table>,
    /// Rows of the open transaction that do not form a batch yet.
    pub columns: Columns,
    /// Files in the order of commits.
    pub parts: Vec<Part>,
}

/// An open database.
pub(crate) struct Database {
    pub runtime: Runtime,
    pub state: SessionState,
    task: Arc<TaskContext>,
    pub folder: Folder,
    pub tables: BTreeMap<String, StoredTable>,
    /// Number of changes of tables. Statements from before are planned again.
    pub generation: u64,
    /// Whether a transaction is open, and the table that it changed.
    pub in_transaction: bool,
    pub changed: Option<String>,
    /// Properties of new files.
    pub how: WriterProperties,
    /// Largest number of commits with their own file.
    pub most: usize,
    /// Settings that cannot be read back, as they were set.
    pub as_set: Vec<(&'static CStr, String)>,
}

impl Database {
    pub fn open(dir: PathBuf, tier: u32, memory: u64, given: &[(String, String)]) -> Done<Self> {
        let set = |name: &CStr, otherwise: &str| {
            let found = given.iter().find(|(known, _)| known.as_bytes() == name.to_bytes());
            found.map_or_else(|| otherwise.to_owned(), |(_, value)| value.clone())
        };
        let number = |name: &'static CStr, otherwise| {
            let number: Done<usize> =
                set(name, otherwise).parse().map_err(cannot(format!("set {name:?}")));
            number
        };
        // The same as in the engine `parquet`, so that both read the same files.
        let (compression, group) = (set(COMPRESSION, "snappy"), number(GROUP, "122880")?);
        let most = number(FILES, "100")?;
        let how = WriterProperties::builder()
            .set_compression(match &*compression {
                "zstd" => Compression::ZSTD(ZstdLevel::default()),
                "snappy" => Compression::SNAPPY,
                _ => Compression::UNCOMPRESSED,
            })
            .set_max_row_group_row_count(Some(group))
            .build();
        let mut config = SessionConfig::new();
        for name in [PARTITIONS, PUSHDOWN] {
            let value = set(name, "");
            if !value.is_empty() {
                config.options_mut().set(&name.to_string_lossy(), &value)?;
            }
        }
        // Nothing is spilled, because operators may use all the memory they need.
        let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled);
        let environment = RuntimeEnvBuilder::new()
            .with_metadata_cache_limit(usize::try_from(memory).unwrap_or(usize::MAX))
            .with_disk_manager_builder(disk)
            .build_arc()?;
        let state = SessionStateBuilder::new_with_default_features()
            .with_config(config)
            .with_runtime_env(environment)
            .build();
        let syncs = tier == abi::POWER;
        let fsync = if syncs { "on" } else { "off" };
        let mut database = Self {
            runtime: Runtime::new().map_err(cannot("start the threads of a runtime"))?,
            task: state.task_ctx(),
            state,
            folder: Folder { dir, syncs },
            tables: BTreeMap::new(),
            generation: 0,
            in_transaction: false,
            changed: None,
            how,
            most,
            as_set: vec![
                (c"fsync", fsync.to_owned()),
                (COMPRESSION, compression),
                (GROUP, group.to_string()),
                (FILES, most.to_string()),
            ],
        };
        for (name, parts) in database.folder.tables()? {
            let path = database.folder.file(&name, parts[0]);
            let file = File::open(&path).map_err(cannot(format!("open {}", path.display())))?;
            let schema = ParquetRecordBatchReaderBuilder::try_new(file)?.schema().clone();
            database.add(&name, schema, parts)?;
        }
        Ok(database)
    }

    /// Registers a table whose folder exists with DataFusion.
    pub fn add(&mut self, name: &str, schema: SchemaRef, parts: Vec<Part>) -> Done {
        let columns = Columns::new(schema.clone())?;
        // The URL of a folder ends with a slash.
        let folder = [self.folder.table(name).join("")];
        let source = Arc::new(Table::over(listing(&self.state, schema, &folder)?));
        self.names(name)?.register_table(name.to_owned(), source.clone())?;
        self.tables.insert(name.to_owned(), StoredTable { source, columns, parts });
        self.generation += 1;
        Ok(())
    }

    /// Returns the schema in which DataFusion looks for a table.
    fn names(&self, table: &str) -> Done<Arc<dyn SchemaProvider>> {
        Ok(self.state.schema_for_ref(TableReference::bare(table))?)
    }

    /// Removes a table from DataFusion. Returns whether it existed.
    pub fn remove(&mut self, name: &str) -> Done<bool> {
        if self.tables.remove(name).is_none() {
            return Ok(false);
        }
        self.names(name)?.deregister_table(name)?;
        self.generation += 1;
        Ok(true)
    }

    /// Makes DataFusion list folders again, as its own INSERT does.
    pub fn forget_listings(&self) {
        if let Some(cache) = self.state.runtime_env().cache_manager.get_list_files_cache() {
            cache.clear();
        }
    }

    /// Plans a query and starts it.
    pub fn ask(&self, plan: &LogicalPlan) -> Done<SendableRecordBatchStream> {
        let _runs = self.runtime.enter();
        let plan = self.runtime.block_on(self.state.create_physical_plan(plan))?;
        Ok(execute_stream(plan, self.task.clone())?)
    }

    /// Returns the table with this name.
    pub fn stored(&mut self, name: &str) -> Done<&mut StoredTable> {
        let found = self.tables.get_mut(name);
        found.ok_or_else(|| Failure::Failed(format!("unknown table {name}")))
    }
}
