//! One run that several clients share: its meter makes one for each client and merges them.

use std::time::Duration;

use embermark_model::result::{ClientRun, Latency, OpenLoopSchedule};

use crate::arrivals::ArrivalSchedule;
use crate::clock::Clock;
use crate::latency::{self, Histogram};
use crate::meter::{Measured, Meter};
use crate::progress::Progress;

/// Measurements of the clients of a run.
#[derive(Debug, Default)]
pub(crate) struct MergedClients {
    pub clients: Vec<ClientRun>,
    pub response: Option<Histogram>,
    pub late: Option<Histogram>,
    /// Shares of their rate that they achieved.
    pub achieved: Vec<f64>,
    /// Their progress over time, if it was recorded.
    pub tracks: Vec<Track>,
}

/// Progress of one client over time.
#[derive(Debug)]
pub(crate) struct Track {
    pub progress: Progress,
    /// Ticks of its start and its end.
    pub between: (u64, u64),
    pub ops: u64,
}

impl Meter {
    /// Makes a meter for one of several clients of the next run, with its schedule in an open loop.
    /// It samples latencies at the interval that this one has learned.
    #[must_use]
    pub fn for_client(&self, schedule: Option<ArrivalSchedule>) -> Self {
        let mut meter = self.for_part(schedule, self.cap);
        meter.every = self.every;
        if self.progress.is_enabled() {
            meter.note_progress();
        }
        meter
    }

    /// Makes a meter for one kind of operation of one of several clients. It has its own cap and
    /// learns how often to sample latencies.
    #[must_use]
    pub fn for_part(&self, schedule: Option<ArrivalSchedule>, cap: Option<Duration>) -> Self {
        let mut meter = Self::with(self.clock.clone(), cap, self.timing_cost);
        meter.hook = self.hook;
        meter.set_schedule(schedule);
        meter
    }

    /// Merges the clients' measurements into those of the run: from the first one's start to the
    /// last one's end, with all operations, capped if one of them was. One that timed more of its
    /// operations than another gets no more weight by that.
    pub fn merge_clients<'a>(
        &mut self,
        clients: impl IntoIterator<Item = &'a Self, IntoIter: Clone>,
    ) {
        let mut clients = clients.into_iter();
        self.histogram.reset();
        let mut merged = MergedClients::default();
        let (mut response, mut late) = (latency::empty(), latency::empty());
        let mut measured = Measured::default();
        self.every = clients.clone().filter_map(|client| client.every).max();
        for client in clients.clone() {
            let Measured { elapsed_ns, ops, capped } = client.measured;
            merged.clients.push(ClientRun { elapsed_ns, ops });
            measured.ops += ops;
            measured.capped |= capped;
            let open_loop = client.open_loop.as_ref();
            let progress = open_loop.map_or(&client.progress, |open_loop| &open_loop.progress);
            if progress.is_enabled() {
                let (progress, between) = (progress.clone(), (client.started, client.stopped));
                merged.tracks.push(Track { progress, between, ops });
            }
            let kept = client.every.unwrap_or(1) as f64 / self.every.unwrap_or(1) as f64;
            latency::add(&mut self.histogram, &client.histogram, kept);
            if let Some(open_loop) = &client.open_loop {
                latency::add(&mut response, &open_loop.response, 1.0);
                latency::add(&mut late, &open_loop.late, 1.0);
                merged.achieved.extend(open_loop.achieved());
            }
        }
        let from = clients.clone().map(|client| client.started).min().unwrap_or_default();
        let to = clients.clone().map(|client| client.stopped).max().unwrap_or_default();
        measured.elapsed_ns = self.clock.nanoseconds(from, to);
        if clients.any(|client| client.open_loop.is_some()) {
            (merged.response, merged.late) = (Some(response), Some(late));
        }
        (self.started, self.stopped) = (from, to);
        (self.measured, self.merged) = (measured, merged);
    }

    /// Merges the measurements of the parts of one client's run into those of the run.
    pub fn merge_parts<'a>(&mut self, parts: impl IntoIterator<Item = &'a Self, IntoIter: Clone>) {
        self.merge_clients(parts);
        self.merged.clients.clear();
    }

    /// Returns what each of several clients did in the last run. Empty if there was one.
    pub fn clients(&self) -> &[ClientRun] {
        &self.merged.clients
    }

    /// Returns the operations of the run so far and the sum of their response times in ns. Zero for
    /// a closed loop. Not to be called for every operation, because it reads the whole histogram.
    pub fn responded(&self) -> (u64, f64) {
        let response = self.response_times();
        response.map_or((0, 0.0), |all| (all.len(), all.mean() * all.len() as f64))
    }

    /// Returns when the last run began and ended, in ticks of the [clock](Self::clock). For several
    /// clients it is the first one's start and the last one's end.
    pub const fn time_span(&self) -> (u64, u64) {
        (self.started, self.stopped)
    }

    /// Returns the time in which every client was working, in ticks: from the last one's start to
    /// the first one's end, which may be earlier. `None` if no [progress](Self::note_progress) was
    /// recorded.
    pub fn common_period(&self) -> Option<(u64, u64)> {
        let tracks = &self.merged.tracks;
        let from = tracks.iter().map(|track| track.between.0).max()?;
        Some((from, tracks.iter().map(|track| track.between.1).min()?))
    }

    /// Returns the number of operations that the clients of the last run had done at a time in
    /// ticks, if [progress](Self::note_progress) was recorded.
    pub fn done_by(&self, ticks: u64) -> f64 {
        let done = |track: &Track| track.progress.at(ticks, track.between, track.ops);
        self.merged.tracks.iter().map(done).sum()
    }

    /// Returns the clock of the runs.
    pub const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns the delays of operations for which a client was ready on time. `None` for a closed
    /// loop, and if there were none.
    pub fn late(&self) -> Option<Latency> {
        latency::summary(self.late_starts()?, 1)
    }

    /// Returns the share of its rate that each client of an open loop achieved.
    pub fn achieved(&self) -> &[f64] {
        &self.merged.achieved
    }

    fn late_starts(&self) -> Option<&Histogram> {
        let own = || self.open_loop.as_ref().map(|open_loop| &open_loop.late);
        self.merged.late.as_ref().or_else(own)
    }

    /// Returns the response times of the last run, from each operation's scheduled start. `None`
    /// for a closed loop.
    pub fn response(&self) -> Option<Latency> {
        latency::summary(self.response_times()?, 1)
    }

    /// Returns how well all clients together kept the schedule of the last run, with `target_rate`
    /// operations per second. `None` for a closed loop, and for a run without operations.
    pub fn schedule_kept(&self, target_rate: f64) -> Option<OpenLoopSchedule> {
        let late = self.late_starts()?;
        let own = self.open_loop.as_ref().and_then(|open_loop| open_loop.achieved());
        let shares =
            if self.merged.achieved.is_empty() { own.as_slice() } else { &self.merged.achieved };
        let share = shares.iter().sum::<f64>() / shares.len() as f64;
        let response_ns = self.response_times()?.mean();
        share.is_finite().then(|| OpenLoopSchedule {
            target_rate,
            achieved_rate: share * target_rate,
            response_ns,
            on_time: late.len(),
            late_p99_ns: (late.len() >= 100).then(|| late.value_at_quantile(0.99)),
        })
    }

    fn response_times(&self) -> Option<&Histogram> {
        let own = || self.open_loop.as_ref().map(|open_loop| &open_loop.response);
        self.merged.response.as_ref().or_else(own)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::time::Duration;

    use super::*;

    const MS: u64 = 1_000_000;

    /// One client's run of operations with this service time, on its own simulated clock.
    fn ran(schedule: Option<ArrivalSchedule>, ops: u64, each: u64) -> Meter {
        done(Meter::simulated(None).for_client(schedule), ops, each)
    }

    /// A meter after a run of operations with this service time.
    fn done(mut meter: Meter, ops: u64, each: u64) -> Meter {
        meter.start();
        let clock = meter.clock().clone();
        let done = meter.each::<Infallible>(ops, |_| {
            clock.pass(Duration::from_nanos(each));
            Ok(())
        });
        meter.stop();
        assert_eq!(done, Ok(ops));
        meter
    }

    #[test]
    fn a_run_of_two_clients_lasts_from_the_first_start_to_the_last_end() {
        let mut whole = Meter::simulated(None);
        whole.merge_clients(&[ran(None, 10, 2 * MS), ran(None, 5, 10 * MS)]);
        assert_eq!(whole.measured(), Measured { elapsed_ns: 50 * MS, ops: 15, capped: false });
        let [a, b] = whole.clients() else { panic!("two clients") };
        assert_eq!((a.ops, a.elapsed_ns, b.ops, b.elapsed_ns), (10, 20 * MS, 5, 50 * MS));
        assert_eq!(whole.latency().unwrap().samples, 15);
        assert!(whole.response().is_none() && whole.schedule_kept(1.0).is_none());
    }

    #[test]
    fn a_part_that_is_timed_more_often_weighs_no_more() {
        let part = |every, ops, each| {
            let mut meter = Meter::simulated(None);
            meter.every = Some(every);
            done(meter, ops, each)
        };
        let (slow, fast) = (part(1, 130, 10 * MS), part(13, 1_300, MS));
        assert_eq!((slow.latency().unwrap().samples, fast.latency().unwrap().samples), (130, 100));
        let mut whole = Meter::simulated(None);
        whole.merge_parts(&[slow, fast]);
        let latency = whole.latency().unwrap();
        // One in eleven operations is slow.
        assert_eq!((latency.samples, latency.sampled_every), (110, 13), "{latency:?}");
        assert!(latency.p50.abs_diff(MS) < MS / 100, "{latency:?}");
        assert!(latency.p95.unwrap().abs_diff(10 * MS) < MS / 10, "{latency:?}");
    }

    #[test]
    fn clients_of_an_open_loop_are_judged_together() {
        let mut whole = Meter::simulated(None);
        let schedule = |client| Some(ArrivalSchedule::new(200.0, 2, client));
        // One keeps its 100 per second. The other, which begins 5 ms later, starts its last after
        // 385 ms instead of the planned 195.
        whole.merge_clients(&[ran(schedule(0), 20, MS), ran(schedule(1), 20, 20 * MS)]);
        let schedule = whole.schedule_kept(200.0).unwrap();
        assert!(!schedule.kept_up(), "{schedule:?}");
        let planned = 20.0 * 10.0;
        let achieved = f64::midpoint(1.0, planned / (planned + 190.0)) * 200.0;
        assert!((schedule.achieved_rate - achieved).abs() < 1e-6, "{schedule:?}");
        assert_eq!(whole.response().unwrap().samples, 40);
    }
}
