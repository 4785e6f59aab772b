//! Contacts as points of a series store: the tag is the state, the time the id in nanoseconds, and
//! every other column a field, the id too.

use std::slice::Iter;

use embermark_contract::series::{FieldValue, Point, Points, TagValue};
use embermark_data::contacts::Contact;

use super::phase::Column;
use super::port::Stored;
use crate::row_source::RowSource;

type Tags<'a> = [(&'a str, TagValue<'a>); 1];

type Fields<'a> = [(&'a str, FieldValue<'a>); 8];

const NO_FIELDS: Fields<'static> = [("", FieldValue::Int(0)); 8];

const fn tags(state: &str) -> Tags<'_> {
    [(Column::State.name(), TagValue::Text(state))]
}

fn fields(contact: &Contact) -> Fields<'_> {
    let [lastname, firstname, street, city, _, zip, country, phone] =
        Stored::of(contact).texts.map(FieldValue::Text);
    [
        ("id", FieldValue::Int(contact.id)),
        ("lastname", lastname),
        ("firstname", firstname),
        ("street", street),
        ("city", city),
        ("zip", zip),
        ("country", country),
        ("phone", phone),
    ]
}

/// Hands the point of a contact to `write`.
pub(super) fn with_point<T>(contact: &Contact, write: impl FnOnce(&Point<'_>) -> T) -> T {
    let (tags, fields) = (tags(&contact.state), fields(contact));
    write(&Point { tags: &tags, fields: &fields, time_ns: contact.id })
}

/// Contacts on their way into a bulk load.
pub(super) struct Loaded<'a> {
    pub source: RowSource<'a, Contact>,
    tags: Tags<'a>,
    fields: Fields<'a>,
}

impl<'a> Loaded<'a> {
    pub(super) const fn new(source: RowSource<'a, Contact>) -> Self {
        Self { source, tags: tags(""), fields: NO_FIELDS }
    }
}

impl Points for Loaded<'_> {
    fn next(&mut self) -> Option<Point<'_>> {
        let contact = self.source.advance()?;
        (self.tags, self.fields) = (tags(&contact.state), fields(contact));
        Some(Point { tags: &self.tags, fields: &self.fields, time_ns: contact.id })
    }
}

/// Contacts written again under the fresh state. What they were before is another point.
pub(super) struct Moved<'a> {
    contacts: Iter<'a, Contact>,
    tags: Tags<'a>,
    fields: Fields<'a>,
}

impl<'a> Moved<'a> {
    pub(super) fn new(contacts: &'a [Contact]) -> Self {
        let tags = tags(Column::State.fresh());
        Self { contacts: contacts.iter(), tags, fields: NO_FIELDS }
    }
}

impl Points for Moved<'_> {
    fn next(&mut self) -> Option<Point<'_>> {
        let contact = self.contacts.next()?;
        self.fields = fields(contact);
        Some(Point { tags: &self.tags, fields: &self.fields, time_ns: contact.id })
    }
}

/// The fresh zip of contacts in the chosen state: a point written again keeps its other fields.
pub(super) struct Refreshed<'a> {
    ids: Iter<'a, i64>,
    tags: Tags<'a>,
    zip: [(&'a str, FieldValue<'a>); 1],
}

impl<'a> Refreshed<'a> {
    pub(super) fn new(ids: &'a [i64]) -> Self {
        let zip = [(Column::Zip.name(), FieldValue::Text(Column::Zip.fresh()))];
        Self { ids: ids.iter(), tags: tags(Column::State.chosen()), zip }
    }
}

impl Points for Refreshed<'_> {
    fn next(&mut self) -> Option<Point<'_>> {
        let time_ns = *self.ids.next()?;
        Some(Point { tags: &self.tags, fields: &self.zip, time_ns })
    }
}
