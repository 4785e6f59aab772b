use super::*;

#[test]
fn every_file_is_read_and_every_figure_has_a_value() {
    assert_eq!(all().len(), 4);
    for published in all() {
        assert!(!published.source.differs.is_empty() && !published.engines().is_empty());
        for figure in &published.figures {
            assert!(
                figure.seconds.is_some() != figure.per_second.is_some(),
                "{}: {figure:?}",
                published.source.id
            );
        }
        assert!(published.ratios.iter().all(|ratio| ratio.value > 0.0));
        assert!(!published.lines().is_empty());
    }
}
