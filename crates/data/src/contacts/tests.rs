use super::*;

#[test]
fn the_chosen_state_and_zip_are_carried_by_exactly_the_published_shares() {
    for (rows, state, zip) in [(25_000, 10_000, 5_000), (1_000, 400, 200), (7, 2, 1), (1, 0, 0)] {
        let contacts: Vec<Contact> = generate(rows, 42).collect();
        let count = |carries: &dyn Fn(&Contact) -> bool| {
            contacts.iter().filter(|contact| carries(contact)).count()
        };
        assert_eq!(contacts.len() as u64, rows);
        assert_eq!(count(&|c| &c.state == CHOSEN_STATE), state);
        assert_eq!(count(&|c| &c.zip == CHOSEN_ZIP), zip);
    }
}

#[test]
fn contacts_look_like_contacts_and_differ() {
    let contacts: Vec<Contact> = generate(2_000, 7).collect();
    for (i, contact) in contacts.iter().enumerate() {
        assert_eq!(contact.id, i as i64 + 1);
        assert!(contact.lastname.len() > 1 && contact.firstname.len() > 1);
        assert!(contact.street.contains(' ') && !contact.city.is_empty());
        assert_eq!((contact.state.len(), contact.zip.len(), contact.phone.len()), (2, 10, 13));
    }
    let mut states: Vec<_> = contacts.iter().map(|contact| contact.state).collect();
    states.sort_unstable();
    states.dedup();
    assert!(states.len() > 40, "{}", states.len());
    assert_ne!(contacts[0].lastname, contacts[1].lastname);
}

#[test]
fn the_seed_alone_decides() {
    let made = |seed| generate(100, seed).collect::<Vec<_>>();
    assert_eq!(made(1), made(1));
    assert_ne!(made(1), made(2));
}

#[test]
fn a_contact_weighs_its_key_and_its_texts() {
    let contact = generate(1, 42).next().unwrap();
    let texts = format!(
        "{}{}{}{}{}{}{}{}",
        contact.lastname,
        contact.firstname,
        contact.street,
        contact.city,
        contact.state,
        contact.zip,
        contact.country,
        contact.phone
    );
    assert_eq!(contact.value_bytes(), 8 + texts.len() as u64);
}
