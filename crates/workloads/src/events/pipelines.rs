//! The questions as MongoDB's aggregation pipelines. The key of one field stands under `_id`.

use super::phase::Phase;
use super::query_results::{ERRORS_SINCE, WITHIN};

/// The pipeline of a question.
pub(super) fn text(question: Phase) -> String {
    let [east, north] = WITHIN;
    match question {
        Phase::Gps => format!(
            r#"[
                {{"$match": {{
                    "bucket": "location",
                    "longitude": {{"$gt": {}, "$lt": {}}}, "latitude": {{"$gt": {}, "$lt": {}}}
                }}}},
                {{"$project": {{"_id": 0, "longitude": 1, "latitude": 1}}}}
            ]"#,
            east.start, east.end, north.start, north.end
        ),
        Phase::Co2 => r#"[
            {"$match": {"bucket": "co2"}},
            {"$group": {
                "_id": {"$month": {"$toDate": "$timestamp"}}, "mean": {"$avg": "$co2"}
            }},
            {"$project": {"_id": 0, "month": "$_id", "mean": 1}}
        ]"#
        .to_owned(),
        _ => format!(
            r#"[
                {{"$match": {{
                    "bucket": "logs", "level": "error", "timestamp": {{"$gt": {ERRORS_SINCE}}}
                }}}},
                {{"$group": {{"_id": "$endpoint", "errors": {{"$sum": 1}}}}}},
                {{"$sort": {{"errors": 1}}}},
                {{"$project": {{"_id": 0, "endpoint": "$_id", "errors": 1}}}}
            ]"#
        ),
    }
}
