//! What a store must hold, from the rows alone.

use std::collections::HashMap;

use embermark_data::dogs::Dog;
use embermark_model::answer::{Answer, Difference, Expected};
use embermark_model::fingerprint::Checksum;

use super::port::{Attribute, Dogs, Stored};
use super::variant::Indexes;
use crate::{CheckError, first};

/// Compares a whole store with the first `ops` of the rows.
pub(super) fn contents(store: &mut dyn Dogs, dogs: &[Dog], ops: u64) -> Result<(), CheckError> {
    let mut missing: HashMap<&str, &Dog> = dogs.iter().map(|dog| (&*dog.id, dog)).collect();
    let (mut stored, mut difference) = (0, None);
    store.contents(&mut |got| {
        stored += 1;
        if difference.is_none() {
            let known = missing.remove(got.id);
            difference = (known.map(Stored::of).as_ref() != Some(got))
                .then(|| format!("found {got:?}, expected {known:?}"));
        }
    })?;
    match difference {
        Some(text) => Err(Difference(text).into()),
        None if stored == ops => Ok(()),
        None => {
            let text = format!("expected {ops} rows in the store, found {stored}");
            Err(Difference(text).into())
        }
    }
}

/// Checks that the engine has the indexes that there are to be, and that each finds the rows of some
/// dogs' attributes among the first `ops`. What a bulk path inserted in another order is not asked.
pub(super) fn indexes(
    store: &mut dyn Dogs,
    wanted: Indexes,
    dogs: &[Dog],
    ops: u64,
) -> Result<(), CheckError> {
    if wanted == Indexes::None {
        return Ok(());
    }
    let known = store.indexed()?;
    let inserted = first(dogs, ops);
    let asked = [0, inserted.len() / 2, inserted.len().saturating_sub(1)];
    for by in Attribute::ALL {
        let column = by.column();
        if !known.contains(&by) {
            return Err(Difference(format!("the engine has no index of {column}")).into());
        }
        for dog in asked.into_iter().filter_map(|place| inserted.get(place)) {
            let same = inserted.iter().filter(|other| by.same(dog, other));
            let expected: Checksum = same.map(|dog| Stored::of(dog).fingerprint()).collect();
            let mut found = Checksum::default();
            store.find(by, dog, &mut |got| found += got.fingerprint())?;
            let wrong = |Difference(why)| Difference(format!("{column} of {dog:?}: {why}"));
            Expected::Checksum(expected).check(&Answer::Checksum(found)).map_err(wrong)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
