use super::*;
use crate::advise::pick::{self, Order};
use crate::advise::presets::PRESETS;

fn brief(file: &ResultFile, needs: Needs, weighed: &[(&str, f64)]) -> String {
    super::super::brief(&tables(&[file], None, &[]), needs, &weights(weighed), 200).unwrap()
}

#[test]
fn a_pick_names_the_next_and_what_would_turn_it() {
    let file = three();
    let table = table(&[&file]);
    let pick = pick::pick(&table, ANY, &weights(&[("ingest", 1.0)])).unwrap();
    let next = pick.next.as_ref().unwrap();
    // Both are equal in `ingest`.
    assert_eq!((next.order, next.ratio), (Order::Open, 1.0));
    assert!(pick.is_open());
    let all = pick::pick(&table, ANY, &pick::all_work(&table, ANY.tier)).unwrap();
    assert_eq!(all.engine, "tree");
    assert_eq!(all.next.as_ref().unwrap().order, Order::Certain);
    let rows =
        pick::pick(&table, Needs { sql: true, ..ANY }, &weights(&[("ingest", 1.0)])).unwrap();
    assert_eq!((rows.engine.as_str(), rows.turns[0].engine.as_str()), ("rows", "columns"));
    assert!((rows.turns[0].ratio - 4.0).abs() < 0.01 && rows.turns[0].by == "mostly questions");
}

#[test]
fn who_broke_a_promise_is_not_picked() {
    let file = three();
    let mut table = table(&[&file]);
    let own = table.engines.iter_mut().find(|entry| entry.engine == "tree").unwrap();
    own.broken = Some("broken by a kill".to_owned());
    let all = pick::pick(&table, ANY, &pick::all_work(&table, ANY.tier)).unwrap();
    assert_ne!(all.engine, "tree");
    let order = PRESETS[0].order(&table, ANY.tier);
    let why = order.left.iter().find(|left| left.engine == "tree").map(|left| &left.why[0]);
    assert_eq!(why.unwrap(), "broke what process promises: broken by a kill");
}

#[test]
fn without_who_broke_a_promise_the_ratios_are_to_the_best_of_the_others_in_every_list() {
    let mut file = empty();
    for (engine, load) in [("broke", 10), ("a", 20), ("b", 60)] {
        file.cells.push(cell(engine, "commit-each", &[("load", load)]));
    }
    let mut table = table(&[&file]);
    assert!((entry(&table, "a").ratios["ingest"] - 2.0).abs() < 1e-12);
    table.leave_out_unfit(|entry| {
        (entry.engine == "broke").then(|| "broken: 1 of 5 kills: 1 a hole".to_owned())
    });
    let advice = advise(&table, ANY, &weights(&[("ingest", 1.0)])).unwrap();
    assert_eq!(order(&advice), ["a", "b"]);
    let scores: Vec<f64> = advice.ranked.iter().map(|place| place.score).collect();
    assert!((scores[0] - 1.0).abs() < 1e-12 && (scores[1] - 3.0).abs() < 1e-12, "{scores:?}");
    let best = advice.best_at.iter().find(|best| best.criterion == "ingest").unwrap();
    assert_eq!((best.engines[0].as_str(), best.compared), ("a", 2));
    let shown = words(&advice, &table, 200);
    let left = "broke: broke what process promises: 1 of 5 kills: 1 a hole";
    assert!(shown.contains("1. a 1.00x") && shown.contains(left), "{shown}");
    // Nobody is left to compare a single engine with.
    table.leave_out_unfit(|entry| (entry.engine != "a").then(|| "broken".to_owned()));
    assert!(table.engines.iter().all(|entry| entry.ratios.is_empty()));
}

#[test]
fn who_answered_wrongly_anywhere_in_the_tier_is_not_recommended_for_what_was_right() {
    let mut file = empty();
    for (engine, load, read) in [("wrong", 10, 10), ("a", 20, 20), ("b", 60, 60)] {
        file.cells.push(cell(engine, "commit-each", &[("load", load)]));
        file.cells.push(cell(engine, "single", &[("read", read)]));
    }
    let wrong = &mut file.cells[1];
    wrong.status = Status::Wrong;
    wrong.trials.iter_mut().for_each(|trial| trial.phases[0].status = Status::Wrong);
    let mut table = table(&[&file]);
    assert_eq!(entry(&table, "wrong").wrong.as_deref(), Some("sensors 1k single read"));
    assert_eq!(entry(&table, "a").wrong, None);
    let pick =
        |table: &AdviceTable| pick::pick(table, ANY, &weights(&[("ingest", 1.0)])).unwrap().engine;
    assert_eq!(pick(&table), "a");
    table.leave_out_unfit(|_| None);
    assert_eq!(pick(&table), "a");
    assert_eq!(entry(&table, "a").ratios["ingest"], 1.0);
    let advice = advise(&table, ANY, &weights(&[("ingest", 1.0)])).unwrap();
    assert_eq!(advice.excluded[0].why, ["answered wrongly: sensors 1k single read"]);
}

#[test]
fn the_order_of_a_situation_begins_with_what_to_take_in_it() {
    let file = three();
    let table = table(&[&file]);
    let mut answered = 0;
    for preset in &PRESETS {
        let order = preset.order(&table, ANY.tier);
        assert!(order.ranked.windows(2).all(|pair| pair[0].score <= pair[1].score));
        let Some(answer) = preset.recommendation(&table, ANY.tier) else { continue };
        answered += 1;
        assert_eq!(order.ranked[0].engine, answer.pick.engine, "{}", preset.id);
        let next = order.ranked.get(1).map(|next| next.engine.as_str());
        assert_eq!(next, answer.pick.next.as_ref().map(|next| next.engine.as_str()));
    }
    assert!(answered > 1);
}

#[test]
fn advice_is_three_lines_of_what_to_take() {
    let file = three();
    let says = brief(&file, ANY, &[]);
    let lines: Vec<&str> = says.lines().collect();
    assert!(
        lines[1].contains("tree: best at commits and questions alike, at sensors 1k"),
        "{says}"
    );
    assert!(lines[2].contains("ahead of rows") && lines[3].contains("turned by"), "{says}");
    assert_eq!(lines.len(), 4, "{says}");
}

#[test]
fn who_cannot_keep_up_with_a_rate_is_left_out() {
    // A row takes `rows` and `tree` 100 ns and `columns` 900 ns, in wall and in CPU time.
    let file = three();
    let at = |rate: f64| Needs { rows_per_second: Some(rate), ..ANY };
    let rate = table(&[&file]).engines[0].pace.clone().unwrap().rows_per_second;
    let says = brief(&file, at(rate / 2.0), &[("ingest", 1.0)]);
    assert!(says.contains("keeps up") && says.contains(" of one processor"), "{says}");
    let left = advise(&table(&[&file]), at(rate / 2.0), &[]).unwrap().excluded;
    assert_eq!(left.len(), 1);
    assert!(left[0].engine == "columns" && left[0].why[0].starts_with("commits "), "{left:?}");
    let none = brief(&file, at(rate * 2.0), &[("ingest", 1.0)]);
    assert!(none.contains("No engine") && none.contains("rows/s at sensors 1k"), "{none}");
    // Nothing turns an order that is not there.
    assert!(none.contains("left out") && !none.contains("turned by"), "{none}");
}

#[test]
fn what_was_not_measured_names_the_command_that_measures_it() {
    let says = brief(&three(), ANY, &[("wear", 1.0)]);
    assert!(says.contains("No engine") && says.contains("embermark run sensors"), "{says}");
}

#[test]
fn a_situation_is_answered_in_its_tier_by_what_was_measured() {
    let file = three();
    let table = table(&[&file]);
    let of = |id: &str| {
        let preset = PRESETS.iter().find(|preset| preset.id == id).unwrap();
        preset.recommendation(&table, Durability::Process)
    };
    assert!(of("logger").is_none(), "nothing was measured in tier power");
    let gateway = of("gateway").unwrap();
    assert_eq!(gateway.pick.engine, "tree");
    assert!(gateway.lacking.contains(&"load"), "{:?}", gateway.lacking);
    // Each commits a row in at most a microsecond.
    assert_eq!(of("1khz").unwrap().tier, Durability::Process);
    assert!(of("archive").is_none() && of("phone").is_none(), "what matters most is not there");
}
