//! An HTML page with plots of a measured device. It is one file without dependencies.

mod plot;

use std::fmt::Write as _;

use embermark_model::{Storage, foreign};
use embermark_report::format;
use embermark_storage::measure::{Kind, Measured, Sustained, percentile};
use embermark_storage::{Origin, predicted_us};

use plot::{Axis, Marks, Plot};

/// Number of intervals of the sustained writes in the table.
const INTERVALS: usize = 12;
/// Number of intervals of the sustained writes in the plot.
const DOTS: usize = 240;

const STYLE: &str = "\
:root { --paper: #fff; --ink: #1b1f24; --soft: #59636e; --line: #d5dae0; --a: #0a5ea8; --b: #a84e0b; color-scheme: light dark; }
@media screen and (prefers-color-scheme: dark) {
  :root { --paper: #14181d; --ink: #e4e8ec; --soft: #9aa5b1; --line: #343c46; --a: #7cbcf2; --b: #f0994a; }
}
body { margin: 0 auto; max-width: 76rem; padding: 0 1rem 3rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, \"Segoe UI\", Roboto, sans-serif; overflow-wrap: break-word; }
section { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: start; }
h2 { font-size: 1.2rem; margin: 1.6rem 0 0.3rem; }
svg { flex: 1 1 26rem; max-width: 42rem; }
svg text { fill: var(--soft); font-size: 11px; }
svg .grid { stroke: var(--line); }
.a { fill: var(--a); stroke: var(--a); } .b { fill: var(--b); stroke: var(--b); }
polyline { fill: none !important; stroke-width: 1.5; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.86rem; }
th, td { text-align: right; padding: 0.1rem 0.6rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; }
.key b.a { color: var(--a); } .key b.b { color: var(--b); } .key, dt { color: var(--soft); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; } dd { margin: 0; }
";

/// Returns the page as HTML.
pub fn page(storage: &Storage, measured: &Measured, origin: &Origin) -> String {
    let title = escaped(&format!("{}: {}", storage.name, storage.about));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n<h1>{title}</h1>\n"
    );
    facts(&mut page, measured, origin);
    page.push_str(
        "<p class=\"key\">Dots: medians that were measured, from the 10th to the 90th percentile. Lines: the model's times \
         by the fitted parameters. <b class=\"a\">Blue</b>: at random places. <b class=\"b\">Orange</b>: in a row.</p>\n",
    );
    for kind in Kind::ALL {
        by_size(&mut page, storage, measured, kind);
    }
    sustained(&mut page, measured);
    page.push_str("</html>\n");
    page
}

/// Escapes text for HTML.
fn escaped(text: &str) -> String {
    let text = foreign::message(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn facts(page: &mut String, measured: &Measured, origin: &Origin) {
    let written = format::bytes(measured.written_bytes as f64);
    let facts = [
        ("device", &origin.device),
        ("file system", &origin.file_system),
        ("kernel", &origin.kernel),
        ("date", &origin.date),
        ("embermark", &origin.version),
        ("written", &written),
    ];
    page.push_str("<dl>\n");
    for (name, value) in facts.into_iter().filter(|(_, value)| !value.is_empty()) {
        // Writing to a String cannot fail.
        let _ = writeln!(page, "<dt>{name}<dd>{}", escaped(value));
    }
    page.push_str("</dl>\n");
}

/// Writes a table of text cells.
fn table(page: &mut String, heads: &[&str], rows: &[Vec<String>]) {
    let cells = |tag: &str, cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|c| format!("<{tag}>{}", escaped(c))).collect();
        format!("<tr>{}\n", cells.concat())
    };
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    page.push_str("<table>\n");
    page.push_str(&cells("th", &heads));
    rows.iter().for_each(|row| page.push_str(&cells("td", row)));
    page.push_str("</table>\n");
}

fn micros(us: f64) -> String {
    format::duration(us * 1_000.0)
}

/// Writes the times of one kind of request by size.
fn by_size(page: &mut String, storage: &Storage, measured: &Measured, kind: Kind) {
    let (mut marks, mut rows) = (Vec::new(), Vec::new());
    for (random, class, place) in [(true, "a", "random"), (false, "b", "in a row")] {
        let (mut dots, mut line) = (Vec::new(), Vec::new());
        let of_kind = measured.series.iter().filter(|s| (s.kind, s.random) == (kind, random));
        for series in of_kind {
            let bytes = series.bytes;
            let [low, median, high] = [0.1, 0.5, 0.9].map(|share| percentile(&series.us, share));
            let model = predicted_us(storage, measured.file_bytes, kind, random, bytes);
            dots.push([bytes as f64, low, median, high]);
            line.push([bytes as f64, model]);
            let mut row = vec![place.to_owned(), bytes.to_string()];
            row.extend([low, median, high, model].map(micros));
            rows.push(row);
        }
        marks.push(Marks { class, dots, line });
    }
    let name = kind.name();
    let _ = writeln!(page, "<h2>{}{}</h2>\n<section>", name[..1].to_uppercase(), &name[1..]);
    let label = format!("Time of a {name} by its size");
    let plot = Plot { label: &label, x: Axis::Bytes, marks: &marks };
    page.push_str(&plot.svg());
    table(page, &["", "bytes", "p10", "median", "p90", "model"], &rows);
    page.push_str("</section>\n");
}

/// Divides the requests into `count` intervals, each with its start and its times.
fn intervals(all: &[Sustained], count: usize) -> Vec<(f64, Vec<f64>)> {
    let lasted = all.last().map_or(0.0, |one| one.at_s).max(f64::MIN_POSITIVE);
    let mut parts: Vec<(f64, Vec<f64>)> =
        (0..count).map(|i| (lasted * i as f64 / count as f64, Vec::new())).collect();
    for one in all {
        let at = (one.at_s / lasted * count as f64) as usize;
        parts[at.min(count - 1)].1.push(one.us);
    }
    parts.retain(|(_, us)| !us.is_empty());
    parts
}

/// Writes the sustained writes over time.
fn sustained(page: &mut String, measured: &Measured) {
    let dots = intervals(&measured.sustained, DOTS)
        .into_iter()
        .map(|(at, us)| [at, percentile(&us, 0.1), percentile(&us, 0.5), percentile(&us, 1.0)]);
    let limit = measured.stall_us();
    let ends = measured.sustained.last().map_or(0.0, |one| one.at_s);
    let marks = [
        Marks { class: "a", dots: dots.collect(), line: Vec::new() },
        Marks { class: "b", dots: Vec::new(), line: vec![[0.0, limit], [ends, limit]] },
    ];
    page.push_str(
        "<h2>Sustained writes of 4 KiB at random places, each with a flush</h2>\n<p class=\"key\">Dots: the median of an \
         interval, from its 10th percentile to its longest. <b class=\"b\">Line</b>: ten times the median of all; longer is \
         a stall. Stalls are not part of the model.</p>\n<section>\n",
    );
    let plot =
        Plot { label: "Time of a write and flush over time", x: Axis::Seconds, marks: &marks };
    page.push_str(&plot.svg());
    let rows = intervals(&measured.sustained, INTERVALS).into_iter().map(|(at, us)| {
        let stalls = us.iter().filter(|us| **us > limit).count();
        let [median, longest] = [0.5, 1.0].map(|share| micros(percentile(&us, share)));
        vec![format!("{at:.0} s"), us.len().to_string(), median, longest, stalls.to_string()]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    table(page, &["from", "writes", "median", "longest", "stalls"], &rows);
    page.push_str("</section>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use embermark_storage::built_in;
    use embermark_storage::measure::Series;
    use std::time::Duration;

    #[test]
    fn a_page_plots_each_kind_has_its_figures_in_tables_and_takes_no_markup_from_a_device() {
        let series = |kind| Series {
            kind,
            random: true,
            bytes: 4_096,
            us: vec![500.0, 532.0, 610.0],
            write_us: Vec::new(),
        };
        let at =
            |i: u32| Sustained { at_s: f64::from(i), us: if i == 7 { 90_000.0 } else { 1_500.0 } };
        let measured = Measured {
            series: Kind::ALL.map(series).to_vec(),
            empty_flush_us: vec![1.0],
            group_us: vec![1.0],
            row_us: vec![1.0],
            reads_per_s: [1.0; 3],
            sustained: (0..24).map(at).collect(),
            file_bytes: 64 << 20,
            written_bytes: 1_000_000,
            took: Duration::from_secs(1),
            awake: true,
        };
        let origin = Origin { device: "<script>a</script>".into(), ..Origin::default() };
        let page = page(&built_in("sd-a1").unwrap(), &measured, &origin);
        assert!(!page.contains("<script>") && page.contains("&lt;script&gt;"), "{page}");
        assert_eq!(page.matches("<svg").count(), 4);
        assert_eq!(page.matches("<table>").count(), 4);
        // The model's time of a read, and the only stall.
        assert!(page.contains("<td>532 µs<td>610 µs<td>532 µs"), "{page}");
        assert!(page.contains("<td>90.0 ms<td>1\n"), "{page}");
        assert!(!page.contains("NaN") && !page.contains("http"), "{page}");
    }
}
