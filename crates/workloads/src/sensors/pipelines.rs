//! The questions as aggregation pipelines of MongoDB, over documents whose key is (sensor, ts):
//! `_id.sensor`, `_id.ts`. A value that is NULL is absent, which the accumulators of means and
//! deviations pass over.
//!
//! Days and buckets are quotients of doubles rounded down: exact as long as one microsecond is
//! more than half the gap between neighbouring doubles there, beyond the year 2100.

/// A question; its result's documents have the fields named, in the order of the SQL's columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pipeline {
    /// sensor, mean; a mean of nothing is null.
    AvgSensor,
    /// sensor, mean.
    HotSensors,
    /// sensor, ts, temperature.
    Anomalies,
    /// sensor, day, min, max, mean, readings.
    DailySummary,
    /// sensor, from, to.
    Outages,
    /// sensor, readings.
    MostReadings,
    /// sensor, mean.
    Hottest,
    /// One document: buckets, and of their pairs of means the centred sums xy, xx and yy; null
    /// without any.
    CompareTwo,
}

impl Pipeline {
    /// The stages, as a JSON array, for the documents of one sensor: they are found first, by the range of
    /// their keys.
    pub(super) fn text_of(self, sensor: u16) -> String {
        let (sensor, next) = (u32::from(sensor), u32::from(sensor) + 1);
        let range =
            format!("{{\"$gte\": {{\"sensor\": {sensor}}}, \"$lt\": {{\"sensor\": {next}}}}}");
        self.text().replacen('[', &format!("[{{\"$match\": {{\"_id\": {range}}}}},"), 1)
    }

    /// The stages, as a JSON array.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::AvgSensor => AVG_SENSOR,
            Self::HotSensors => HOT_SENSORS,
            Self::Anomalies => ANOMALIES,
            Self::DailySummary => DAILY_SUMMARY,
            Self::Outages => OUTAGES,
            Self::MostReadings => MOST_READINGS,
            Self::Hottest => HOTTEST,
            Self::CompareTwo => COMPARE_TWO,
        }
    }

    /// The fields of a result's document, in the order of the SQL's columns.
    pub(super) fn columns(self) -> &'static [&'static str] {
        match self {
            Self::AvgSensor | Self::HotSensors | Self::Hottest => &["sensor", "mean"],
            Self::Anomalies => &["sensor", "ts", "temperature"],
            Self::DailySummary => &["sensor", "day", "min", "max", "mean", "readings"],
            Self::Outages => &["sensor", "from", "to"],
            Self::MostReadings => &["sensor", "readings"],
            Self::CompareTwo => &["buckets", "xy", "xx", "yy"],
        }
    }
}

const AVG_SENSOR: &str = r#"[
    {"$group": {"_id": "$_id.sensor", "mean": {"$avg": "$temperature"}}},
    {"$project": {"_id": 0, "sensor": "$_id", "mean": 1}}
]"#;

const HOT_SENSORS: &str = r#"[
    {"$group": {
        "_id": "$_id.sensor", "mean": {"$avg": "$temperature"}, "readings": {"$sum": 1}
    }},
    {"$match": {"mean": {"$gt": 25}, "readings": {"$gte": 10}}},
    {"$sort": {"mean": -1, "_id": 1}},
    {"$limit": 10},
    {"$project": {"_id": 0, "sensor": "$_id", "mean": 1}}
]"#;

/// Two passes: the first finds what is usual for each sensor, the second reads its documents by
/// the range of their keys. ($setWindowFields does it in one, but sorts every document by sensor
/// for that and keeps all those of a sensor at once.) The sample deviation of one value is null:
/// such a sensor has no bounds.
const ANOMALIES: &str = r#"[
    {"$group": {
        "_id": "$_id.sensor",
        "mean": {"$avg": "$temperature"}, "deviation": {"$stdDevSamp": "$temperature"}
    }},
    {"$match": {"deviation": {"$ne": null}}},
    {"$lookup": {
        "from": "readings",
        "let": {
            "first": {"sensor": "$_id"},
            "end": {"sensor": {"$add": ["$_id", 1]}},
            "mean": "$mean",
            "far": {"$multiply": [2, "$deviation"]}
        },
        "pipeline": [
            {"$match": {"$expr": {"$and": [
                {"$gte": ["$_id", "$$first"]},
                {"$lt": ["$_id", "$$end"]},
                {"$gt": [{"$abs": {"$subtract": ["$temperature", "$$mean"]}}, "$$far"]}
            ]}}},
            {"$project": {"_id": 0, "sensor": "$_id.sensor", "ts": "$_id.ts", "temperature": 1}}
        ],
        "as": "reading"
    }},
    {"$unwind": "$reading"},
    {"$replaceRoot": {"newRoot": "$reading"}}
]"#;

const DAILY_SUMMARY: &str = r#"[
    {"$group": {
        "_id": {
            "sensor": "$_id.sensor",
            "day": {"$floor": {"$divide": ["$_id.ts", 86400000000]}}
        },
        "min": {"$min": "$temperature"}, "max": {"$max": "$temperature"},
        "mean": {"$avg": "$temperature"}, "readings": {"$sum": 1}
    }},
    {"$project": {
        "_id": 0, "sensor": "$_id.sensor", "day": {"$toLong": "$_id.day"},
        "min": 1, "max": 1, "mean": 1, "readings": 1
    }}
]"#;

/// In the order of the keys, which is the index's, the reading before is the sensor's last one
/// or another sensor's: no partition, so no sort.
const OUTAGES: &str = r#"[
    {"$setWindowFields": {
        "sortBy": {"_id": 1}, "output": {"before": {"$shift": {"output": "$_id", "by": -1}}}
    }},
    {"$match": {"$expr": {"$and": [
        {"$eq": ["$_id.sensor", "$before.sensor"]},
        {"$gt": [{"$subtract": ["$_id.ts", "$before.ts"]}, 3600000000]}
    ]}}},
    {"$project": {"_id": 0, "sensor": "$_id.sensor", "from": "$before.ts", "to": "$_id.ts"}}
]"#;

const MOST_READINGS: &str = r#"[
    {"$group": {"_id": "$_id.sensor", "readings": {"$sum": 1}}},
    {"$sort": {"readings": -1, "_id": 1}},
    {"$limit": 10},
    {"$project": {"_id": 0, "sensor": "$_id", "readings": 1}}
]"#;

const HOTTEST: &str = r#"[
    {"$group": {"_id": "$_id.sensor", "mean": {"$avg": "$temperature"}}},
    {"$match": {"mean": {"$ne": null}}},
    {"$sort": {"mean": -1, "_id": 1}},
    {"$limit": 10},
    {"$project": {"_id": 0, "sensor": "$_id", "mean": 1}}
]"#;

/// The readings of the two are found by the range of their keys. A bucket that both have is a
/// pair of means, of which the other one's 0 takes nothing away; the window without bounds gives
/// each pair the means to be centred on, and `$facet` a document also where there is no pair.
const COMPARE_TWO: &str = r#"[
    {"$group": {"_id": "$_id.sensor", "readings": {"$sum": 1}}},
    {"$sort": {"readings": -1, "_id": 1}},
    {"$limit": 2},
    {"$setWindowFields": {"sortBy": {"_id": 1}, "output": {"place": {"$documentNumber": {}}}}},
    {"$lookup": {
        "from": "readings",
        "let": {"first": {"sensor": "$_id"}, "end": {"sensor": {"$add": ["$_id", 1]}}},
        "pipeline": [
            {"$match": {
                "$expr": {"$and": [{"$gte": ["$_id", "$$first"]}, {"$lt": ["$_id", "$$end"]}]},
                "temperature": {"$ne": null}
            }},
            {"$group": {
                "_id": {"$floor": {"$divide": ["$_id.ts", 300000000]}},
                "mean": {"$avg": "$temperature"}
            }}
        ],
        "as": "bucket"
    }},
    {"$unwind": "$bucket"},
    {"$group": {
        "_id": "$bucket._id",
        "sensors": {"$sum": 1},
        "x": {"$sum": {"$cond": [{"$eq": ["$place", 1]}, "$bucket.mean", 0]}},
        "y": {"$sum": {"$cond": [{"$eq": ["$place", 2]}, "$bucket.mean", 0]}}
    }},
    {"$match": {"sensors": 2}},
    {"$setWindowFields": {"output": {"mx": {"$avg": "$x"}, "my": {"$avg": "$y"}}}},
    {"$project": {
        "_id": 0, "x": {"$subtract": ["$x", "$mx"]}, "y": {"$subtract": ["$y", "$my"]}
    }},
    {"$facet": {"pairs": [
        {"$group": {
            "_id": null,
            "buckets": {"$sum": 1},
            "xy": {"$sum": {"$multiply": ["$x", "$y"]}},
            "xx": {"$sum": {"$multiply": ["$x", "$x"]}},
            "yy": {"$sum": {"$multiply": ["$y", "$y"]}}
        }}
    ]}},
    {"$project": {
        "buckets": {"$ifNull": [{"$first": "$pairs.buckets"}, 0]},
        "xy": {"$first": "$pairs.xy"},
        "xx": {"$first": "$pairs.xx"},
        "yy": {"$first": "$pairs.yy"}
    }}
]"#;
