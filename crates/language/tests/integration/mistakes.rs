//! All mistakes of a file are found and shown at their position.

use embermark_language::{BUILT_IN, parse};
use embermark_skips::sampled;

const ENGINES: [&str; 2] = ["sqlite", "duckdb"];

#[test]
fn ten_mistakes_are_shown_at_once() {
    let mistakes = parse("weather.toml", include_str!("ten-mistakes.toml"), &ENGINES).unwrap_err();
    assert_eq!(mistakes.count(), 10);
    assert_eq!(format!("{mistakes}\n"), include_str!("ten-mistakes.txt"));
    let colored = mistakes.colored();
    assert!(colored.contains("\u{1b}[") && colored.contains("unknown verb 'latst'"));
}

#[test]
fn what_is_no_toml_is_shown_alone() {
    let shown = parse("a.toml", "abuot = 1\nname = \"x\n", &ENGINES).unwrap_err().to_string();
    assert!(shown.contains("error: this is not valid TOML\n --> a.toml:2:10"), "{shown}");
    assert!(!shown.contains("abuot'"), "{shown}");
}

const COLUMNS: &str = r#"
id = "u32"
seen = { type = "timestamp", unit = "ms" }
n = "i16?"
word = "text"
"#;

/// The mistakes of a file with these parts, without the text that shows them.
fn said_of(table: &str, columns: &str, phases: &str) -> Vec<String> {
    let text = format!("[table.t]\n{table}\n[table.t.columns]\n{columns}\n{phases}");
    match parse("t.toml", &text, &ENGINES) {
        Ok(file) => panic!("{file:#?}"),
        Err(mistakes) => {
            let shown = mistakes.to_string();
            shown
                .lines()
                .filter_map(|line| Some(line.strip_prefix("error: ")?.to_owned()))
                .collect()
        }
    }
}

/// The mistakes of a phase of a valid table.
fn said_of_phase(phase: &str) -> Vec<String> {
    said_of("file = \"t.csv\"\nkey = [\"id\"]", COLUMNS, &format!("[phase.p]\n{phase}"))
}

/// The mistakes of a column of a table with 300 generated rows.
fn said_of_made(column: &str) -> Vec<String> {
    let columns = format!("id = {{ type = \"u32\", make = \"sequence\" }}\nx = {column}");
    said_of("rows = 300\nkey = [\"id\"]", &columns, "[phase.p]\ndo = \"insert\"")
}

#[test]
fn tables_are_checked() {
    let phase = "[phase.p]\ndo = \"insert\"";
    for (table, columns, said) in [
        ("key = [\"id\"]", COLUMNS, "a table without rows"),
        ("file = \"a\"\nrows = 3\nkey = [\"id\"]", COLUMNS, "both 'rows' and a file or query"),
        ("file = \"a\"", COLUMNS, "'key' is missing"),
        ("file = \"a\"\nkey = []", COLUMNS, "no column"),
        ("file = \"a\"\nkey = [\"n\"]", COLUMNS, "'n' is of the key and may be absent"),
        ("file = \"a\"\nkey = [\"id\", \"id\"]", COLUMNS, "'id' twice"),
        (
            "file = \"a\"\nkey = [\"id\"]\nindex = [[\"n\", \"id\"], [\"id\"], [\"n\", \"id\"]]",
            COLUMNS,
            "the index of 'n', 'id' is given twice",
        ),
        ("file = \"a\"\nkey = [\"id\"]\nindex = [\"n\"]", COLUMNS, "an index is a list of columns"),
        (
            "file = \"a\"\nkey = [\"id\"]",
            "id = \"u8\"\nID = \"u8\"",
            "'id' and 'ID' are one name in SQL",
        ),
        (
            "file = \"a\"\nkey = [\"id\"]",
            "id = \"u8\"\n9a = \"u8\"",
            "'9a' cannot be the name of a column",
        ),
        (
            "file = \"a\"\nkey = [\"id\"]",
            "id = \"u8\"\n_id = \"u8\"",
            "'_id' cannot be the name of a column",
        ),
        (
            "file = \"a\"\nkey = [\"id\"]",
            "id = \"u8\"\ntime = \"text\"",
            "'time' is not the time of its table",
        ),
        ("file = \"a\"\nkey = [\"id\"]", "id = \"timestamp\"", "a timestamp has a unit"),
        (
            "file = \"a\"\nkey = [\"id\"]",
            "id = \"u8\"\n\"v[5..1]\" = \"u8\"",
            "'v[5..1]' names no columns",
        ),
        (
            "file = \"a\"\nkey = [\"id\"]",
            "id = \"u8\"\n\"v[1..x]\" = \"u8\"",
            "'v[1..x]' names no columns",
        ),
        (
            "file = \"a\"\nkey = [\"id\"]",
            "id = \"u8\"\n\"v[0..2000]\" = \"u8\"",
            "'v[0..2000]' names no columns",
        ),
        (
            "file = \"a\"\nkey = [\"id\"]",
            "id = \"u8\"\n\"[1..2]\" = \"u8\"",
            "'2' cannot be the name of a column",
        ),
        (
            "file = \"a\"\nkey = [\"id\"]",
            "id = \"u8\"\nv2 = \"u8\"\n\"v[1..2]\" = \"u8\"",
            "'v2' and 'v2' are one name in SQL",
        ),
        (
            "file = \"a\"\nkey = [\"id\"]",
            "id = \"u8\"\n\"v[1..2]\" = { type = \"u8\", from = \"x\" }",
            "many columns from one",
        ),
        (
            "file = \"a\"\nkey = [\"id\"]",
            "id = { type = \"u8\", unit = \"s\" }",
            "'u8' has no unit",
        ),
        ("rows = 9\nkey = [\"id\"]", "id = \"u8\"", "it is not said how 'id' is made"),
        (
            "file = \"a\"\nkey = [\"id\"]",
            "id = { type = \"u8\", make = \"random\" }",
            "'id' is made, and the rows of its table come from a file",
        ),
    ] {
        assert_eq!(said_of(table, columns, phase), [said]);
    }
    let other = "[table.T]\nfile = \"a\"\nkey = [\"id\"]\ncolumns = { id = \"u8\" }\n[phase.p]\n\
                 do = \"insert\"\ntable = \"t\"";
    let said = said_of("file = \"a\"\nkey = [\"id\"]", "id = \"u8\"", other);
    assert_eq!(said, ["'t' and 'T' are one name in SQL"]);
}

#[test]
fn made_columns_are_checked() {
    for (column, said) in [
        ("{ type = \"u8\", make = \"sequence\" }", "'x' counts beyond what u8 holds"),
        ("{ type = \"text\", make = \"sequence\" }", "'sequence' counts up"),
        ("{ type = \"u8\", make = \"sequence\", step = 0 }", "a sequence without progress"),
        ("{ type = \"u16\", make = \"sequence\", late = \"1m\" }", "only a time is late"),
        (
            "{ type = \"timestamp\", unit = \"s\", make = \"sequence\", late = \"1ms\" }",
            "the times are in s",
        ),
        (
            "{ type = \"timestamp\", unit = \"s\", make = \"sequence\", late = { within = \"1m\" } }",
            "'share' is missing",
        ),
        (
            "{ type = \"timestamp\", unit = \"s\", make = \"random\", from = 2024-01-01, to = 2024-01-02, late = \"1m\" }",
            "unknown key 'late'",
        ),
        (
            "{ type = \"timestamp\", unit = \"s\", make = \"sequence\", late = \"1m\" }\n\
             y = { type = \"timestamp\", unit = \"s\", make = \"sequence\", late = \"1m\" }",
            "a second time that is late",
        ),
        ("{ type = \"u8\", make = \"cycle\" }", "'distinct' is missing"),
        ("{ type = \"u8\", make = \"cycle\", distinct = 300 }", "'x' counts beyond what u8 holds"),
        ("{ type = \"u8\", make = \"random\", to = 256 }", "256 is no u8"),
        ("{ type = \"f64\", make = \"random\", from = 2 }", "'from' is not below 'to'"),
        ("{ type = \"text\", make = \"random\" }", "'length' is missing"),
        ("{ type = \"text\", make = \"random\", length = [9, 1] }", "no span of counts"),
        ("{ type = \"text\", make = \"words\", distinct = 5, skew = 9 }", "a skew of 9"),
        (
            "{ type = \"f64\", make = \"walk\", lowest = 1, highest = 1 }",
            "a walk that goes nowhere",
        ),
        ("{ type = \"u8\", make = \"choice\", values = [] }", "a choice of nothing"),
        (
            "{ type = \"u8\", make = \"choice\", values = [1], weights = [1, 2] }",
            "2 weights of 1 values",
        ),
        ("{ type = \"u8\", make = \"reference\", to = \"t\" }", "'x' cannot refer to 't'"),
        ("{ type = \"u8\", make = \"reference\", to = \"s\" }", "unknown table 's'"),
        ("{ type = \"u8\", make = \"random\", absent = 2 }", "expected a share"),
        ("{ type = \"u8\", make = \"rnadom\" }", "unknown kind of made values 'rnadom'"),
    ] {
        assert_eq!(said_of_made(column), [said], "{column}");
    }
}

#[test]
fn phases_are_checked() {
    for (phase, said) in [
        ("about = \"nothing\"", "a phase that does nothing"),
        ("do = \"get\"\nsql = \"SELECT 1\"", "several things in one phase"),
        ("do = \"get\"\nlimit = 3", "unknown key 'limit'"),
        ("do = \"get\"\nops = 0", "'0' is not a count"),
        (
            "do = \"get\"\nkeys = { distribution = \"uniform\", skew = 1 }",
            "uniform keys have no skew",
        ),
        ("do = \"get\"\ntable = \"u\"", "unknown table 'u'"),
        ("do = \"get\"\nonly = \"mix\"", "'p' never runs"),
        ("do = \"insert\"\ncommit = \"bluk\"", "unknown commit 'bluk'"),
        ("do = \"update\"\ncommit = \"bulk\"", "only an insert takes the fastest path"),
        ("do = \"update\"\nset = [\"id\"]", "'id' cannot be set"),
        ("do = \"update\"\nset = { one-of = [\"n\", \"seen\"] }", "'seen' cannot be set"),
        ("do = \"update\"\nset = { n = 1 }", "constants without 'where'"),
        ("do = \"find\"\nwhere = [\"n\", \">\", 1]", "a condition that is not in a list"),
        ("do = \"latest\"\nby = \"seen\"", "the newest row of each time"),
        ("do = \"latest\"\nby = \"id\"\ntime = \"word\"", "'word' is text and no time"),
        ("do = \"latest\"\nby = \"id\"\ntime = \"n\"", "'n' may be absent"),
        ("do = \"range\"", "a range without an end"),
        ("do = \"range\"\nrows = 3\nlast = \"1h\"", "several ends of a range"),
        ("do = \"range\"\nrows = 3\nof = \"id\"", "'of' beside 'rows'"),
        ("do = \"range\"\nlast = 3600", "expected a text in quotes"),
        ("do = \"range\"\nlast = \"1us\"", "the times are in ms"),
        (
            "do = \"range\"\nlast = \"1h\"\ntime = \"id\"",
            "a length of time of a column without a unit",
        ),
        ("do = \"delete\"\nolder = \"7d\"\nops = 3", "'ops' beside 'older'"),
        ("sql = \" \"", "an empty question"),
        ("sql-sqlit = \"SELECT 1\"", "unknown engine 'sqlit'"),
    ] {
        assert_eq!(said_of_phase(phase), [said], "{phase}");
    }
}

#[test]
fn a_table_may_have_no_time() {
    let columns = "id = \"u32\"\na = { type = \"timestamp\", unit = \"s\" }\n\
                   b = { type = \"timestamp\", unit = \"s\" }";
    let phase = "[phase.p]\ndo = \"delete\"\nolder = \"7d\"";
    let said = said_of("rows = 3\nkey = [\"id\"]", columns, phase);
    assert!(said.contains(&"which column of 't' is the time?".to_owned()), "{said:?}");
}

#[test]
fn groups_are_checked() {
    for (keys, said) in [
        ("where = [[\"n\", \">\"]]", "a condition has three parts"),
        ("where = [[\"n\", \">\", 40_000]]", "40000 is no i16"),
        ("where = [[\"n\", \">\", \"much\"]]", "expected an integer"),
        ("where = [[\"seen\", \">\", \"end - 7y\"]]", "'7y' is not a length of time in ms"),
        ("where = [[\"seen\", \">\", \"noon\"]]", "'noon' is not a point in time"),
        ("by = [\"hour(n)\"]", "'n' is i16 and no timestamp"),
        ("by = [\"year(seen)\"]", "unknown bucket of time 'year'"),
        ("by = [\"5y(seen)\"]", "unknown bucket of time '5y'"),
        ("by = [\"5us(seen)\"]", "'5us' is not a whole number of ms"),
        ("having = [[\"avg(n)\", \">\", 1]]", "unknown name in 'compute' 'avg(n)'"),
        ("having = [[\"count\", \">\", 1.5]]", "expected an integer"),
        ("by = [\"n\", \"n\"]", "'n' twice"),
        ("compute = []", "nothing to compute"),
        ("compute = [\"sum(word)\"]", "no sum of 'word', which is text"),
        ("compute = [\"sum\"]", "'sum' of nothing"),
        ("by = [\"word\"]\norder = [\"n\"]", "unknown column of the result 'n'"),
        ("by = [\"word\"]\nlimit = 3", "a limit without an order"),
    ] {
        assert_eq!(said_of_phase(&format!("do = \"group\"\n{keys}")), [said], "{keys}");
    }
}

#[test]
fn gaps_outliers_and_correlations_are_checked() {
    for (phase, said) in [
        ("do = \"gaps\"\nby = \"n\"", "'longer-than' is missing"),
        ("do = \"gaps\"\nby = \"seen\"\nlonger-than = \"10m\"", "gaps of each time"),
        (
            "do = \"gaps\"\nby = \"n\"\ntime = \"word\"\nlonger-than = \"10m\"",
            "'word' is text and no time",
        ),
        ("do = \"outliers\"\nof = \"n\"\ndeviations = 3", "'by' is missing"),
        (
            "do = \"outliers\"\nof = \"word\"\nby = \"n\"\ndeviations = 3",
            "'word' is text and no number",
        ),
        (
            "do = \"outliers\"\nof = \"n\"\nby = \"word\"\ndeviations = 0",
            "expected a number above 0",
        ),
    ] {
        assert_eq!(said_of_phase(phase), [said], "{phase}");
    }
    for (keys, said) in [
        ("by = \"seen\"", "groups of one time"),
        ("by = \"word\"\nbetween = [\"a\", \"a\"]", "a group with itself"),
        ("by = \"word\"\nbetween = [\"a\"]", "expected two values, as in [3, 7]"),
        ("by = \"word\"\neach = \"word\"", "unknown key 'each'"),
    ] {
        let phase = format!("do = \"correlate\"\nof = \"n\"\nbucket = \"5m\"\n{keys}");
        assert_eq!(said_of_phase(&phase), [said], "{keys}");
    }
}

#[test]
fn changes_by_conditions_are_checked() {
    for (phase, said) in [
        ("do = \"find\"", "'where' is missing"),
        ("do = \"find\"\nwhere = []", "no condition"),
        ("do = \"find\"\nwhere = [[\"n\", \"=\", 1]]\nselect = []", "no column"),
        ("do = \"update\"\nwhere = [[\"n\", \"=\", 1]]\nset = [\"n\"]", "no values to set"),
        ("do = \"update\"\nwhere = [[\"n\", \"=\", 1]]\nset = { id = 1 }", "'id' cannot be set"),
        ("do = \"delete\"\nwhere = [[\"n\", \"=\", 1]]\nops = 5", "'ops' beside 'where'"),
        ("do = \"upsert\"\nset = { one-of = [\"n\"] }", "an upsert writes whole rows"),
    ] {
        assert_eq!(said_of_phase(phase), [said], "{phase}");
    }
}

#[test]
fn numbers_of_operations_are_checked() {
    for (ops, said) in [
        ("\"0%\"", "a share of nothing"),
        ("\"200%\"", "expected a share"),
        ("{}", "no number"),
        ("{ many = 1 }", "'many' is not a number of rows"),
        ("{ \"10k\" = 0 }", "'0' is not a count"),
        ("[1]", "expected a whole number such as 1000, \"10k\" or \"1M\""),
    ] {
        assert_eq!(said_of_phase(&format!("do = \"get\"\nops = {ops}")), [said], "{ops}");
    }
}

#[test]
fn changes_of_several_rows_at_once_are_of_keys_in_order() {
    for (phase, said) in [
        ("do = \"delete\"\nrows = 10\nkeys = \"zipfian\"", "'keys' beside 'rows'"),
        ("do = \"update\"\nrows = 10\nabsent = 0.1", "'absent' beside 'rows'"),
        ("do = \"delete\"\nrows = 10\nolder = \"1d\"", "'rows' beside 'older'"),
        ("do = \"get\"\nrows = 10", "unknown key 'rows'"),
    ] {
        assert_eq!(said_of_phase(phase), [said], "{phase}");
    }
    let phase = "[phase.p]\ndo = \"delete\"\nrows = 10";
    let said = said_of("file = \"t.csv\"\nkey = [\"id\", \"word\"]", COLUMNS, phase);
    assert_eq!(said, ["rows in the order of 'word', which is text"]);
}

#[test]
fn mixes_are_checked() {
    let table = "file = \"t.csv\"\nkey = [\"id\"]";
    let phases = "[phase.get]\ndo = \"get\"\n[phase.load]\ndo = \"insert\"\ncommit = \"bulk\"\n\
                  [phase.all]\ndo = \"update\"\ncommit = \"all\"\n[phase.m]\n";
    for (mix, said) in [
        ("mix = {}", "a mix of nothing"),
        ("mix = { get = \"9/y\" }", "'9/y' is not a rate"),
        ("mix = { get = 0 }", "a share of nothing"),
        ("mix = { get = 0.9 }", "the shares do not make up the whole"),
        ("mix = { get = \"9/s\" }\nclients = 2", "'clients' in this mix"),
        ("mix = { get = \"9/s\" }\nops = 2", "'ops' in this mix"),
        ("mix = { get = 1 }\nfor = \"until steady\"", "'for' in this mix"),
        ("mix = { get = \"9/s\" }\nat-most = \"9s\"", "'at-most' in this mix"),
        ("mix = { get = \"9/s\" }\nfor = \"until stedy\"", "'until stedy' is not a length of time"),
        ("mix = { get = 1 }\nops = 2\nfor = \"9s\"", "'ops' in this mix"),
        ("mix = { get = 1 }\nclients = 257", "257 clients"),
        ("mix = { load = 1 }", "'load' takes the fastest path"),
        ("mix = { all = 1 }", "'all' commits after all"),
        ("mix = { m = 1 }", "'m' is made of phases itself"),
    ] {
        assert_eq!(said_of(table, COLUMNS, &format!("{phases}{mix}")), [said], "{mix}");
    }
    let two = said_of(
        table,
        COLUMNS,
        "[phase.get]\ndo = \"get\"\n[phase.update]\ndo = \"update\"\n[phase.m]\n\
         mix = { get = \"9/s\", update = 0.5 }",
    );
    assert_eq!(two, ["rates and shares in one mix"]);
    let beside = |verb: &str| {
        let phases = format!(
            "[phase.up]\ndo = \"upsert\"\n[phase.other]\ndo = \"{verb}\"\n[phase.m]\n\
             mix = {{ up = 0.5, other = 0.5 }}"
        );
        said_of(table, COLUMNS, &phases)
    };
    assert_eq!(beside("delete"), ["'other' deletes rows that 'up' writes"]);
}

#[test]
fn a_text_that_its_column_cannot_hold_is_a_mistake() {
    let columns = "id = \"u32\"\nstate = \"text(2)\"";
    let said = |text: &str| {
        let phase = format!(
            "[phase.p]\ndo = \"update\"\nwhere = [[\"id\", \"=\", 1]]\nset = {{ state = \"{text}\" }}"
        );
        said_of("file = \"t.csv\"\nkey = [\"id\"]", columns, &phase)
    };
    assert_eq!(said("Texas"), ["a text that is too long"]);
    // Characters are counted, not bytes.
    assert_eq!(said("Üß\", id = \"x"), ["'id' cannot be set"]);
}

#[test]
fn what_is_kept_is_checked() {
    const OF_TIME: &str = "key = [\"seen\", \"id\"]\nfile = \"t.csv\"";
    let said = |table: &str, rest: &str, keep: &str| {
        let phases = format!(
            "[phase.rows]\nonly = \"keep\"\ndo = \"insert\"\n{rest}\n[phase.p]\n{keep}\ninsert = \"rows\""
        );
        said_of(table, COLUMNS, &phases)
    };
    let day = "keep = \"1d\"";
    for (table, rest, keep, expected) in [
        ("key = [\"id\"]\nfile = \"t.csv\"", "", day, "the key of 't' begins with 'id'"),
        (OF_TIME, "", "keep = \"1d\"\nstep = \"7h\"", "a step that does not fit the window"),
        (OF_TIME, "", "keep = \"1d\"\nstep = \"1s\"", "a step that does not fit the window"),
        (OF_TIME, "", "keep = \"25ms\"", "a window of no 24 steps"),
        (OF_TIME, "commit = \"all\"", day, "'rows' commits in another way"),
        (OF_TIME, "commit = \"bulk\"", day, "'rows' commits in another way"),
        (OF_TIME, "", "keep = \"1d\"\nask = [\"p\"]", "'p' is made of phases itself"),
        (OF_TIME, "", "keep = \"1d\"\nask = [\"rosw\"]", "unknown phase 'rosw'"),
        (
            OF_TIME,
            "",
            "keep = \"1d\"\nask = [\"rows\"]",
            "'rows' is not a question about the newest rows",
        ),
        (
            OF_TIME,
            "[phase.span]\nonly = \"keep\"\ndo = \"range\"\nspan = \"1h\"",
            "keep = \"1d\"\nask = [\"span\"]",
            "'span' is not a question about the newest rows",
        ),
        (
            OF_TIME,
            "[phase.other]\ndo = \"latest\"\nby = \"n\"",
            day,
            "'other' beside a phase with 'keep'",
        ),
        (
            OF_TIME,
            "[phase.idle]\nonly = \"keep\"\ndo = \"latest\"\nby = \"n\"",
            day,
            "'idle' never runs",
        ),
        (OF_TIME, "", "keep = \"1d\"\nmix = { rows = 1.0 }", "several things in one phase"),
    ] {
        let said = said(table, rest, keep);
        assert!(said.iter().any(|one| one.contains(expected)), "{expected}: {said:?}");
    }
}

#[test]
fn sequences_are_checked() {
    let table = "file = \"t.csv\"\nkey = [\"id\"]";
    let phases = "[phase.get]\ndo = \"get\"\n[phase.load]\ndo = \"insert\"\n[phase.count]\ndo = \"group\"\n\
                  [phase.own]\nsql = \"SELECT 1\"\n[phase.m]\n";
    for (sequence, said) in [
        ("sequence = \"load\"", "expected a list in [ ]"),
        ("sequence = []", "a sequence has two phases or more"),
        ("sequence = [\"count\"]", "a sequence has two phases or more"),
        ("sequence = [\"load\", \"cuont\"]", "unknown phase 'cuont'"),
        ("sequence = [\"load\", \"get\"]", "'get' is not a question that a sequence can have"),
        ("sequence = [\"load\", \"own\"]", "'own' is not a question that a sequence can have"),
        ("sequence = [\"count\", \"load\"]", "'load' comes after another phase"),
        ("sequence = [\"count\", \"m\"]", "'m' is made of phases itself"),
        ("sequence = [\"load\", \"count\"]\nops = 3", "'ops' beside an insert"),
        ("sequence = [\"load\", \"count\"]\nmix = { get = 1 }", "several things in one phase"),
    ] {
        assert_eq!(said_of(table, COLUMNS, &format!("{phases}{sequence}")), [said], "{sequence}");
    }
    let part = "[phase.m]\nsequence = [\"count\", \"count\"]\n[phase.n]\nmix = { m = 1 }";
    let said = said_of(table, COLUMNS, &format!("[phase.count]\ndo = \"group\"\n{part}"));
    assert_eq!(said, ["'m' is made of phases itself"]);
}

#[test]
fn whatever_is_lost_or_replaced_is_right_or_has_mistakes() {
    let mut wrong = 0;
    let values =
        ["7", "-0.5", "\"nonsense\"", "\"\"", "true", "[]", "[7]", "{}", "{ x = 7 }"].map(Some);
    // `None` is no line.
    let values = sampled(values.into_iter().chain([None]), 5);
    for (name, text) in BUILT_IN {
        let lines: Vec<_> = text.lines().collect();
        for (place, line) in lines.iter().enumerate() {
            for value in &values {
                let with = match (value, line.split_once(" = ")) {
                    (None, _) => String::new(),
                    (Some(value), Some((key, _))) => format!("{key} = {value}"),
                    (Some(_), None) => continue,
                };
                let mut changed = lines.clone();
                changed[place] = &with;
                // A file that cannot be read has at least one mistake, which is shown.
                if let Err(mistakes) = parse(name, &changed.join("\n"), &ENGINES) {
                    assert!(mistakes.count() > 0, "{name}: {line} -> {with}");
                    assert!(mistakes.to_string().contains("error: "));
                    wrong += 1;
                }
            }
        }
    }
    assert!(wrong > 1_000, "{wrong}");
}

#[test]
fn what_is_cut_off_anywhere_is_right_or_has_mistakes() {
    let (name, text) = BUILT_IN[8];
    for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)).step_by(7) {
        if let Err(mistakes) = parse(name, &text[..end], &ENGINES) {
            assert!(mistakes.to_string().starts_with("error: "), "{end}");
        }
    }
    let empty = parse("empty.toml", "", &ENGINES).unwrap_err().to_string();
    assert!(
        empty.contains("'table' is missing") && empty.contains("'phase' is missing"),
        "{empty}"
    );
}

#[test]
fn batches_and_openings_are_checked() {
    for (phase, said) in [
        ("do = \"insert\"\ncommit = { batch = 0 }", "'0' is not a count"),
        ("do = \"insert\"\ncommit = { batch = 3, rows = 3 }", "unknown key 'rows'"),
        ("do = \"insert\"\ncommit = { batch = 3, offered = 5 }", "expected a text in quotes"),
        (
            "do = \"insert\"\ncommit = { batch = 3, offered = \"much\" }",
            "expected rows per second, as in \"100000/s\"",
        ),
        ("do = \"update\"\ncommit = { batch = 3 }", "only an insert gives rows in batches"),
        ("do = \"insert\"\nover = \"mail\"", "unknown way 'mail'"),
        ("do = \"insert\"\nin-flight = 3", "'in-flight' without 'over'"),
        ("do = \"insert\"\nover = \"http\"\nin-flight = \"1M\"", "expected at most 1000 requests"),
        ("do = \"insert\"\nover = \"http\"\ncommit = \"bulk\"", "'commit' beside 'over'"),
        ("do = \"insert\"\nonly = \"variant\"", "'p' never runs"),
        ("do = \"open\"\nafter = \"fire\"", "unknown end 'fire'"),
        ("do = \"open\"\nafter = \"crash\"\nops = 2", "'ops' beside 'after'"),
    ] {
        assert_eq!(said_of_phase(phase)[0], said, "{phase}");
    }
}

#[test]
fn documents_are_checked() {
    let columns = "id = \"u32\"\ndata_n = \"u8\"\nseen = { type = \"timestamp\", unit = \"ms\" }";
    let said = |table: &str, data: &str, phase: &str| {
        let table = format!("file = \"t.csv\"\nkey = [\"id\"]\n{table}");
        said_of(&table, &format!("{columns}\ndata = {data}"), &format!("[phase.p]\n{phase}"))
    };
    let insert = "do = \"insert\"";
    let fields = |fields: &str| format!("{{ type = \"json\", fields = {{ {fields} }} }}");
    for (table, data, what) in [
        ("", "\"json\"".to_owned(), "a document needs a list of its fields"),
        ("", "{ type = \"json\" }".to_owned(), "'fields' is missing"),
        ("", fields(""), "a document without fields"),
        ("", fields("n = \"u8\""), "'data_n' and 'data.n' are one name in SQL"),
        ("", fields("\"a b\" = \"u8\""), "'a b' cannot be the name of a field"),
        ("", fields("x = \"bytes\""), "bytes in a document"),
        ("", fields("x = \"u9\""), "unknown type 'u9'"),
        ("json = \"bson\"", fields("x = \"u8\""), "unknown form 'bson'"),
        ("json = \"binary\"", "\"text\"".to_owned(), "no column of documents"),
        ("index = [[\"data.x\"]]", fields("x = \"u8\""), "'data.x' in a key or an index"),
    ] {
        assert_eq!(said(table, &data, insert), [what], "{data}");
    }
    let data = fields("x = \"u8\", s = \"text\"");
    for (phase, what) in [
        ("do = \"update\"\nset = [\"data.x\"]", "'data.x' cannot be set by itself"),
        (
            "do = \"update\"\nwhere = [[\"data.x\", \">\", 1]]\nset = { \"data.x\" = 2 }",
            "'data.x' cannot be set by itself",
        ),
        ("do = \"find\"\nwhere = [[\"data.y\", \"=\", 1]]", "unknown column 'data.y'"),
        ("do = \"group\"\nby = [\"month(data.s)\"]", "'data.s' is text and no timestamp"),
    ] {
        assert_eq!(said("", &data, phase), [what], "{phase}");
    }
}

#[test]
fn rows_that_arrive_are_checked() {
    const OF_TIME: &str = "file = \"t.csv\"\nkey = [\"id\", \"seen\"]";
    const ROWS: &str = "[phase.rows]\nonly = \"arrive\"\ndo = \"insert\"\n";
    let said = |table: &str, rows: &str, rest: &str| {
        said_of(table, COLUMNS, &format!("{rows}\n[phase.p]\n{rest}\ninsert = \"rows\""))
    };
    let batch = format!("{ROWS}commit = {{ batch = 10 }}");
    let bulk = format!("{ROWS}commit = \"bulk\"");
    for (table, rows, rest, expected) in [
        (
            "file = \"t.csv\"\nkey = [\"id\"]",
            ROWS,
            "arrive = \"10/s\"",
            "the key of 't' has no time",
        ),
        (OF_TIME, ROWS, "arrive = \"10\"", "'10' is not a valid arrival rate"),
        (OF_TIME, ROWS, "arrive = \"1/m\"", "'1/m' is not a valid arrival rate"),
        (OF_TIME, ROWS, "arrive = \"2000000/s\"", "'2000000/s' is not a valid arrival rate"),
        (OF_TIME, ROWS, "arrive = \"10/s\"\nqueue = 100001", "a queue of 100001 rows"),
        (OF_TIME, ROWS, "arrive = \"10/s\"\nevery = 3", "unknown key 'every'"),
        (
            OF_TIME,
            &batch,
            "arrive = \"10/s\"\ncollect = \"1s\"",
            "'collect' beside a batch of 'rows'",
        ),
        (OF_TIME, &bulk, "arrive = \"10/s\"", "'rows' commits in another way"),
        (OF_TIME, ROWS, "arrive = \"10/s\"\ndo = \"get\"", "several things in one phase"),
        (OF_TIME, ROWS, "do = \"insert\"\nonly = \"rate\"", "a phase of no rows that arrive"),
    ] {
        let said = said(table, rows, rest);
        assert!(said.iter().any(|said| said.starts_with(expected)), "{rest}: {said:?}");
    }
}

#[test]
fn a_window_without_time_for_three_commits_is_a_mistake_in_its_place() {
    let read = |commit: &str, rest: &str| {
        let text = format!(
            "[table.t]\nfile = \"t.csv\"\nkey = [\"id\", \"seen\"]\n[table.t.columns]\n{COLUMNS}\n\
             [phase.rows]\nonly = \"arrive\"\ndo = \"insert\"\ncommit = {commit}\n\
             [phase.p]\ninsert = \"rows\"\n{rest}\n"
        );
        parse("t.toml", &text, &ENGINES).map(drop).map_err(|mistakes| mistakes.to_string())
    };
    let (each, batch) = ("\"each\"", "{ batch = 50_000 }");
    let (long, any) = ("arrive = \"1000/s\"", "only = \"rate\"\narrive = \"1/s\"");
    let (whole, part) = ("insert = \"rows\"", "collect = \"16s\"");
    for (commit, rest, place, enough) in [
        (batch, long.to_owned(), whole, "100s"),
        (batch, format!("{long}\nfor = \"99s\""), "for = \"99s\"", "100s"),
        (each, format!("{long}\n{part}"), part, "32s"),
        (each, "arrive = \"1/s\"\nfor = \"2s\"".to_owned(), "for = \"2s\"", "3s"),
        // Whatever the rate of a search.
        (each, format!("{any}\n{part}"), part, "32s"),
    ] {
        let said = read(commit, &rest).unwrap_err();
        assert!(said.starts_with("error: a window of fewer than three commits"), "{said}");
        let enough = format!("write for = \"{enough}\" or more");
        assert!(said.contains(place) && said.contains(&enough), "{rest}: {said}");
    }
    for (commit, rest) in [
        (batch, format!("{long}\nfor = \"100s\"")),
        (each, format!("{long}\ncollect = \"15s\"")),
        (each, "arrive = \"1/s\"\nfor = \"3s\"".to_owned()),
        // A search tries other rates.
        (each, format!("{any}\nfor = \"400ms\"")),
        (batch, format!("{any}\nfor = \"400ms\"")),
    ] {
        assert_eq!(read(commit, &rest), Ok(()), "{rest}");
    }
}

/// The mistakes of a file, without the text that shows them.
fn said_of_file(text: &str) -> Vec<String> {
    let shown = parse("t.toml", text, &ENGINES).unwrap_err().to_string();
    shown.lines().filter_map(|line| Some(line.strip_prefix("error: ")?.to_owned())).collect()
}

const VALID: &str = r#"
[table.r]
file = "r.csv"
key = ["id"]
[table.r.columns]
id = "u16"
sensor = "text"
[phase.a]
do = "insert"
[phase.b]
do = "get"
"#;

const WRONG_VARIANT: &str = r#"
[usual]
variants = ["zz"]
scale = ["1k"]
[overview]
scal = 3
[variant.x]
phase.a.comit = "each"
phase.b.ops = "10x"
phase.zz.commit = "each"
table.rr.index = []
[variant.y]
about = "another"
phase.b.ops = "10y"
"#;

#[test]
fn mistakes_in_usual_overview_and_variants_are_all_shown() {
    let parts = [
        "unknown variant 'zz'",
        "a scale of rows from a file",
        "unknown key 'scal'",
        "'about' is missing",
        "unknown key 'comit'",
        "'10x' is not a count",
        "unknown phase 'zz'",
        "unknown table 'rr'",
        "'10y' is not a count",
    ];
    assert_eq!(said_of_file(&format!("{VALID}{WRONG_VARIANT}")), parts);
    // Another mistake hides none of them, and is shown once.
    let other = VALID.replace("do = \"get\"", "do = \"gett\"").replace("\"text\"", "\"txt\"");
    let said = said_of_file(&format!("{other}{WRONG_VARIANT}"));
    let before = ["unknown type 'txt'", "unknown verb 'gett'"];
    let parts = parts.into_iter().filter(|part| !part.ends_with("count"));
    assert_eq!(said, before.into_iter().chain(parts).collect::<Vec<_>>());
}

#[test]
fn a_file_without_tables_has_its_other_mistakes_shown() {
    let said = said_of_file("nmae = \"x\"\n[phase.a]\ndo = \"insrt\"\n[usual]\nscal = 1\n");
    let all = ["unknown key 'nmae'", "'table' is missing", "unknown verb 'insrt'"];
    assert_eq!(said, [&all[..], &["unknown key 'scal'"]].concat());
}

#[test]
fn options_of_a_reader_are_checked() {
    for (read, said) in [
        ("skip = -1", "expected a whole number from 0 for 'skip'"),
        ("skip = \"1\"", "expected a whole number from 0 for 'skip'"),
        ("header = \"no\"", "expected true or false for 'header'"),
        ("strict_mode = \"x\"", "expected true or false for 'strict_mode'"),
        ("null_padding = 7", "expected true or false for 'null_padding'"),
        ("delim = \"\"", "expected a text of 1 to 4 bytes for 'delim'"),
        ("quote = \"''\"", "expected one ASCII character, or \"\" for none for 'quote'"),
        ("comment = \"//\"", "expected one ASCII character, or \"\" for none for 'comment'"),
        ("decimal_separator = \";\"", "unknown value ';'"),
        ("encoding = \"latin1\"", "unknown value 'latin1'"),
        ("timestampformat = \"%d.%Q\"", "unknown code '%Q' of a time's format"),
        ("columns = { a = \"INT\" }", "'columns' is set by embermark"),
        ("delimm = \";\"", "unknown option of a reader 'delimm'"),
    ] {
        let table = format!("file = \"t.csv\"\nkey = [\"id\"]\nread = {{ {read} }}");
        let phase = "[phase.p]\ndo = \"insert\"";
        assert_eq!(said_of(&table, COLUMNS, phase), [said], "{read}");
    }
    let read = "read = { delimm = \";\", skip = \"1\", header = 1979-05-27 }";
    let text = VALID.replace("key = [\"id\"]", &format!("{read}\nkey = [\"id\"]"));
    let shown = parse("t.toml", &text, &ENGINES).unwrap_err().to_string();
    for part in ["t.toml:4:10", "did you mean 'delim'?", "t.toml:4:31", "t.toml:4:45"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn formats_and_zones_are_checked() {
    let time = "time = { type = \"timestamp\", unit = \"s\", format = \"%Q.%d %-Y\" }";
    let text = VALID.replace("id = \"u16\"\n", &format!("id = \"u16\"\n{time}\n"));
    let text = text.replace("key =", "zone = \"Europe/Berln\"\nkey =");
    let shown = parse("t.toml", &text, &ENGINES).unwrap_err().to_string();
    for part in [
        "error: unknown time zone 'Europe/Berln'\n --> t.toml:4:8",
        "did you mean 'Europe/Berlin'?",
        "error: unknown codes '%Q', '%-Y' of a time's format\n --> t.toml:8:51",
        "valid: %a %A",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn the_nearest_spelling_is_the_one_that_is_meant() {
    let phase =
        "[phase.f]\ndo = \"find\"\nwhere = [[\"id\", \"=>\", 1]]\n[phase.m]\nmix = { foo = 0.5 }";
    let text = VALID
        .replace("sensor = \"text\"", "sensor = \"u16 ?\"\nn = { type = \"u61?\", form = \"N\" }");
    let shown = parse("t.toml", &format!("{text}{phase}\n"), &ENGINES).unwrap_err().to_string();
    let hints: Vec<_> = shown
        .lines()
        .filter_map(|line| line.split_once("did you mean "))
        .map(|hint| hint.1)
        .collect();
    assert_eq!(hints, ["'u16?'?", "'u16?'?", "'from'?", "'>='?"], "{shown}");
    assert!(shown.contains("unknown phase 'foo'") && shown.contains("valid: a, b, f"), "{shown}");
}

#[test]
fn a_wrong_part_of_a_phase_or_a_column_hides_no_other() {
    let column = "time = { type = \"timestmp\", unit = \"sec\" }";
    let text = VALID.replace("sensor = \"text\"", &format!("sensor = \"text\"\n{column}"));
    let phase = "[phase.c]\ndo = \"find\"\nwhere = [[\"id\", \">\"]]\nper = \"rows\"\nops = 0\n";
    let all = [
        "unknown type 'timestmp'",
        "unknown unit 'sec'",
        "a condition has three parts",
        "unknown unit of operations 'rows'",
        "'0' is not a count",
    ];
    assert_eq!(said_of_file(&format!("{text}{phase}")), all);
}

#[test]
fn all_mistakes_of_the_syntax_are_shown() {
    let said = parse("t.toml", "a = 1\na = 2\n[t]\nb = \nc = \"x\n[t]\n", &ENGINES).unwrap_err();
    assert_eq!(said.count(), 4, "{said}");
    let unclosed = format!("x = {{ a = 1\n{}", "b = 2\n".repeat(30));
    assert!(parse("t.toml", &unclosed, &ENGINES).unwrap_err().count() <= 5);
}
