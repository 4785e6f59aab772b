//! The SQL texts of a workload file's phases; a dialect gives the pieces that engines write
//! differently.

use embermark_contract::sql::Dialect;
use embermark_language::{
    Aggregate, Change, Compute, Condition, Group, Grouped, Operator, OrderBy, Range, Removed, Set,
    Span, Work,
};
use embermark_model::table::{OwnedValue, Table};
use smallvec::SmallVec;

/// A table in a dialect.
#[derive(Clone, Copy)]
pub(super) struct Texts<'a> {
    pub dialect: &'a dyn Dialect,
    pub table: &'a Table,
    /// Whether times lie before 1970.
    pub early: bool,
}

impl Texts<'_> {
    fn name(&self, column: usize) -> String {
        self.dialect.column(&self.table.columns[column].name)
    }

    fn names<'a>(&self, columns: impl IntoIterator<Item = &'a usize>) -> Vec<String> {
        columns.into_iter().map(|column| self.name(*column)).collect()
    }

    fn all(&self) -> String {
        self.all_of("")
    }

    /// Every column, as of a table by another name.
    fn all_of(&self, prefix: &str) -> String {
        let columns = self.table.columns.iter();
        let name = |name: &str| format!("{prefix}{}", self.dialect.column(name));
        let names: Vec<String> = columns.map(|column| name(&column.name)).collect();
        names.join(", ")
    }

    fn table(&self) -> String {
        self.dialect.table(&self.table.name)
    }

    fn place(&self, n: usize) -> String {
        self.dialect.placeholder(n)
    }

    /// `a = ? AND b = ?` of the key, its parameters from `n` on.
    fn is_key(&self, n: usize) -> String {
        let names = self.names(&self.table.key);
        let each = names.iter().zip(n..).map(|(name, n)| format!("{name} = {}", self.place(n)));
        each.collect::<Vec<_>>().join(" AND ")
    }

    /// Parameters: every column in order.
    pub(super) fn insert(&self) -> String {
        let places: Vec<String> = (1..=self.table.columns.len()).map(|n| self.place(n)).collect();
        let (table, all, places) = (self.table(), self.all(), places.join(", "));
        format!("INSERT INTO {table} ({all}) VALUES ({places})")
    }

    /// Parameters: every column in order.
    fn upsert(&self) -> String {
        let names: Vec<&str> = self.table.columns.iter().map(|column| &*column.name).collect();
        let key: Vec<&str> = self.table.key.iter().map(|column| names[*column]).collect();
        self.dialect.upsert(&self.table.name, &names, &key)
    }

    /// Parameters: the key.
    pub(super) fn get(&self) -> String {
        format!("SELECT {} FROM {} WHERE {}", self.all(), self.table(), self.is_key(1))
    }

    /// Parameters: the columns, then the key.
    pub(super) fn update(&self, columns: &[usize]) -> String {
        let set = self.names(columns);
        let set = set.iter().zip(1..).map(|(name, n)| format!("{name} = {}", self.place(n)));
        let set = set.collect::<Vec<_>>().join(", ");
        format!("UPDATE {} SET {set} WHERE {}", self.table(), self.is_key(columns.len() + 1))
    }

    /// The statements of an update, in the order of its columns where it sets one of them.
    pub(super) fn updates(&self, set: &Set) -> Vec<String> {
        match set {
            Set::Columns(columns) => vec![self.update(columns)],
            Set::OneOf(columns) => {
                columns.iter().map(|column| self.update(std::slice::from_ref(column))).collect()
            }
        }
    }

    /// Parameters: the bounds of the conditions.
    pub(super) fn find(&self, conditions: &[Condition], select: &[usize]) -> String {
        let (columns, table) = (self.names(select).join(", "), self.table());
        format!("SELECT {columns} FROM {table} WHERE {}", self.meets(conditions, 1))
    }

    /// Columns: the value, from when, and until when.
    fn gaps(&self, by: usize, time: usize, longer: i64) -> String {
        let (table, by, time) = (self.table(), self.name(by), self.name(time));
        format!(
            "SELECT of_value, gap_from, gap_until FROM (SELECT {by} AS of_value, {time} AS gap_until, \
             LAG({time}) OVER (PARTITION BY {by} ORDER BY {time}) AS gap_from FROM {table} \
             WHERE {by} IS NOT NULL) AS neighbours WHERE gap_until - gap_from > {longer}"
        )
    }

    /// Parameters: the values, then the bounds of the conditions.
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

    /// Conditions that all hold, their bounds parameters from `n` on.
    fn meets(&self, conditions: &[Condition], n: usize) -> String {
        let conditions = conditions.iter().zip(n..).map(|(condition, n)| {
            let operator = operator(condition.operator);
            format!("{} {operator} {}", self.name(condition.column), self.place(n))
        });
        conditions.collect::<Vec<_>>().join(" AND ")
    }

    /// Parameters: the key, the bounds of the conditions, or the time before which.
    pub(super) fn delete(&self, removed: &Removed) -> String {
        let condition = match removed {
            Removed::Keys { .. } => self.is_key(1),
            Removed::Where { by: Change::OneByOne(_), .. } => self.is_key(1),
            Removed::Where { conditions, .. } => self.meets(conditions, 1),
            Removed::Older { time, .. } => format!("{} <= {}", self.name(*time), self.place(1)),
        };
        format!("DELETE FROM {} WHERE {condition}", self.table())
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
                let (from, key) = (self.begins_at(), self.names(&self.table.key).join(", "));
                let last = begins_at_parameters(self.dialect, self.table).len() + 1;
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
        let names = self.names(&self.table.key);
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

    /// The newest rows of each value of a column. Where the key or an index finds the newest row of a
    /// value, each value is looked up from the one before: a loose index scan
    /// (<https://wiki.postgresql.org/wiki/Loose_indexscan>).
    pub(super) fn latest(&self, by: usize, time: usize, seeks: bool) -> String {
        let (all, table, by, time) =
            (self.all_of("r."), self.table(), self.name(by), self.name(time));
        if seeks {
            // Not the table's own name, which it would hide.
            let each =
                if self.table.name.eq_ignore_ascii_case("each_of") { "every" } else { "each_of" };
            return format!(
                "WITH RECURSIVE {each} (v) AS (SELECT MIN({by}) FROM {table} UNION ALL SELECT \
                 (SELECT MIN({by}) FROM {table} WHERE {by} > {each}.v) FROM {each} \
                 WHERE {each}.v IS NOT NULL) SELECT {all} FROM {each} JOIN {table} AS r \
                 ON r.{by} = {each}.v AND r.{time} = \
                 (SELECT MAX({time}) FROM {table} WHERE {by} = {each}.v)"
            );
        }
        format!(
            "SELECT {all} FROM {table} AS r JOIN (SELECT {by} AS v, MAX({time}) AS t FROM {table} \
             GROUP BY {by}) AS newest ON r.{by} = newest.v AND r.{time} = newest.t"
        )
    }

    /// What rows are grouped by.
    fn grouped(&self, by: Grouped) -> String {
        match by {
            Grouped::Column(column) => self.name(column),
            Grouped::Bucket { column, units } => {
                let (time, units) = (self.name(column), units.to_string());
                if self.early {
                    // What is left of a negative number is negative.
                    let left = format!("({} + {units})", self.dialect.remainder(&time, &units));
                    return format!("{time} - {}", self.dialect.remainder(&left, &units));
                }
                let number = self.dialect.integer_division(&time, &units);
                format!("({number}) * {units}")
            }
        }
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

    /// Columns: what it is grouped by, then what is computed, called `c0`, `c1`, … Parameters: the bounds
    /// of its conditions.
    pub(super) fn group(&self, group: &Group) -> String {
        let by: Vec<String> = group.by.iter().map(|by| self.grouped(*by)).collect();
        let computed = group.compute.iter().map(|compute| self.computed(*compute));
        let columns = by.iter().cloned().chain(computed).enumerate();
        let columns: Vec<String> = columns.map(|(n, column)| format!("{column} AS c{n}")).collect();
        let mut text = format!("SELECT {} FROM {}", columns.join(", "), self.table());
        if !group.conditions.is_empty() {
            text += &format!(" WHERE {}", self.meets(&group.conditions, 1));
        }
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
    pub(super) fn of(&self, work: &Work, seeks: bool) -> Vec<String> {
        match work {
            Work::Insert { .. } => vec![self.insert()],
            Work::Get { .. } | Work::Open { .. } => vec![self.get()],
            Work::Latest { by, time, .. } => vec![self.latest(*by, *time, seeks)],
            Work::Range(range) => vec![self.range(range)],
            Work::Gaps { by, time, longer, .. } => vec![self.gaps(*by, *time, *longer)],
            Work::Find { conditions, select, .. } => vec![self.find(conditions, select)],
            Work::UpdateWhere { conditions, set, by: Change::OneByOne(_), .. } => {
                let columns: Vec<usize> = set.iter().map(|(column, _)| *column).collect();
                vec![self.update(&columns), self.find(conditions, &self.table.key)]
            }
            Work::UpdateWhere { conditions, set, .. } => vec![self.update_where(conditions, set)],
            Work::Group(group) => vec![self.group(group)],
            Work::Update { set, .. } => self.updates(set),
            Work::Upsert { .. } => vec![self.upsert()],
            Work::ReadModifyWrite { set, .. } => {
                let mut all = self.updates(set);
                all.push(self.get());
                all
            }
            Work::Delete { removed, .. } => {
                let mut all = vec![self.delete(removed)];
                if let Removed::Where { conditions, by: Change::OneByOne(_) } = removed {
                    all.push(self.find(conditions, &self.table.key));
                }
                all
            }
            Work::Sql(_) | Work::Mix(_) | Work::Sequence(_) => Vec::new(),
        }
    }
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
