use crate::{BUILT_IN, Definition, Work, parse};

/// The ids of engines in these tests.
const ENGINES: [&str; 2] = ["sqlite", "duckdb"];

fn read(text: &str) -> Definition {
    parse("weather.toml", text, &ENGINES).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

const WEATHER: &str = r#"
[table.readings]
file = "readings.csv"
key = ["station", "time"]
index = [["temp"]]
[table.readings.columns]
station = { type = "u16", from = "Station ID" }
time = { type = "timestamp", unit = "s" }
temp = "f64?"

[phase.ingest]
do = "insert"
[phase.get]
do = "get"
keys = "zipfian"
[phase.window]
do = "range"
of = "station"
last = "1h"
[phase.hourly]
do = "group"
where = [["time", ">=", "end - 7d"]]
by = ["station", "hour(time)"]
compute = ["count", "avg(temp)"]
order = ["-avg(temp)"]
limit = 10
[phase.correct]
do = "update"
[phase.expire]
do = "delete"
older = "7d"
[phase.report]
sql = "SELECT station FROM readings ORDER BY station"
[phase.live]
mix = { ingest = "200/s", window = "20/s" }
"#;

#[test]
fn a_simple_file_is_read() {
    let file = read(WEATHER);
    assert_eq!(file.name, "weather");
    assert_eq!(file.phases.len(), 8);
    assert!(matches!(file.phases[7].work, Work::Mix(_)));
    for phase in &file.phases {
        println!("{}: {}", phase.name, phase.about);
    }
}

#[test]
fn every_built_in_file_is_right_and_has_its_own_name() {
    for (name, text) in BUILT_IN {
        let file = parse(name, text, &ENGINES).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        assert_eq!(file.name, *name);
    }
}
