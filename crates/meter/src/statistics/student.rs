//! Student's t distribution.

/// Returns the probability of a value of at least `t` for Student's t distribution with `freedom`
/// degrees of freedom, which may be a fraction.
pub(super) fn upper_tail(t: f64, freedom: f64) -> f64 {
    let beyond = incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5) / 2.0;
    if t >= 0.0 { beyond } else { 1.0 - beyond }
}

/// Returns the value that is exceeded with that probability, at most a half, by bisection.
pub(super) fn exceeded(probability: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while upper_tail(high, freedom) > probability && high < 1e12 {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if upper_tail(middle, freedom) > probability { low = middle } else { high = middle }
    }
    high
}

/// Returns the regularized incomplete beta function, by Lentz's continued fraction (NIST Digital
/// Library of Mathematical Functions, 8.17.22).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges fast below this point.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = a * x.ln() + b * (1.0 - x).ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    let away_from_0 = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away_from_0(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for step in 1..200 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away_from_0(1.0 + term * d);
            c = away_from_0(1.0 + term / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-14 {
            break;
        }
    }
    front.exp() * fraction / a
}

/// Returns the logarithm of the gamma function, by Stirling's series (DLMF 5.11.1) from 10 on.
fn ln_gamma(x: f64) -> f64 {
    if x < 10.0 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let x2 = x * x;
    let series =
        (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1_260.0 - 1.0 / (1_680.0 * x2)) / x2) / x2) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_tables_of_students_t() {
        for (t, freedom, tail) in [
            (2.776_445_1, 4.0, 0.025),
            (4.604_094_9, 4.0, 0.005),
            (12.706_205, 1.0, 0.025),
            (2.228_138_9, 10.0, 0.025),
            (3.169_272_7, 10.0, 0.005),
            (0.0, 3.0, 0.5),
        ] {
            assert!((upper_tail(t, freedom) - tail).abs() < 1e-6, "{t} {freedom}");
            assert!((upper_tail(-t, freedom) - (1.0 - tail)).abs() < 1e-6, "-{t} {freedom}");
            assert!((exceeded(tail, freedom) - t).abs() < 1e-4, "{t} {freedom}");
        }
    }
}
