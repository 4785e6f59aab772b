use super::entries;

#[test]
fn a_list_in_parentheses_is_one_value() {
    let found: Vec<_> = entries("a=1,log=(enabled=true,path=(x,y)),create,b=").collect();
    assert_eq!(found, [("a", "1"), ("log", "(enabled=true,path=(x,y))"), ("b", "")]);
}
