//! Tables of the workload's source, and its scores.

use embermark_published::{Source, UsageRow, find};

use super::score::{ScoredResource, Weights, scores};

/// Returns the source of the workload. Its rows have the resources of [`ScoredResource::WRITING`]
/// and [`ScoredResource::READING`] in their order.
///
/// # Panics
/// If the repository does not have that source, which a test rules out.
pub fn source() -> &'static Source {
    find("highfreq").expect("it is a file of the repository")
}

/// Returns the effort that the source assigns to writing or reading an engine in one way, from 1
/// (easy) to 5. `None` if it did not grade it.
pub fn effort(engine: &str, variant: &str, phase: &str) -> Option<f64> {
    source().figures.used(engine, variant, phase)?.last().copied()
}

/// Computes scores of writing, of reading and of both from the columns by the source's formula,
/// from 0 to 1.
pub fn recomputed(rows: &[UsageRow], weights: &Weights) -> Vec<[f64; 3]> {
    let columns = |of: fn(&UsageRow) -> &[f64]| -> Vec<Vec<Option<f64>>> {
        rows.iter().map(|row| of(row).iter().copied().map(Some).collect()).collect()
    };
    let write = scores(&columns(|row| &row.write), &ScoredResource::WRITING, weights);
    let read = scores(&columns(|row| &row.read), &ScoredResource::READING, weights);
    let both = |(write, read): (Option<f64>, Option<f64>)| {
        let (write, read) = (write.unwrap_or_default(), read.unwrap_or_default());
        [write, read, f64::midpoint(write, read)]
    };
    write.into_iter().zip(read).map(both).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the indexes of the rows, the highest total first.
    fn ranking(totals: impl Iterator<Item = f64>) -> Vec<usize> {
        let totals: Vec<f64> = totals.collect();
        let mut places: Vec<usize> = (0..totals.len()).collect();
        places.sort_by(|a, b| totals[*b].total_cmp(&totals[*a]));
        places
    }

    #[test]
    fn the_formula_on_the_published_columns_gives_the_published_ranking() {
        let rows = &source().figures.usage;
        let printed = ranking(rows.iter().map(|row| row.score[2]));
        let without = Weights::default().without_effort();
        let recomputed: Vec<[f64; 3]> = recomputed(rows, &without);
        let ours = ranking(recomputed.iter().map(|score| score[2]));
        let name = |places: &[usize]| -> Vec<String> {
            let row = |place: &usize| &rows[*place];
            places.iter().map(|p| format!("{} {}", row(p).engine, row(p).reader)).collect()
        };
        // The source gives two rows 43 %, so they may be in either order.
        assert_eq!(name(&ours[..5]), name(&printed[..5]));
        for (row, score) in rows.iter().zip(&recomputed) {
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
        let rows = &source().figures.usage;
        let grades = |of: fn(&UsageRow) -> &[f64]| -> Vec<f64> {
            rows.iter().filter_map(|row| of(row).last().copied()).collect()
        };
        assert_eq!(grades(|row| &row.write), [5.0, 5.0, 4.0, 4.0, 1.0, 1.0, 1.0]);
        assert_eq!(grades(|row| &row.read), [4.0, 5.0, 3.0, 3.0, 3.0, 4.0, 4.0]);
        let percent = |weights: &Weights| -> Vec<[f64; 3]> {
            recomputed(rows, weights)
                .iter()
                .map(|row| row.map(|score| (score * 100.0).round()))
                .collect()
        };
        let columns =
            |rows: &[[f64; 3]], of: usize| rows.iter().map(|row| row[of]).collect::<Vec<_>>();
        let (with, without) =
            (percent(&Weights::default()), percent(&Weights::default().without_effort()));
        // MariaDB individual, bulk; MongoDB individual, bulk; InfluxDB individual, bulk, bulk-1.
        assert_eq!(columns(&without, 0), [15.0, 61.0, 37.0, 55.0, 36.0, 36.0, 36.0]);
        assert_eq!(columns(&without, 1), [69.0, 81.0, 46.0, 57.0, 92.0, 79.0, 80.0]);
        assert_eq!(columns(&with, 0), [14.0, 57.0, 36.0, 52.0, 39.0, 39.0, 39.0]);
        assert_eq!(columns(&with, 1), [65.0, 75.0, 45.0, 56.0, 88.0, 74.0, 76.0]);
        let furthest = |scores: &[[f64; 3]]| {
            let printed = rows.iter().flat_map(|row| row.score);
            let off =
                scores.iter().flatten().zip(printed).map(|(ours, printed)| (ours - printed).abs());
            off.fold(0.0, f64::max)
        };
        assert_eq!((furthest(&with), furthest(&without)), (8.0, 4.0));
        // The source's text has 75 % for MariaDB bulk, but its table has the mean of its two
        // scores.
        let [write, read, both] = rows[1].score;
        assert_eq!((f64::midpoint(write, read), both), (71.0, 71.0));
    }
}
