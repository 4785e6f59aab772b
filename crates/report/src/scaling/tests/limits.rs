//! Scaling within memory limits.

use embermark_model::MemoryLimit;

use super::*;

const LIMIT: MemoryLimit = MemoryLimit(256 << 20);

/// Adds the cells of `limited` to `file`, within 256 MiB.
fn join_within(file: &mut ResultFile, mut limited: ResultFile) {
    limited.cells.iter_mut().for_each(|cell| cell.id.memory_limit = Some(LIMIT));
    file.cells.append(&mut limited.cells);
}

#[test]
fn cells_of_two_limits_of_memory_are_not_on_one_line() {
    // One is measured without a limit at 1k only, the other within a limit at 10k only. They form
    // no line, although together they would change the order and grow twentyfold.
    let (mut file, mut limited) = (empty(), empty());
    add(&mut file, "a", "read", &[(1_000, 100, 1_000)], NEAR);
    add(&mut file, "b", "read", &[(1_000, 200, 1_000)], NEAR);
    add(&mut limited, "a", "read", &[(10_000, 2_000, 10_000)], NEAR);
    add(&mut limited, "b", "read", &[(10_000, 300, 10_000)], NEAR);
    join_within(&mut file, limited);
    assert_eq!((turns(&file), surprises(&file, &[])), (vec![], vec![]));
    scaled(&file, &[], |scaling| assert!(scaling.phases.is_empty(), "{:?}", scaling.phases));
    // An engine within a limit is not compared with its family without one. Here it is a hundred
    // times as slow.
    let (mut file, mut limited) = (empty(), empty());
    add(&mut file, "b", "read", &[(1_000, 20, 1_000)], NEAR);
    add(&mut limited, "a", "read", &[(1_000, 2_000, 1_000)], NEAR);
    for engine in ["a", "b"] {
        family(&mut file, engine, "embedded", "SQL");
    }
    let mut one = file.clone();
    one.cells.extend(limited.cells.iter().cloned());
    assert_eq!(surprises(&one, &[]).len(), 1, "within the same");
    join_within(&mut file, limited);
    assert_eq!(surprises(&file, &[]), [""; 0]);
}

/// Makes `a` and `b`, which read alike at two scales without a limit. Within 256 MiB `a` is twenty
/// times as slow at the larger scale, and `b` overtakes it.
fn slow_within() -> ResultFile {
    let (mut file, mut limited) = (empty(), empty());
    add(&mut file, "a", "read", &[(1_000, 100, 1_000), (10_000, 100, 10_000)], NEAR);
    add(&mut file, "b", "read", &[(1_000, 200, 1_000), (10_000, 200, 10_000)], NEAR);
    add(&mut limited, "a", "read", &[(1_000, 100, 1_000), (10_000, 2_000, 10_000)], NEAR);
    add(&mut limited, "b", "read", &[(1_000, 200, 1_000), (10_000, 300, 10_000)], NEAR);
    join_within(&mut file, limited);
    file
}

#[test]
fn growth_and_turns_within_a_limit_of_memory_are_its_own_and_name_it() {
    let file = slow_within();
    let says = "b overtakes a between 1k and 10k rows within 256 MiB (read)";
    assert_eq!(turns(&file), [says]);
    scaled(&file, &[], |scaling| {
        let of = |limit: Option<MemoryLimit>| {
            let own = |one: &&PhaseScaling<'_>| one.series.within.conditions.memory_limit == limit;
            let one = scaling.phases.iter().find(own).unwrap();
            let rounded = |growth: &Growth<'_>| (growth.exponent * 100.0).round() / 100.0;
            (one.growth.iter().map(rounded).collect::<Vec<f64>>(), one.leading.clone())
        };
        assert_eq!(of(None), (vec![0.0, 0.0], "a at every scale".to_owned()));
        // Computed by hand: log10 of 20 and of 1.5.
        assert_eq!(of(Some(LIMIT)), (vec![1.3, 0.18], "a up to 1k, b from 10k".to_owned()));
        let titles: Vec<String> = grids(scaling).into_iter().map(|one| one.grid.title).collect();
        assert_eq!(
            titles,
            [
                "sensors · durability process · growth with rows",
                "sensors · durability process · fastest by rows",
                "sensors within 256 MiB · durability process · growth with rows",
                "sensors within 256 MiB · durability process · fastest by rows",
            ]
        );
        let turns = |place: usize| grids(scaling)[place].notes[0].says.clone();
        assert_eq!([turns(1), turns(3)], ["nowhere among the fastest, all and of a family", says]);
        assert_eq!(order_turns(scaling), [says]);
        let json = serde_json::to_value(scaling).unwrap();
        let limits: Vec<&serde_json::Value> = json["phases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| &one["memory_limit_bytes"])
            .collect();
        assert_eq!(limits, [&serde_json::Value::Null, &serde_json::json!(256 << 20)]);
    });
}

#[test]
fn a_surprise_within_a_limit_of_memory_is_marked_in_its_table_alone_and_names_it() {
    let file = slow_within();
    let open = "unexplained: look before you believe it";
    let says = format!("a 10k 20.0x the time for a row, 1k to 10k: {open}");
    assert_eq!(surprises(&file, &[]), [says]);
    let options = crate::Options { width: 120, ..Default::default() };
    let shown = crate::render(&file, crate::Format::Table, &options).unwrap();
    let table = |title: &str| {
        let below = shown.split(title).nth(1).unwrap();
        below.split("sensors ").next().unwrap().to_owned()
    };
    assert!(table("sensors 10k within 256 MiB").contains("ms? "), "{shown}");
    assert!(!table("sensors 10k · durability").contains('?'), "{shown}");
    let told = "  a  sensors 10k within 256 MiB process, read: 20.0x the time for a row, 1k to 10k";
    assert!(shown.contains(told), "{shown}");
}
