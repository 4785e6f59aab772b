//! A plot of times as SVG, with a logarithmic time axis.

use std::fmt::Write as _;

use embermark_report::format;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
/// Room for the numbers at the left and below, in pixels.
const LEFT: f64 = 56.0;
const BELOW: f64 = 24.0;

/// Unit of the horizontal axis.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Bytes of a request, logarithmic.
    Bytes,
    /// Seconds.
    Seconds,
}

/// Points of one colour.
pub struct Marks {
    /// CSS class that sets the colour.
    pub class: &'static str,
    /// Position, and the low, middle and high time in µs.
    pub dots: Vec<[f64; 4]>,
    /// Position, and a time in µs.
    pub line: Vec<[f64; 2]>,
}

/// A plot.
pub struct Plot<'a> {
    /// Description for readers who cannot see the plot.
    pub label: &'a str,
    /// Horizontal axis.
    pub x: Axis,
    /// Content of the plot.
    pub marks: &'a [Marks],
}

impl Plot<'_> {
    /// Returns the plot as an HTML element.
    pub fn svg(&self) -> String {
        let places = self.marks.iter().flat_map(|marks| {
            let dots = marks.dots.iter().map(|dot| dot[0]);
            dots.chain(marks.line.iter().map(|point| point[0]))
        });
        let [left, right] = range(places.map(|x| self.scaled(x)));
        let times = self.marks.iter().flat_map(|marks| {
            let dots = marks.dots.iter().flat_map(|dot| dot[1..].iter().copied());
            dots.chain(marks.line.iter().map(|point| point[1]))
        });
        let [low, high] = range(times.map(log10));
        // Whole powers of ten at both ends.
        let (low, high) = (low.floor(), high.ceil().max(low.floor() + 1.0));
        let x = |value: f64| {
            LEFT + (self.scaled(value) - left) / (right - left) * (WIDTH - LEFT - 24.0)
        };
        let y = |us: f64| (high - log10(us)) / (high - low) * (HEIGHT - BELOW - 8.0) + 8.0;
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n",
            self.label
        );
        // Writing to a String cannot fail.
        for power in low as i32..=high as i32 {
            let (us, label) = (10_f64.powi(power), format::duration(10_f64.powi(power + 3)));
            let (at, text, end) = (y(us), LEFT - 6.0, WIDTH - 18.0);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{end}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
                 <text x=\"{text}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                at + 4.0
            );
        }
        for (value, label) in self.ticks(left, right) {
            let (at, base) = (x(value), HEIGHT - 6.0);
            let _ = writeln!(
                svg,
                "<text x=\"{at:.1}\" y=\"{base}\" text-anchor=\"middle\">{label}</text>"
            );
        }
        for Marks { class, dots, line } in self.marks {
            let _ = writeln!(svg, "<g class=\"{class}\">");
            for [place, low, middle, high] in dots {
                let (x, low, middle, high) = (x(*place), y(*low), y(*middle), y(*high));
                let _ = writeln!(
                    svg,
                    "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{low:.1}\" y2=\"{high:.1}\" opacity=\"0.5\"/>\
                     <circle cx=\"{x:.1}\" cy=\"{middle:.1}\" r=\"2.5\"/>"
                );
            }
            let points: Vec<String> =
                line.iter().map(|[place, us]| format!("{:.1},{:.1}", x(*place), y(*us))).collect();
            if !points.is_empty() {
                let _ = writeln!(svg, "<polyline points=\"{}\"/>", points.join(" "));
            }
            svg.push_str("</g>\n");
        }
        svg + "</svg>\n"
    }

    fn scaled(&self, x: f64) -> f64 {
        if self.x == Axis::Bytes { log10(x) } else { x }
    }

    /// Returns the positions of ticks on the horizontal axis, with their labels.
    fn ticks(&self, left: f64, right: f64) -> Vec<(f64, String)> {
        match self.x {
            Axis::Bytes => {
                let sizes = embermark_storage::measure::SIZES.into_iter();
                let shown = sizes.filter(|size| (left..=right).contains(&log10(*size as f64)));
                let label = |bytes: u64| match bytes {
                    0..1024 => format!("{bytes} B"),
                    1024..0x10_0000 => format!("{} KiB", bytes >> 10),
                    _ => format!("{} MiB", bytes >> 20),
                };
                shown.map(|bytes| (bytes as f64, label(bytes))).collect()
            }
            Axis::Seconds => {
                let parts = (0..=4).map(|part| left + (right - left) * f64::from(part) / 4.0);
                parts.map(|at| (at, format!("{at:.0} s"))).collect()
            }
        }
    }
}

/// Returns the decimal logarithm of a value, or that of 0.1 if the value is less.
fn log10(value: f64) -> f64 {
    value.max(0.1).log10()
}

/// Returns the smallest and the largest value. Equal ends are moved apart.
fn range(values: impl Iterator<Item = f64>) -> [f64; 2] {
    let [low, high] = values
        .filter(|value| value.is_finite())
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)]);
    match low < high {
        true => [low, high],
        false if low.is_finite() => [low - 0.5, low + 0.5],
        false => [0.0, 1.0],
    }
}
