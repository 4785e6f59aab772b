use super::*;

/// Places of the rows, the highest total first.
fn ranking(totals: impl Iterator<Item = f64>) -> Vec<usize> {
    let totals: Vec<f64> = totals.collect();
    let mut places: Vec<usize> = (0..totals.len()).collect();
    places.sort_by(|a, b| totals[*b].total_cmp(&totals[*a]));
    places
}

#[test]
fn the_formula_on_the_published_columns_gives_the_published_ranking() {
    let tables = tables();
    let printed = ranking(tables.row.iter().map(|row| row.score[2]));
    let without = Weights { effort: 0.0, ..Weights::default() };
    let recomputed: Vec<[f64; 3]> = recomputed(tables, &without);
    let ours = ranking(recomputed.iter().map(|score| score[2]));
    let name = |places: &[usize]| -> Vec<String> {
        let row = |place: &usize| &tables.row[*place];
        places.iter().map(|p| format!("{} {}", row(p).engine, row(p).reader)).collect()
    };
    // The two that the source gives 43 % each are in either order.
    assert_eq!(name(&ours[..5]), name(&printed[..5]));
    for (row, score) in tables.row.iter().zip(&recomputed) {
        for (ours, printed) in score.iter().zip(row.score) {
            let ours = ours * 100.0;
            assert!((ours - printed).abs() <= 4.5, "{row:?}: {ours}");
        }
    }
}

#[test]
fn effort_is_as_the_source_graded_it_and_none_of_what_it_did_not() {
    let cell = |engine: &str, variant: &str| CellId {
        workload: "machine".into(),
        scale: embermark_model::Scale::Rows(1_000),
        durability: embermark_model::Durability::Process,
        variant: variant.into(),
        engine: engine.into(),
        memory_limit: None,
    };
    assert_eq!(effort(&cell("mongodb", "bulk"), "write"), Some(4.0));
    assert_eq!(effort(&cell("influxdb", "individual"), "read_bulk1"), Some(4.0));
    assert_eq!(effort(&cell("influxdb", "individual"), "live"), None);
    assert_eq!(effort(&cell("sqlite", "individual"), "write"), None);
}
