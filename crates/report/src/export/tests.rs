use super::*;

#[test]
fn formats_read_back_as_they_are_written_and_a_misspelt_one_gets_advice() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse(), Ok(format));
    }
    let error = "markdwon".parse::<Format>().unwrap_err();
    assert!(error.to_string().contains("did you mean 'markdown'?"), "{error}");
}
