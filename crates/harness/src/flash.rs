//! Models the work of flash cards for the requests that a trial made to its disk.

use embermark_blockdev::Trace;
use embermark_flash::{Replayed, Window, Work, model_of, replay};
use embermark_model::Card;
use embermark_model::card::End;
use embermark_model::result::{FlashCost, FlashModel, FlashOfPhase, FlashWork};

use crate::protocol::Between;

/// When a run of a phase used the trial's own disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OnDisk {
    /// Name of the phase.
    pub phase: String,
    /// From reading its disk before it until everything that it wrote was there.
    pub run: Between,
    /// The same for the maintenance after it.
    pub maintenance: Option<Between>,
}

/// Models each card with a trace, split by phase.
pub(crate) fn model_cards(cards: &[Card], trace: &Trace, on_disk: &[OnDisk]) -> Vec<FlashModel> {
    cards.iter().map(|card| model_card(card, trace, on_disk)).collect()
}

fn model_card(card: &Card, trace: &Trace, on_disk: &[OnDisk]) -> FlashModel {
    let name = card.name.clone();
    let refused = |why: String| FlashModel {
        card: name.clone(),
        not_modelled: Some(why),
        ..FlashModel::default()
    };
    if trace.left_out > 0 {
        let kept = trace.len();
        return refused(format!("more than {kept} accesses reached the disk, too many to keep"));
    }
    // Runs and the maintenance after them, in order of time.
    let window = |(began, ended): Between| Window { began, ended };
    let windows = on_disk.iter().flat_map(|of| [Some(of.run), of.maintenance]);
    let windows: Vec<Window> = windows.flatten().map(window).collect();
    let mut ends: Vec<Replayed> = Vec::new();
    for end in End::ALL {
        let bytes = trace.device_bytes;
        match model_of(card, end, bytes) {
            Ok(mut model) => {
                ends.push(replay(&mut *model, card.cache_bytes, bytes, &trace.iter(), &windows))
            }
            Err(error) => return refused(error.to_string()),
        }
    }
    let mut works = (0..windows.len()).map(|place| {
        let cost = |end: usize| ends[end].windows.get(place).map(cost).unwrap_or_default();
        let written = ends[1].windows.get(place).map_or(0.0, |work| work.written_bytes);
        let [low, typical, high] = [0, 1, 2].map(cost);
        FlashWork { written_bytes: written.round() as u64, typical, low, high }
    });
    let phases = on_disk.iter().map(|of| FlashOfPhase {
        phase: of.phase.clone(),
        run: works.next().unwrap_or_default(),
        maintenance: of.maintenance.and_then(|_| works.next()),
    });
    let phases = phases.collect();
    let unsteady = ends.iter().any(|end| !end.steady);
    FlashModel { card: name, not_modelled: None, unsteady, phases }
}

fn cost(work: &Work) -> FlashCost {
    FlashCost {
        programmed_bytes: work.programmed_bytes.round() as u64,
        erases: (work.erases * 1000.0).round() / 1000.0,
    }
}

#[cfg(test)]
mod tests {
    use embermark_flash::built_in;

    use super::*;

    #[test]
    fn a_device_larger_than_a_card_has_the_reason_in_place_of_figures() {
        let trace = Trace::new(1 << 40);
        let card = built_in("emmc-8gb").unwrap();
        let model = &model_cards(&[card], &trace, &[])[0];
        assert_eq!((model.card.as_str(), model.phases.len()), ("emmc-8gb", 0));
        let why = model.not_modelled.as_deref().unwrap();
        assert!(why.contains("the recorded device has 1099511627776 bytes"), "{why}");
    }

    #[test]
    fn a_phase_that_wrote_nothing_is_there_with_nothing() {
        let trace = Trace::new(1 << 30);
        let on_disk = [OnDisk { phase: "read".to_owned(), run: (1, 2), maintenance: Some((3, 4)) }];
        let model = &model_cards(&[built_in("sd-32gb").unwrap()], &trace, &on_disk)[0];
        let phase = model.phase("read").unwrap();
        assert_eq!(phase.all(End::Typical), FlashCost::default());
        assert!(phase.maintenance.is_some() && !model.unsteady);
    }
}
