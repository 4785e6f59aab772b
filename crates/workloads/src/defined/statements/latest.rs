//! Statements that read the newest rows.

use super::Texts;

impl Texts<'_> {
    /// Returns a query for the newest rows of all values of a column that are drawn. Parameters:
    /// these values.
    pub(super) fn latest_of_all(&self, (by, time): (usize, usize), values: usize) -> String {
        let (table, of, at) = (self.table(), self.name(by), self.name(time));
        let all: Vec<String> = (1..=values).map(|n| self.place(n)).collect();
        let (rows, all) = (self.all_of("r."), all.join(", "));
        let (r_of, r_at) = (self.name_of("r.", by), self.name_of("r.", time));
        format!(
            "SELECT {rows} FROM {table} AS r JOIN (SELECT {of} AS v, MAX({at}) AS t FROM {table} \
             WHERE {of} IN ({all}) GROUP BY {of}) AS newest ON {r_of} = newest.v AND {r_at} = newest.t"
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

    /// Returns a query for the newest rows of each value of a column. Where the key or an index
    /// finds the newest row of a value, each value is looked up from the one before: a loose index
    /// scan (<https://wiki.postgresql.org/wiki/Loose_indexscan>).
    pub(in super::super) fn latest(&self, by: usize, time: usize, seeks: bool) -> String {
        let (all, table) = (self.all_of("r."), self.table());
        let (r_by, r_time) = (self.name_of("r.", by), self.name_of("r.", time));
        let (by, time) = (self.name(by), self.name(time));
        if seeks {
            // Not the name of the table, which it would hide.
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
}
