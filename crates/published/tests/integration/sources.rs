//! The files of the sources hang together.

use std::collections::BTreeSet;

use embermark_published::{Beside, Evidence, Headline, Role, Source, all, find};

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
        let said = headline.printed.is_some() != headline.not_printed.is_some();
        assert!(said, "{}: printed, or why not", headline.says);
        for (_, beside) in places(headline) {
            let other = beside.to_pieces.is_some() || beside.to_variant.is_some();
            assert!(other, "{} compares nothing", headline.says);
        }
    }
}

#[test]
fn the_ratio_of_rates_is_that_of_times() {
    let marending = find("marending").unwrap();
    let co2 = marending.headlines.iter().find(|h| h.phase == "co2").unwrap();
    // 2.5 requests a second against 35: 14 times as long.
    assert!((co2.printed.unwrap().ratio() - 14.0).abs() < 1e-9);
    let ulb = find("ulb").unwrap();
    let load = ulb.headlines.iter().find(|h| h.phase == "load").unwrap();
    // 3135.635 s against 21.665 s.
    assert!((load.printed.unwrap().ratio() - 144.733).abs() < 1e-3);
}

#[test]
fn what_a_licence_forbids_is_not_printed() {
    for source in all() {
        for headline in &source.headlines {
            let engines = [Some(&headline.of), headline.to.as_ref()];
            let secret = engines.into_iter().flatten().any(|id| id == "zen" || id == "harperdb");
            assert!(!secret, "{} {}", source.id, headline.says);
        }
    }
}

/// What stands beside a headline, with the role that it must have.
fn places(headline: &Headline) -> Vec<(Option<Role>, &Beside)> {
    let all = [
        (Some(Role::AsPublished), &headline.as_published),
        (Some(Role::Equal), &headline.equal),
        (None, &headline.counter),
        (Some(Role::Emulated), &headline.emulated),
    ];
    all.into_iter().filter_map(|(role, beside)| Some((role, beside.as_ref()?))).collect()
}

/// Whether a piece that is named has the variant.
fn has_variant(source: &Source, beside: &Beside, variant: &str) -> bool {
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

/// Whether a document has the heading that a place names: `docs/engines.md#duckdb`.
fn is_heading(place: &str) -> bool {
    let Some((file, heading)) = place.split_once('#') else { return false };
    let text = std::fs::read_to_string(format!("../../{file}")).unwrap();
    let headings = text.lines().filter_map(|line| line.strip_prefix("## "));
    headings.map(|title| title.to_lowercase().replace(' ', "-")).any(|title| title == heading)
}
