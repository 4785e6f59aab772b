//! Decides which separators the numbers of a file have, from all of its columns.

use embermark_model::table::{ColumnType, Literal, RowsFile};

use super::guess::Guess;
use super::guess::field_type::{Comma, FieldType, Separators};
use super::{Survey, count_names};
use crate::table::source::Source;

/// A field's statistics, and the type that follows from them.
type Typed<'a> = (&'a Guess, FieldType);

/// Returns the types of all fields, and adds the reader's options for their separators. A file has
/// one way to write numbers: if columns differ, those with commas are texts.
pub(super) fn field_types(
    source: &Source,
    survey: &Survey,
    from: &mut RowsFile,
    notes: &mut Vec<String>,
) -> Vec<FieldType> {
    let is_comma = source.dialect.as_ref().is_some_and(|dialect| dialect.delimiter == ",");
    let first = if is_comma { Separators::DecimalPoints } else { Separators::Unknown };
    let types = |separators| -> Vec<Typed<'_>> {
        let fields = source.fields().iter().zip(&survey.guesses);
        fields.map(|(field, guess)| (guess, guess.field_type(&field.name, separators))).collect()
    };
    let mut found = types(first);
    let has_commas = found.iter().any(has_decimal_commas);
    let has_points =
        found.iter().any(|typed| has_decimal_points(typed) || has(typed, Comma::Thousands));
    let separators = match (has_commas, has_points) {
        (true, false) => Separators::DecimalCommas,
        (false, true) => Separators::DecimalPoints,
        _ => first,
    };
    if separators != first {
        found = types(separators);
    }
    let names = source.fields().iter().map(|field| &*field.name);
    notes.extend(
        names.clone().zip(&found).filter_map(|(name, typed)| doubt(name, typed, separators)),
    );
    let is_regrouped =
        |typed: &Typed<'_>| has(typed, Comma::Decimal) && typed.0.may_group_by_points();
    let regrouped: Vec<_> = names
        .zip(&found)
        .filter(|(_, typed)| is_regrouped(typed))
        .map(|(name, _)| name.to_owned())
        .collect();
    if !regrouped.is_empty() {
        notes.push(format!(
            "{}: points separate thousands, because other columns have decimal commas",
            count_names(&regrouped)
        ));
    }
    set_separators(&mut found, !regrouped.is_empty(), from);
    found.into_iter().map(|(_, found)| found).collect()
}

fn has((_, found): &Typed<'_>, comma: Comma) -> bool {
    found.comma == Some(comma)
}

/// Whether commas begin fractions for certain.
fn has_decimal_commas(typed: &Typed<'_>) -> bool {
    has(typed, Comma::Decimal) && !typed.0.has_doubtful_commas()
}

/// Whether there are numbers with a fraction, and no commas.
fn has_points((_, found): &Typed<'_>) -> bool {
    found.comma.is_none() && found.of == ColumnType::Float
}

/// Whether points begin fractions for certain.
fn has_decimal_points(typed: &Typed<'_>) -> bool {
    has_points(typed) && typed.0.has_decimal_points()
}

/// Adds the options for separators, or makes columns texts that contradict others.
fn set_separators(found: &mut [Typed<'_>], has_groups: bool, from: &mut RowsFile) {
    let mut give = |name: &str, sign: &str| {
        from.read.push((name.to_owned(), Literal::Text(sign.to_owned())));
    };
    let any = |comma| found.iter().any(|typed| has(typed, comma));
    let (decimal, thousands) = (any(Comma::Decimal), any(Comma::Thousands));
    let is_point = |typed: &Typed<'_>| {
        has_points(typed) && (typed.0.has_decimal_points() || typed.0.may_group_by_points())
    };
    if decimal && (thousands || found.iter().any(is_point)) {
        for (_, found) in found.iter_mut().filter(|(_, found)| found.comma.is_some()) {
            found.of = ColumnType::Text;
            found.absent.clear();
        }
    } else if decimal {
        give("decimal_separator", ",");
        if has_groups || found.iter().any(|(guess, _)| guess.points > 0) {
            give("thousands", ".");
        }
    } else if thousands {
        give("thousands", ",");
    }
}

/// Notes that all numbers of a field have three digits after a single separator, if nothing in the
/// file decides whether it begins a fraction or separates thousands, or that its texts have several
/// groups of three digits.
fn doubt(name: &str, typed: &Typed<'_>, separators: Separators) -> Option<String> {
    let (guess, found) = typed;
    if found.of == ColumnType::Text && guess.has_only_point_groups() {
        let example = guess.texts().find(|text| text.contains('.'))?;
        return Some(format!(
            "{name}: texts such as {example} may be numbers with points between thousands: then write \
             thousands = \".\" in read, and \"i64\""
        ));
    }
    let is_comma = found.comma == Some(Comma::Decimal) && guess.has_doubtful_commas();
    let is_point = has_points(typed) && guess.may_group_by_points();
    let sign = match separators {
        Separators::Unknown if is_comma => ',',
        Separators::Unknown if is_point => '.',
        _ => return None,
    };
    let example = guess.texts().find(|text| text.contains(sign))?;
    let instead = if is_comma { " instead of decimal_separator" } else { "" };
    Some(format!(
        "{name}: numbers such as {example} are read with a fraction, but may be a thousand times \
         larger: if {sign:?} separates thousands, write thousands = \"{sign}\"{instead} in read"
    ))
}
