//! A table for DataFusion: the files of a folder, and the rows of the open transaction.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::datasource::TableType;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::union::UnionExec;

/// Returns Parquet files, or folders of them, as DataFusion's own kind of table, which reads them
/// by its configuration.
pub(crate) fn listing(
    state: &SessionState,
    schema: SchemaRef,
    paths: &[impl AsRef<Path>],
) -> Result<ListingTable> {
    let urls = paths.iter().map(|path| ListingTableUrl::parse(path.as_ref().to_string_lossy()));
    let format = ParquetFormat::default().with_options(state.default_table_options().parquet);
    let options = ListingOptions::new(Arc::new(format)).with_file_extension(".parquet");
    let config = ListingTableConfig::new_with_multi_paths(urls.collect::<Result<_>>()?)
        .with_listing_options(options)
        .with_schema(schema);
    let cache = state.runtime_env().cache_manager.get_file_statistic_cache();
    Ok(ListingTable::try_new(config)?.with_cache(cache))
}

/// A table.
#[derive(Debug)]
pub(crate) struct Table {
    files: ListingTable,
    /// Rows of the open transaction.
    new: Mutex<Vec<RecordBatch>>,
}

impl Table {
    pub const fn over(files: ListingTable) -> Self {
        Self { files, new: Mutex::new(Vec::new()) }
    }

    /// Returns the rows of the open transaction.
    pub fn new_rows(&self) -> MutexGuard<'_, Vec<RecordBatch>> {
        self.new.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl TableProvider for Table {
    fn schema(&self) -> SchemaRef {
        self.files.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        self.files.supports_filters_pushdown(filters)
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let files = self.files.scan(state, projection, filters, limit).await?;
        let new = self.new_rows().clone();
        if new.is_empty() {
            return Ok(files);
        }
        let new = MemorySourceConfig::try_new_exec(&[new], self.schema(), projection.cloned())?;
        UnionExec::try_new(vec![files, new])
    }
}
