use embermark_data::machine::History;

use super::*;

#[test]
fn every_sample_comes_back_from_its_bytes_and_its_json() {
    let samples: Vec<Sample> = History::new(3, 1_000, 1_000).samples().collect();
    let (mut bytes, mut text) = (Vec::new(), String::new());
    for some in [&samples[..], &samples[..1], &[]] {
        let (mut unpacked, mut read) = (Vec::new(), Vec::new());
        pack(some, &mut bytes);
        unpack(History::BEGIN.s, &bytes, |sample| unpacked.push(sample)).unwrap();
        write_json(some, &mut text);
        read_json(History::BEGIN.s, &text, |sample| read.push(sample)).unwrap();
        assert_eq!((&unpacked[..], &read[..]), (some, some));
        read.clear();
        write_published_json(some, &mut text);
        read_published_json(History::BEGIN.s, &text, |sample| read.push(sample)).unwrap();
        assert_eq!(read, some);
    }
    for sample in samples {
        assert_eq!(stamp(&stamp_key(sample.at)).unwrap(), sample.at);
        assert_eq!(values(&values_bytes(&sample.values)).unwrap(), sample.values);
    }
}

#[test]
fn keys_have_the_order_of_their_times() {
    let stamps = [(i64::MIN, 0), (-1, 999_999_999), (0, 0), (0, 1), (1, 0), (i64::MAX, 5)];
    let keys = stamps.map(|(s, ns)| stamp_key(Stamp { s, ns }));
    assert!(keys.is_sorted(), "{keys:?}");
}

#[test]
fn what_is_no_sample_is_an_error_and_never_one() {
    assert!(unpack(0, &[0; PART + 1], |_| ()).is_err());
    assert!(values(&[0; 9]).is_err() && stamp(&[0; 11]).is_err() && second(&[]).is_err());
    for text in ["", "[[1,2,3,4,5]]", "[[1,2,3,4,5,70000]]", "[[-1,2,3,4,5,6]]", "[[1,2,3,4,5,6]"] {
        assert!(read_json(0, text, |_| ()).is_err(), "{text}");
    }
    for part in ["", "{\"ns\":1,\"m\":[1,2,3,4]}", "{\"ns\":-1,\"m\":[1,2,3,4,5]}"] {
        let text = format!("{{\"measurements\":[{part}]}}");
        let read = read_published_json(0, &text, |_| ());
        assert_eq!(read.is_ok(), part.is_empty(), "{text}");
    }
}

#[test]
fn the_json_of_the_source_is_written_as_it_prints_it() {
    let sample = |ns, values| Sample { at: Stamp { s: 0, ns }, values };
    let samples = [
        sample(346_851_124, [389, 792, 602, 315, 552]),
        sample(346_933_204, [516, 794, 634, 317, 559]),
    ];
    let mut text = String::new();
    write_published_json(&samples, &mut text);
    let printed = r#"{"measurements":[{"ns":346851124,"m":[389,792,602,315,552]},{"ns":346933204,"m":[516,794,634,317,559]}]}"#;
    assert_eq!(text, printed);
}
