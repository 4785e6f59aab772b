//! Mistakes in a workload file, shown in its text.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use embermark_model::foreign::{clipped, plain, screen};

/// Largest number of characters of a message about a mistake, which quotes the file.
const LONGEST: usize = 2_000;

/// Every mistake of a workload file. Displayed without colours: for each the file, line and column,
/// the text with the mistake underlined, and what would be right.
#[derive(Clone, Debug)]
pub struct Mistakes {
    file: String,
    text: String,
    all: Vec<Mistake>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq)]
struct Mistake {
    /// Position in bytes of the text.
    at: Range<usize>,
    /// What is wrong.
    what: String,
    /// Label below the underlined text.
    label: String,
    /// What would be right.
    help: String,
}

impl Mistakes {
    /// Returns the number of mistakes: at least one.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Returns the displayed text with terminal colours.
    pub fn colored(&self) -> String {
        self.rendered(&Renderer::styled())
    }

    fn rendered(&self, renderer: &Renderer) -> String {
        let file = plain(&self.file);
        let one = |mistake: &Mistake| {
            let at = AnnotationKind::Primary.span(mistake.at.clone()).label(&*mistake.label);
            let help = (!mistake.help.is_empty()).then(|| Level::HELP.message(&*mistake.help));
            renderer.render(&[Level::ERROR
                .primary_title(&*mistake.what)
                .element(Snippet::source(&*self.text).path(&*file).annotation(at))
                .elements(help)])
        };
        self.all.iter().map(one).collect::<Vec<_>>().join("\n\n")
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&screen(&self.rendered(&Renderer::plain()), false))
    }
}

impl std::error::Error for Mistakes {}

/// Collects mistakes while a file is read.
#[derive(Default)]
pub struct Log(RefCell<Vec<Mistake>>);

impl Log {
    /// Adds a mistake.
    pub fn add(
        &self,
        at: Range<usize>,
        what: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) {
        let [what, label, help] =
            [what.into(), label.into(), help.into()].map(|text: String| clipped(&text, LONGEST));
        self.0.borrow_mut().push(Mistake { at, what, label, help });
    }

    /// Adds the mistakes of another log, except at places that have one already.
    pub fn add_new(&self, other: Self) {
        let mut all = self.0.borrow_mut();
        let places: Vec<_> = all.iter().map(|mistake| mistake.at.clone()).collect();
        all.extend(other.0.into_inner().into_iter().filter(|new| !places.contains(&new.at)));
    }

    /// Whether there are no mistakes.
    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Returns the mistakes in the order of the text.
    pub fn close(self, file: &str, text: &str) -> Mistakes {
        let mut all = self.0.into_inner();
        debug_assert!(!all.is_empty(), "what is not read has a mistake");
        all.sort_by_key(|mistake| mistake.at.start);
        let mut distinct: Vec<Mistake> = Vec::with_capacity(all.len());
        for mistake in all {
            if !distinct.contains(&mistake) {
                distinct.push(mistake);
            }
        }
        Mistakes { file: file.to_owned(), text: text.to_owned(), all: distinct }
    }
}
