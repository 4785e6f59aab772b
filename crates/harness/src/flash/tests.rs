use embermark_flash::built_in;

use super::*;

#[test]
fn a_device_larger_than_a_card_has_the_reason_in_place_of_figures() {
    let trace = Trace::of(1 << 40);
    let card = built_in("emmc-8gb").unwrap();
    let model = &modelled(&[card], &trace, &[])[0];
    assert_eq!((model.card.as_str(), model.phases.len()), ("emmc-8gb", 0));
    let why = model.not_modelled.as_deref().unwrap();
    assert!(why.contains("the recorded device has 1099511627776 bytes"), "{why}");
}

#[test]
fn a_phase_that_wrote_nothing_is_there_with_nothing() {
    let trace = Trace::of(1 << 30);
    let on_disk = [OnDisk { phase: "read".to_owned(), run: (1, 2), maintenance: Some((3, 4)) }];
    let model = &modelled(&[built_in("sd-32gb").unwrap()], &trace, &on_disk)[0];
    let phase = model.phase("read").unwrap();
    assert_eq!(phase.all(End::Typical), FlashCost::default());
    assert!(phase.maintenance.is_some() && !model.unsteady);
}
