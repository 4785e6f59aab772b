use super::*;

/// Takes a row as the writer does.
pub(crate) fn taken(tally: &mut Tally, number: u64, response: u64) {
    tally.take(&[number], response);
    if tally.opens() {
        tally.open();
    }
    if tally.is_over() {
        tally.close();
    }
}

/// Returns the work of a writer that stored the rows of these numbers, each 5 ms after it was due,
/// of `made` rows in all.
pub(crate) fn written(
    task: Task,
    numbers: impl IntoIterator<Item = u64>,
    made: u64,
) -> WriteOutcome {
    let mut tally = Tally::new(task);
    numbers.into_iter().for_each(|number| taken(&mut tally, number, 5_000_000));
    WriteOutcome { tally, account: Account { made, ..Account::default() } }
}

const SECOND_AND_MORE: Task = Task { rate: 1_000, first: 100, end: 300 };

#[test]
fn what_never_came_is_counted_and_gaps_are_known() {
    let task = Task { rate: 1_000, first: 0, end: 200 };
    let written = written(task, (0..100).chain(120..200), 200);
    assert_eq!((written.lost(), written.lost_ever()), (20, 20));
    assert_eq!(written.tally.runs, [(0, 100), (120, 80)]);
    assert_eq!(written.achieved_rate(), 900.0, "what was lost is left out");
}

#[test]
fn a_commit_with_every_row_of_the_window_neither_opens_nor_measures_it() {
    let mut tally = Tally::new(SECOND_AND_MORE);
    let numbers: Vec<u64> = (0..300).collect();
    tally.take(&numbers[..50], 5_000_000);
    tally.take(&numbers[50..], 5_000_000);
    assert!(tally.is_over() && !tally.opens() && !tally.close());
    assert_eq!(tally.response.latency(), None, "what was timed is of the warm-up");
    let with_account = |tally, made| {
        let account = Account { made, ..Account::default() };
        WriteOutcome { tally, account }.without_window("rows")
    };
    let why = with_account(tally, 300).unwrap();
    assert!(why.starts_with("one commit stored all 200 rows of the window"), "{why}");
    // Where rows were lost, the writer was too slow.
    let mut tally = Tally::new(SECOND_AND_MORE);
    tally.take(&[0, 350], 5_000_000);
    assert!(!tally.opens() && !tally.close());
    assert_eq!(with_account(tally, 351), None);
}

#[test]
fn who_waits_longer_and_longer_has_fallen_behind_and_who_is_held_up_once_has_not() {
    let behind = |response_ms: fn(u64) -> u64| {
        let mut tally = Tally::new(SECOND_AND_MORE);
        for number in 0..300 {
            taken(&mut tally, number, response_ms(number) * 1_000_000);
        }
        let written = WriteOutcome { tally, account: Account { made: 300, ..Account::default() } };
        assert_eq!((written.measured().ops, written.tally.stored, written.lost()), (200, 300, 0));
        written.achieved_rate()
    };
    assert_eq!(behind(|_| 5), 1_000.0);
    assert_eq!(behind(|number| if number > 290 { 100 } else { 5 }), 1_000.0);
    // From 101 to 299 each is later by 1 ms; the last 21 wait 178 ms longer than the first.
    assert_eq!(behind(|number| number).round(), (1_000.0_f64 * 200.0 / 378.0).round());
}
