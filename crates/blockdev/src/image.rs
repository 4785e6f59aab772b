//! The content of a device: a base of unchanged blocks, and the blocks that differ from it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use nix::errno::Errno;
use nix::unistd::{Whence, lseek64};

/// Bytes per block.
pub const BLOCK: usize = 4096;

/// Blocks by their number. A missing one is 0.
type Blocks = HashMap<u64, Arc<[u8; BLOCK]>>;

/// The content of a device, in memory. A clone shares its blocks until one of the two changes them.
#[derive(Clone, Debug)]
pub struct Image {
    base: Arc<Blocks>,
    bytes: u64,
    blocks: Blocks,
    digest: u64,
}

impl Image {
    /// Reads the content of a file. Sparse or zero ranges take no memory.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn from_file(file: &Path) -> io::Result<Self> {
        let file = File::open(file)?;
        let bytes = file.metadata()?.len();
        let mut base = Blocks::new();
        let mut next = 0;
        while let Some(at) = next_data(&file, next)? {
            let number = at / BLOCK as u64;
            let mut block = [0; BLOCK];
            let length = BLOCK.min((bytes - number * BLOCK as u64) as usize);
            file.read_exact_at(&mut block[..length], number * BLOCK as u64)?;
            if block.iter().any(|byte| *byte != 0) {
                base.insert(number, Arc::new(block));
            }
            next = (number + 1) * BLOCK as u64;
        }
        Ok(Self { base: Arc::new(base), bytes, blocks: HashMap::new(), digest: 0 })
    }

    /// Returns a block. `None` if it is 0 and was never written.
    fn block(&self, number: u64) -> Option<&[u8; BLOCK]> {
        self.blocks.get(&number).or_else(|| self.base.get(&number)).map(|block| &**block)
    }

    /// Returns the size of the device in bytes.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns a digest of the changes to the base. Two images of one base have the same digest if
    /// their changed blocks are equal, and almost certainly not otherwise. A block that was
    /// overwritten with the same content counts as changed.
    pub const fn digest(&self) -> u64 {
        self.digest
    }

    /// Reads from an offset. Beyond the end, bytes are 0.
    pub fn read(&self, offset: u64, into: &mut [u8]) {
        for (number, within, at) in pieces(offset, into.len()) {
            let piece = &mut into[at..at + within.len()];
            match self.block(number) {
                Some(block) => piece.copy_from_slice(&block[within]),
                None => piece.fill(0),
            }
        }
    }

    /// Whether it has these bytes at an offset.
    pub(crate) fn holds(&self, offset: u64, data: &[u8]) -> bool {
        pieces(offset, data.len()).all(|(number, within, at)| {
            let piece = &data[at..at + within.len()];
            match self.block(number) {
                Some(block) => block[within] == *piece,
                None => piece.iter().all(|byte| *byte == 0),
            }
        })
    }

    /// Writes at an offset.
    pub fn write(&mut self, offset: u64, data: &[u8]) {
        for (number, within, at) in pieces(offset, data.len()) {
            let piece = &data[at..at + within.len()];
            self.change(number, |block| block[within].copy_from_slice(piece));
        }
    }

    /// Sets a range to 0.
    pub fn zero(&mut self, offset: u64, length: u64) {
        let length = length.min(self.bytes.saturating_sub(offset));
        for (number, within, _) in pieces(offset, length as usize) {
            self.change(number, |block| block[within].fill(0));
        }
    }

    fn change(&mut self, number: u64, change: impl FnOnce(&mut [u8; BLOCK])) {
        let block = match self.blocks.entry(number) {
            Entry::Occupied(known) => {
                let block = known.into_mut();
                self.digest = self.digest.wrapping_sub(digest_of(number, block));
                block
            }
            Entry::Vacant(place) => {
                let base = self.base.get(&number).map_or_else(|| Arc::new([0; BLOCK]), Arc::clone);
                place.insert(base)
            }
        };
        change(Arc::make_mut(block));
        self.digest = self.digest.wrapping_add(digest_of(number, block));
    }

    /// Writes the whole content into a sparse file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let file = File::create(path)?;
        file.set_len(self.bytes)?;
        for number in self.base.keys().chain(self.blocks.keys()) {
            let (Some(block), at) = (self.block(*number), number * BLOCK as u64) else { continue };
            let length = BLOCK.min((self.bytes - at) as usize);
            file.write_all_at(&block[..length], at)?;
        }
        file.sync_all()
    }
}

/// Returns the first offset, from `from` on, at which a file has data. `None` if there is no more
/// data.
fn next_data(file: &File, from: u64) -> io::Result<Option<u64>> {
    match lseek64(file, from.cast_signed(), Whence::SeekData) {
        Ok(at) => Ok(Some(at.cast_unsigned())),
        Err(Errno::ENXIO) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Returns the blocks that a range touches: the number of each, its part that is in the range, and
/// the offset of that part in the range.
fn pieces(
    offset: u64,
    length: usize,
) -> impl Iterator<Item = (u64, std::ops::Range<usize>, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let start = (at % BLOCK as u64) as usize;
        let size = (BLOCK - start).min(length - done);
        let piece = (size > 0).then_some((at / BLOCK as u64, start..start + size, done));
        done += size;
        piece
    })
}

fn digest_of(number: u64, block: &[u8; BLOCK]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(number);
    hasher.write(block);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(bytes: &[u8]) -> (tempfile::TempDir, Image) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("base");
        std::fs::write(&path, bytes).unwrap();
        let image = Image::from_file(&path).unwrap();
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
        // Within a block, across two, at the end, and a whole one.
        for (at, length) in [(10, 20), (BLOCK - 5, 10), (3 * BLOCK + 90, 10), (BLOCK, BLOCK)] {
            let data = vec![0xee; length];
            assert!(!image.holds(at as u64, &data));
            image.write(at as u64, &data);
            assert!(image.holds(at as u64, &data));
            expected[at..at + length].copy_from_slice(&data);
            assert_eq!(content(&image), expected, "{length} at {at}");
        }
        image.zero(BLOCK as u64 / 2, 2 * BLOCK as u64);
        expected[BLOCK / 2..BLOCK / 2 + 2 * BLOCK].fill(0);
        assert_eq!(content(&image), expected);
        assert!(image.holds(0, &expected));
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
}
