//! The types of the site's data files, for the site.

use ts_rs::TypeVisitor;

use super::cells::Cells;
use super::figures::Figures;
use super::gathered::{History, Table};
use super::index::{Index, VERSION};
use super::result::ResultData;
use super::snippets::Snippet;
use crate::html;
use crate::typescript::Declarations;

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
    let about = "What the site's data files hold. Groups, engines, machines and results have numbers: \
                 their places in the index.";
    declarations.assert_written("page/src/site/data.ts", about, VERSION, "../data");
}
