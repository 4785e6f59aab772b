//! Selects what a gate judges: two columns of one run, or some columns of several.

use embermark_model::choice;
use embermark_model::result::ResultFile;

use crate::text;

/// Splits two columns of one result into two results, whose cells have the new column's name.
///
/// # Errors
/// If the result has no such column. The error lists those that it has.
pub fn columns(file: &ResultFile, old: &str, new: &str) -> Result<[ResultFile; 2], String> {
    let of = |column: &str| {
        has(file, column)?;
        let mut own = file.clone();
        own.cells.retain(|cell| cell.id.engine == column);
        for cell in &mut own.cells {
            cell.id.engine = new.to_owned();
        }
        Ok::<_, String>(own)
    };
    Ok([of(old)?, of(new)?])
}

/// Keeps only these columns of a result, and the references, which show how the machine changed.
///
/// # Errors
/// If the result has no such column. The error lists those that it has.
pub fn only(mut file: ResultFile, columns: &[String]) -> Result<ResultFile, String> {
    columns.iter().try_for_each(|column| has(&file, column))?;
    file.cells.retain(|cell| cell.reference || columns.contains(&cell.id.engine));
    Ok(file)
}

fn has(file: &ResultFile, column: &str) -> Result<(), String> {
    let columns = text::unique(file.cells.iter().map(|cell| cell.id.engine.as_str()));
    match columns.contains(&column) {
        true => Ok(()),
        false => Err(choice::unknown("column of the result", column, columns).to_string()),
    }
}
