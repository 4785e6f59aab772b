//! Statements that compare rows with others of their group: gaps, outliers and correlations.

use embermark_contract::sql::Dialect;
use embermark_language::Correlate;

use super::Texts;
use super::conditions::where_all;

impl Texts<'_> {
    /// Returns a query for gaps. Columns: the value, and the first and last time of the gap.
    /// Parameter: the value to search, if it is one.
    pub(super) fn gaps(&self, (by, time): (usize, usize), longer: i64) -> String {
        let nullable = self.rows.table.columns[by].nullable.then(|| self.name(by) + " IS NOT NULL");
        let met = where_all(nullable.into_iter().chain(self.is_one("", 1)));
        let (table, by, time) = (self.table(), self.name(by), self.name(time));
        format!(
            "SELECT of_value, gap_from, gap_until FROM (SELECT {by} AS of_value, {time} AS gap_until, \
             LAG({time}) OVER (PARTITION BY {by} ORDER BY {time}) AS gap_from FROM {table}{met}) \
             AS neighbours WHERE gap_until - gap_from > {longer}"
        )
    }

    /// Returns a query for outliers. Columns: the key and the value. Parameter, as often as
    /// [`outliers_ask_for`] returns: the value of the group, if it is one. Without a standard
    /// deviation, squares of distances are compared with the variance in two passes, which is the
    /// same question without a root.
    pub(super) fn outliers(&self, (of, by): (usize, usize), deviations: f64) -> String {
        let key = self.rows.table.key.iter().map(|column| self.name_of("r.", *column));
        let key = key.collect::<Vec<_>>().join(", ");
        let table = self.table();
        let (r_of, r_by) = (self.name_of("r.", of), self.name_of("r.", by));
        let (of, by) = (self.name(of), self.name(by));
        let own = where_all(self.is_one("", 1));
        let and = |n| self.is_one("r.", n).map_or(String::new(), |is| format!(" AND {is}"));
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
        let spread = where_all(self.is_one("r.", 2));
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

    /// Returns a query for a correlation. Columns: the number of buckets that both groups have, and
    /// the correlation of their means in them. Without [`Dialect::correlation`], the centred sums
    /// of xy, xx, and yy. Parameters: the two groups, if they are given.
    pub(super) fn correlate(&self, question: &Correlate) -> String {
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
        // In a bucket that both groups have, the row of the lesser group is followed by another.
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
}

/// Returns how often a query for outliers has the value of the group as a parameter.
pub fn outliers_ask_for(dialect: &dyn Dialect) -> usize {
    if dialect.sample_deviation("x").is_some() { 2 } else { 3 }
}
