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
    let without = Weights::default().without_effort();
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
    assert_eq!(effort("mongodb", "bulk", "write"), Some(4.0));
    assert_eq!(effort("influxdb", "individual", "read_bulk1"), Some(4.0));
    assert_eq!(effort("influxdb", "individual-published", "read_bulk1"), Some(4.0));
    assert_eq!(effort("influxdb", "individual", "live"), None);
    assert_eq!(effort("sqlite", "individual", "write"), None);
}

#[test]
fn the_columns_give_the_printed_scores_within_four_points_without_the_difficulty_and_eight_with_it()
{
    let tables = tables();
    let grades = |of: fn(&Row) -> &Vec<f64>| -> Vec<f64> {
        tables.row.iter().filter_map(|row| of(row).last().copied()).collect()
    };
    assert_eq!(grades(|row| &row.write), [5.0, 5.0, 4.0, 4.0, 1.0, 1.0, 1.0]);
    assert_eq!(grades(|row| &row.read), [4.0, 5.0, 3.0, 3.0, 3.0, 4.0, 4.0]);
    let percent = |weights: &Weights| -> Vec<[f64; 3]> {
        recomputed(tables, weights)
            .iter()
            .map(|row| row.map(|score| (score * 100.0).round()))
            .collect()
    };
    let columns = |rows: &[[f64; 3]], of: usize| rows.iter().map(|row| row[of]).collect::<Vec<_>>();
    let (with, without) =
        (percent(&Weights::default()), percent(&Weights::default().without_effort()));
    // MariaDB individual, bulk; MongoDB individual, bulk; InfluxDB individual, bulk, bulk-1.
    assert_eq!(columns(&without, 0), [15.0, 61.0, 37.0, 55.0, 36.0, 36.0, 36.0]);
    assert_eq!(columns(&without, 1), [69.0, 81.0, 46.0, 57.0, 92.0, 79.0, 80.0]);
    assert_eq!(columns(&with, 0), [14.0, 57.0, 36.0, 52.0, 39.0, 39.0, 39.0]);
    assert_eq!(columns(&with, 1), [65.0, 75.0, 45.0, 56.0, 88.0, 74.0, 76.0]);
    let furthest = |rows: &[[f64; 3]]| {
        let printed = tables.row.iter().flat_map(|row| row.score);
        let off = rows.iter().flatten().zip(printed).map(|(ours, printed)| (ours - printed).abs());
        off.fold(0.0, f64::max)
    };
    assert_eq!((furthest(&with), furthest(&without)), (8.0, 4.0));
    // Its text has 75 % for MariaDB bulk; its table the mean of its own two.
    let [write, read, both] = tables.row[1].score;
    assert_eq!((f64::midpoint(write, read), both), (71.0, 71.0));
}
