//! Contacts of an address book, made from a seed: the table of the McKnight comparison of embedded
//! databases, whose column widths these are.

use std::fmt::Write;

use arrayvec::ArrayString;
use fake::locales::{Data, EN};

use crate::draw::{Deal, Draw};

/// Rows of the published table.
pub const PUBLISHED_ROWS: u64 = 25_000;

/// The state of exactly two fifths of the contacts, rounded down, and of no other.
pub const CHOSEN_STATE: &str = "TX";

/// The zip code of exactly one fifth of the contacts, rounded down, and of no other.
pub const CHOSEN_ZIP: &str = "78701-2019";

/// A contact. Lengths are the most bytes of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contact {
    /// The primary key: from 1 on.
    pub id: i64,
    /// 25.
    pub lastname: ArrayString<25>,
    /// 25.
    pub firstname: ArrayString<25>,
    /// 30.
    pub street: ArrayString<30>,
    /// 30.
    pub city: ArrayString<30>,
    /// 2: the column with an index.
    pub state: ArrayString<2>,
    /// 10: the column without one.
    pub zip: ArrayString<10>,
    /// 20.
    pub country: ArrayString<20>,
    /// 13.
    pub phone: ArrayString<13>,
}

impl Contact {
    /// Bytes of its values: a key of 64 bits, and texts as long as they are in UTF-8.
    pub const fn value_bytes(&self) -> u64 {
        let Self { id: _, lastname, firstname, street, city, state, zip, country, phone } = self;
        let names = lastname.len() + firstname.len() + street.len() + city.len();
        8 + (names + state.len() + zip.len() + country.len() + phone.len()) as u64
    }
}

/// Makes contacts 1 to `rows`. Names, streets, states and countries are from the crate `fake`'s
/// English lists; the same rows and seed give the same contacts on every platform.
pub fn generate(rows: u64, seed: u64) -> impl Iterator<Item = Contact> {
    let mut draw = Draw::new(seed, 1);
    let mut in_state = Deal { of: rows * 2 / 5, left: rows };
    let mut in_zip = Deal { of: rows / 5, left: rows };
    (1..=rows).map(move |id| {
        let chosen = in_state.next(&mut draw);
        let state = if chosen { CHOSEN_STATE } else { other_state(&mut draw) };
        let zip = if in_zip.next(&mut draw) { cut(CHOSEN_ZIP) } else { other_zip(&mut draw) };
        Contact {
            id: id.cast_signed(),
            lastname: cut(draw.one(EN::NAME_LAST_NAME)),
            firstname: cut(draw.one(EN::NAME_FIRST_NAME)),
            street: street(&mut draw),
            city: city(&mut draw),
            state: cut(state),
            zip,
            country: cut("United States"),
            phone: digits(&mut draw, "+1-", 10),
        }
    })
}

/// As much of a text as the column holds. The lists are ASCII, so any byte is a place to cut.
fn cut<const WIDTH: usize>(text: &str) -> ArrayString<WIDTH> {
    let mut column = ArrayString::new();
    let fits = text.get(..text.len().min(WIDTH)).unwrap_or_default();
    column.push_str(fits);
    column
}

fn other_state(draw: &mut Draw) -> &'static str {
    loop {
        let state = draw.one(EN::ADDRESS_STATE_ABBR);
        if state != CHOSEN_STATE {
            return state;
        }
    }
}

fn other_zip(draw: &mut Draw) -> ArrayString<10> {
    loop {
        let mut zip: ArrayString<10> = digits(draw, "", 5);
        let tail: ArrayString<5> = digits(draw, "-", 4);
        zip.push_str(&tail);
        if &zip != CHOSEN_ZIP {
            return zip;
        }
    }
}

fn street(draw: &mut Draw) -> ArrayString<30> {
    let (number, name) = (draw.below(9_999) + 1, draw.one(EN::NAME_LAST_NAME));
    let mut street = ArrayString::new();
    // What does not fit is cut off.
    let _ = write!(street, "{number} {name} {}", draw.one(EN::ADDRESS_STREET_SUFFIX));
    street
}

fn city(draw: &mut Draw) -> ArrayString<30> {
    let mut city = ArrayString::new();
    let (name, suffix) = (draw.one(EN::NAME_LAST_NAME), draw.one(EN::ADDRESS_CITY_SUFFIX));
    let _ = write!(city, "{name}{suffix}");
    city
}

fn digits<const WIDTH: usize>(draw: &mut Draw, head: &str, digits: usize) -> ArrayString<WIDTH> {
    let mut text = cut(head);
    let mut bits = draw.bits() >> 11;
    for _ in 0..digits {
        text.push(char::from(b'0' + (bits % 10) as u8));
        bits /= 10;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_state_and_zip_are_carried_by_exactly_the_published_shares() {
        for (rows, state, zip) in [(25_000, 10_000, 5_000), (1_000, 400, 200), (7, 2, 1), (1, 0, 0)]
        {
            let contacts: Vec<Contact> = generate(rows, 42).collect();
            let count = |carries: &dyn Fn(&Contact) -> bool| {
                contacts.iter().filter(|contact| carries(contact)).count()
            };
            assert_eq!(contacts.len() as u64, rows);
            assert_eq!(count(&|c| &c.state == CHOSEN_STATE), state);
            assert_eq!(count(&|c| &c.zip == CHOSEN_ZIP), zip);
        }
    }

    #[test]
    fn contacts_look_like_contacts_and_differ() {
        let contacts: Vec<Contact> = generate(2_000, 7).collect();
        for (i, contact) in contacts.iter().enumerate() {
            assert_eq!(contact.id, i as i64 + 1);
            assert!(contact.lastname.len() > 1 && contact.firstname.len() > 1);
            assert!(contact.street.contains(' ') && !contact.city.is_empty());
            assert_eq!((contact.state.len(), contact.zip.len(), contact.phone.len()), (2, 10, 13));
        }
        let mut states: Vec<_> = contacts.iter().map(|contact| contact.state).collect();
        states.sort_unstable();
        states.dedup();
        assert!(states.len() > 40, "{}", states.len());
        assert_ne!(contacts[0].lastname, contacts[1].lastname);
    }

    #[test]
    fn the_seed_alone_decides() {
        let made = |seed| generate(100, seed).collect::<Vec<_>>();
        assert_eq!(made(1), made(1));
        assert_ne!(made(1), made(2));
    }

    #[test]
    fn a_contact_weighs_its_key_and_its_texts() {
        let contact = generate(1, 42).next().unwrap();
        let texts = format!(
            "{}{}{}{}{}{}{}{}",
            contact.lastname,
            contact.firstname,
            contact.street,
            contact.city,
            contact.state,
            contact.zip,
            contact.country,
            contact.phone
        );
        assert_eq!(contact.value_bytes(), 8 + texts.len() as u64);
    }
}
