use super::*;

#[test]
fn a_tool_that_is_not_beside_an_engines_programs_is_one_of_the_search_path() {
    assert_eq!(program("sqlite", "sh"), on_search_path("sh"));
    assert!(program("postgres", "sh").is_some());
    assert_eq!(program("postgres", "no-program-has-this-name"), None);
    assert_eq!(program("oracle", "sh"), None);
    for (name, path) in registry::find("postgres").unwrap().programs() {
        assert_eq!(program("postgres", name), path.canonicalize().ok());
    }
}

const PGBENCH: &str = "pgbench (15.18 (Debian 15.18-0+deb12u1))\ntransaction type: points.pgbench\n\
    scaling factor: 1\nquery mode: prepared\nnumber of clients: 1\nnumber of threads: 1\n\
    maximum number of tries: 1\nnumber of transactions per client: 19980\n\
    number of transactions actually processed: 19980/19980\n\
    number of failed transactions: 0 (0.000%)\nlatency average = 0.050 ms\n\
    initial connection time = 2.017 ms\n\
    tps = 20000.000000 (without initial connection time)\n";

#[test]
fn pgbench_is_read_to_more_digits_than_its_latency_has() {
    assert_eq!(pgbench_ns(PGBENCH, 19_980), Some(50_000.0));
    assert_eq!(pgbench_ns(PGBENCH, 20_000), None, "a run that ended early is no measurement");
    assert_eq!(pgbench_ns("tps = 0.000000 (without initial connection time)", 0), None);
    assert_eq!(pgbench_ns("", 1), None);
}

#[test]
fn sysbench_is_read_by_its_total_time_when_every_row_was_found() {
    let said = "SQL statistics:\n    queries performed:\n        read:  19980\n\
        General statistics:\n    total time:                          0.9990s\n    \
        total number of events:              19980\nrows found: 19668\n";
    assert_eq!(sysbench_ns(said, 19_980, 19_668), Some(50_000.0));
    assert_eq!(sysbench_ns(said, 20_000, 19_668), None);
    assert_eq!(sysbench_ns(said, 19_980, 19_980), None, "it did not find every row");
    let at_once = "total time: 0.0000s\ntotal number of events: 1\nrows found: 1";
    assert_eq!(sysbench_ns(at_once, 1, 1), None);
}

#[test]
fn db_bench_is_of_the_version_of_the_library_or_left_out() {
    assert_eq!(version_in("db_bench version 7.8.3\n"), Some("7.8.3"));
    assert_eq!(version_in("db_bench"), None);
    let why = db_bench_of("0.1").unwrap_err();
    let absent = why.contains("scripts/deps.sh tools");
    assert!(absent || why.contains("and the library of 0.1"), "{why}");
}

#[test]
fn db_bench_is_read_by_its_rounds_and_the_first_of_them_only_warms_up() {
    let round = |micros: &str| format!("readrandom   :       {micros} micros/op 1 ops/sec\n");
    let average = "readrandom [AVG 2 runs] : 125421 (± 74454) ops/sec;    5.1 (± 3.1) MB/sec\n";
    let said = format!(
        "fillseq      :       7.289 micros/op 137180 ops/sec\n{}{}{}{average}",
        round("9.000"),
        round("1.000"),
        round("2.000")
    );
    assert_eq!(db_bench_ns(&said), Some(1_500.0));
    assert_eq!(db_bench_ns(&round("9.000")), None);
}

#[test]
fn a_server_is_found_in_what_its_adapter_tells_a_second_process() {
    let at = "- host=/proc/7/fd/9/run user=postgres dbname=postgres application_name=x";
    let postgres = Place::of("postgres", at).unwrap();
    assert_eq!(postgres, Place::Postgres("/proc/7/fd/9/run".to_owned()));
    let mariadb = Place::of("mariadb", "embermark unix:/proc/7/fd/9/run/socket").unwrap();
    let socket = "/proc/7/fd/9/run/socket".to_owned();
    assert_eq!(mariadb, Place::MariaDb("embermark".to_owned(), socket));
    assert!(Place::of("mariadb", "embermark mysql://root@127.0.0.1:1/").is_err());
}
