//! Statements that read rows: by their key, by conditions, as a range, and the newest ones.

use embermark_contract::sql::Dialect;
use embermark_language::{Condition, Range, Span};
use embermark_model::table::Table;
use smallvec::SmallVec;

use super::Texts;

impl Texts<'_> {
    /// Returns a query for the row of a key. Columns: those [outside the key](beside_key), which
    /// the caller knows. Parameters: the key.
    pub fn get(&self) -> String {
        let columns = self.names(&beside_key(self.rows.table)).join(", ");
        format!("SELECT {columns} FROM {} WHERE {}", self.table(), self.is_key(1))
    }

    /// Returns a query by conditions. Parameters: their [`bounds`](super::conditions::bounds).
    pub fn find(&self, conditions: &[Condition], select: &[usize]) -> String {
        let (columns, table) = (self.names(select).join(", "), self.table());
        format!("SELECT {columns} FROM {table} WHERE {}", self.meets(conditions, 1))
    }

    /// Returns a query for every row.
    pub fn contents(&self) -> String {
        format!("SELECT {} FROM {}", self.all(), self.table())
    }

    /// Returns a query for a range. Parameters of a range by rows: the first key and the number of
    /// rows. Parameters of a range by time: the value of the column, if it is about one, the first
    /// time, and the time after the last.
    pub fn range(&self, range: &Range) -> String {
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

    /// Returns the condition for keys from a key on.
    fn begins_at(&self) -> String {
        let names = self.names(&self.rows.table.key);
        if let [name] = &names[..] {
            return format!("{name} >= {}", self.place(1));
        }
        if self.dialect.row_values() {
            let places: Vec<String> = (1..=names.len()).map(|n| self.place(n)).collect();
            return format!("({}) >= ({})", names.join(", "), places.join(", "));
        }
        // a >= ? AND (a > ? OR (a = ? AND (b > ? OR (b = ? AND c >= ?)))). The first condition
        // finds the position.
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

    /// Returns a query for the newest rows of all values of a column that are drawn. Parameters:
    /// these values.
    pub(super) fn latest_of_all(&self, (by, time): (usize, usize), values: usize) -> String {
        let all: Vec<String> = (1..=values).map(|n| self.place(n)).collect();
        self.newest(by, time, &format!(" WHERE {} IN ({})", self.name(by), all.join(", ")))
    }

    /// Returns a query for the newest rows of each value of a column, among those that meet a
    /// condition.
    fn newest(&self, by: usize, time: usize, met: &str) -> String {
        let (all, table) = (self.all_of("r."), self.table());
        let (r_by, r_time) = (self.name_of("r.", by), self.name_of("r.", time));
        let (by, time) = (self.name(by), self.name(time));
        format!(
            "SELECT {all} FROM {table} AS r JOIN (SELECT {by} AS v, MAX({time}) AS t FROM {table}{met} \
             GROUP BY {by}) AS newest ON {r_by} = newest.v AND {r_time} = newest.t"
        )
    }

    /// Returns a query for the newest rows of one value. Parameter: this value, twice unless the
    /// key is value and time.
    pub(super) fn latest_of(&self, (by, time): (usize, usize)) -> String {
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

    /// Returns a query for the newest rows of each value of a column, among the rows of one value
    /// of another column. That value is a parameter, twice.
    pub(super) fn latest_among(&self, (by, time): (usize, usize), each: usize) -> String {
        let (own, r_each) = (self.name(each), self.name_of("r.", each));
        let newest = self.newest(by, time, &format!(" WHERE {own} = {}", self.place(1)));
        format!("{newest} WHERE {r_each} = {}", self.place(2))
    }

    /// Returns a query for the newest rows of each value of a column. Where the key or an index
    /// finds the newest row of a value, each value is looked up from the one before: a loose index
    /// scan (<https://wiki.postgresql.org/wiki/Loose_indexscan>).
    pub fn latest(&self, by: usize, time: usize, seeks: bool) -> String {
        if !seeks {
            return self.newest(by, time, "");
        }
        let (all, table) = (self.all_of("r."), self.table());
        let (r_by, r_time) = (self.name_of("r.", by), self.name_of("r.", time));
        let (by, time) = (self.name(by), self.name(time));
        // Not the name of the table, which it would hide.
        let is_taken = self.rows.table.name.eq_ignore_ascii_case("each_of");
        let each = if is_taken { "every" } else { "each_of" };
        format!(
            "WITH RECURSIVE {each} (v) AS (SELECT MIN({by}) FROM {table} UNION ALL SELECT \
             (SELECT MIN({by}) FROM {table} WHERE {by} > {each}.v) FROM {each} \
             WHERE {each}.v IS NOT NULL) SELECT {all} FROM {each} JOIN {table} AS r \
             ON {r_by} = {each}.v AND {r_time} = \
             (SELECT MAX({time}) FROM {table} WHERE {by} = {each}.v)"
        )
    }
}

/// Returns the columns of a table outside its key, or all columns if there are no others.
pub fn beside_key(table: &Table) -> SmallVec<[usize; 12]> {
    let all = 0..table.columns.len();
    if table.key.len() == table.columns.len() {
        return all.collect();
    }
    all.filter(|column| !table.key.contains(column)).collect()
}

/// Returns the positions in the key of the first parameters of a range by rows.
pub fn begins_at_parameters(dialect: &dyn Dialect, table: &Table) -> SmallVec<[usize; 8]> {
    let keys = table.key.len();
    if keys == 1 || dialect.row_values() {
        return (0..keys).collect();
    }
    let others = (0..keys - 1).flat_map(|at| [at, at]);
    std::iter::once(0).chain(others).chain([keys - 1]).collect()
}
