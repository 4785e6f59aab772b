//! Reads how the values of a generated column are described.

use embermark_model::table::{ColumnType, Late, MakeKind};

use crate::constant;
use crate::definition::SKEW;
use crate::node::{Fields, Node};

/// Values of `make`.
const MAKERS: [&str; 9] =
    ["sequence", "cycle", "random", "words", "hashed", "uuid", "walk", "choice", "reference"];

/// 2024-01-01 UTC in seconds: the beginning of generated times.
const FIRST_TIME: i64 = 1_704_067_200;

/// Reads the keys besides `make`.
pub fn read(fields: &Fields<'_>, of: ColumnType, tables: &[&str]) -> Option<MakeKind> {
    let maker = fields.get("make")?.place_in("kind of made values", MAKERS.into_iter())?;
    let only = |keys: &[&str]| {
        fields.only(&[&["type", "unit", "make", "absent", "often"], keys].concat());
    };
    match MAKERS[maker] {
        "sequence" => {
            only(&["from", "step", "repeat", "late"]);
            sequence(fields, of)
        }
        "cycle" => {
            only(&["from", "distinct"]);
            check_type(fields, of, "counts up", matches!(of, ColumnType::Int { .. }))?;
            let from = fields.or("from", 0, |node| constant::int(&node, of));
            let distinct = fields.need("distinct", "distinct = 100", |node| node.count());
            Some(MakeKind::Cycle { from: from?, distinct: distinct? })
        }
        "random" => match of {
            ColumnType::Text | ColumnType::Bytes => {
                only(&["length"]);
                let (from, to) =
                    fields.need("length", "length = 100 or [1, 100]", |node| span(&node))?;
                Some(MakeKind::Random { from, to })
            }
            _ => {
                only(&["from", "to"]);
                random(fields, of)
            }
        },
        "words" => {
            only(&["distinct", "skew"]);
            let is_text = matches!(of, ColumnType::Text | ColumnType::Bytes);
            check_type(fields, of, "makes texts", is_text)?;
            let distinct = fields.need("distinct", "distinct = 500", |node| node.count());
            let skew = skew(fields, 0.0);
            Some(MakeKind::Words { distinct: distinct?, skew: skew? })
        }
        "hashed" => {
            only(&["prefix"]);
            check_type(fields, of, "makes texts", of == ColumnType::Text)?;
            let prefix = fields.or("prefix", "", |node| node.text())?.to_owned();
            Some(MakeKind::Hashed { prefix })
        }
        "uuid" => {
            only(&[]);
            check_type(fields, of, "makes texts", of == ColumnType::Text)?;
            Some(MakeKind::Uuid)
        }
        "walk" => {
            only(&["from", "step", "lowest", "highest"]);
            let is_number = matches!(of, ColumnType::Int { .. } | ColumnType::Float);
            check_type(fields, of, "makes numbers", is_number)?;
            walk(fields, of)
        }
        "choice" => {
            only(&["values", "weights"]);
            choice(fields, of)
        }
        // "reference"
        _ => {
            only(&["to", "skew"]);
            let table = fields.need("to", "to = \"customers\"", |node| {
                node.place_in("table", tables.iter().copied())
            });
            let skew = skew(fields, 0.0);
            Some(MakeKind::Reference { table: table?, skew: skew? })
        }
    }
}

/// Adds a mistake if a maker cannot generate values of the type.
fn check_type(fields: &Fields<'_>, of: ColumnType, does: &str, can: bool) -> Option<()> {
    if can {
        return Some(());
    }
    let node = fields.get("make")?;
    let name = node.text()?;
    node.labelled(format!("'{name}' {does}"), format!("and the column is {of}"), "")
}

fn sequence(fields: &Fields<'_>, of: ColumnType) -> Option<MakeKind> {
    let counts = matches!(of, ColumnType::Int { .. } | ColumnType::Timestamp(_));
    check_type(fields, of, "counts up", counts)?;
    let (first, second) = match of {
        ColumnType::Timestamp(unit) => (FIRST_TIME * unit.per_second(), unit.per_second()),
        _ => (0, 1),
    };
    let step_of = |node: Node<'_>| match of {
        ColumnType::Timestamp(_) => constant::length(&node, of),
        _ => match node.integer()? {
            0 => node.mistake("a sequence without progress", "a step above or below 0"),
            step => Some(step),
        },
    };
    let from = fields.or("from", first, |node| constant::int(&node, of));
    let step = fields.or("step", second, step_of);
    let repeat = fields.or("repeat", 1, |node| node.count());
    Some(MakeKind::Sequence { from: from?, step: step?, repeat: repeat? })
}

/// Reads how much later than their time rows arrive: `"10m"` for all of them, or `{ share = "5%",
/// within = "10m" }`.
pub fn late(node: &Node<'_>, of: ColumnType) -> Option<Late> {
    if !matches!(of, ColumnType::Timestamp(_)) {
        return node.labelled("only a time is late", format!("and the column is {of}"), "");
    }
    if node.as_text().is_some() {
        return Some(Late { share: 1.0, within: constant::length(node, of)? });
    }
    let fields = node.fields(&["share", "within"])?;
    let share = fields.need("share", "share = \"5%\"", |node| node.share());
    let within = fields.need("within", "within = \"10m\"", |node| constant::length(&node, of));
    Some(Late { share: share?, within: within? })
}

fn random(fields: &Fields<'_>, of: ColumnType) -> Option<MakeKind> {
    if of == ColumnType::Float {
        let from = fields.or("from", 0.0, |node| node.number());
        let to = fields.or("to", 1.0, |node| node.number());
        let (from, to) = (from?, to?);
        ordered(fields, from < to)?;
        return Some(MakeKind::RandomFloat { from, to });
    }
    let int = |node: Node<'_>| constant::int(&node, of);
    let (from, to) = match of {
        ColumnType::Timestamp(_) => (
            fields.need("from", "from = \"2024-01-01\"", int),
            fields.need("to", "to = \"2024-12-31\"", int),
        ),
        _ => {
            let (least, greatest) = constant::limits(of);
            (fields.or("from", least, int), fields.or("to", greatest, int))
        }
    };
    let (from, to) = (from?, to?);
    ordered(fields, from <= to)?;
    Some(MakeKind::RandomInt { from, to })
}

fn ordered(fields: &Fields<'_>, are: bool) -> Option<()> {
    if are {
        return Some(());
    }
    let node = fields.get("to").or_else(|| fields.get("from"))?;
    node.mistake("'from' is not below 'to'", "")
}

fn walk(fields: &Fields<'_>, of: ColumnType) -> Option<MakeKind> {
    let number = |node: Node<'_>| match of {
        ColumnType::Float => node.number(),
        _ => constant::int(&node, of).map(|value| value as f64),
    };
    let lowest = fields.need("lowest", "lowest = 0", number);
    let highest = fields.need("highest", "highest = 40", number);
    let from = fields.maybe("from", number);
    let step = fields.maybe("step", |node| node.number());
    let (lowest, highest) = (lowest?, highest?);
    let from = from?.unwrap_or(lowest + (highest - lowest) / 2.0);
    let step = step?.unwrap_or((highest - lowest) / 100.0);
    if !(lowest < highest && (lowest..=highest).contains(&from) && step > 0.0) {
        return fields.mistake(
            "a walk that goes nowhere",
            "'lowest' is below 'highest', 'from' between them, and 'step' above 0",
        );
    }
    Some(MakeKind::Walk { from, step, lowest, highest })
}

fn choice(fields: &Fields<'_>, of: ColumnType) -> Option<MakeKind> {
    let values = fields
        .need("values", "values = [1, 2, 3]", |node| node.each(|item| constant::read(&item, of)));
    let weights = fields.or("weights", Vec::new(), |node| {
        let weights = node.each(|item| item.number())?;
        match weights.iter().all(|weight| *weight > 0.0) {
            true => Some(weights),
            false => node.mistake("a weight that is not above 0", ""),
        }
    });
    let (values, weights) = (values?, weights?);
    if values.is_empty() {
        return fields.get("values")?.mistake("a choice of nothing", "write at least one value");
    }
    if !weights.is_empty() && weights.len() != values.len() {
        return fields.get("weights")?.mistake(
            format!("{} weights of {} values", weights.len(), values.len()),
            "write as many weights as values, or none",
        );
    }
    Some(MakeKind::Choice { values, weights })
}

/// Reads `skew`, from 0 to 2. Above that nearly all values are the first.
pub fn skew(fields: &Fields<'_>, default: f64) -> Option<f64> {
    fields.or("skew", default, |node| {
        let skew = node.number()?;
        if (0.0..=2.0).contains(&skew) {
            return Some(skew);
        }
        node.mistake(
            format!("a skew of {skew}"),
            format!("write a number from 0, all as likely, to 2; YCSB has {SKEW}"),
        )
    })
}

/// Reads `100` or `[1, 100]`: the least and the greatest.
pub fn span(node: &Node<'_>) -> Option<(u64, u64)> {
    if node.value.as_array().is_none() {
        return node.count().map(|count| (count, count));
    }
    match node.each(|item| item.count())?[..] {
        [from, to] if from <= to => Some((from, to)),
        _ => node.mistake("no span of counts", "write the least and the most, as in [1, 100]"),
    }
}
