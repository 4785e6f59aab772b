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
mod tests;
