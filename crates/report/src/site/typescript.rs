//! TypeScript types of the site's data files.

use ts_rs::TypeVisitor;

use super::cells::Cells;
use super::figures::Figures;
use super::index::{Index, VERSION};
use super::result::ResultData;
use super::snippets::Snippet;
use super::summaries::{History, Table};
use crate::html;
use crate::tests::typescript::Declarations;

#[test]
fn the_types_of_the_site_are_those_of_its_data_files() {
    let mut declarations = Declarations::importing(&html::typescript::declarations());
    declarations.visit::<Index>();
    declarations.visit::<Figures>();
    declarations.visit::<Cells>();
    declarations.visit::<ResultData>();
    declarations.visit::<Snippet>();
    declarations.visit::<Table>();
    declarations.visit::<History<'static>>();
    let about = "Data files of the site. They name groups, engines, machines and results by their indexes in \
                 the index file.";
    declarations.assert_written("page/src/site/data.ts", about, VERSION, "../data");
}
