use super::*;

#[test]
fn digests_are_those_of_the_standard() {
    // FIPS 180-2, appendix B.1.
    assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

#[test]
fn only_the_two_published_digests_name_the_published_file() {
    for published in PUBLISHED {
        assert_eq!(published.len(), 64);
        assert!(name(published).ends_with("(the published file)"));
    }
    assert!(name(&sha256(b"abc")).ends_with("(another file)"));
}
