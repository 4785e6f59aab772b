//! The SQL texts of a workload file's phases; a dialect gives the pieces that engines write
//! differently.

use embermark_contract::sql::Dialect;
use embermark_language::{
    Aggregate, Asked, Bound, Change, Compute, Condition, Correlate, Group, Grouped, Operator,
    OrderBy, Phase, Range, Removed, Set, Span, Work,
};
use embermark_model::table::{ColumnType, OwnedValue, Table, TimeUnit, Value};
use smallvec::SmallVec;

use super::documents::{Stored, stored};
use super::table_rows::Rows;

/// A table in a dialect.
#[derive(Clone, Copy)]
pub(super) struct Texts<'a> {
    pub dialect: &'a dyn Dialect,
    pub rows: &'a Rows,
    /// Whether the columns that are fields of documents are kept in these, and not as columns.
    pub documents: bool,
}

impl Texts<'_> {
    fn name(&self, column: usize) -> String {
        self.name_of("", column)
    }

    /// A column, as of a table by another name: of a field of a document what reads it.
    fn name_of(&self, prefix: &str, column: usize) -> String {
        let column = &self.rows.table.columns[column];
        if let Some(within) = column.within.as_deref().filter(|_| self.documents)
            && let document = format!("{prefix}{}", self.dialect.column(&within.document))
            && let Some(field) = self.field(&document, &within.field, column.of)
        {
            return field;
        }
        format!("{prefix}{}", self.dialect.column(&column.name))
    }

    /// A field of a document, where the engine reads it.
    fn field(&self, document: &str, field: &str, of: ColumnType) -> Option<String> {
        match of {
            ColumnType::Text | ColumnType::Bytes => self.dialect.json_text(document, field),
            ColumnType::Float => self.dialect.json_number(document, field),
            ColumnType::Bool | ColumnType::Int { .. } | ColumnType::Timestamp(_) => {
                self.dialect.json_integer(document, field)
            }
        }
    }

    /// The columns as they are written: those that are fields of documents as these.
    fn written(&self) -> Vec<Stored> {
        match self.documents {
            true => stored(self.rows.table),
            false => (0..self.rows.table.columns.len()).map(Stored::Column).collect(),
        }
    }

    /// The name of a column as it is written.
    fn written_name<'a>(&'a self, stored: &'a Stored) -> &'a str {
        match stored {
            Stored::Column(column) => &self.rows.table.columns[*column].name,
            Stored::Document(document) => &document.name,
        }
    }

    /// The places of parameters for the columns as they are written.
    fn places(&self, written: &[Stored]) -> String {
        let place = |(stored, n): (&Stored, usize)| match stored {
            Stored::Document(document) if document.binary => {
                self.dialect.binary_json_of(&self.place(n))
            }
            _ => self.place(n),
        };
        written.iter().zip(1..).map(place).collect::<Vec<_>>().join(", ")
    }

    fn names<'a>(&self, columns: impl IntoIterator<Item = &'a usize>) -> Vec<String> {
        columns.into_iter().map(|column| self.name(*column)).collect()
    }

    fn all(&self) -> String {
        self.all_of("")
    }

    /// Every column, as of a table by another name.
    fn all_of(&self, prefix: &str) -> String {
        let columns = 0..self.rows.table.columns.len();
        columns.map(|column| self.name_of(prefix, column)).collect::<Vec<_>>().join(", ")
    }

    fn table(&self) -> String {
        self.dialect.table(&self.rows.table.name)
    }

    fn place(&self, n: usize) -> String {
        self.dialect.placeholder(n)
    }

    /// `a = ? AND b = ?` of the key, its parameters from `n` on.
    fn is_key(&self, n: usize) -> String {
        let names = self.names(&self.rows.table.key);
        let each = names.iter().zip(n..).map(|(name, n)| format!("{name} = {}", self.place(n)));
        each.collect::<Vec<_>>().join(" AND ")
    }

    /// Parameters: every column in order, as it is written.
    pub(super) fn insert(&self) -> String {
        let written = self.written();
        let names = written.iter().map(|stored| self.dialect.column(self.written_name(stored)));
        let (table, all) = (self.table(), names.collect::<Vec<_>>().join(", "));
        format!("INSERT INTO {table} ({all}) VALUES ({})", self.places(&written))
    }

    /// Parameters: every column in order, as it is written.
    fn upsert(&self) -> String {
        let (written, columns) = (self.written(), &self.rows.table.columns);
        let names: Vec<&str> = written.iter().map(|stored| self.written_name(stored)).collect();
        let key: Vec<&str> =
            self.rows.table.key.iter().map(|column| &*columns[*column].name).collect();
        let upsert = self.dialect.upsert(&self.rows.table.name, &names, &key);
        let plain: Vec<String> = (1..=written.len()).map(|n| self.place(n)).collect();
        upsert.replacen(
            &format!("({})", plain.join(", ")),
            &format!("({})", self.places(&written)),
            1,
        )
    }

    /// Columns: those [beside the key](beside_key), which who asks knows. Parameters: the key.
    pub(super) fn get(&self) -> String {
        let columns = self.names(&beside_key(self.rows.table)).join(", ");
        format!("SELECT {columns} FROM {} WHERE {}", self.table(), self.is_key(1))
    }

    /// Parameters: the columns, then the key, or of several rows at once as of [`is_between`](Self::is_between).
    pub(super) fn update(&self, columns: &[usize], at_once: bool) -> String {
        let set = self.names(columns);
        let set = set.iter().zip(1..).map(|(name, n)| format!("{name} = {}", self.place(n)));
        let (set, n) = (set.collect::<Vec<_>>().join(", "), columns.len() + 1);
        let is = if at_once { self.is_between(n) } else { self.is_key(n) };
        format!("UPDATE {} SET {set} WHERE {is}", self.table())
    }

    /// The condition of the rows between two keys that differ in their last column alone, its parameters from `n` on: the
    /// first key, and the last column of the last.
    fn is_between(&self, n: usize) -> String {
        let names = self.names(&self.rows.table.key);
        let last = names.len() - 1;
        let own = names[..last].iter().zip(n..);
        let own = own.map(|(name, n)| format!("{name} = {}", self.place(n)));
        let (from, to) = (self.place(n + last), self.place(n + last + 1));
        let between = format!("{} BETWEEN {from} AND {to}", names[last]);
        own.chain([between]).collect::<Vec<_>>().join(" AND ")
    }

    /// The statements of an update, in the order of its columns where it sets one of them.
    pub(super) fn updates(&self, set: &Set, at_once: bool) -> Vec<String> {
        match set {
            Set::Columns(columns) => vec![self.update(columns, at_once)],
            Set::OneOf(columns) => {
                let each = columns.iter().map(std::slice::from_ref);
                each.map(|column| self.update(column, at_once)).collect()
            }
        }
    }

    /// Parameters: the [`bounds`] of the conditions.
    pub(super) fn find(&self, conditions: &[Condition], select: &[usize]) -> String {
        let (columns, table) = (self.names(select).join(", "), self.table());
        format!("SELECT {columns} FROM {table} WHERE {}", self.meets(conditions, 1))
    }

    /// Columns: the value, from when, and until when. Parameter: the value that rows are of, where there is one.
    fn gaps(&self, (by, time): (usize, usize), longer: i64, each: Option<usize>) -> String {
        let nullable = self.rows.table.columns[by].nullable.then(|| self.name(by) + " IS NOT NULL");
        let conditions: Vec<String> =
            nullable.into_iter().chain(self.is_one(each, "", 1)).collect();
        let met = where_all(&conditions);
        let (table, by, time) = (self.table(), self.name(by), self.name(time));
        format!(
            "SELECT of_value, gap_from, gap_until FROM (SELECT {by} AS of_value, {time} AS gap_until, \
             LAG({time}) OVER (PARTITION BY {by} ORDER BY {time}) AS gap_from FROM {table}{met}) \
             AS neighbours WHERE gap_until - gap_from > {longer}"
        )
    }

    /// The condition that rows are of one value of a column, the `n`th parameter.
    fn is_one(&self, each: Option<usize>, prefix: &str, n: usize) -> Option<String> {
        each.map(|column| format!("{} = {}", self.name_of(prefix, column), self.place(n)))
    }

    /// Columns: the key, and the value. Parameter, at every place of [`outliers_ask_for`]: the value that rows are of,
    /// where there is one. Where the engine has no standard deviation, squares of distances are compared with the
    /// variance, in two passes: the same question, without a root.
    fn outliers(&self, (of, by): (usize, usize), deviations: f64, each: Option<usize>) -> String {
        let key = self.rows.table.key.iter().map(|column| self.name_of("r.", *column));
        let key = key.collect::<Vec<_>>().join(", ");
        let table = self.table();
        let (r_of, r_by) = (self.name_of("r.", of), self.name_of("r.", by));
        let (of, by) = (self.name(of), self.name(by));
        let own = where_all(&Vec::from_iter(self.is_one(each, "", 1)));
        let and = |n| self.is_one(each, "r.", n).map_or(String::new(), |is| format!(" AND {is}"));
        let mean = self.dialect.mean(&of);
        if let Some(deviation) = self.dialect.sample_deviation(&of) {
            return format!(
                "SELECT {key}, {r_of} FROM {table} AS r JOIN (SELECT {by} AS of_value, {mean} AS mean, \
                 {deviation} AS deviation FROM {table}{own} GROUP BY {by}) AS s ON s.of_value = {r_by} \
                 WHERE ABS({r_of} - s.mean) > {deviations:e} * s.deviation{}",
                and(2)
            );
        }
        let square = deviations * deviations;
        let spread = where_all(&Vec::from_iter(self.is_one(each, "r.", 2)));
        format!(
            "WITH means AS (SELECT {by} AS of_value, {mean} AS mean FROM {table}{own} GROUP BY {by}), \
             spreads AS (SELECT {r_by} AS of_value, MAX(m.mean) AS mean, \
             SUM(({r_of} - m.mean) * ({r_of} - m.mean)) / NULLIF(COUNT({r_of}) - 1, 0) AS variance \
             FROM {table} AS r JOIN means AS m ON m.of_value = {r_by}{spread} GROUP BY {r_by}) \
             SELECT {key}, {r_of} FROM {table} AS r JOIN spreads AS s ON s.of_value = {r_by} \
             WHERE ({r_of} - s.mean) * ({r_of} - s.mean) > {square:e} * s.variance{}",
            and(3)
        )
    }

    /// Columns: how many buckets both groups have, and the correlation of their means in them; without
    /// [`Dialect::correlation`] the centred sums of xy, xx and yy. Parameters: the two groups, where they are given.
    fn correlate(&self, question: &Correlate) -> String {
        let (table, by) = (self.table(), self.name(question.by));
        let (r_of, r_by) = (self.name_of("r.", question.of), self.name_of("r.", question.by));
        let bucket = self.bucket(&self.name_of("r.", question.time), question.bucket);
        let mean = self.dialect.mean(&r_of);
        let (busiest, joined, met) = match question.between {
            Some(_) => {
                let (first, second) = (self.place(1), self.place(2));
                let met = format!("({r_by} = {first} OR {r_by} = {second}) AND ");
                (String::new(), String::new(), met)
            }
            None => {
                let nullable = self.rows.table.columns[question.by].nullable;
                let there =
                    if nullable { format!(" WHERE {by} IS NOT NULL") } else { String::new() };
                let busiest = format!(
                    "busiest AS (SELECT {by} AS of_value, COUNT(*) AS counted FROM {table}{there} \
                     GROUP BY {by} ORDER BY counted DESC, of_value {}), ",
                    self.dialect.limit("2")
                );
                (busiest, format!(" JOIN busiest AS b ON b.of_value = {r_by}"), String::new())
            }
        };
        // Of a bucket that both have, the row of the lesser group is the one that another follows.
        let pairs = if self.dialect.joins_derived_tables() {
            "SELECT a.mean AS x, b.mean AS y FROM buckets AS a \
             JOIN buckets AS b ON b.bucket = a.bucket AND b.of_value > a.of_value"
        } else {
            "SELECT x, y FROM (SELECT mean AS x, \
             LEAD(mean) OVER (PARTITION BY bucket ORDER BY of_value) AS y FROM buckets) AS shared \
             WHERE y IS NOT NULL"
        };
        let pairs = format!(
            "WITH {busiest}buckets AS (SELECT {r_by} AS of_value, {bucket} AS bucket, {mean} AS mean \
             FROM {table} AS r{joined} WHERE {met}{r_of} IS NOT NULL GROUP BY {r_by}, {bucket}), \
             pairs AS ({pairs})"
        );
        if let Some(correlation) = self.dialect.correlation("y", "x") {
            return format!(
                "{pairs} SELECT COUNT(*) AS buckets, {correlation} AS correlation FROM pairs"
            );
        }
        format!(
            "{pairs}, centre AS (SELECT AVG(x) AS mx, AVG(y) AS my FROM pairs) \
             SELECT COUNT(*) AS buckets, SUM((x - mx) * (y - my)) AS xy, \
             SUM((x - mx) * (x - mx)) AS xx, SUM((y - my) * (y - my)) AS yy \
             FROM pairs CROSS JOIN centre"
        )
    }

    /// Parameters: the values, then the [`bounds`] of the conditions.
    pub(super) fn update_where(
        &self,
        conditions: &[Condition],
        set: &[(usize, OwnedValue)],
    ) -> String {
        let each = set.iter().zip(1..);
        let each =
            each.map(|((column, _), n)| format!("{} = {}", self.name(*column), self.place(n)));
        let each = each.collect::<Vec<_>>().join(", ");
        let meets = self.meets(conditions, set.len() + 1);
        format!("UPDATE {} SET {each} WHERE {meets}", self.table())
    }

    /// Conditions that all hold, their [`bounds`] parameters from `n` on.
    fn meets(&self, conditions: &[Condition], n: usize) -> String {
        let mut places = n..;
        let conditions = conditions.iter().map(|condition| {
            let bound = match is_written(self.dialect, self.rows, condition) {
                true => literal(self.rows.bound(condition)),
                false => self.place(places.next().unwrap_or_default()),
            };
            let operator = operator(condition.operator);
            format!("{} {operator} {bound}", self.name(condition.column))
        });
        conditions.collect::<Vec<_>>().join(" AND ")
    }

    /// Parameters: the key, the [`bounds`] of the conditions, or the time before which.
    pub(super) fn delete(&self, removed: &Removed) -> String {
        let condition = match removed {
            Removed::Keys { keys, .. } if keys.rows > 1 => self.is_between(1),
            Removed::Keys { .. } => self.is_key(1),
            Removed::Where { by: Change::OneByOne(_), .. } => self.is_key(1),
            Removed::Where { conditions, .. } => self.meets(conditions, 1),
            Removed::Older { time, .. } => format!("{} <= {}", self.name(*time), self.place(1)),
        };
        format!("DELETE FROM {} WHERE {condition}", self.table())
    }

    /// Parameters: from which time, and up to but without which, rows go.
    pub(super) fn delete_between(&self, time: usize) -> String {
        let (time, from, to) = (self.name(time), self.place(1), self.place(2));
        format!("DELETE FROM {} WHERE {time} >= {from} AND {time} < {to}", self.table())
    }

    /// Every row.
    pub(super) fn contents(&self) -> String {
        format!("SELECT {} FROM {}", self.all(), self.table())
    }

    /// Parameters: of a range by rows the key to begin at and the number of rows; of one by time the
    /// value of the column, where there is one, and from and to when.
    pub(super) fn range(&self, range: &Range) -> String {
        let (all, table) = (self.all(), self.table());
        match range.span {
            Span::Rows { .. } => {
                let (from, key) = (self.begins_at(), self.names(&self.rows.table.key).join(", "));
                let last = begins_at_parameters(self.dialect, self.rows.table).len() + 1;
                let limit = self.dialect.limit(&self.place(last));
                format!("SELECT {all} FROM {table} WHERE {from} ORDER BY {key} {limit}")
            }
            Span::Last { of, time, .. } | Span::From { of, time, .. } => {
                let mut n = 0;
                let mut next = || {
                    n += 1;
                    self.place(n)
                };
                let of = of.map(|of| format!("{} = {} AND ", self.name(of), next()));
                let of = of.unwrap_or_default();
                let time = self.name(time);
                let (from, to) = (next(), next());
                format!("SELECT {all} FROM {table} WHERE {of}{time} >= {from} AND {time} < {to}")
            }
        }
    }

    /// The condition of keys from one on, in key order.
    fn begins_at(&self) -> String {
        let names = self.names(&self.rows.table.key);
        if let [name] = &names[..] {
            return format!("{name} >= {}", self.place(1));
        }
        if self.dialect.row_values() {
            let places: Vec<String> = (1..=names.len()).map(|n| self.place(n)).collect();
            return format!("({}) >= ({})", names.join(", "), places.join(", "));
        }
        // a >= ? AND (a > ? OR (a = ? AND (b > ? OR (b = ? AND c >= ?)))): the first finds the place.
        let mut n = 0;
        let mut next = |name: &str, operator: &str| {
            n += 1;
            format!("{name} {operator} {}", self.place(n))
        };
        let mut text = next(&names[0], ">=");
        for (at, name) in names.iter().enumerate() {
            if at + 1 == names.len() {
                text += &format!(" AND {}", next(name, ">="));
            } else {
                text += &format!(" AND ({} OR ({}", next(name, ">"), next(name, "="));
            }
        }
        text + &"))".repeat(names.len() - 1)
    }

    /// The newest rows of the values of a column that are drawn, all of them at once. Parameters: these values.
    fn latest_of_all(&self, (by, time): (usize, usize), values: usize) -> String {
        let (table, of, at) = (self.table(), self.name(by), self.name(time));
        let all: Vec<String> = (1..=values).map(|n| self.place(n)).collect();
        let (rows, all) = (self.all_of("r."), all.join(", "));
        let (r_of, r_at) = (self.name_of("r.", by), self.name_of("r.", time));
        format!(
            "SELECT {rows} FROM {table} AS r JOIN (SELECT {of} AS v, MAX({at}) AS t FROM {table} \
             WHERE {of} IN ({all}) GROUP BY {of}) AS newest ON {r_of} = newest.v AND {r_at} = newest.t"
        )
    }

    /// The newest rows of a value of a column. Parameter: this value, where the key is not of value and time twice.
    fn latest_of(&self, (by, time): (usize, usize)) -> String {
        let (table, of, at) = (self.table(), self.name(by), self.name(time));
        let (rows, value) = (self.all(), self.place(1));
        if self.rows.is_one_at_a_time(by, time) {
            let limit = self.dialect.limit("1");
            return format!(
                "SELECT {rows} FROM {table} WHERE {of} = {value} ORDER BY {at} DESC {limit}"
            );
        }
        format!(
            "SELECT {rows} FROM {table} WHERE {of} = {value} AND {at} = \
             (SELECT MAX({at}) FROM {table} WHERE {of} = {})",
            self.place(2)
        )
    }

    /// The newest rows of each value of a column, among those of one value of another, which is a parameter twice.
    fn latest_among(&self, (by, time): (usize, usize), each: usize) -> String {
        let (all, table) = (self.all_of("r."), self.table());
        let (r_by, r_time) = (self.name_of("r.", by), self.name_of("r.", time));
        let (by, time, r_each) = (self.name(by), self.name(time), self.name_of("r.", each));
        let (each, first, second) = (self.name(each), self.place(1), self.place(2));
        format!(
            "SELECT {all} FROM {table} AS r JOIN (SELECT {by} AS v, MAX({time}) AS t FROM {table} \
             WHERE {each} = {first} GROUP BY {by}) AS newest ON {r_by} = newest.v \
             AND {r_time} = newest.t WHERE {r_each} = {second}"
        )
    }

    /// The newest rows of each value of a column. Where the key or an index finds the newest row of a
    /// value, each value is looked up from the one before: a loose index scan
    /// (<https://wiki.postgresql.org/wiki/Loose_indexscan>).
    pub(super) fn latest(&self, by: usize, time: usize, seeks: bool) -> String {
        let (all, table) = (self.all_of("r."), self.table());
        let (r_by, r_time) = (self.name_of("r.", by), self.name_of("r.", time));
        let (by, time) = (self.name(by), self.name(time));
        if seeks {
            // Not the table's own name, which it would hide.
            let each = if self.rows.table.name.eq_ignore_ascii_case("each_of") {
                "every"
            } else {
                "each_of"
            };
            return format!(
                "WITH RECURSIVE {each} (v) AS (SELECT MIN({by}) FROM {table} UNION ALL SELECT \
                 (SELECT MIN({by}) FROM {table} WHERE {by} > {each}.v) FROM {each} \
                 WHERE {each}.v IS NOT NULL) SELECT {all} FROM {each} JOIN {table} AS r \
                 ON {r_by} = {each}.v AND {r_time} = \
                 (SELECT MAX({time}) FROM {table} WHERE {by} = {each}.v)"
            );
        }
        format!(
            "SELECT {all} FROM {table} AS r JOIN (SELECT {by} AS v, MAX({time}) AS t FROM {table} \
             GROUP BY {by}) AS newest ON {r_by} = newest.v AND {r_time} = newest.t"
        )
    }

    /// What rows are grouped by.
    fn grouped(&self, by: Grouped) -> String {
        match by {
            Grouped::Column(column) => self.name(column),
            Grouped::Bucket { column, units } => self.bucket(&self.name(column), units),
            Grouped::Month { column, unit } => {
                let name = self.name(column);
                // A phase of an engine without it is refused.
                self.dialect.month(&milliseconds(self.dialect, &name, unit)).unwrap_or(name)
            }
        }
    }

    /// The beginning of the bucket of a time.
    fn bucket(&self, time: &str, units: i64) -> String {
        let units = units.to_string();
        if self.rows.early() {
            // What is left of a negative number is negative.
            let left = format!("({} + {units})", self.dialect.remainder(time, &units));
            return format!("{time} - {}", self.dialect.remainder(&left, &units));
        }
        format!("({}) * {units}", self.dialect.integer_division(time, &units))
    }

    fn computed(&self, compute: Compute) -> String {
        let column = compute.column.map_or("*".to_owned(), |column| self.name(column));
        let function = match compute.aggregate {
            Aggregate::Count => "COUNT",
            Aggregate::Sum => "SUM",
            Aggregate::Avg => return self.dialect.mean(&column),
            Aggregate::Min => "MIN",
            Aggregate::Max => "MAX",
        };
        format!("{function}({column})")
    }

    /// Columns: what it is grouped by, then what is computed, called `c0`, `c1`, … Parameters: the
    /// [`bounds`] of its conditions, and the value that rows are of, where there is one.
    pub(super) fn group(&self, group: &Group, each: Option<usize>) -> String {
        let by: Vec<String> = group.by.iter().map(|by| self.grouped(*by)).collect();
        let computed = group.compute.iter().map(|compute| self.computed(*compute));
        let columns = by.iter().cloned().chain(computed).enumerate();
        let columns: Vec<String> = columns.map(|(n, column)| format!("{column} AS c{n}")).collect();
        let mut text = format!("SELECT {} FROM {}", columns.join(", "), self.table());
        let met = (!group.conditions.is_empty()).then(|| self.meets(&group.conditions, 1));
        let own =
            self.is_one(each, "", bounds(self.dialect, self.rows, &group.conditions).count() + 1);
        text += &where_all(&met.into_iter().chain(own).collect::<Vec<_>>());
        if !by.is_empty() {
            text += &format!(" GROUP BY {}", by.join(", "));
        }
        let having = group.having.iter().map(|having| {
            // Not as a parameter, whose type an engine would take from what is computed.
            let bound = match &having.bound {
                OwnedValue::Float(bound) => format!("{bound:e}"),
                OwnedValue::Int(bound) => bound.to_string(),
                _ => "NULL".to_owned(),
            };
            let computed = self.computed(group.compute[having.compute]);
            format!("{computed} {} {bound}", operator(having.operator))
        });
        let having: Vec<String> = having.collect();
        if !having.is_empty() {
            text += &format!(" HAVING {}", having.join(" AND "));
        }
        let order = |order: &OrderBy| {
            // By its place: a column of the table may have the name of one of the result.
            format!("{}{}", order.column + 1, if order.descending { " DESC" } else { "" })
        };
        let order: Vec<String> = group.order.iter().map(order).collect();
        if !order.is_empty() {
            text += &format!(" ORDER BY {}", order.join(", "));
        }
        if let Some(limit) = group.limit {
            text += &format!(" {}", self.dialect.limit(&limit.to_string()));
        }
        text
    }

    /// The statements of a phase, in the order in which its operations name them.
    pub(super) fn of(&self, phase: &Phase, seeks: bool, values: usize) -> Vec<String> {
        let each = match phase.asked {
            Asked::Each { column, .. } => Some(column),
            _ => None,
        };
        match &phase.work {
            Work::Insert { .. } => vec![self.insert()],
            Work::Get { .. } | Work::Open { .. } => vec![self.get()],
            Work::Latest { by, time, .. } => match each {
                Some(each) if each == *by && seeks => vec![self.latest_of((*by, *time))],
                Some(each) if each == *by => {
                    let columns = (*by, *time);
                    vec![self.latest_of(columns), self.latest_of_all(columns, values)]
                }
                Some(each) => vec![self.latest_among((*by, *time), each)],
                None => vec![self.latest(*by, *time, seeks)],
            },
            Work::Range(range) => vec![self.range(range)],
            Work::Gaps { by, time, longer, .. } => vec![self.gaps((*by, *time), *longer, each)],
            Work::Outliers { of, by, deviations, .. } => {
                vec![self.outliers((*of, *by), *deviations, each)]
            }
            Work::Correlate(question) => vec![self.correlate(question)],
            Work::Find { conditions, select, .. } => vec![self.find(conditions, select)],
            Work::UpdateWhere { conditions, set, by: Change::OneByOne(_), .. } => {
                let columns: Vec<usize> = set.iter().map(|(column, _)| *column).collect();
                vec![self.update(&columns, false), self.find(conditions, &self.rows.table.key)]
            }
            Work::UpdateWhere { conditions, set, .. } => vec![self.update_where(conditions, set)],
            Work::Group(group) => vec![self.group(group, each)],
            Work::Update { set, keys, .. } => self.updates(set, keys.rows > 1),
            Work::Upsert { .. } => vec![self.upsert()],
            Work::ReadModifyWrite { set, .. } => {
                let mut all = self.updates(set, false);
                all.push(self.get());
                all
            }
            Work::Delete { removed, .. } => {
                let mut all = vec![self.delete(removed)];
                if let Removed::Where { conditions, by: Change::OneByOne(_) } = removed {
                    all.push(self.find(conditions, &self.rows.table.key));
                }
                all
            }
            Work::Sql(_) | Work::Mix(_) | Work::Sequence(_) | Work::Keep(_) | Work::Arrive(_) => {
                Vec::new()
            }
        }
    }
}

/// The bounds of conditions that are parameters of a statement: those that are not written in it.
pub(super) fn bounds<'a>(
    dialect: &'a dyn Dialect,
    rows: &'a Rows,
    conditions: &'a [Condition],
) -> impl Iterator<Item = Value<'a>> {
    let conditions = conditions.iter();
    let asked = conditions.filter(move |condition| !is_written(dialect, rows, condition));
    asked.map(|condition| rows.bound(condition))
}

/// Whether the bound of a condition is written in a statement: not one that moves while rows come in.
fn is_written(dialect: &dyn Dialect, rows: &Rows, condition: &Condition) -> bool {
    if rows.again.is_some() && matches!(condition.bound, Bound::End(_)) {
        return false;
    }
    let has_literal = match rows.bound(condition) {
        Value::Null | Value::Bytes(_) => false,
        Value::Int(_) => true,
        Value::Float(float) => float.is_finite(),
        Value::Text(text) => !text.contains('\0'),
    };
    dialect.plans_with_constants() && has_literal
}

/// A bound as standard SQL writes it.
fn literal(bound: Value<'_>) -> String {
    match bound {
        Value::Int(int) => int.to_string(),
        // With an exponent, without which it is a decimal.
        Value::Float(float) => format!("{float:e}"),
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Null | Value::Bytes(_) => "NULL".to_owned(),
    }
}

/// A time of a unit in milliseconds.
fn milliseconds(dialect: &dyn Dialect, time: &str, unit: TimeUnit) -> String {
    match unit.per_second() {
        ..1_000 => format!("({time} * 1000)"),
        1_000 => time.to_owned(),
        finer => format!("({})", dialect.integer_division(time, &(finer / 1_000).to_string())),
    }
}

/// `WHERE` with conditions that all hold; nothing where there is none.
fn where_all(conditions: &[String]) -> String {
    if conditions.is_empty() {
        String::new()
    } else {
        format!(" WHERE {}", conditions.join(" AND "))
    }
}

/// How often the statement of an outliers asks for the value that rows are of.
pub(super) fn outliers_ask_for(dialect: &dyn Dialect) -> usize {
    if dialect.sample_deviation("x").is_some() { 2 } else { 3 }
}

/// The columns of a table beside those of its key; all of them where there are no others.
pub(super) fn beside_key(table: &Table) -> SmallVec<[usize; 12]> {
    let all = 0..table.columns.len();
    if table.key.len() == table.columns.len() {
        return all.collect();
    }
    all.filter(|column| !table.key.contains(column)).collect()
}

/// The places in the key of what a range by rows takes first.
pub(super) fn begins_at_parameters(dialect: &dyn Dialect, table: &Table) -> SmallVec<[usize; 8]> {
    let keys = table.key.len();
    if keys == 1 || dialect.row_values() {
        return (0..keys).collect();
    }
    let others = (0..keys - 1).flat_map(|at| [at, at]);
    std::iter::once(0).chain(others).chain([keys - 1]).collect()
}

/// As SQL, and InfluxQL, write it.
pub(super) const fn operator(operator: Operator) -> &'static str {
    match operator {
        Operator::Equal => "=",
        Operator::NotEqual => "<>",
        Operator::Less => "<",
        Operator::AtMost => "<=",
        Operator::Greater => ">",
        Operator::AtLeast => ">=",
    }
}
