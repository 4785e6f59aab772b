use embermark_model::{Durability, Scale};
use indicatif::{InMemoryTerm, TermLike};

use super::*;

#[test]
fn the_screen_shows_what_runs_how_much_is_done_and_what_failed() {
    let screen = InMemoryTerm::new(12, 90);
    let term: Box<dyn TermLike> = Box::new(screen.clone());
    let mut bar = Bar::on(ProgressDrawTarget::term_like_with_hz(term, 255));
    let cell = CellId {
        workload: "sensors".into(),
        scale: Scale::Rows(10_000),
        durability: Durability::Process,
        variant: "single".into(),
        engine: "sqlite".into(),
        memory_limit: None,
    };
    let step = || std::thread::sleep(Duration::from_millis(20)); // it draws so often at most
    bar.note("busy machine");
    bar.started(2);
    bar.trial(1, &cell, 0);
    bar.trial_ended(Status::Failed, Some("it died"), Duration::from_secs(1));
    step();
    bar.trial(2, &cell, 1);
    step();
    bar.phase("read", 2, 6);
    let seen = screen.contents();
    assert!(
        seen.starts_with(
            "busy machine\n[1/2] sqlite sensors 10k process single: failed 1.0 s (it died)"
        ),
        "{seen}"
    );
    assert!(seen.contains(" 1/2 ") && seen.contains("to go"), "{seen}");
    assert!(seen.ends_with("[2/2] sqlite sensors 10k process single #2  read 2/6"), "{seen}");
    bar.finished();
    assert!(screen.contents().ends_with("(it died)"), "{}", screen.contents());
}
