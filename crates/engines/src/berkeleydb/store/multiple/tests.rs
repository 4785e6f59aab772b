use super::*;

#[test]
fn what_was_pushed_is_read_back_until_the_buffer_is_full() {
    let mut batch = Multiple::new();
    batch.reset(1024);
    let pair = |i: u8| (vec![i; usize::from(i) % 3], vec![!i; usize::from(i) % 7]);
    let pushed = (0..=255).take_while(|&i| batch.push(&pair(i).0, &pair(i).1)).count();
    assert!(pushed > 40 && pushed < 64, "{pushed} of 20 bytes and more in 1,024");
    let read: Vec<_> = batch.pairs().map(|(k, v)| (k.to_vec(), v.to_vec())).collect();
    assert_eq!(read, (0..pushed as u8).map(pair).collect::<Vec<_>>());
    batch.reset(1024);
    assert!(batch.is_empty() && batch.pairs().next().is_none());
    assert!(!batch.push(&[0; 1024], &[]), "a pair larger than the buffer");
}
