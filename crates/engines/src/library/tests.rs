use super::*;

const SEARCH: Search<'_> = Search { variable: "X_LIB_DIR", file: "libx.so", folders: &[] };

#[test]
fn a_folder_that_was_named_and_holds_none_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let why = SEARCH.open_from(Some(folder.path())).err().unwrap();
    assert!(why.contains(&*folder.path().to_string_lossy()), "{why}");
    fs::write(folder.path().join("libx.so"), "no library").unwrap();
    let why = SEARCH.open_from(Some(folder.path())).err().unwrap();
    assert!(why.contains("could not be loaded") && why.contains("libx.so: "), "{why}");
}

#[test]
fn a_library_is_loaded_once_and_one_that_is_missing_is_told_with_its_remedy() {
    static HERE: Loaded<String> = Loaded::new("x", "get x", || Ok(("x 1".to_owned(), "/x".into())));
    static GONE: Loaded<String> = Loaded::new("x", "get x", || Err("no x".to_owned()));
    let ready = Availability::Ready { version: "1".to_owned() };
    assert!(std::ptr::eq(HERE.get().unwrap(), HERE.get().unwrap()));
    assert_eq!(HERE.beside(ready.clone()), ready);
    assert_eq!(HERE.availability(|x| x.replace("x ", "")), ready);
    assert_eq!(HERE.origin("X_LIB_DIR"), Some(Origin::System("/x".into())));
    assert_eq!(HERE.origin("PATH"), Some(Origin::Named("PATH", "/x".into())));
    assert_eq!(GONE.origin("X_LIB_DIR"), None);
    let error = GONE.get().unwrap_err();
    assert!(error.is_unavailable() && error.to_string().contains("no x"), "{error}");
    let missing = |why: &str, remedy: &str| Availability::Missing {
        why: why.to_owned(),
        remedy: remedy.to_owned(),
    };
    assert_eq!(GONE.beside(ready), missing("no x", "get x"));
    assert_eq!(GONE.availability(String::clone), missing("no x", "get x"));
    let sooner = missing("no program", "get it");
    assert_eq!(GONE.beside(sooner.clone()), sooner);
}

#[test]
fn the_newest_library_of_a_folder_is_tried_first() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["libx.so", "libx.so.7.8", "libx.so.10.2", "libx.so.9"];
    for name in names.into_iter().chain(["libx.a", "other.so"]) {
        fs::write(folder.path().join(name), "").unwrap();
    }
    let expected = [2, 3, 1, 0].map(|i: usize| folder.path().join(names[i]));
    assert_eq!(SEARCH.below(folder.path()), expected);
}

#[test]
fn what_a_library_needs_is_taken_from_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let compile = |name: &str, text: &str, with: &[PathBuf]| {
        fs::write(at("source.c"), text).unwrap();
        let soname = format!("-Wl,-soname,{name}");
        let mut cc = std::process::Command::new("cc");
        cc.args(["-shared", "-fPIC", &soname, "-o"]).arg(at(name)).arg(at("source.c"));
        assert!(cc.args(with).status().unwrap().success());
    };
    let (below, above) = ("libembermark_test_below.so.1", "libembermark_test_above.so");
    compile(below, "int below(void) { return 41; }", &[]);
    let text = "int below(void); int above(void) { return below() + 1; }";
    compile(above, text, &[at(below)]);
    let search = Search { variable: "X_LIB_DIR", file: above, folders: &[] };
    let (library, path) = search.open_from(Some(folder.path())).unwrap();
    assert_eq!(path, at(above));
    functions! {
        struct Api of "abo";
        ve() -> i32;
    }
    // SAFETY: it was compiled above, with that function.
    assert_eq!(unsafe { (Api::load(library).unwrap().ve)() }, 42);
    functions! {
        #[allow(dead_code, reason = "it is not there to be called")]
        struct Other of "abo";
        minable() -> i32;
    }
    // SAFETY: nothing is called.
    let why = unsafe { Other::load(library) }.err().unwrap();
    assert!(why.contains("lacks a function") && why.contains("abominable"), "{why}");
}
