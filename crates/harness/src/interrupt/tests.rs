use nix::sys::signal::{Signal, raise};

use super::*;

#[test]
fn a_signal_sets_the_flag_and_clones_see_it() {
    let interrupt = on_signals().unwrap();
    let clone = interrupt.clone();
    assert!(!clone.is_set());
    raise(Signal::SIGHUP).unwrap();
    assert!(clone.is_set());
}
