//! The phases of the proposed file.

use std::fmt::Write;

use super::shape::{Shape, Time};
use super::{list, quoted};
use crate::time;

/// Usual lengths of time.
const LENGTHS: [&str; 16] = [
    "1s", "10s", "1m", "5m", "15m", "1h", "6h", "12h", "1d", "3d", "7d", "14d", "30d", "90d",
    "365d", "3650d",
];

/// Returns the longest of them within `most` seconds.
fn within(most: f64) -> &'static str {
    LENGTHS.into_iter().rev().find(|length| seconds(length) <= most).unwrap_or(LENGTHS[0])
}

fn seconds(length: &str) -> f64 {
    time::duration(length).map_or(0.0, |nanoseconds| nanoseconds as f64 / 1e9)
}

/// Number of rows of a window in a chart.
const WINDOW: f64 = 100.0;

/// Duration of the mix in seconds.
const MIX: u64 = 30;

/// Phases of one table.
pub struct Phases<'a> {
    text: &'a mut String,
    shape: &'a Shape<'a>,
    /// Prefix for the names of phases if there are several tables.
    prefix: String,
    /// `table = …`, if there are several tables.
    table: String,
    /// `time = …`, if it must be specified.
    time: String,
    /// Whether to write a phase with everything at its rate.
    live: bool,
}

impl<'a> Phases<'a> {
    pub fn of(text: &'a mut String, shape: &'a Shape<'a>, several: bool, live: bool) -> Self {
        let table = match several {
            true => format!("table = {}\n", quoted(&shape.name)),
            false => String::new(),
        };
        let prefix = if several { format!("{}-", shape.name) } else { String::new() };
        let time = match shape.time {
            Some(Time { named: true, column, .. }) => {
                format!("time = {}\n", quoted(shape.column(column)))
            }
            _ => String::new(),
        };
        Self { text, shape, prefix, table, time, live }
    }

    /// Writes only the phase that loads the rows.
    pub fn load(mut self) {
        let load = "do = \"insert\"\ncommit = \"bulk\"";
        self.phase("load", "All rows by the engine's fastest path.", load);
    }

    /// Writes all of them.
    pub fn all(mut self) {
        let shape = self.shape;
        let rows = shape.table.rows;
        let ingest = "do = \"insert\"\ncommit = \"each\"";
        self.phase("ingest", "Rows one by one, each committed …", ingest);
        let load = "do = \"insert\"\ncommit = \"bulk\"";
        self.phase("load", "… and all by the engine's fastest path.", load);
        let ops = if rows >= 100_000 { "\"10k\"" } else { "1_000" };
        let get = format!("do = \"get\"\nops = {ops}\nabsent = 0.02");
        self.phase("get", "Rows by their keys, of which 2 in 100 are not there.", &get);
        let mut parts = vec![("ingest", self.ingested())];
        parts.extend(self.newest());
        parts.extend(self.window());
        parts.extend(self.groups());
        parts.extend(self.update());
        if parts.len() == 1 {
            parts.push(("get", "20/s".to_owned()));
        }
        if self.live {
            let part = |(name, rate): (&str, String)| format!("{}{name} = \"{rate}\"", self.prefix);
            let parts: Vec<String> = parts.into_iter().map(part).collect();
            let mix = format!("mix = {{ {} }}\nfor = \"{MIX}s\"", parts.join(", "));
            self.put("live", "All at once, rows as often as theirs came.", &mix);
        }
        self.delete();
        self.arrive();
    }

    /// Writes the phase for `embermark rate`, if the time in the key allows rows to repeat.
    fn arrive(&mut self) {
        let shape = self.shape;
        let key = shape.key.as_deref().unwrap_or_default();
        if !shape.time.is_some_and(|time| key.contains(&time.column)) {
            return;
        }
        let insert = quoted(&format!("{}ingest", self.prefix));
        let keys =
            format!("only = \"rate\"\narrive = \"1000/s\"\ninsert = {insert}\nfor = \"10s\"");
        self.phase("arrival", "How many rows per second it keeps up with: embermark rate", &keys);
    }

    /// Writes a phase of the table.
    fn phase(&mut self, name: &str, comment: &str, keys: &str) {
        let keys = format!("{}{keys}", self.table);
        self.put(name, comment, &keys);
    }

    fn put(&mut self, name: &str, comment: &str, keys: &str) {
        let _ = write!(self.text, "\n# {comment}\n[phase.{}{name}]\n{keys}\n", self.prefix);
    }

    /// Returns the rows per second that a mix inserts: the rate at which they came, if their times
    /// show it. At most a tenth of all rows are reserved for it.
    fn ingested(&self) -> String {
        let rows = self.shape.table.rows;
        let most = (rows / 10 / MIX).clamp(1, 200);
        let came = self.shape.time.map(|time| rows as f64 / time.seconds.max(1.0));
        match came {
            Some(rate) if rate < 1.0 => format!("{}/m", (60.0 * rate).ceil().max(1.0)),
            Some(rate) => format!("{}/s", (rate.round() as u64).min(most).max(1)),
            None => format!("{most}/s"),
        }
    }

    fn newest(&mut self) -> Option<(&'static str, String)> {
        let (by, _) = (self.shape.by?, self.shape.time?);
        let name = self.shape.column(by);
        let keys = format!("do = \"latest\"\nby = {}\n{}", quoted(name), self.time);
        self.phase("latest", &format!("The newest row of each {name}."), keys.trim_end());
        Some(("latest", "1/s".to_owned()))
    }

    fn window(&mut self) -> Option<(&'static str, String)> {
        let shape = self.shape;
        let Some(time) = shape.time else {
            let comment = "100 rows in the order of the key.";
            self.phase("range", comment, "do = \"range\"\nrows = 100");
            return Some(("range", "20/s".to_owned()));
        };
        let distinct = shape.by.map_or(1, |by| shape.table.columns[by].distinct);
        let rows = shape.table.rows as f64 / distinct as f64;
        let last = within(time.seconds * WINDOW / rows);
        let by = shape.by.map(|by| shape.column(by));
        let of = by.map_or_else(String::new, |by| format!("of = {}\n", quoted(by)));
        let of_one = by.map_or_else(String::new, |by| format!(" of one {by}"));
        let keys = format!("do = \"range\"\nlast = \"{last}\"\n{of}{}", self.time);
        let comment = format!("The last rows{of_one}, as a chart shows.");
        self.phase("window", &comment, keys.trim_end());
        Some(("window", "20/s".to_owned()))
    }

    /// Sums over groups: in time buckets, and the groups with the greatest means.
    fn groups(&mut self) -> Option<(&'static str, String)> {
        let shape = self.shape;
        let by = shape.by.map(|by| shape.column(by));
        let mut compute = vec!["count".to_owned()];
        if let Some(number) = shape.numbers.first().map(|place| shape.column(*place)) {
            compute.extend(["avg", "min", "max"].map(|name| format!("{name}({number})")));
        }
        let computed = list(compute.iter().map(String::as_str));
        let greatest = compute.get(1).unwrap_or(&compute[0]);
        if let Some(by) = by {
            let keys = format!(
                "do = \"group\"\nby = {}\ncompute = {computed}\norder = {}\nlimit = 10",
                list([by]),
                list([&*format!("-{greatest}"), by]),
            );
            self.phase("top", &format!("The ten with the greatest {greatest}."), &keys);
        }
        let Some(time) = shape.time else { return by.map(|_| ("top", "1/s".to_owned())) };
        let length = within(time.seconds / 4.0);
        let (name, bucket) = match seconds(length) {
            ..=3_600.0 => ("minutes", "minute"),
            ..=604_800.0 => ("hours", "hour"),
            ..=31_536_000.0 => ("days", "day"),
            _ => ("weeks", "week"),
        };
        let column = shape.column(time.column);
        let comment = format!("The last {length}, summed up for each {bucket}.");
        let bucket = format!("{bucket}({column})");
        let groups = list(by.into_iter().chain([&*bucket]));
        let keys = format!(
            "do = \"group\"\nwhere = [[{}, \">=\", \"end - {length}\"]]\nby = {groups}\n\
             compute = {computed}\norder = {groups}",
            quoted(column),
        );
        self.phase(name, &comment, &keys);
        Some((name, "1/s".to_owned()))
    }

    fn update(&mut self) -> Option<(&'static str, String)> {
        let place = self.shape.numbers.first().or(self.shape.free.first())?;
        let name = self.shape.column(*place);
        let keys = format!("do = \"update\"\nset = {}\nkeys = \"newest\"", list([name]));
        self.phase("update", "A value set right, mostly in new rows.", &keys);
        Some(("update", "5/s".to_owned()))
    }

    fn delete(&mut self) {
        let Some(time) = self.shape.time else {
            self.phase("delete", "Rows by their keys.", "do = \"delete\"");
            return;
        };
        let older = within(time.seconds * 0.9);
        let keys = format!("do = \"delete\"\nolder = \"{older}\"\n{}", self.time);
        self.phase("expire", "What is old goes.", keys.trim_end());
    }
}
