//! Two columns of one run, and some columns of several, as results to judge.

use embermark_model::CellId;
use embermark_model::choice;
use embermark_model::result::ResultFile;

use crate::text;

/// Two columns of one result as two results, whose cells have the name of the new one.
///
/// # Errors
/// When the result has no such column, with those that it has.
pub fn columns(file: &ResultFile, old: &str, new: &str) -> Result<[ResultFile; 2], String> {
    let of = |column: &str| {
        has(file, column)?;
        let mut own = file.clone();
        own.cells.retain(|cell| cell.id.engine == column);
        for cell in &mut own.cells {
            cell.id = CellId { engine: new.to_owned(), ..cell.id.clone() };
        }
        Ok::<_, String>(own)
    };
    Ok([of(old)?, of(new)?])
}

/// A result with these columns alone, and the references, which tell what became of the machine.
///
/// # Errors
/// When the result has no such column, with those that it has.
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
