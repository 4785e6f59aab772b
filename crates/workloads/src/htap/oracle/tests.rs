use embermark_contract::{Lifecycle, Result};
use embermark_data::dogs;
use embermark_meter::Meter;

use super::super::port::Visit;
use super::*;
use crate::Strategy;

/// What a store does wrong with its indexes.
#[derive(Clone, Copy, PartialEq)]
enum Lie {
    None,
    /// It has no index of the breed.
    LacksOne,
    /// A search misses the last row.
    Misses,
    /// A search finds one more.
    Invents,
    /// A search by age finds by name.
    MixesUp,
}

struct Memory {
    dogs: Vec<Dog>,
    lie: Lie,
}

impl Lifecycle for Memory {
    fn maintain(&mut self) -> Result<()> {
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl Dogs for Memory {
    fn clear(&mut self) -> Result<()> {
        self.dogs.clear();
        Ok(())
    }

    fn insert(&mut self, dogs: &[Dog], _: Strategy, meter: &mut Meter) -> Result<()> {
        self.dogs.extend(dogs);
        meter.count(dogs.len() as u64);
        Ok(())
    }

    fn count(&mut self) -> Result<u64> {
        Ok(self.dogs.len() as u64)
    }

    fn contents(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        self.dogs.iter().for_each(|dog| visit(&Stored::of(dog)));
        Ok(())
    }

    fn indexed(&mut self) -> Result<Vec<Attribute>> {
        let all = Attribute::ALL.into_iter();
        Ok(all.filter(|of| self.lie != Lie::LacksOne || *of != Attribute::Breed).collect())
    }

    fn find(&mut self, by: Attribute, dog: &Dog, visit: &mut Visit<'_>) -> Result<()> {
        let by = match by {
            Attribute::Age if self.lie == Lie::MixesUp => Attribute::Name,
            by => by,
        };
        let mut found: Vec<&Dog> = self.dogs.iter().filter(|other| by.same(dog, other)).collect();
        match self.lie {
            Lie::Misses => drop(found.pop()),
            Lie::Invents => found.push(&self.dogs[1]),
            _ => {}
        }
        found.into_iter().for_each(|dog| visit(&Stored::of(dog)));
        Ok(())
    }

    fn store(&mut self) -> &mut dyn Lifecycle {
        self
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

fn said(lie: Lie, wanted: Indexes) -> Option<String> {
    let dogs: Vec<Dog> = dogs::generate(500, 1).collect();
    // A run that ended at its cap: 400 of the rows.
    let mut store = Memory { dogs: dogs[..400].to_vec(), lie };
    contents(&mut store, &dogs, 400).unwrap();
    indexes(&mut store, wanted, &dogs, 400).err().map(|error| error.to_string())
}

#[test]
fn indexes_that_lack_or_that_find_other_rows_are_wrong() {
    assert_eq!(said(Lie::None, Indexes::Every), None);
    assert_eq!(
        said(Lie::LacksOne, Indexes::Every).as_deref(),
        Some("wrong answer: the engine has no index of breed")
    );
    for (lie, column) in [(Lie::Misses, "name"), (Lie::Invents, "name"), (Lie::MixesUp, "age")] {
        let said = said(lie, Indexes::Every).unwrap();
        assert!(said.starts_with(&format!("wrong answer: {column} of Dog")), "{said}");
    }
}

#[test]
fn indexes_that_nobody_asked_for_are_not_looked_at() {
    assert_eq!(said(Lie::LacksOne, Indexes::None), None);
}

#[test]
fn a_row_too_few_too_many_or_changed_is_found_in_the_contents() {
    let dogs: Vec<Dog> = dogs::generate(10, 1).collect();
    let wrong = |dogs_there: Vec<Dog>, ops| {
        let mut store = Memory { dogs: dogs_there, lie: Lie::None };
        contents(&mut store, &dogs, ops).is_err()
    };
    assert!(!wrong(dogs.clone(), 10));
    assert!(wrong(dogs[1..].to_vec(), 10));
    assert!(wrong(dogs.clone(), 9));
    assert!(wrong([&dogs[..9], &dogs[..1]].concat(), 10));
    let older = Dog { age: dogs[0].age + 1, ..dogs[0] };
    assert!(wrong([&[older], &dogs[1..]].concat(), 10));
}
