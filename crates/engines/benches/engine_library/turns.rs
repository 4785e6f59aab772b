//! Measurements that take turns.

const TURNS: usize = 31;

fn quartiles(mut all: Vec<f64>) -> [f64; 3] {
    all.sort_by(f64::total_cmp);
    [1, 2, 3].map(|n| all[all.len() * n / 4])
}

/// Prints the times of calls compiled in and in a library; each of `times` returns the time of one
/// in ns.
pub fn compare(called: &str, times: [&mut dyn FnMut() -> f64; 2]) {
    let mut all: [Vec<f64>; 2] = Default::default();
    for turn in 0..TURNS {
        // The order alternates.
        for which in [turn % 2, (turn + 1) % 2] {
            all[which].push(times[which]());
        }
    }
    let differences = all[0].iter().zip(&all[1]).map(|(ours, theirs)| theirs - ours).collect();
    let [low, median, high] = quartiles(differences);
    let [ours, theirs] = all.map(|all| quartiles(all)[1]);
    println!(
        "{called}: {ours:.1} ns compiled in, {theirs:.1} ns in a library; the difference {median:.1} ns \
         (quartiles {low:.1} to {high:.1})"
    );
}

/// Prints the times of calls that only a library has.
pub fn measure_library(called: &str, time: &mut dyn FnMut() -> f64) {
    let [low, median, high] = quartiles((0..TURNS).map(|_| time()).collect());
    println!("{called}: {median:.1} ns (quartiles {low:.1} to {high:.1})");
}
