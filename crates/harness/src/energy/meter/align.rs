//! Aligns a meter's clock with the machine's: finds the load pattern of a run in the meter's
//! record.

use embermark_meter::statistics::mean;

use super::TimeSpan;
use crate::energy::curve::Curve;
use crate::energy::marker::PATTERN;

/// Least correlation of the record with the pattern for a match.
const MIN_CORRELATION: f64 = 0.8;

/// Matches that correlate less than the best one by no more than this may be the pattern too.
const MARGIN: f64 = 0.1;

/// Matches that correlate less than the best one by no more than this are equally good. The middle
/// one is taken.
const EQUAL_MARGIN: f64 = 0.002;

/// Largest rate error of a clock: 1 in 1,000. Quartz is off by at most 1 in 10,000.
const WORST_RATE: f64 = 1e-3;

/// Relation of the meter's clock to the machine's.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    /// A time on the meter's clock, and the offset of the machine's clock at that time in seconds.
    at: f64,
    offset: f64,
    /// Increase of the offset per second of the meter's clock, in seconds.
    rate: f64,
    /// Description in words.
    pub description: String,
}

impl Clock {
    /// Converts a time on the meter's clock to the machine's.
    pub fn day(&self, meter: f64) -> f64 {
        meter + self.offset + self.rate * (meter - self.at)
    }
}

/// Makes a clock with the offset that the user gave.
pub(super) fn with_offset(offset: f64) -> Clock {
    let description = format!("{offset:+.3} s, given with --offset");
    Clock { offset, description, ..Clock::default() }
}

/// Makes a clock that is assumed to be the same.
pub(super) fn assumed_equal() -> Clock {
    let description = "its clock is assumed to be the machine's: this run cannot verify that";
    Clock { description: description.to_owned(), ..Clock::default() }
}

/// Aligns by the load pattern. `markers` are the times at which it ran on the machine's clock.
///
/// # Errors
/// If the record does not contain it, or it is not clear where.
pub(super) fn by_markers(curve: &Curve, markers: &[TimeSpan]) -> Result<Clock, String> {
    let [first, later @ ..] = markers else { return Err("no load pattern was made".to_owned()) };
    let slot = (first.ended - first.began) / PATTERN.len() as f64;
    let hint = "Was the meter running before the run began, until after its end? Give --offset SECONDS where \
                its clock is known";
    let places = find_matches(curve, slot).map_err(|why| format!("{why}. {hint}"))?;
    let Some(last) = later.last() else {
        let [place] = places[..] else { return Err(format!("{}. {hint}", alike(&places))) };
        return Ok(from_one_match(first, place));
    };
    let apart = last.began - first.began;
    let fits = |(one, other): &(Match, Match)| {
        (other.at - one.at - apart).abs() <= WORST_RATE * apart + slot
    };
    let pairs = places.iter().flat_map(|one| places.iter().map(|other| (*one, *other)));
    let pairs: Vec<(Match, Match)> = pairs.filter(fits).collect();
    match (&pairs[..], &places[..]) {
        ([(one, other)], _) => Ok(from_two_matches(first, last, *one, *other)),
        ([], [place]) => Err(format!(
            "one of two load patterns is found in it: where that is the one before the first trial give \
             --offset {:.3}, where it is the one after the last trial --offset {:.3}",
            first.began - place.at,
            last.began - place.at
        )),
        _ => Err(format!("{}. {hint}", alike(&places))),
    }
}

fn alike(places: &[Match]) -> String {
    format!(
        "{} places in it look like the load pattern, but not at the intervals at which it ran",
        places.len()
    )
}

/// A time on the meter's clock at which the record resembles the pattern, with the correlation.
#[derive(Clone, Copy, Debug)]
struct Match {
    at: f64,
    correlation: f64,
}

fn from_one_match(marker: &TimeSpan, Match { at, correlation }: Match) -> Clock {
    let offset = marker.began - at;
    let description = format!(
        "{offset:+.3} s, by the load pattern before the first trial (correlation {correlation:.2})"
    );
    Clock { at, offset, rate: 0.0, description }
}

fn from_two_matches(first: &TimeSpan, last: &TimeSpan, one: Match, other: Match) -> Clock {
    let [offset, then] = [first.began - one.at, last.began - other.at];
    let rate = (then - offset) / (other.at - one.at);
    let description = format!(
        "{offset:+.3} s by the load pattern before the first trial (correlation {:.2}), {then:+.3} s by that \
         after the last one ({:.2}): it is off by {:.0} in a million",
        one.correlation,
        other.correlation,
        rate * 1e6
    );
    Clock { at: one.at, offset, rate, description }
}

/// Finds the times at which the record correlates with the pattern almost as well as at the best
/// one. `slot` is the length of a part of the pattern.
fn find_matches(curve: &Curve, slot: f64) -> Result<Vec<Match>, String> {
    let [begins, ends] = curve.ends().ok_or("it is empty")?;
    let interval = curve.interval().unwrap_or(slot);
    if interval > slot {
        return Err(format!(
            "it has a line every {interval:.1} s, and a part of the load pattern takes {slot:.1} s"
        ));
    }
    let fits = |from: f64, to: f64, step: f64| {
        let steps = ((to - from) / step).max(-1.0) as i64;
        let starts = (0..=steps).map(move |number| from + number as f64 * step);
        let places =
            starts.filter_map(|at| Some(Match { at, correlation: correlation(curve, at, slot)? }));
        places.collect::<Vec<Match>>()
    };
    let all = fits(begins, ends - slot * PATTERN.len() as f64, slot / 8.0);
    let best = all.iter().map(|place| place.correlation).fold(f64::NEG_INFINITY, f64::max);
    if best < MIN_CORRELATION {
        let best =
            if all.is_empty() { "nothing does".to_owned() } else { format!("{best:.2} at best") };
        return Err(format!(
            "the load pattern is not found in it: the power must correlate with it by {MIN_CORRELATION}, and it is {best}"
        ));
    }
    let mut found: Vec<Match> = Vec::new();
    for place in
        all.into_iter().filter(|place| place.correlation >= (best - MARGIN).max(MIN_CORRELATION))
    {
        match found.last_mut() {
            Some(last) if place.at - last.at <= 1.5 * slot => {
                if place.correlation > last.correlation {
                    *last = place;
                }
            }
            _ => found.push(place),
        }
    }
    let step = (interval / 4.0).clamp(slot / 200.0, slot / 8.0);
    let finer =
        |place: Match| middle(&fits(place.at - slot, place.at + slot, step)).unwrap_or(place);
    Ok(found.into_iter().map(finer).collect())
}

/// Returns the mean time of the matches that correlate as well as the best one.
fn middle(places: &[Match]) -> Option<Match> {
    let best = places.iter().map(|place| place.correlation).reduce(f64::max)?;
    let same: Vec<f64> = places
        .iter()
        .filter(|place| place.correlation >= best - EQUAL_MARGIN)
        .map(|place| place.at)
        .collect();
    Some(Match { at: mean(&same)?, correlation: best })
}

/// Returns Pearson's correlation of the pattern with the mean power in each of its parts, if it
/// began at `start`. `None` if there is a gap or nothing changes.
fn correlation(curve: &Curve, start: f64, slot: f64) -> Option<f64> {
    let mut watts = [0.0; PATTERN.len()];
    for (part, watts) in watts.iter_mut().enumerate() {
        let from = start + part as f64 * slot;
        *watts = curve.mean(from, from + slot, slot)?;
    }
    let on = PATTERN.map(|works| f64::from(u8::from(works)));
    let (middle, half) = (mean(&watts)?, mean(&on)?);
    let pairs = || watts.iter().zip(on).map(|(watts, on)| (watts - middle, on - half));
    let both: f64 = pairs().map(|(a, b)| a * b).sum();
    let [a, b] =
        [pairs().map(|(a, _)| a * a).sum::<f64>(), pairs().map(|(_, b)| b * b).sum::<f64>()];
    (a > 0.0).then(|| both / (a * b).sqrt())
}

#[cfg(test)]
mod tests;
