//! TypeScript types of the page's data.

use ts_rs::TypeVisitor;

use super::data::{Page, VERSION};
use crate::scaling::{SeriesId, Within};
use crate::tests::typescript::Declarations;

pub(crate) fn declarations() -> Declarations {
    let mut declarations = Declarations::new();
    declarations.visit::<Page<'static>>();
    // Only flattened into others, and named by the page.
    declarations.visit::<Within<'static>>();
    declarations.visit::<SeriesId<'static>>();
    declarations
}

#[test]
fn the_types_of_the_page_are_those_of_what_it_is_given() {
    declarations().assert_written("page/src/data.ts", "Data of the page.", VERSION, "");
}
