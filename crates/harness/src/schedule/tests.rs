use super::*;

#[test]
fn every_cell_has_its_nth_trial_before_any_has_its_next() {
    let turns = order(&[3; 7], 42);
    assert_eq!(turns.len(), 21);
    for (round, turns) in turns.chunks(7).enumerate() {
        let mut cells: Vec<usize> = turns.iter().map(|turn| turn.cell).collect();
        cells.sort_unstable();
        assert_eq!(cells, (0..7).collect::<Vec<_>>());
        assert!(turns.iter().all(|turn| turn.trial as usize == round));
    }
    assert!(turns.iter().enumerate().all(|(i, turn)| turn.order as usize == i));
}

#[test]
fn the_seed_alone_decides_the_order_and_rounds_differ() {
    let cells = |turns: &[Turn]| turns.iter().map(|turn| turn.cell).collect::<Vec<_>>();
    let turns = order(&[2; 12], 42);
    assert_eq!(turns, order(&[2; 12], 42));
    assert_ne!(turns, order(&[2; 12], 43));
    assert_ne!(cells(&turns[..12]), (0..12).collect::<Vec<_>>());
    assert_ne!(cells(&turns[..12]), cells(&turns[12..]));
}

#[test]
fn a_cell_with_fewer_trials_has_no_more_than_those() {
    let turns = order(&[1, 3, 2], 42);
    assert_eq!(turns.len(), 6);
    for (cell, trials) in [(0, 1), (1, 3), (2, 2)] {
        let own: Vec<u32> = turns.iter().filter(|t| t.cell == cell).map(|t| t.trial).collect();
        assert_eq!(own, (0..trials).collect::<Vec<_>>());
    }
}
