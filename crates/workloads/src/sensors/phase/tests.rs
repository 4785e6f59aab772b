use super::*;

#[test]
fn every_step_runs_once_and_has_its_own_name() {
    let mut names: Vec<_> = Phase::RUN_ORDER.into_iter().map(Phase::name).collect();
    assert_eq!(names[0], "load");
    assert_eq!(Phase::FullProfile.name(), "full_profile");
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), PHASES.len());
}
