use super::*;

#[test]
fn the_angle_rises_from_nothing_to_the_amplitude_three_times_a_second() {
    let signal = Signal::new(42, 1_000);
    let angle: Vec<u16> = (0..10_000).map(|n| signal.values(n)[0]).collect();
    let drops = angle.windows(2).filter(|pair| pair[0] > pair[1] + HALF).count();
    assert_eq!(drops, 29, "one between each two of thirty turns");
    assert!(angle.iter().all(|value| *value <= AMPLITUDE));
    assert!(angle.iter().any(|value| *value < 5) && angle.iter().any(|value| *value > 4_090));
    assert!((900..1_130).contains(&angle[83]), "a quarter of a turn: {}", angle[83]);
}

#[test]
fn every_channel_is_noisy_and_moves_within_twelve_bits() {
    let signal = Signal::new(7, 1_000);
    for channel in 1..CHANNELS {
        let values: Vec<u16> = (0..4_000).map(|n| signal.values(n)[channel]).collect();
        let (least, most) = (values.iter().min().unwrap(), values.iter().max().unwrap());
        assert!(*least < 300 && *most > 3_700 && *most <= AMPLITUDE, "{channel}: {least} {most}");
    }
    assert_ne!(signal.values(5), Signal::new(8, 1_000).values(5));
    assert_eq!(signal.values(5), Signal::new(7, 1_000).values(5));
}

#[test]
fn a_history_is_found_by_its_times() {
    for rate in [1, 3, 7, 1_000, 44_100, 199_999] {
        let history = History::new(1, rate, 3 * rate);
        let mut last = None;
        for number in 0..history.len.min(5_000) {
            let at = history.at(number);
            assert!(last < Some(at), "rate {rate}: {at:?} comes after {last:?}");
            last = Some(at);
            assert_eq!(history.after(at), number + 1, "rate {rate}");
            let before = Stamp::of_nanoseconds(at.nanoseconds() - 1);
            assert_eq!(history.after(before), number, "rate {rate}");
        }
        assert_eq!(history.after(Stamp { s: i64::MAX, ns: 0 }), history.len);
        assert_eq!(history.after(Stamp { s: 0, ns: 0 }), 0);
    }
}

#[test]
fn seconds_are_the_samples_in_their_order_cut_where_the_clock_turns() {
    for (rate, len) in [(1, 3), (7, 20), (1_000, 2_500), (1_000, 0)] {
        let history = History::new(1, rate, len);
        let seconds: Vec<Vec<Sample>> = history.seconds().collect();
        assert!(seconds.iter().all(|one| one.iter().all(|s| s.at.s == one[0].at.s)));
        assert_eq!(seconds.len() as u64, len.div_ceil(rate));
        assert!(seconds.concat().into_iter().eq(history.samples()), "rate {rate}");
    }
}

#[test]
fn a_stamp_is_its_nanoseconds() {
    for ns in [0, -1, 999_999_999, 1_000_000_000, 1_518_465_409_000_000_123] {
        assert_eq!(Stamp::of_nanoseconds(ns).nanoseconds(), ns);
    }
}

#[test]
fn a_sample_weighs_its_stamp_and_five_channels() {
    assert_eq!(Sample::VALUE_BYTES, 22);
}
