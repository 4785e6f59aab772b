use super::ordered;

#[test]
fn only_the_outermost_order_counts() {
    assert!(ordered("SELECT a FROM t ORDER BY a"));
    assert!(ordered("SELECT a FROM t order\n  by a LIMIT 3"));
    assert!(ordered("WITH x AS (SELECT 1) SELECT * FROM x /* so */ ORDER BY 1"));
    assert!(!ordered("SELECT a FROM (SELECT a FROM t ORDER BY a) AS s"));
    assert!(!ordered("SELECT rank() OVER (ORDER BY a) FROM t"));
    assert!(!ordered("SELECT 'ORDER BY' FROM t -- ORDER BY a"));
    assert!(!ordered("SELECT \"order\" /* ORDER BY a */, 'é(' FROM t"));
    assert!(!ordered("SELECT 'it''s (', reorder, bypass FROM t"));
}
