//! The worker's side of the explaining trials.

use embermark_meter::Meter;
use embermark_model::result::{Explained, OsCost};

use super::counters::Counters;
use super::marks::Mark;
use super::usage::{Processes, Reading};
use crate::protocol::Explain;

/// Reads page faults, context switches and hardware counters around the runs of a trial.
pub(crate) struct Explainer {
    explain: Explain,
    engine: Processes,
    /// Set if the client is another process than the engine.
    client: Option<Processes>,
}

/// Readings before a run.
pub(crate) struct Before {
    engine: Part,
    client: Option<Part>,
}

struct Part {
    reading: Option<Reading>,
    counters: Counters,
}

impl Explainer {
    /// Makes the explainer for a trial whose engine runs in this process or in a private server.
    pub fn new(explain: Explain, server: Option<u32>) -> Self {
        match server {
            Some(root) => {
                Self { explain, engine: Processes::Tree(root), client: Some(Processes::Own) }
            }
            None => Self { explain, engine: Processes::Own, client: None },
        }
    }

    /// Makes the clock of a phase notify the tracer of this process.
    pub fn watch(&self, meter: &mut Meter) {
        if self.explain == Explain::Traced {
            meter.set_clock_hook(Mark::clock);
        }
    }

    /// Begins a run. `None` if the run is not explained here.
    pub fn begin(&self) -> Option<Before> {
        if self.explain == Explain::Traced {
            Mark::RunBegins.emit();
        }
        (self.explain == Explain::Usage).then(|| {
            let engine = begin(self.engine);
            // This process is read last, so that reading the others is not counted as its own.
            Before { engine, client: self.client.map(begin) }
        })
    }

    /// Ends a run.
    pub fn end(&self, before: Option<Before>) -> Option<Explained> {
        if self.explain == Explain::Traced {
            Mark::RunEnded.emit();
        }
        let Before { engine, client } = before?;
        let now = |of: Option<Processes>| of.and_then(Processes::read);
        let (of_client, of_engine) = (now(self.client), now(Some(self.engine)));
        let mut not_explained = Vec::new();
        let mut end = |part, reading| end(part, reading, &mut not_explained);
        let client = client.map(|client| end(client, of_client));
        let engine = end(engine, of_engine);
        Some(Explained { engine, client, not_explained, ..Explained::default() })
    }
}

fn begin(of: Processes) -> Part {
    Part { counters: Counters::begin(&of.ids()), reading: of.read() }
}

fn end(part: Part, now: Option<Reading>, not_explained: &mut Vec<String>) -> OsCost {
    let ([instructions, cache_misses], why) = part.counters.end();
    for why in why {
        if !not_explained.contains(&why) {
            not_explained.push(why);
        }
    }
    let cost = part.reading.zip(now).map(|(before, now)| before.until(&now));
    OsCost { instructions, cache_misses, ..cost.unwrap_or_default() }
}
