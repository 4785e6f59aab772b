use super::*;
use crate::{CARDS, End, model_of};

const OWN: &str = r#"
kind = "log-blocks"
open-units = [1, 3, 6]
capacity = "16 GB"
page = 8192
erase-block = "2 MiB"
spare-percent = 7.4
cycles = [500, 1000, 2000]
"#;

#[test]
fn a_card_of_ones_own_is_what_its_file_says() {
    let card = parse("own", OWN).unwrap();
    let open_units = Spread { low: 1, typical: 3, high: 6 };
    assert_eq!(card.mapping, Mapping::LogBlocks { open_units });
    assert_eq!((card.name.as_str(), card.capacity_bytes), ("own", 16_000_000_000));
    assert_eq!((card.page_bytes, card.erase_block_bytes), (8192, 2 << 20));
    assert_eq!((card.spare_permille, card.filled_permille), (Spread::of(74), 1_000));
}

#[test]
fn a_card_like_another_one_has_the_rest_from_there() {
    let card =
        parse("own", "like = \"emmc-8gb\"\ncapacity = \"16 GB\"\ncleaning = \"fifo\"").unwrap();
    let like = built_in("emmc-8gb").unwrap();
    let Mapping::PageMapped { map_bytes, cleaning } = card.mapping else { panic!("{card:?}") };
    assert_eq!((map_bytes, cleaning), (4096, Cleaning::Fifo));
    assert_eq!((card.cycles, card.capacity_bytes), (like.cycles, 16_000_000_000));
    let other = parse("own", "like = \"emmc-8gb\"\nkind = \"log-blocks\"\nopen-units = 2").unwrap();
    assert_eq!(other.mapping, Mapping::LogBlocks { open_units: Spread::of(2) });
}

#[test]
fn what_is_wrong_is_said_with_the_nearest_name() {
    let says = |text: &str| parse("own", text).unwrap_err().to_string();
    for (text, expected) in [
        ("erase-blok = 4", "unknown key 'erase-blok', did you mean 'erase-block'?"),
        ("like = \"sd-32g\"", "unknown card 'sd-32g', did you mean 'sd-32gb'?"),
        ("page = \"16 KiB\"\nkind = \"page-maped\"", "did you mean 'page-mapped'?"),
        ("like = \"emmc-8gb\"\ncleaning = \"greed\"", "did you mean 'greedy'?"),
        (
            "like = \"emmc-8gb\"\nopen-units = 2",
            "'open-units' is 2: a card of kind page-mapped has none",
        ),
        ("like = \"sd-32gb\"\nmap = 4096", "a card of kind log-blocks has none"),
        ("kind = \"log-blocks\"", "'page' is missing"),
        ("like = \"sd-32gb\"\npage = \"large\"", "write bytes, or a size"),
        ("like = \"sd-32gb\"\npage = 5000", "a power of two"),
        ("like = \"sd-32gb\"\nerase-block = 20000", "a whole number of pages"),
        ("like = \"sd-32gb\"\ncapacity = \"1 MiB\"", "16 erase blocks or more"),
        ("like = \"sd-32gb\"\ncycles = [3, 2, 1]", "as [low, typical, high]"),
        ("like = \"sd-32gb\"\ncycles = 0", "give 1 or more"),
        ("like = \"sd-32gb\"\nopen-units = 0", "give 1 to 1000"),
        ("like = \"sd-32gb\"\nfilled-percent = 120", "give 0 to 100"),
        ("like = \"sd-32gb\"\nspare-percent = \"some\"", "give a number"),
        ("like = 3", "write a name in quotes"),
        ("like", "it is no TOML"),
    ] {
        assert!(says(text).contains(expected), "{text}: {}", says(text));
    }
}

#[test]
fn every_built_in_card_is_one_that_a_file_could_say_and_holds_a_device() {
    for (name, ..) in CARDS {
        let card = built_in(name).unwrap();
        check(&card).unwrap();
        assert_eq!(parse(name, &format!("like = \"{name}\"")).unwrap(), card);
        for end in End::ALL {
            model_of(&card, end, 1 << 30).unwrap();
        }
    }
}
