use super::*;

fn base(bytes: &[u8]) -> (tempfile::TempDir, Image) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("base");
    std::fs::write(&path, bytes).unwrap();
    let image = Image::of(&path).unwrap();
    (folder, image)
}

fn content(image: &Image) -> Vec<u8> {
    let mut all = vec![0; image.bytes() as usize];
    image.read(0, &mut all);
    all
}

#[test]
fn an_image_is_its_base_but_for_what_was_written() {
    let mut expected: Vec<u8> = (0..3 * BLOCK + 100).map(|i| (i % 251) as u8).collect();
    let (_folder, mut image) = base(&expected);
    assert_eq!(content(&image), expected);
    // Within a block, across two, at the end, and one whole.
    for (at, length) in [(10, 20), (BLOCK - 5, 10), (3 * BLOCK + 90, 10), (BLOCK, BLOCK)] {
        let data = vec![0xee; length];
        image.write(at as u64, &data);
        expected[at..at + length].copy_from_slice(&data);
        assert_eq!(content(&image), expected, "{length} at {at}");
    }
    image.zero(BLOCK as u64 / 2, 2 * BLOCK as u64);
    expected[BLOCK / 2..BLOCK / 2 + 2 * BLOCK].fill(0);
    assert_eq!(content(&image), expected);
    let saved = _folder.path().join("saved");
    image.save(&saved).unwrap();
    assert_eq!(std::fs::read(saved).unwrap(), expected);
}

#[test]
fn a_clone_goes_its_own_way() {
    let (_folder, mut image) = base(&[0; 2 * BLOCK]);
    image.write(0, b"one");
    let before = image.clone();
    image.write(0, b"two");
    assert_eq!(&content(&before)[..3], b"one");
    assert_eq!(&content(&image)[..3], b"two");
}

#[test]
fn the_digest_tells_contents_apart_and_not_how_they_came_about() {
    let (_folder, image) = base(&[0; 4 * BLOCK]);
    let written = |order: &[(u64, &[u8])]| {
        let mut image = image.clone();
        order.iter().for_each(|(at, data)| image.write(*at, data));
        image.digest()
    };
    let (a, b) = ((0, &b"aaa"[..]), (9_000, &b"bbb"[..]));
    assert_eq!(written(&[a, b]), written(&[b, a]));
    assert_eq!(written(&[(0, b"xyz"), a]), written(&[a]));
    assert_ne!(written(&[a]), written(&[b]));
    assert_ne!(written(&[a]), written(&[(1, b"aaa")]));
}
