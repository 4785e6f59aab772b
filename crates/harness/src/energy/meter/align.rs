//! Aligns a meter's clock with the machine's: finds the load pattern of a run in the meter's
//! record.

use super::Moment;
use crate::energy::curve::Curve;
use crate::energy::marker::PATTERN;
use crate::energy::spread::mean;

/// Least correlation of the record with the pattern for a match.
const LEAST: f64 = 0.8;

/// Matches that correlate less than the best one by no more than this may be the pattern too.
const MARGIN: f64 = 0.1;

/// Matches that correlate less than the best one by no more than this are equally good. The middle
/// one is taken.
const SAME: f64 = 0.002;

/// Largest rate error of a clock: 1 in 1,000. Quartz is off by at most 1 in 10,000.
const WORST_RATE: f64 = 1e-3;

/// Relation of the meter's clock to the machine's.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    /// A time of the meter's, and how many seconds the machine's clock is ahead of it at that time.
    at: f64,
    offset: f64,
    /// Increase of the offset in seconds per second of the meter's.
    rate: f64,
    /// Description in words.
    pub says: String,
}

impl Clock {
    /// Converts a time of the meter's to the machine's.
    pub fn day(&self, meter: f64) -> f64 {
        meter + self.offset + self.rate * (meter - self.at)
    }
}

/// Makes a clock with the offset that the user gave.
pub(super) fn given(offset: f64) -> Clock {
    Clock { at: 0.0, offset, rate: 0.0, says: format!("{offset:+.3} s, as was given (--offset)") }
}

/// Makes a clock that is assumed to be the same.
pub(super) fn same() -> Clock {
    let says = "its clock is assumed to be the machine's: this run cannot verify that";
    Clock { at: 0.0, offset: 0.0, rate: 0.0, says: says.to_owned() }
}

/// Aligns by the load pattern, which ran at these times of the machine's.
///
/// # Errors
/// If the record does not contain it, or it is not clear where.
pub(super) fn by_markers(curve: &Curve, markers: &[Moment]) -> Result<Clock, String> {
    let [first, later @ ..] = markers else { return Err("no load pattern was made".to_owned()) };
    let slot = (first.ended - first.began) / PATTERN.len() as f64;
    let hint = "Was the meter running before the run began, until after its end? Give --offset SECONDS where \
                its clock is known";
    let places = places(curve, slot).map_err(|why| format!("{why}. {hint}"))?;
    let Some(last) = later.last() else {
        let [place] = places[..] else { return Err(format!("{}. {hint}", alike(&places))) };
        return Ok(by_one(first, place, "before the first trial"));
    };
    let apart = last.began - first.began;
    let fits = |(one, other): &(Place, Place)| {
        (other.at - one.at - apart).abs() <= WORST_RATE * apart + slot
    };
    let pairs = places.iter().flat_map(|one| places.iter().map(|other| (*one, *other)));
    let pairs: Vec<(Place, Place)> = pairs.filter(fits).collect();
    match (&pairs[..], &places[..]) {
        ([(one, other)], _) => Ok(by_two(first, last, *one, *other)),
        ([], [place]) => Err(format!(
            "one of two load patterns is found in it: where that is the one before the first trial give \
             --offset {:.3}, where it is the one after the last trial --offset {:.3}",
            first.began - place.at,
            last.began - place.at
        )),
        _ => Err(format!("{}. {hint}", alike(&places))),
    }
}

fn alike(places: &[Place]) -> String {
    format!(
        "{} places of it look like the load pattern, and not as far apart as it was made",
        places.len()
    )
}

/// A place in the record, in the meter's seconds, and its correlation with the pattern.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: f64,
    fits: f64,
}

fn by_one(marker: &Moment, place: Place, which: &str) -> Clock {
    let offset = marker.began - place.at;
    let says =
        format!("{offset:+.3} s, by the load pattern {which} (correlation {:.2})", place.fits);
    Clock { at: place.at, offset, rate: 0.0, says }
}

fn by_two(first: &Moment, last: &Moment, one: Place, other: Place) -> Clock {
    let [offset, then] = [first.began - one.at, last.began - other.at];
    let rate = (then - offset) / (other.at - one.at);
    let says = format!(
        "{offset:+.3} s by the load pattern before the first trial (correlation {:.2}), {then:+.3} s by that \
         after the last one ({:.2}): it is off by {:.0} in a million",
        one.fits,
        other.fits,
        rate * 1e6
    );
    Clock { at: one.at, offset, rate, says }
}

/// Returns where the record resembles the pattern with parts of this length almost as well as at
/// the best place.
fn places(curve: &Curve, slot: f64) -> Result<Vec<Place>, String> {
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
            starts.filter_map(|at| Some(Place { at, fits: correlation(curve, at, slot)? }));
        places.collect::<Vec<Place>>()
    };
    let all = fits(begins, ends - slot * PATTERN.len() as f64, slot / 8.0);
    let best = all.iter().map(|place| place.fits).fold(f64::NEG_INFINITY, f64::max);
    if best < LEAST {
        let best =
            if all.is_empty() { "nothing does".to_owned() } else { format!("{best:.2} at best") };
        return Err(format!(
            "the load pattern is not found in it: the power must correlate with it by {LEAST}, and it is {best}"
        ));
    }
    let mut found: Vec<Place> = Vec::new();
    for place in all.into_iter().filter(|place| place.fits >= (best - MARGIN).max(LEAST)) {
        match found.last_mut() {
            Some(last) if place.at - last.at <= 1.5 * slot => {
                if place.fits > last.fits {
                    *last = place;
                }
            }
            _ => found.push(place),
        }
    }
    let step = (interval / 4.0).clamp(slot / 200.0, slot / 8.0);
    let finer =
        |place: Place| middle(&fits(place.at - slot, place.at + slot, step)).unwrap_or(place);
    Ok(found.into_iter().map(finer).collect())
}

/// Returns the middle of the places that fit as well as the best one.
fn middle(places: &[Place]) -> Option<Place> {
    let best = places.iter().map(|place| place.fits).reduce(f64::max)?;
    let same: Vec<f64> =
        places.iter().filter(|place| place.fits >= best - SAME).map(|place| place.at).collect();
    Some(Place { at: mean(&same)?, fits: best })
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
