//! The content of a device: a file that stays as it is, and the blocks that differ from it.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// Bytes of a block.
pub const BLOCK: usize = 4096;

/// The content of a device. A clone shares its blocks until one of the two changes them.
#[derive(Clone, Debug)]
pub struct Image {
    base: Arc<File>,
    bytes: u64,
    blocks: HashMap<u64, Arc<[u8; BLOCK]>>,
    digest: u64,
}

impl Image {
    /// The content of a file, which is never written.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn of(base: &Path) -> io::Result<Self> {
        let base = Arc::new(File::open(base)?);
        let bytes = base.metadata()?.len();
        Ok(Self { base, bytes, blocks: HashMap::new(), digest: 0 })
    }

    /// Bytes of the device.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A number that two images of one base share when their blocks are the same, and hardly
    /// otherwise. A block that was written with what was there counts as changed.
    pub const fn digest(&self) -> u64 {
        self.digest
    }

    /// Reads from a place on; what lies beyond the end is 0.
    ///
    /// # Errors
    /// When the base cannot be read.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        for (number, within, at) in pieces(offset, into.len()) {
            let piece = &mut into[at..at + within.len()];
            match self.blocks.get(&number) {
                Some(block) => piece.copy_from_slice(&block[within]),
                None => {
                    read_or_zero(&self.base, number * BLOCK as u64 + within.start as u64, piece)?
                }
            }
        }
        Ok(())
    }

    /// Writes at a place.
    ///
    /// # Errors
    /// When the base cannot be read, of a block that is not written whole.
    pub fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        for (number, within, at) in pieces(offset, data.len()) {
            let length = within.len();
            self.change(number, length == BLOCK, |block| {
                block[within].copy_from_slice(&data[at..at + length]);
            })?;
        }
        Ok(())
    }

    /// Makes a range 0.
    ///
    /// # Errors
    /// When the base cannot be read, of a block that does not lie in the range whole.
    pub fn zero(&mut self, offset: u64, length: u64) -> io::Result<()> {
        let end = (offset + length).min(self.bytes);
        let mut at = offset;
        while at < end {
            let (number, start) = (at / BLOCK as u64, (at % BLOCK as u64) as usize);
            let length = (BLOCK - start).min((end - at) as usize);
            self.change(number, length == BLOCK, |block| block[start..start + length].fill(0))?;
            at += length as u64;
        }
        Ok(())
    }

    fn change(
        &mut self,
        number: u64,
        whole: bool,
        change: impl FnOnce(&mut [u8; BLOCK]),
    ) -> io::Result<()> {
        let block = match self.blocks.entry(number) {
            std::collections::hash_map::Entry::Occupied(known) => {
                let block = known.into_mut();
                self.digest = self.digest.wrapping_sub(digest_of(number, block));
                block
            }
            std::collections::hash_map::Entry::Vacant(place) => {
                let mut block = [0; BLOCK];
                if !whole {
                    read_or_zero(&self.base, number * BLOCK as u64, &mut block)?;
                }
                place.insert(Arc::new(block))
            }
        };
        change(Arc::make_mut(block));
        self.digest = self.digest.wrapping_add(digest_of(number, block));
        Ok(())
    }

    /// Writes the whole content into a file, which is sparse where nothing was written.
    ///
    /// # Errors
    /// When the base cannot be read, or the file not be written.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let file = File::create(path)?;
        file.set_len(self.bytes)?;
        let mut block = [0; BLOCK];
        for number in 0..self.bytes.div_ceil(BLOCK as u64) {
            let at = number * BLOCK as u64;
            let length = BLOCK.min((self.bytes - at) as usize);
            self.read(at, &mut block[..length])?;
            if block[..length].iter().any(|byte| *byte != 0) {
                file.write_all_at(&block[..length], at)?;
            }
        }
        file.sync_all()
    }
}

/// The blocks that a range touches: the number of each, what of it lies in the range, and where in
/// the range that begins.
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

fn read_or_zero(file: &File, offset: u64, mut into: &mut [u8]) -> io::Result<()> {
    let mut at = offset;
    while !into.is_empty() {
        match file.read_at(into, at)? {
            0 => {
                into.fill(0);
                break;
            }
            read => {
                at += read as u64;
                into = &mut into[read..];
            }
        }
    }
    Ok(())
}

fn digest_of(number: u64, block: &[u8; BLOCK]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(number);
    hasher.write(block);
    hasher.finish()
}

#[cfg(test)]
mod tests;
