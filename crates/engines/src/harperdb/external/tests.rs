use super::*;

#[test]
fn a_url_that_cannot_work_is_refused_with_the_form_of_one_that_can() {
    for url in ["9925", "https://a:b@localhost:9925", "http://localhost:9925", "http://a@b:1"] {
        let error = reach(url, "embermark_x").err().unwrap().to_string();
        assert!(error.contains("http://user:password@host:9925"), "{url}: {error}");
    }
}
