//! The files of the sources are consistent.

use std::collections::BTreeSet;

use embermark_published::{
    Evidence, Figure, FigureSource, Headline, Measure, Role, Source, Unit, all, find,
};

#[test]
fn every_source_is_found_by_its_name() {
    let ids: Vec<&str> = all().iter().map(|source| &*source.id).collect();
    assert_eq!(ids, ["ulb", "mcknight", "highfreq", "marending", "harperdb"]);
    assert!(ids.iter().all(|id| find(id).is_some()));
    assert!(find("tpc-c").is_none());
}

#[test]
fn every_piece_has_a_name_of_its_own_and_scales() {
    for source in all() {
        let names: BTreeSet<&str> = source.pieces.iter().map(|piece| &*piece.name).collect();
        assert_eq!(names.len(), source.pieces.len(), "{}", source.id);
        for piece in &source.pieces {
            assert!(!piece.scales.is_empty(), "{} {}", source.id, piece.name);
            assert!(piece.scales.is_sorted(), "{} {}", source.id, piece.name);
            assert_eq!(piece.role == Role::Emulated, piece.device.is_some(), "{}", piece.name);
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
            assert!(piece.name.chars().all(plain), "{}", piece.name);
            assert_eq!(piece.plan["workloads"][0].as_str(), Some(&*source.workload));
        }
    }
}

#[test]
fn what_stands_beside_a_headline_are_pieces_of_its_source_in_their_role() {
    for source in all() {
        for headline in &source.headlines {
            for (role, beside) in places(headline) {
                let to = beside.to_pieces.iter().flatten();
                for name in beside.pieces.iter().chain(to) {
                    assert!(source.piece(name).is_some(), "{}: no piece {name}", headline.says);
                }
                let first = source.piece(&beside.pieces[0]).map(|piece| piece.role);
                if let Some(role) = role {
                    assert_eq!(first, Some(role), "{}", headline.says);
                }
                let above = beside.engine.as_ref().unwrap_or(&headline.of);
                let below = headline.to.as_ref().unwrap_or(above);
                let others = beside.to_pieces.as_ref().unwrap_or(&beside.pieces);
                for (pieces, engine) in [(&beside.pieces, above), (others, below)] {
                    let is_there = pieces.iter().any(|piece| has_engine(source, piece, engine));
                    assert!(is_there, "{}: {engine} is not in {pieces:?}", headline.says);
                }
                let variants = [&beside.variant, &beside.to_variant];
                for variant in variants.into_iter().flatten() {
                    assert!(has_variant(source, beside, variant), "{}: {variant}", headline.says);
                }
            }
        }
    }
}

#[test]
fn a_headline_of_one_engine_compares_it_with_something_else() {
    for headline in all().iter().flat_map(|source| &source.headlines) {
        if headline.to.is_some() || headline.to_scale.is_some() || headline.alone {
            continue;
        }
        for (_, beside) in places(headline) {
            let other = headline.to_given
                || beside.to_pieces.is_some()
                || beside.to_variant.is_some()
                || beside.to_column.is_some();
            assert!(other, "{} compares nothing", headline.says);
        }
    }
}

#[test]
fn the_ratio_of_rates_is_that_of_times() {
    let marending = find("marending").unwrap();
    let co2 = marending.headlines.iter().find(|h| h.phase == "co2").unwrap();
    // 2.5 requests per second against 35: 14 times as long.
    assert_eq!(co2.printed.unwrap().ratio(), Figure::Number(14.0));
    // 4,000 inserts per second against 30,000 to 40,000, according to the source's text.
    let inserts = marending.headlines.iter().find(|h| h.phase == "insert").unwrap();
    assert_eq!(inserts.printed.unwrap().ratio(), Figure::Range([7.5, 10.0]));
    let ulb = find("ulb").unwrap();
    let load = ulb.headlines.iter().find(|h| h.phase == "load").unwrap();
    // 3135.635 s against 21.665 s.
    assert!((load.printed.unwrap().ratio().ends()[0] - 144.733).abs() < 1e-3);
}

#[test]
fn figures_per_row_are_compared_per_row() {
    let ulb = find("ulb").unwrap();
    let read = |h: &&Headline| h.phase == "read" && h.measure == Measure::TimePerRow;
    let read = ulb.headlines.iter().find(read).unwrap();
    // 2.461 s of 1,000,000 rows against 0.696 ms of 1,000.
    let compared = read.compared().unwrap();
    assert!((compared.of.ends()[0] - 2.461e-6).abs() < 1e-12);
    assert!((compared.ratio().ends()[0] - 3.536).abs() < 1e-3);
    // Times of whole phases are compared as they were printed.
    let load = ulb.headlines.iter().find(|h| h.phase == "load").unwrap();
    assert_eq!(load.compared().unwrap().of, Figure::Number(3135.635));
}

#[test]
fn a_given_figure_is_a_number_that_no_engine_has_measured() {
    for headline in all().iter().flat_map(|source| &source.headlines).filter(|h| h.to_given) {
        let given = headline.printed.map(|printed| printed.to);
        assert!(matches!(given, Some(Figure::Number(_))), "{}", headline.says);
        assert!(headline.to.is_none() && headline.to_scale.is_none(), "{}", headline.says);
        assert!(!headline.alone, "{}", headline.says);
    }
}

#[test]
fn every_document_that_a_text_names_is_there() {
    let mut checked = 0;
    for source in all() {
        let reasons = source.verdicts.iter().filter_map(|verdict| verdict.because.as_ref());
        let texts = reasons.chain(source.ours.values()).chain(&source.missing);
        for text in texts.chain(&source.contradictions) {
            let words = text.split(|c: char| c.is_whitespace() || "(),;:".contains(c));
            for path in words.filter(|word| word.starts_with("docs/")) {
                let path = path.trim_end_matches('.');
                assert!(std::fs::exists(format!("../../{path}")).unwrap(), "{text}");
                checked += 1;
            }
        }
    }
    assert!(checked > 5, "{checked}");
}

#[test]
fn a_headline_has_the_figures_of_its_source_or_words() {
    for headline in all().iter().flat_map(|source| &source.headlines) {
        assert!(headline.printed.is_some() != headline.said.is_some(), "{}", headline.says);
    }
    let highfreq = find("highfreq").unwrap();
    let memory = |h: &&Headline| h.measure == Measure::ServerMemory;
    let printed = highfreq.headlines.iter().find(memory).unwrap().printed.unwrap();
    // Table V, InfluxDB individual, and table IV, InfluxDB.
    assert_eq!((printed.of, printed.to), (Figure::Number(40605.0), Figure::Number(147444.0)));
    // What stands below the line alone is what HarperDB's vendor printed.
    let harperdb = &find("harperdb").unwrap().headlines[0];
    let printed = harperdb.printed.unwrap();
    assert_eq!((printed.of, printed.to), (Figure::Number(154.75), Figure::Number(44.08)));
    assert_eq!(printed.unit, Unit::Milliseconds);
}

#[test]
fn a_source_has_figures_of_one_form_or_says_why_it_has_none() {
    for source in all() {
        let figures = &source.figures;
        assert!(!figures.differs.is_empty(), "{}", source.id);
        let forms = [!figures.phases.is_empty(), !figures.usage.is_empty()];
        assert!(forms != [true, true], "{}", source.id);
        assert!(forms != [false, false] || figures.left_out.is_some(), "{}", source.id);
    }
}

#[test]
fn nothing_is_measured_of_an_engine_whose_licence_forbids_it() {
    for source in all() {
        let figures = &source.figures;
        let phases = figures.phases.iter().map(|figure| &figure.engine);
        let mut engines = phases.chain(figures.usage.iter().map(|row| &row.engine));
        let is_secret = engines.any(|id| id == "zen" || id == "harperdb");
        assert!(!is_secret, "{}: a figure", source.id);
        for headline in &source.headlines {
            let engines = [Some(&headline.of), headline.to.as_ref()];
            let secret = engines.into_iter().flatten().any(|id| id == "zen" || id == "harperdb");
            assert!(!secret, "{} {}", source.id, headline.says);
        }
    }
}

#[test]
fn a_conclusion_is_decided_by_headlines_of_its_source_that_have_figures() {
    for source in all() {
        for verdict in &source.verdicts {
            for says in &verdict.by {
                let mut headlines = source.headlines.iter();
                let found = headlines.find(|headline| headline.says == *says);
                let found = found.unwrap_or_else(|| panic!("{}: no headline {says}", source.id));
                let is_said = found.said.as_ref().is_some_and(|said| said.starts_with("in words"));
                assert!(found.printed.is_some() || is_said, "{says}");
                assert!(found.as_published.is_some(), "{says}");
            }
        }
    }
}

#[test]
fn what_is_ours_has_a_letter_and_every_letter_is_used() {
    for source in all() {
        let used: BTreeSet<&String> = source.pieces.iter().flat_map(|piece| &piece.ours).collect();
        assert_eq!(used, source.ours.keys().collect(), "{}", source.id);
    }
}

#[test]
fn a_licence_is_no_reason_for_what_a_source_did_not_print() {
    for headline in all().iter().flat_map(|source| &source.headlines) {
        let said = headline.said.as_deref().unwrap_or_default();
        assert!(!said.contains("licence"), "{}: {said}", headline.says);
    }
}

/// Whether a piece runs an engine: by its name, its defaults or a configuration.
fn has_engine(source: &Source, piece: &str, engine: &str) -> bool {
    let plan = &source.piece(piece).unwrap().plan;
    let configurations = plan.get("configuration");
    let names = plan["engines"].as_array().unwrap().iter().filter_map(|name| name.as_str());
    let mut engines = names.map(|name| {
        let own = configurations.and_then(|all| all.get(name)?.get("engine")?.as_str());
        own.unwrap_or_else(|| {
            let name = name.strip_suffix("-node").unwrap_or(name);
            name.strip_suffix("-defaults").unwrap_or(name)
        })
    });
    engines.any(|of| of == engine)
}

/// Returns the results next to a headline, with the role that each must have.
fn places(headline: &Headline) -> Vec<(Option<Role>, &FigureSource)> {
    let all = [
        (Some(Role::AsPublished), &headline.as_published),
        (Some(Role::Equal), &headline.equal),
        (None, &headline.counter),
        (Some(Role::Counter), &headline.client),
        (Some(Role::Emulated), &headline.emulated),
    ];
    all.into_iter().filter_map(|(role, beside)| Some((role, beside.as_ref()?))).collect()
}

/// Whether a named piece has the variant.
fn has_variant(source: &Source, beside: &FigureSource, variant: &str) -> bool {
    let named = beside.pieces.iter().chain(beside.to_pieces.iter().flatten());
    let pieces = named.filter_map(|name| source.piece(name));
    let mut variants = pieces.filter_map(|piece| piece.plan["variant"].as_array()).flatten();
    variants.any(|known| known.as_str() == Some(variant))
}

#[test]
fn every_explanation_names_the_measurement_that_shows_it() {
    for headline in all().iter().flat_map(|source| &source.headlines) {
        let says = &headline.says;
        assert_eq!(headline.explained.is_some(), !headline.evidence.is_empty(), "{says}");
        for evidence in &headline.evidence {
            let is_there = match evidence {
                Evidence::Equal => headline.equal.is_some(),
                Evidence::CounterRun => headline.counter.is_some(),
                Evidence::Pair => headline.as_published.is_some() || headline.equal.is_some(),
                Evidence::Written(place) => is_heading(place),
            };
            assert!(is_there, "{says}: {evidence}");
        }
    }
}

/// Whether a document has the heading that a place names:
/// `docs/engines/duckdb.md#what-measurements-show`.
fn is_heading(place: &str) -> bool {
    let Some((file, heading)) = place.split_once('#') else { return false };
    let text = std::fs::read_to_string(format!("../../{file}")).unwrap();
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let titles = headings.map(|line| line.trim_start_matches('#').trim());
    titles.map(|title| title.to_lowercase().replace(' ', "-")).any(|title| title == heading)
}
