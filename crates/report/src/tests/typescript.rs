//! Generates TypeScript from the types that are serialized for the page and for the site, with
//! their doc comments. `EMBERMARK_WRITE_FIXTURES=1` rewrites the files.
//!
//! `ts-rs` needs `default` next to `skip_serializing_if` to see that a field may be absent.

use std::any::type_name;
use std::collections::{BTreeMap, BTreeSet};
use std::{env, fs};

use ts_rs::{Config, TS, TypeVisitor};

use crate::html::Page;
use crate::scaling::{SeriesId, Within};

/// Declarations of the visited types, and of all types in them.
pub(crate) struct Declarations {
    config: Config,
    /// The Rust name and the declaration of each type, by its name in TypeScript.
    types: BTreeMap<String, (&'static str, String)>,
    /// The Rust names of types that another file declares, by their names in TypeScript.
    declared: BTreeMap<String, &'static str>,
    /// The imported ones among them.
    imported: BTreeSet<String>,
}

impl Declarations {
    pub fn new() -> Self {
        Self {
            config: Config::new().with_large_int("number"),
            types: BTreeMap::new(),
            declared: BTreeMap::new(),
            imported: BTreeSet::new(),
        }
    }

    /// Makes the declarations of the page's data.
    pub fn of_page() -> Self {
        let mut declarations = Self::new();
        declarations.visit::<Page<'static>>();
        // Only flattened into others, and named by the page.
        declarations.visit::<Within<'static>>();
        declarations.visit::<SeriesId<'static>>();
        declarations
    }

    /// Makes declarations that import the types of another file.
    pub fn importing(others: &Self) -> Self {
        let known = others.types.iter().map(|(name, (of, _))| (name.clone(), *of));
        Self { declared: known.collect(), ..Self::new() }
    }

    /// Asserts that a file of the page has these declarations, after a description and an import
    /// from the file with the others.
    pub fn assert_written(&self, file: &str, about: &str, version: u32, from: &str) {
        let mut text = format!(
            "/**\n * {about}\n *\n * Generated from the Rust types by `crates/report/src/tests/typescript.rs`: change \
             them there. Times are ns,\n * sizes bytes. Null or absent means not measured, never zero.\n */\n\n"
        );
        if !self.imported.is_empty() {
            let names: Vec<&str> = self.imported.iter().map(String::as_str).collect();
            text += &format!("import type {{ {} }} from \"{from}\";\n\n", names.join(", "));
        }
        text += "/** The version of the form that is described here. */\n";
        text += &format!("export const VERSION = {version};\n");
        for (_, declaration) in self.types.values() {
            text += "\n";
            text += declaration;
        }
        if env::var_os("EMBERMARK_WRITE_FIXTURES").is_some() {
            fs::write(file, &text).unwrap();
        }
        assert!(
            fs::read_to_string(file).unwrap() == text,
            "what {file} describes has changed: write it with EMBERMARK_WRITE_FIXTURES=1 \
             cargo test -p embermark-report --lib typescript"
        );
    }
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Types of Rust's own, such as `Vec`, are declared nowhere.
        if T::output_path().is_none() {
            return;
        }
        let name = T::ident(&self.config);
        if self.declared.get(&name) == Some(&type_name::<T>()) {
            self.imported.insert(name);
            return;
        }
        let docs = T::docs().unwrap_or_default();
        let declaration = laid_out(&format!("{docs}export {}", T::decl(&self.config)));
        match self.types.insert(name, (type_name::<T>(), declaration)) {
            Some((other, declaration)) => {
                assert_eq!(other, type_name::<T>(), "two types have one name: {declaration}");
            }
            None => T::visit_dependencies(self),
        }
    }
}

/// Puts each field of a declaration on a line of its own.
fn laid_out(declaration: &str) -> String {
    let (mut text, mut depth, mut doc) = (String::new(), 0_usize, None);
    let declaration = declaration.replace(", }", ",\n}");
    for line in declaration.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line == "/**" {
            doc = Some(Vec::new());
        } else if line == "*/" {
            let lines = doc.take().unwrap_or_default();
            text += &indented(&comment(&lines), depth);
        } else if let Some(lines) = &mut doc {
            lines.push(line.trim_start_matches('*').trim());
        } else {
            depth -= usize::from(line.starts_with('}'));
            text += &indented(&never_null(line), depth);
            depth += line.matches('{').count() + usize::from(line.starts_with('}'));
            depth -= line.matches('}').count();
        }
    }
    text
}

fn indented(text: &str, depth: usize) -> String {
    text.lines().map(|line| format!("{}{line}\n", "  ".repeat(depth))).collect()
}

fn comment(lines: &[&str]) -> String {
    match lines {
        [line] => format!("/** {line} */"),
        lines => {
            let lines: String = lines.iter().map(|line| format!(" * {line}\n")).collect();
            format!("/**\n{lines} */")
        }
    }
}

/// A field that may be absent is absent where it has no value.
fn never_null(line: &str) -> String {
    match line.strip_suffix(" | null,") {
        Some(field) if field.contains("?: ") => format!("{field},"),
        _ => line.to_owned(),
    }
}

#[test]
fn fields_are_laid_out_line_by_line_with_their_comments() {
    let written = "/**\n * A disk.\n */\ntype Disk = { \n/**\n * Of two\n * lines.\n */\nbytes?: number | null, \
                   \n/**\n * Its name.\n */\nname: string | null, } & ({ \"kind\": \"sd\", } | { \"kind\": \"ram\" });";
    let expected = "/** A disk. */\ntype Disk = {\n  /**\n   * Of two\n   * lines.\n   */\n  bytes?: number,\n  \
                    /** Its name. */\n  name: string | null,\n} & ({ \"kind\": \"sd\",\n} | { \"kind\": \"ram\" });\n";
    assert_eq!(laid_out(written), expected);
}
