use super::*;

#[test]
fn nothing_a_terminal_obeys_is_left() {
    assert_eq!(plain("a\x1b[31mred\x1b[0m b"), "ared b");
    assert_eq!(plain("x\x1b]8;;http://e.org\x07link\x1b]8;;\x1b\\y"), "xlinky");
    assert_eq!(plain("one\r\n\ttwo  three\n"), "one two three");
    assert_eq!(plain("bell\x07 c1\u{9b}31m rtl\u{202e}x"), "bell� c1�31m rtl�x");
    assert_eq!(plain("\x1b"), "");
    assert!(plain("a\x1b[2J\x1bcb\x1b\x07c").chars().all(|c| !c.is_control()));
}

#[test]
fn a_sequence_without_an_end_swallows_no_more_than_its_line() {
    assert_eq!(plain("a\x1b]0;title\nnext line"), "a next line");
}

#[test]
fn markdown_cannot_end_a_cell_or_start_a_mark() {
    assert_eq!(markdown("a|b\nc"), "a\\|b c");
    assert_eq!(markdown("<b>`x`</b> *y* # ~"), "\\<b\\>\\`x\\`\\</b\\> \\*y\\* \\# \\~");
    assert_eq!(markdown("avg_sensor _x_"), "avg_sensor \\_x\\_");
}

#[test]
fn clipping_counts_characters_and_says_that_it_cut() {
    assert_eq!(clipped("ünïcödé", 4), "ünï…");
    assert_eq!(clipped("abcd", 4), "abcd");
}
