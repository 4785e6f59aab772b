//! Checks between the columns of a table, and between tables.

use embermark_model::table::{ColumnType, Make, MakeKind, RowsFrom, TimeUnit};

use crate::constant;
use crate::draft::{Draft, DraftColumn};
use crate::node::{Entry, Fields};

/// Checks that names of tables differ not only in case.
pub fn names(tables: &[Entry<'_>]) {
    for (place, table) in tables.iter().enumerate() {
        let same = |other: &&Entry<'_>| other.name.eq_ignore_ascii_case(table.name);
        if let Some(other) = tables[..place].iter().find(same) {
            let what = format!("'{}' and '{}' are one name in SQL", other.name, table.name);
            table.at_name().add(what, "", "rename it");
        }
    }
}

/// Checks that no index is repeated.
pub fn indexes(draft: &Draft<'_>, fields: &Fields<'_>) {
    let (Some(indexes), Some(node)) = (&draft.indexes, fields.get("index")) else { return };
    let twice = indexes.iter().enumerate().find(|(n, index)| indexes[..*n].contains(index));
    if let Some((_, index)) = twice {
        let names: Vec<&str> = index.iter().map(|place| &*draft.columns[*place].name).collect();
        node.add(
            format!("the index of '{}' is given twice", names.join("', '")),
            "",
            "take one away",
        );
    }
}

/// Checks that no column of the key may be absent.
pub fn key(draft: &Draft<'_>, fields: &Fields<'_>) {
    let (Some(key), Some(node)) = (&draft.key, fields.get("key")) else { return };
    for column in key.iter().filter_map(|place| draft.column(*place)) {
        if column.nullable {
            node.add(
                format!("'{}' is of the key and may be absent", column.name),
                "",
                "every row has a key: take the '?' away, or another column",
            );
        }
    }
}

/// Checks that keys and indexes do not use fields of a document.
pub fn documents(draft: &Draft<'_>, fields: &Fields<'_>) {
    let indexes = draft.indexes.iter().flatten();
    let places = draft.key.iter().map(|key| ("key", key)).chain(indexes.map(|of| ("index", of)));
    for (kind, columns) in places {
        let field = columns.iter().find(|place| draft.columns[**place].name.contains('.'));
        if let (Some(field), Some(node)) = (field, fields.get(kind)) {
            let what = format!("'{}' in a key or an index", draft.columns[*field].name);
            node.add(what, "a field of a document", "make it a column of its own");
        }
    }
}

/// Checks the column name that InfluxDB uses for the time of a row.
pub fn time(draft: &Draft<'_>) {
    let Some(named) = draft.columns.iter().position(|column| column.name == "time") else {
        return;
    };
    let is_time = |of: ColumnType| matches!(of, ColumnType::Timestamp(_) | ColumnType::Int { .. });
    let right = match (draft.column(named), draft.time()) {
        (None, _) => true,
        (_, Some(time)) => time == named,
        (Some(column), None) => is_time(column.of),
    };
    if !right {
        draft.columns[named].at_name.add(
            "'time' is not the time of its table",
            "InfluxDB has the time of a row under this name",
            "rename it and write from = \"time\" beside its type",
        );
    }
}

/// Checks that at most one time is late, because rows have one order.
pub fn late(draft: &Draft<'_>) {
    let is_late = |column: &&DraftColumn<'_>| {
        let make = column.column.as_ref().and_then(|column| column.make.as_ref());
        make.is_some_and(|make| make.late.is_some())
    };
    if let Some(second) = draft.columns.iter().filter(is_late).nth(1) {
        let help = "rows come in one order: that of one time";
        second.at_name.add("a second time that is late", "", help);
    }
}

/// A column: its name, the type of its values, and whether a value may be absent.
type Shape = (&'static str, ColumnType, bool);

/// Columns of the log of room sensors.
const LOG: [Shape; 6] = [
    ("sensor", ColumnType::Int { bits: 16, signed: false }, false),
    ("ts", ColumnType::Timestamp(TimeUnit::Microseconds), false),
    ("temperature", ColumnType::Float, true),
    ("humidity", ColumnType::Float, true),
    ("light", ColumnType::Float, true),
    ("voltage", ColumnType::Float, true),
];

/// Columns of telemetry, including the fields of its document.
const TELEMETRY: [Shape; 11] = [
    ("id", ColumnType::Int { bits: 32, signed: false }, false),
    ("timestamp", ColumnType::Timestamp(TimeUnit::Milliseconds), false),
    ("bucket", ColumnType::Text, false),
    ("data.longitude", ColumnType::Float, true),
    ("data.latitude", ColumnType::Float, true),
    ("data.co2", ColumnType::Float, true),
    ("data.span_id", ColumnType::Int { bits: 64, signed: true }, true),
    ("data.level", ColumnType::Text, true),
    ("data.user", ColumnType::Text, true),
    ("data.message", ColumnType::Text, true),
    ("data.endpoint", ColumnType::Text, true),
];

/// Checks that a table whose rows are generated as a whole has their columns and their key.
pub fn whole(draft: &Draft<'_>, fields: &Fields<'_>) {
    let (shape, key, what, help): (&[Shape], &[usize], _, _) = match &draft.rows {
        Some(RowsFrom::Log(_)) => (
            &LOG,
            &[0, 1],
            "a sensor log has columns of its own",
            "key = [\"sensor\", \"ts\"]; sensor = \"u16\", ts = { type = \"timestamp\", unit = \"us\" }, \
             and temperature, humidity, light and voltage = \"f64?\", in this order",
        ),
        Some(RowsFrom::Telemetry(_)) => (
            &TELEMETRY,
            &[0],
            "telemetry has columns of its own",
            "key = [\"id\"]; id = \"u32\", timestamp = { type = \"timestamp\", unit = \"ms\" }, \
             bucket = \"text\", and data of JSON with longitude, latitude and co2 = \"f64?\", span_id = \"i64?\", \
             level, user, message and endpoint = \"text?\", in this order",
        ),
        _ => return,
    };
    let Some(node) = fields.get("make") else { return };
    let columns = draft.columns.iter().map(|draft| {
        draft.column.as_ref().map(|column| (&*draft.name, column.of, column.nullable))
    });
    let right = columns.eq(shape.iter().copied().map(Some)) && draft.key.as_deref() == Some(key);
    if draft.sound() && draft.key.is_some() && !right {
        node.add(what, "", help);
    }
}

/// Checks that generated columns are in generated tables and can hold their values.
pub fn made(draft: &Draft<'_>) {
    for DraftColumn { at_name, column, .. } in &draft.columns {
        let Some(column) = column else { continue };
        let kind = column.make.as_ref().map(|make| &make.kind);
        let (what, label, help) = match (&draft.rows, kind) {
            (Some(RowsFrom::Made(_)), None) => (
                format!("it is not said how '{}' is made", column.name),
                String::new(),
                "its table is made: write for example { type = \"u32\", make = \"random\" }",
            ),
            (Some(RowsFrom::Log(_) | RowsFrom::Telemetry(_)), Some(_)) => (
                format!("'{}' is made, and its table is made as a whole", column.name),
                String::new(),
                "write its type alone",
            ),
            (Some(RowsFrom::File(_)), Some(kind)) if !is_row_number(kind) => (
                format!("'{}' is made, and the rows of its table come from a file", column.name),
                String::new(),
                "beside the columns of a file stands make = \"sequence\" alone: the row's number",
            ),
            (Some(RowsFrom::Made(rows)), Some(kind)) if overflow(column.of, kind, *rows) => (
                format!("'{}' counts beyond what {} holds", column.name, column.of),
                format!("within {rows} rows"),
                "take a wider type",
            ),
            _ => continue,
        };
        at_name.add(what, label, help);
    }
}

/// Adds a mistake if a reference has another type than its target.
pub fn references(draft: &Draft<'_>, all: &[Draft<'_>]) {
    for DraftColumn { at_name, column, .. } in &draft.columns {
        let Some(column) = column else { continue };
        let Some(MakeKind::Reference { table, .. }) = column.make.as_ref().map(|make| &make.kind)
        else {
            continue;
        };
        let other = &all[*table];
        let problem = match (&other.rows, other.key.as_deref()) {
            (Some(RowsFrom::File(_)), _) => "its rows come from a file".to_owned(),
            (Some(RowsFrom::Log(_) | RowsFrom::Telemetry(_)), _) => {
                "its rows are made as a whole".to_owned()
            }
            (_, Some([key])) => match other.column(*key) {
                Some(key) if key.of != column.of => format!("its key is {}", key.of),
                Some(key) if key.make.as_ref().is_some_and(is_no_target) => {
                    "its key is a walk, refers itself, or has a value more often".to_owned()
                }
                _ => continue,
            },
            (_, Some(_)) => "its key has several columns".to_owned(),
            _ => continue,
        };
        at_name.add(
            format!("'{}' cannot refer to '{}'", column.name, other.name),
            problem,
            "a reference has the type of the only key column of a made table",
        );
    }
}

fn is_row_number(kind: &MakeKind) -> bool {
    matches!(kind, MakeKind::Sequence { .. })
}

fn is_no_target(make: &Make) -> bool {
    make.often.is_some() || matches!(make.kind, MakeKind::Walk { .. } | MakeKind::Reference { .. })
}

/// Whether generated integers exceed their type.
fn overflow(of: ColumnType, kind: &MakeKind, rows: u64) -> bool {
    let (least, greatest) = constant::limits(of);
    let last = match kind {
        MakeKind::Sequence { from, step, repeat } => {
            i128::from(*from) + i128::from(*step) * i128::from((rows - 1) / repeat)
        }
        MakeKind::Cycle { from, distinct } => i128::from(*from) + i128::from(*distinct) - 1,
        _ => return false,
    };
    !(i128::from(least)..=i128::from(greatest)).contains(&last)
}
