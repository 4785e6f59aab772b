use super::*;

#[test]
fn a_mean_is_of_the_runs_own_samples_and_absent_for_too_few() {
    let samples = |times: &[(u64, u64)]| Samples {
        samples: times.iter().copied().collect(),
        ..Samples::default()
    };
    let times = [(1, 1_000), (10, 10), (20, 20), (30, 60), (31, 1_000)];
    let mut run = samples(&times);
    assert_eq!(run.mean(10, 30), Some(30));
    assert_eq!(run.mean(10, 30), None);
    assert_eq!(samples(&times).mean(10, 29), None);
}

#[test]
fn samples_are_taken_a_period_apart_and_none_of_a_process_that_is_gone() {
    let mut samples = Samples::default();
    for _ in 0..3 {
        samples.look(std::process::id(), false);
    }
    assert_eq!(samples.samples.len(), 1);
    assert!(samples.samples[0].1 > 100_000);
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    for tree in [true, false] {
        let mut gone = Samples::default();
        gone.look(child.id(), tree);
        assert!(gone.samples.is_empty());
    }
}
