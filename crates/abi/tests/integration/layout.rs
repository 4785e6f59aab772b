//! The header and its Rust mirror agree: a C program prints sizes, offsets and numbers.

use std::fmt::Write as _;
use std::mem::{offset_of, size_of};
use std::path::Path;
use std::process::Command;

use embermark_abi as abi;
use embermark_skips::skipped;

const INCLUDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/include");

/// The output of C and of Rust, one line each.
#[derive(Default)]
struct Sides {
    program: String,
    rust: String,
}

impl Sides {
    fn add(&mut self, expression: &str, ours: usize) {
        let name = expression.replace('"', "");
        writeln!(self.program, "    printf(\"{name} %zu\\n\", (size_t)({expression}));").unwrap();
        writeln!(self.rust, "{name} {ours}").unwrap();
    }
}

/// Adds the size of a struct and the offset of each of its fields.
macro_rules! fields {
    ($sides:ident, $of:ident is $name:literal: $($field:ident)*) => {
        $sides.add(concat!("sizeof(struct ", $name, ")"), size_of::<abi::$of>());
        $($sides.add(
            concat!("offsetof(struct ", $name, ", ", stringify!($field), ")"),
            offset_of!(abi::$of, $field),
        );)*
        // No field is missing: a pattern that names all of them.
        let _ = |it: abi::$of| { let abi::$of { $($field: _),* } = it; };
    };
}

macro_rules! numbers {
    ($sides:ident: $($name:ident)*) => {
        $($sides.add(concat!("EMBERMARK_", stringify!($name)), abi::$name as usize);)*
    };
}

fn sides() -> Sides {
    let mut sides = Sides::default();
    fields!(sides, Bytes is "embermark_bytes": at size);
    fields!(sides, Pair is "embermark_pair": name value);
    fields!(sides, Tier is "embermark_tier": survives reserved setting manual unsupported read_back);
    fields!(sides, Setting is "embermark_setting": name takes reserved words by_default);
    fields!(sides, Options is "embermark_options": size tier dir memory clients alone settings);
    fields!(sides, Range is "embermark_range": from to has_to backward);
    fields!(sides, KeyValue is "embermark_key_value":
        size reserved begin commit undo get put del scan table clear bulk modify count);
    fields!(sides, Engine is "embermark_engine":
        size abi id name version licence family flags tiers settings key_value open close error
        open_client settings_of maintain log_bytes crash_on_close suspend_checkpoints check
        check_name exclusive sql);
    fields!(sides, Value is "embermark_value": kind reserved content size);
    fields!(sides, Column is "embermark_column": name holds nullable);
    fields!(sides, Table is "embermark_table": name columns key);
    fields!(sides, Dialect is "embermark_dialect":
        size has placeholder type_int type_big type_double type_text type_bytes unsigned_16 unsigned_32
        indexed_text indexed_bytes long_text sized_text sized_bytes longest json binary_json
        binary_json_of json_number json_text month name not_null create_table table_options drop_table
        index_names integer_division remainder mean limit value sample_deviation correlation);
    fields!(sides, Rows is "embermark_rows": values columns rows);
    fields!(sides, Sql is "embermark_sql":
        size wants dialect begin commit undo script prepare finish execute query fetch end_query bulk);
    content(&mut sides);
    numbers!(sides: ABI OK NOT_FOUND CONFLICT UNSUPPORTED FAILED NONE PROCESS POWER KEY_VALUE SQL
        AUTOCOMMIT READS_BATCH BLIND_DELETE FORBIDS_PUBLISHING APPENDS_ONLY ANY NUMBER WORD SNAPSHOT BATCH
        NULL INTEGER DOUBLE TEXT BLOB TYPE_INT TYPE_BIG TYPE_DOUBLE TYPE_TEXT TYPE_BYTES
        ROW_VALUES WINDOWS DERIVED_TABLES SEEKS_BY_KEY SKIPS_IN_GROUPS BULK_SORTED);
    sides
}

/// The only union: a pattern cannot name all of its fields.
fn content(sides: &mut Sides) {
    sides.add("sizeof(union embermark_content)", size_of::<abi::Content>());
    for (field, place) in [
        ("integer", offset_of!(abi::Content, integer)),
        ("number", offset_of!(abi::Content, number)),
        ("at", offset_of!(abi::Content, at)),
    ] {
        sides.add(&format!("offsetof(union embermark_content, {field})"), place);
    }
}

/// Compiles a source with every warning as an error. Returns false if there is no such compiler.
fn compiles(compiler: &str, standard: &str, source: &Path, program: &Path) -> bool {
    let mut command = Command::new(compiler);
    command.args([standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", INCLUDE]);
    match command.arg(source).arg("-o").arg(program).output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{compiler} {standard}: {said}");
            true
        }
        Err(error) => {
            skipped(compiler, error);
            false
        }
    }
}

#[test]
fn the_header_and_its_mirror_agree_on_every_size_place_and_number() {
    let (dir, sides) = (tempfile::tempdir().unwrap(), sides());
    let (source, program) = (dir.path().join("layout.c"), dir.path().join("layout"));
    let text = format!(
        "#include <embermark_engine.h>\n#include <stdio.h>\nint main(void) {{\n{}}}\n",
        sides.program
    );
    std::fs::write(&source, text).unwrap();
    if compiles("cc", "-std=c99", &source, &program) {
        let said = Command::new(&program).output().unwrap();
        assert_eq!(String::from_utf8(said.stdout).unwrap(), sides.rust);
    }
}

#[test]
fn the_mirror_names_every_number_and_field_of_the_header() {
    let header = std::fs::read_to_string(format!("{INCLUDE}/embermark_engine.h")).unwrap();
    let (checked, mut names) = (sides().rust, 0);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for line in header.lines().map(str::trim) {
        let word = line.split(|c| !is_name(c)).next().unwrap_or_default();
        let is_number = word.starts_with("EMBERMARK_") && line.contains(" = ");
        // A field: `type name;` or `type (*name)(…`.
        let field = match line.split_once("(*") {
            Some((_, rest)) if !line.starts_with("typedef") => rest.split(')').next(),
            _ if line.ends_with(';') && !line.contains(['(', ')', '}']) => {
                line.trim_end_matches(';').rsplit([' ', '*']).next()
            }
            _ => None,
        };
        if is_number {
            names += 1;
            assert!(checked.contains(&format!("{word} ")), "{word}");
        } else if let Some(field) = field.filter(|field| !field.starts_with("embermark_")) {
            names += 1;
            assert!(checked.contains(&format!(", {field}) ")), "{field}");
        }
    }
    assert!(names > 60, "{names}");
}

#[test]
fn the_header_is_c_plus_plus_as_well() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("header.cpp");
    let text = "#include <embermark_engine.h>\n#include <embermark_engine.h>\n\
                extern \"C\" const struct embermark_engine *embermark_engine(uint32_t) { return nullptr; }\n\
                int main() { return embermark_engine(EMBERMARK_ABI) != nullptr; }\n";
    std::fs::write(&source, text).unwrap();
    compiles("c++", "-std=c++11", &source, &dir.path().join("header"));
}
