//! The whole content of a store, compared with the rows that must be there.

use embermark_contract::Result;
use embermark_model::answer::Difference;

use super::port::RetentionLog;
use super::rows::Rows;

/// Compares every row with the one that must be there when so many have come in: none is missing, none is
/// too many, each is right. `None` where it is so.
///
/// # Errors
/// When the store cannot be read.
pub(super) fn wrong(
    log: &mut dyn RetentionLog,
    rows: &Rows,
    came: u64,
) -> Result<Option<Difference>> {
    let there = rows.there(came);
    let mut seen = vec![false; (there.end - there.start) as usize];
    let mut first = None;
    log.visit(&mut |row| {
        let number = rows.number_of(row.time_ms, row.sensor).filter(|n| there.contains(n));
        let what = match number {
            None => Some(format!("a row that must not be there: {row:?}")),
            Some(number) if rows.row(number) != row => {
                Some(format!("row {number} is {row:?} and must be {:?}", rows.row(number)))
            }
            Some(number) => {
                let twice = std::mem::replace(&mut seen[(number - there.start) as usize], true);
                twice.then(|| format!("row {number} is there twice"))
            }
        };
        if first.is_none() {
            first = what;
        }
        Ok(())
    })?;
    let missing = seen.iter().filter(|seen| !**seen).count();
    let absent = (missing > 0).then(|| {
        let at = seen.iter().position(|seen| !seen).unwrap_or(0) as u64 + there.start;
        format!("{missing} of {} rows are missing, row {at} first", seen.len())
    });
    Ok(first.or(absent).map(Difference))
}
