//! Words that cannot be the name of a table or a column.

/// Words that SQLite 3.40, DuckDB 1.5, PostgreSQL 15, MariaDB 10.11 or InfluxDB 1 refuse without
/// quotes, in lower case and sorted. Each word of `pg_get_keywords()`, `duckdb_keywords()`,
/// MariaDB's `information_schema.KEYWORDS`, `sqlite3_keyword_name` and the specification of
/// InfluxQL was tried as a column and as a table in the statements that a workload needs. Keywords
/// that nothing refuses (`time`, `date`, `year`, `type`, `text`, …) are allowed. So is `name`,
/// which only InfluxQL refuses, where names are quoted.
///
/// Words that only HarperDB reserves are allowed too, among them `temp`, `value`, `count` and
/// `total`. Its dialect quotes names with backquotes.
const WORDS: &str = "\
    accessible add all alter analyse analyze and anti any array as asc asensitive asof \
    asymmetric at authorization autoincrement before begin between bigint binary blob both by \
    call cardinality cascade case cast change char character check cmax cmin collate collation \
    column commit concurrently condition constraint continue continuous convert create cross \
    ctid current_catalog current_date current_role current_schema current_time \
    current_timestamp current_user cursor database databases day_hour day_microsecond \
    day_minute day_second dec decimal declare default deferrable delayed delete \
    delete_domain_id desc describe destinations deterministic diagnostics distinct distinctrow \
    div do do_domain_ids double drop dual duration each else elseif enclosed end escape \
    escaped every exact except exists exit explain false fetch field float float4 float8 for \
    force foreign freeze from full fulltext glob grant grants group groups having \
    high_priority hour_microsecond hour_minute hour_second if ignore ignore_domain_ids ilike \
    in index inf infile initially inner inout insensitive insert int int1 int2 int3 int4 int8 \
    integer intersect interval into is isnull iterate join key keys kill lambda lateral \
    leading leave left like limit linear lines load localtime localtimestamp lock long \
    longblob longtext loop low_priority master_demote_to_replica master_demote_to_slave \
    master_ssl_verify_server_cert match maxvalue measurement measurements mediumblob mediumint \
    mediumtext middleint minute_microsecond minute_second mod modifies natural \
    no_write_to_binlog not nothing notnull null numeric offset on only optimize optionally or \
    order out outer outfile over overlaps page_checksum parse_vcol_expr partition password \
    pivot pivot_longer pivot_wider placing policies policy portion positional precision \
    primary privileges procedure purge qualify queries query raise range read read_write reads \
    real recursive ref_system_id references regexp release rename repeat replace replication \
    require resample resignal restrict retention return returning revoke right rlike \
    row_number rows schemas second_microsecond select semi sensitive separator series \
    session_user set shard shards show signal similar slimit smallint soffset some spatial \
    specific sql sql_big_result sql_buffer_result sql_cache sql_calc_found_rows sql_no_cache \
    sql_small_result sqlexception sqlstate sqlwarning ssl starting stats stats_auto_recalc \
    stats_persistent stats_sample_pages straight_join subscription subscriptions summarize \
    symmetric table tableoid tablesample tag terminated then tinyblob tinyint tinytext to \
    trailing transaction trigger true undo union unique unlock unpack unpivot unsigned update \
    usage use user users using utc_date utc_time utc_timestamp values varbinary varchar \
    varcharacter variadic varying verbose when where while window with write xmax xmin xor \
    year_month zerofill";

/// Words that MariaDB refuses only as a table.
const TABLES: [&str; 1] = ["value"];

/// Whether a table, or otherwise a column, cannot have this name. Ignores case.
pub fn is_reserved(name: &str, table: bool) -> bool {
    let name = name.to_ascii_lowercase();
    WORDS.split(' ').any(|word| word == name) || (table && TABLES.contains(&&*name))
}

#[cfg(test)]
mod tests {
    use super::{WORDS, is_reserved};

    #[test]
    fn words_are_sorted_and_found_in_any_case() {
        let words: Vec<_> = WORDS.split(' ').collect();
        assert!(words.is_sorted() && !words.contains(&""));
        assert!(is_reserved("Order", false) && is_reserved("zerofill", true));
        assert!(is_reserved("value", true) && !is_reserved("value", false));
        for free in
            ["name", "time", "timestamp", "date", "temp", "station", "status", "type", "text"]
        {
            assert!(!is_reserved(free, true), "{free}");
        }
    }
}
