//! Correlates two groups of rows in client code, for stores that can answer only parts of the
//! question.

use embermark_contract::Result;
use embermark_language::{
    Aggregate, Bound, Compute, Condition, Correlate, Group, Grouped, Operator, OrderBy,
};
use embermark_model::answer;
use embermark_model::table::OwnedValue;

/// Adds the answer to a question, assembled from groups. `ask` adds the answer for groups.
pub(super) fn answer(
    of: &Correlate,
    to: &mut Vec<answer::Value>,
    ask: &mut dyn FnMut(&Group, &mut Vec<answer::Value>) -> Result<()>,
) -> Result<()> {
    let between = match &of.between {
        Some(between) => Some(between.clone()),
        None => {
            let mut groups = Vec::new();
            ask(&busiest(of), &mut groups)?;
            two(&groups)
        }
    };
    let Some([a, b]) = between else {
        to.extend([answer::Value::Int(0), answer::Value::Null]);
        return Ok(());
    };
    let [mut of_a, mut of_b] = [Vec::new(), Vec::new()];
    ask(&means(of, &a), &mut of_a)?;
    ask(&means(of, &b), &mut of_b)?;
    join(&of_a, &of_b, to);
    Ok(())
}

/// Returns the question for the groups with the most rows.
fn busiest(of: &Correlate) -> Group {
    Group {
        conditions: Vec::new(),
        by: vec![Grouped::Column(of.by)],
        compute: vec![Compute { aggregate: Aggregate::Count, column: None }],
        having: Vec::new(),
        order: Vec::new(),
        limit: None,
    }
}

/// Returns the two groups with the most rows, the lesser ones of equally large groups. Rows without
/// a group do not count.
fn two(answer: &[answer::Value]) -> Option<[OwnedValue; 2]> {
    let rows = answer.chunks_exact(2).filter_map(|row| match row {
        [answer::Value::Int(of), answer::Value::Int(rows)] => Some((*rows, OwnedValue::Int(*of))),
        [answer::Value::Text(of), answer::Value::Int(rows)] => {
            Some((*rows, OwnedValue::Text(of.clone())))
        }
        _ => None,
    });
    let mut rows: Vec<(i64, OwnedValue)> = rows.collect();
    rows.sort_by(|(a, of_a), (b, of_b)| {
        b.cmp(a).then_with(|| embermark_data::table::compare(&of_a.as_value(), &of_b.as_value()))
    });
    let mut rows = rows.into_iter();
    Some([rows.next()?.1, rows.next()?.1])
}

/// Returns the question for the means of a group in buckets of time.
fn means(of: &Correlate, group: &OwnedValue) -> Group {
    let bound = Bound::Constant(group.clone());
    Group {
        conditions: vec![Condition { column: of.by, operator: Operator::Equal, bound }],
        by: vec![Grouped::Bucket { column: of.time, units: of.bucket }],
        compute: vec![Compute { aggregate: Aggregate::Avg, column: Some(of.of) }],
        order: vec![OrderBy { column: 0, descending: false }],
        ..busiest(of)
    }
}

/// Adds the number of buckets that two answers share, and the correlation of their means in them.
/// Both answers are in the order of time.
fn join(a: &[answer::Value], b: &[answer::Value], to: &mut Vec<answer::Value>) {
    let pairs = shared(&buckets(a), &buckets(b));
    let n = pairs.len() as f64;
    let (x_sum, y_sum) = pairs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    let (x_mean, y_mean) = (x_sum / n, y_sum / n);
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in &pairs {
        let (x, y) = (x - x_mean, y - y_mean);
        xy += x * y;
        xx += x * x;
        yy += y * y;
    }
    to.extend([answer::Value::Int(pairs.len() as i64), pearson(xy, xx, yy)]);
}

/// Returns Pearson's correlation of centred sums, or NULL without variance.
pub(super) fn pearson(xy: f64, xx: f64, yy: f64) -> answer::Value {
    match xx > 0.0 && yy > 0.0 {
        true => answer::Value::Float(xy / (xx.sqrt() * yy.sqrt())),
        false => answer::Value::Null,
    }
}

fn buckets(answer: &[answer::Value]) -> Vec<(i64, f64)> {
    let rows = answer.chunks_exact(2).filter_map(|row| match row {
        [answer::Value::Int(bucket), answer::Value::Float(mean)] => Some((*bucket, *mean)),
        _ => None,
    });
    rows.collect()
}

/// Returns the means of the buckets that both have.
fn shared(a: &[(i64, f64)], b: &[(i64, f64)]) -> Vec<(f64, f64)> {
    let mut pairs = Vec::with_capacity(a.len().min(b.len()));
    let (mut i, mut j) = (0, 0);
    while let (Some((x_bucket, x)), Some((y_bucket, y))) = (a.get(i), b.get(j)) {
        if x_bucket == y_bucket {
            pairs.push((*x, *y));
        }
        i += usize::from(x_bucket <= y_bucket);
        j += usize::from(y_bucket <= x_bucket);
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_means(of: &[(i64, f64)]) -> Vec<answer::Value> {
        of.iter().flat_map(|(at, x)| [answer::Value::Int(*at), answer::Value::Float(*x)]).collect()
    }

    #[test]
    fn buckets_that_both_have_are_correlated() {
        let a = of_means(&[(0, 1.0), (1, 2.0), (2, 3.0), (3, 4.0), (50, 99.0)]);
        let b = of_means(&[(0, 2.0), (1, 1.0), (2, 4.0), (3, 3.0), (51, 99.0)]);
        let mut found = Vec::new();
        join(&a, &b, &mut found);
        let [answer::Value::Int(4), answer::Value::Float(r)] = found[..] else {
            panic!("{found:?}")
        };
        assert!((r - 0.6).abs() < 1e-12, "{r}");
        found.clear();
        join(&a, &of_means(&[(3, 1.0)]), &mut found);
        assert_eq!(found, [answer::Value::Int(1), answer::Value::Null]);
    }

    #[test]
    fn the_two_with_the_most_rows_are_the_least_of_equals_and_rows_of_no_group_are_none() {
        let of = |rows: &[(Option<i64>, i64)]| {
            let values = rows.iter().flat_map(|(of, rows)| {
                let of = of.map_or(answer::Value::Null, answer::Value::Int);
                [of, answer::Value::Int(*rows)]
            });
            two(&values.collect::<Vec<_>>())
        };
        let found = of(&[(Some(9), 5), (None, 100), (Some(4), 7), (Some(2), 5)]);
        assert_eq!(found, Some([OwnedValue::Int(4), OwnedValue::Int(2)]));
        assert_eq!(of(&[(Some(9), 5), (None, 100)]), None);
    }
}
