//! Columns of a result by the language that they are used from.

use std::borrow::Cow;

use embermark_model::result::{Cell, ResultFile};
use embermark_model::{Client, Conditions};

use crate::text;

/// One language, and the columns of a result that are used from it.
pub(super) struct Language<'a> {
    /// Name, like `python`. `None` is embermark itself.
    pub name: Option<String>,
    /// Its clients, as on the command line.
    pub clients: Vec<String>,
    /// The result with only these columns and the reference engines.
    pub file: Cow<'a, ResultFile>,
}

/// Returns every language of a result: embermark itself first, then in the order of the columns.
/// Reference engines are not candidates, and every language has them.
pub(super) fn by_language(file: &ResultFile) -> Vec<Language<'_>> {
    let plan = &file.plan;
    let candidates = || file.cells.iter().filter(|cell| !cell.reference);
    let mut names = text::unique(candidates().map(|cell| plan.language_of(&cell.id.engine)));
    names.sort_by_key(|name| *name != Client::NATIVE);
    let is_alone = names.len() < 2;
    let language = |name: &str| {
        let own = |column: &str| plan.language_of(column) == name;
        let columns = text::unique(candidates().map(|cell| &*cell.id.engine));
        let clients = columns.into_iter().filter(|column| own(column));
        let clients = clients.filter_map(|column| Some(plan.client_of(column)?.to_string()));
        let file = if is_alone { Cow::Borrowed(file) } else { Cow::Owned(with_columns(file, own)) };
        let clients = text::unique(clients);
        Language { name: (name != Client::NATIVE).then(|| name.to_owned()), clients, file }
    };
    match names.is_empty() {
        true => vec![language(Client::NATIVE)],
        false => names.into_iter().map(language).collect(),
    }
}

/// Returns a result with some of its columns and the reference engines.
fn with_columns(file: &ResultFile, own: impl Fn(&str) -> bool) -> ResultFile {
    let is_kept = |cell: &&Cell| cell.reference || own(&cell.id.engine);
    let cells: Vec<Cell> = file.cells.iter().filter(is_kept).cloned().collect();
    let mut plan = file.plan.clone();
    plan.engines.retain(|column| cells.iter().any(|cell| cell.id.engine == *column));
    ResultFile { schema: file.schema, manifest: file.manifest.clone(), plan, cells }
}

impl<'a> Language<'a> {
    /// Treats all columns of a result as if they were of one language.
    pub fn all(file: &'a ResultFile) -> Self {
        Self { name: None, clients: Vec::new(), file: Cow::Borrowed(file) }
    }

    /// Whether a candidate was measured under one of these conditions, or under any if there are
    /// none.
    pub fn has_cells(&self, conditions: &[Conditions]) -> bool {
        let mut cells = self.file.cells.iter().filter(|cell| !cell.reference);
        cells.any(|cell| {
            conditions.is_empty() || conditions.contains(&cell.id.extent().conditions())
        })
    }
}
