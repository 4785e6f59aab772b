//! A stand-in for Zen's `libbtrieveC`, written by us: the functions that the adapter calls, over
//! sorted maps in memory. It is stricter than a database needs to be: it answers a handle that is
//! unknown, freed or of another kind, a length that does not fit, and a call out of order with an
//! error. It can be ordered to fail, counts calls, and knows what was not freed.
//!
//! All its state belongs to the thread, so that parallel tests do not affect each other.

#![allow(non_snake_case, reason = "the names are those that the adapter looks up")]

mod state;

use std::ffi::{CStr, c_char, c_int, c_longlong, c_void};
use std::ops::Bound::{Excluded, Unbounded};
use std::path::Path;

use state::{Data, STATE, State, Thing};

type Handle = *mut c_void;
type Outcome<T> = Result<T, c_int>;
type Bytes = Vec<u8>;

const MOST: usize = 60 * 1024;
const BAD_POINTER: c_int = 1015;

fn write(record: &[u8], into: *mut c_char, size: c_int) -> Outcome<c_int> {
    let size = usize::try_from(size).map_err(|_| 22)?;
    if into.is_null() || size < record.len() {
        return Err(22);
    }
    // SAFETY: the caller gives room for `size` bytes, and the record has no more.
    unsafe { std::ptr::copy_nonoverlapping(record.as_ptr(), into.cast(), record.len()) };
    Ok(record.len() as c_int)
}

fn read<'a>(bytes: *const c_char, length: c_int) -> Outcome<&'a [u8]> {
    let length = usize::try_from(length).map_err(|_| 22)?;
    if bytes.is_null() || length > MOST {
        return Err(22);
    }
    // SAFETY: the caller gives this many bytes, which live through the call.
    Ok(unsafe { std::slice::from_raw_parts(bytes.cast(), length) })
}

fn path(name: *const c_char) -> Outcome<Bytes> {
    if name.is_null() {
        return Err(11);
    }
    // SAFETY: not null, and a C string by the interface.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let folder = Path::new(std::str::from_utf8(name).map_err(|_| 11)?).parent().ok_or(11)?;
    if folder.is_dir() { Ok(name.to_vec()) } else { Err(35) }
}

fn path_exists(path: &[u8]) -> bool {
    std::str::from_utf8(path).is_ok_and(|path| Path::new(path).parent().is_some_and(Path::is_dir))
}

fn between(value: c_int, least: usize, most: usize) -> Outcome<usize> {
    usize::try_from(value).ok().filter(|v| (least..=most).contains(v)).ok_or(160)
}

/// Counts a call and performs it, unless it is to fail.
fn enter<T>(name: &str, work: impl FnOnce(&mut State) -> Outcome<T>) -> Outcome<T> {
    STATE.with_borrow_mut(|state| {
        *state.calls.entry(name.to_owned()).or_default() += 1;
        if let Some((failing, left, status)) = &mut state.fault
            && failing == name
        {
            *left -= 1;
            if *left == 0 {
                let status = *status;
                state.fault = None;
                return Err(status);
            }
        }
        work(state)
    })
}

/// Functions that return a status.
macro_rules! status {
    ($($name:ident($state:ident $(, $argument:ident: $of:ty)*) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($argument: $of),*) -> c_int {
            enter(stringify!($name), |$state: &mut State| -> Outcome<()> { $body }).err().unwrap_or(0)
        }
    )*};
}

/// Functions that return a number, or -1 and leave a status with their first argument.
macro_rules! value {
    ($($name:ident($state:ident, $handle:ident $(, $argument:ident: $of:ty)*) -> $result:ty $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($handle: Handle $(, $argument: $of)*) -> $result {
            let outcome =
                enter(stringify!($name), |$state: &mut State| -> Outcome<$result> { $body });
            STATE.with_borrow_mut(|state| {
                state.last.insert($handle as usize, outcome.err().unwrap_or(0))
            });
            outcome.unwrap_or(-1)
        }
    )*};
}

macro_rules! last {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(handle: Handle) -> c_int {
            STATE.with_borrow(|state| {
                let known = state.things.contains_key(&(handle as usize));
                let last = state.last.get(&(handle as usize)).copied().unwrap_or(0);
                if known { last } else { BAD_POINTER }
            })
        }
    )*};
}

macro_rules! free {
    ($($name:ident: $pattern:pat,)*) => { status! {$(
        $name(s, handle: Handle) {
            match s.things.get(&(handle as usize)) {
                Some($pattern) => drop(s.things.remove(&(handle as usize))),
                _ => return Err(BAD_POINTER),
            }
            Ok(())
        }
    )*}};
}

last! {
    BtrieveVersionGetLastStatusCode BtrieveFileGetLastStatusCode
    BtrieveFileInformationGetLastStatusCode BtrieveBulkRetrieveResultGetLastStatusCode
}

free! {
    BtrieveVersionFree: Thing::Version(_),
    BtrieveFileAttributesFree: Thing::FileAttributes { .. },
    BtrieveIndexAttributesFree: Thing::IndexAttributes { .. },
    BtrieveKeySegmentFree: Thing::Segment(_),
    BtrieveFileInformationFree: Thing::Information(_),
    BtrieveBulkCreatePayloadFree: Thing::Payload(_),
    BtrieveBulkCreateResultFree: Thing::Created(_),
    BtrieveBulkRetrieveAttributesFree: Thing::Wanted { .. },
    BtrieveBulkRetrieveResultFree: Thing::Found(_),
}

status! {
    BtrieveClientAllocate(s, client: *mut Handle, agent: c_int, number: c_int) {
        between(agent, 0, 0xffff)?;
        between(number, 0, 0xffff)?;
        // Files in folders that no longer exist are removed.
        s.disk.retain(|path, _| path_exists(path));
        s.make(Thing::Client(None), client)
    }
    BtrieveClientFree(s, client: Handle) {
        s.client(client)?;
        let of_it = |thing: &Thing| {
            matches!(thing, Thing::File { client: of, .. } if *of == client as usize)
        };
        if s.things.values().any(of_it) {
            return Err(140);
        }
        s.things.remove(&(client as usize));
        Ok(())
    }
    BtrieveClientReset(s, client: Handle) {
        if let Some(undo) = s.client(client)?.take() {
            s.disk = undo;
        }
        let before = s.things.len();
        s.things.retain(|_, thing| {
            !matches!(thing, Thing::File { client: of, .. } if *of == client as usize)
        });
        s.swept += before - s.things.len();
        Ok(())
    }
    BtrieveClientGetVersion(s, client: Handle, version: Handle, file: Handle) {
        s.client(client)?;
        if !file.is_null() {
            s.file(file)?;
        }
        *s.version(version)? = true;
        Ok(())
    }
    BtrieveClientTransactionBegin(s, client: Handle, mode: c_int, lock: c_int) {
        between(mode, 0, 2)?;
        between(lock, 0, 4)?;
        let disk = s.disk.clone();
        let undo = s.client(client)?;
        if undo.is_some() {
            return Err(37);
        }
        *undo = Some(disk);
        Ok(())
    }
    BtrieveClientTransactionEnd(s, client: Handle) {
        s.client(client)?.take().map(drop).ok_or(39)
    }
    BtrieveClientTransactionAbort(s, client: Handle) {
        s.disk = s.client(client)?.take().ok_or(39)?;
        Ok(())
    }
    BtrieveClientFileCreate(
        s, client: Handle, file: Handle, index: Handle, name: *const c_char, mode: c_int,
        location: c_int
    ) {
        let path = path(name)?;
        between(mode, 0, 1)?;
        between(location, 0, 2)?;
        if s.client(client)?.is_some() {
            return Err(41);
        }
        if s.things.values().any(|t| matches!(t, Thing::File { path: of, .. } if *of == path)) {
            return Err(85);
        }
        if mode == 1 && s.disk.contains_key(&path) {
            return Err(59);
        }
        let (fixed, variable) = s.attributes(file).map(|(f, v)| (*f, *v))?;
        let mut data = Data { fixed, variable, ..Data::default() };
        let (number, duplicates, segments) = s.index(index)?;
        let (number, duplicates) = (*number, *duplicates);
        let &[segment] = &segments[..] else { return Err(26) };
        let field = s.segment(segment as Handle)?.ok_or(27)?;
        if number.is_some_and(|number| number != 0) {
            return Err(6);
        }
        data.add_index(field, duplicates)?;
        s.disk.insert(path, data);
        Ok(())
    }
    BtrieveClientFileDelete(s, client: Handle, name: *const c_char) {
        let path = path(name)?;
        s.client(client)?;
        if s.things.values().any(|t| matches!(t, Thing::File { path: of, .. } if *of == path)) {
            return Err(85);
        }
        s.disk.remove(&path).map(drop).ok_or(12)
    }
    BtrieveClientFileOpen(
        s, client: Handle, file: *mut Handle, name: *const c_char, owner: *const c_char,
        mode: c_int, location: c_int
    ) {
        let path = path(name)?;
        between(mode, 0, 3)?;
        between(location, 0, 2)?;
        s.client(client)?;
        if !owner.is_null() {
            return Err(51);
        }
        if !s.disk.contains_key(&path) {
            return Err(12);
        }
        let (client, accelerated) = (client as usize, mode == 1);
        s.make(Thing::File { client, path, accelerated, cursor: None }, file)
    }
    BtrieveClientFileClose(s, client: Handle, file: Handle) {
        if s.client(client)?.is_some() {
            return Err(41);
        }
        if s.file(file)?.0 != client as usize {
            return Err(BAD_POINTER);
        }
        s.things.remove(&(file as usize));
        Ok(())
    }
    BtrieveVersionAllocate(s, version: *mut Handle) { s.make(Thing::Version(false), version) }
    BtrieveFileAttributesAllocate(s, attributes: *mut Handle) {
        s.make(Thing::FileAttributes { fixed: 0, variable: false }, attributes)
    }
    BtrieveFileAttributesSetFixedRecordLength(s, attributes: Handle, length: c_int) {
        *s.attributes(attributes)?.0 = between(length, 1, MOST).map_err(|_| 28)?;
        Ok(())
    }
    BtrieveFileAttributesSetVariableLengthRecordsMode(s, attributes: Handle, mode: c_int) {
        *s.attributes(attributes)?.1 = between(mode, 0, 2)? != 0;
        Ok(())
    }
    BtrieveIndexAttributesAllocate(s, index: *mut Handle) {
        let segments = Vec::new();
        s.make(Thing::IndexAttributes { number: None, duplicates: false, segments }, index)
    }
    BtrieveIndexAttributesSetIndex(s, index: Handle, number: c_int) {
        *s.index(index)?.0 = Some(between(number, 0, 118).map_err(|_| 6)?);
        Ok(())
    }
    BtrieveIndexAttributesSetDuplicateMode(s, index: Handle, mode: c_int) {
        *s.index(index)?.1 = between(mode, 0, 2)? != 0;
        Ok(())
    }
    BtrieveIndexAttributesAddKeySegment(s, index: Handle, segment: Handle) {
        s.segment(segment)?.ok_or(27)?;
        s.index(index)?.2.push(segment as usize);
        Ok(())
    }
    BtrieveKeySegmentAllocate(s, segment: *mut Handle) { s.make(Thing::Segment(None), segment) }
    BtrieveKeySegmentSetField(s, segment: Handle, at: c_int, length: c_int, of: c_int) {
        // This is the only type that is kept here: bytes in their order.
        if of != 0 {
            return Err(49);
        }
        let at = between(at, 0, MOST - 1).map_err(|_| 27)?;
        let length = between(length, 1, 255).map_err(|_| 29)?;
        *s.segment(segment)? = Some((at, length));
        Ok(())
    }
    BtrieveFileInformationAllocate(s, information: *mut Handle) {
        s.make(Thing::Information(None), information)
    }
    BtrieveFileGetInformation(s, file: Handle, information: Handle) {
        let path = s.file(file)?.1;
        let records = s.data(&path)?.records.len() as u64;
        *s.information(information)? = Some(records);
        Ok(())
    }
    BtrieveFileIndexCreate(s, file: Handle, index: Handle) {
        let (client, path, ..) = s.file(file)?;
        if s.in_transaction(client) {
            return Err(41);
        }
        let (number, duplicates, segments) = s.index(index)?;
        let (number, duplicates) = (*number, *duplicates);
        let &[segment] = &segments[..] else { return Err(26) };
        let field = s.segment(segment as Handle)?.ok_or(27)?;
        let data = s.data(&path)?;
        if number.is_some_and(|number| number != data.indexes.len()) {
            return Err(6);
        }
        data.add_index(field, duplicates)
    }
    BtrieveFileRecordCreate(s, file: Handle, record: *mut c_char, length: c_int) {
        s.change(file)?.0.create(read(record, length)?)
    }
    BtrieveFileRecordUpdate(s, file: Handle, record: *const c_char, length: c_int) {
        let record = read(record, length)?;
        let (data, cursor) = s.change(file)?;
        let (index, _, id) = cursor.ok_or(8)?;
        data.admit(record, Some(id))?;
        data.remove(id)?;
        data.store(id, record.to_vec());
        let key = data.key(index, record);
        *s.file(file)?.3 = Some((index, key, id));
        Ok(())
    }
    BtrieveFileRecordDelete(s, file: Handle) {
        let (data, cursor) = s.change(file)?;
        data.remove(cursor.ok_or(8)?.2)
    }
    BtrieveBulkCreatePayloadAllocate(s, payload: *mut Handle) {
        s.make(Thing::Payload(Vec::new()), payload)
    }
    BtrieveBulkCreatePayloadAddRecord(s, payload: Handle, record: *const c_char, length: c_int) {
        let record = read(record, length)?.to_vec();
        let records = s.payload(payload)?;
        records.push(record);
        if records.iter().map(|record| record.len() + 8).sum::<usize>() > MOST {
            return Err(97);
        }
        Ok(())
    }
    BtrieveBulkCreateResultAllocate(s, result: *mut Handle) { s.make(Thing::Created(None), result) }
    BtrieveFileBulkCreate(s, file: Handle, payload: Handle, result: Handle) {
        let records = s.payload(payload)?.clone();
        s.created(result)?;
        if records.is_empty() {
            return Err(63);
        }
        let data = s.change(file)?.0;
        let mut created = 0;
        let outcome = records.iter().try_for_each(|record| {
            data.create(record).inspect(|()| created += 1)
        });
        *s.created(result)? = Some(created);
        outcome
    }
    BtrieveBulkRetrieveAttributesAllocate(s, wanted: *mut Handle) {
        s.make(Thing::Wanted { count: 0, length: 0, skip: false }, wanted)
    }
    BtrieveBulkRetrieveAttributesAddField(s, wanted: Handle, at: c_int, length: c_int) {
        if at != 0 || *s.wanted(wanted)?.1 != 0 {
            return Err(65);
        }
        *s.wanted(wanted)?.1 = between(length, 1, MOST)?;
        Ok(())
    }
    BtrieveBulkRetrieveAttributesSetMaximumRecordCount(s, wanted: Handle, records: c_int) {
        *s.wanted(wanted)?.0 = between(records, 1, 65_535)?;
        Ok(())
    }
    BtrieveBulkRetrieveAttributesSetSkipCurrentRecord(s, wanted: Handle, skip: c_int) {
        *s.wanted(wanted)?.2 = skip != 0;
        Ok(())
    }
    BtrieveBulkRetrieveResultAllocate(s, result: *mut Handle) { s.make(Thing::Found(None), result) }
    BtrieveFileBulkRetrieveNext(s, file: Handle, wanted: Handle, result: Handle, lock: c_int) {
        s.bulk(file, wanted, result, lock, true)
    }
    BtrieveFileBulkRetrievePrevious(s, file: Handle, wanted: Handle, result: Handle, lock: c_int) {
        s.bulk(file, wanted, result, lock, false)
    }
}

value! {
    BtrieveVersionGetClientVersionNumber(s, version) -> c_int {
        if *s.version(version)? { Ok(15) } else { Err(8) }
    }
    BtrieveVersionGetClientRevisionNumber(s, version) -> c_int {
        if *s.version(version)? { Ok(7) } else { Err(8) }
    }
    BtrieveVersionGetLocalVersionNumber(s, version) -> c_int {
        if *s.version(version)? { Ok(15) } else { Err(8) }
    }
    BtrieveVersionGetLocalRevisionNumber(s, version) -> c_int {
        if *s.version(version)? { Ok(20) } else { Err(8) }
    }
    BtrieveFileInformationGetLoggable(s, information) -> c_int {
        s.information(information)?.map(|_| 1).ok_or(8)
    }
    BtrieveFileInformationGetPageSize(s, information) -> c_int {
        s.information(information)?.map(|_| 6).ok_or(8)
    }
    BtrieveFileInformationGetFileVersion(s, information) -> c_int {
        s.information(information)?.map(|_| 7).ok_or(8)
    }
    BtrieveFileInformationGetRecordCount(s, information) -> c_longlong {
        s.information(information)?.map(|records| records as c_longlong).ok_or(8)
    }
    BtrieveFileRecordRetrieve(
        s, file, comparison: c_int, index: c_int, key: *const c_char, length: c_int,
        record: *mut c_char, size: c_int, lock: c_int
    ) -> c_int {
        let path = s.file(file)?.1;
        let data = s.data(&path)?;
        let number = between(index, 0, data.indexes.len() - 1).map_err(|_| 6)?;
        let index = &data.indexes[number];
        let key = read(key, length)?;
        if key.len() != index.length {
            return Err(21);
        }
        let (low, high) = ((key.to_vec(), 0), (key.to_vec(), u64::MAX));
        let keys = &index.keys;
        let to = match comparison {
            1 => keys.range(low..=high).next(),
            2 => keys.range((Excluded(high), Unbounded)).next(),
            3 => keys.range(..low).next_back(),
            5 => keys.range(low..).next(),
            6 => keys.range(..=high).next_back(),
            _ => return Err(1),
        };
        let to = to.map(|(key, id)| (number, key.clone(), *id));
        s.maintain(file, to, if comparison == 1 { 4 } else { 9 }, (record, size, lock))
    }
    BtrieveFileRecordRetrieveFirst(
        s, file, index: c_int, record: *mut c_char, size: c_int, lock: c_int
    ) -> c_int {
        let path = s.file(file)?.1;
        let data = s.data(&path)?;
        let number = between(index, 0, data.indexes.len() - 1).map_err(|_| 6)?;
        let to = data.indexes[number].keys.first().map(|(key, id)| (number, key.clone(), *id));
        s.maintain(file, to, 9, (record, size, lock))
    }
    BtrieveFileRecordRetrieveLast(
        s, file, index: c_int, record: *mut c_char, size: c_int, lock: c_int
    ) -> c_int {
        let path = s.file(file)?.1;
        let data = s.data(&path)?;
        let number = between(index, 0, data.indexes.len() - 1).map_err(|_| 6)?;
        let to = data.indexes[number].keys.last().map(|(key, id)| (number, key.clone(), *id));
        s.maintain(file, to, 9, (record, size, lock))
    }
    BtrieveFileRecordRetrieveNext(
        s, file, record: *mut c_char, size: c_int, lock: c_int
    ) -> c_int {
        let (_, path, _, cursor) = s.file(file)?;
        let cursor = cursor.clone().ok_or(8)?;
        let to = s.data(&path)?.step(&cursor, true);
        s.maintain(file, to, 9, (record, size, lock))
    }
    BtrieveFileRecordRetrievePrevious(
        s, file, record: *mut c_char, size: c_int, lock: c_int
    ) -> c_int {
        let (_, path, _, cursor) = s.file(file)?;
        let cursor = cursor.clone().ok_or(8)?;
        let to = s.data(&path)?.step(&cursor, false);
        s.maintain(file, to, 9, (record, size, lock))
    }
    BtrieveBulkCreateResultGetRecordCount(s, result) -> c_int {
        s.created(result)?.map(|count| count as c_int).ok_or(8)
    }
    BtrieveBulkRetrieveResultGetRecordCount(s, result) -> c_int {
        s.found(result)?.as_ref().map(|records| records.len() as c_int).ok_or(8)
    }
    BtrieveBulkRetrieveResultGetRecord(
        s, result, number: c_int, record: *mut c_char, size: c_int
    ) -> c_int {
        let records = s.found(result)?.as_ref().ok_or(8)?;
        let number = usize::try_from(number).map_err(|_| 160)?;
        write(records.get(number).ok_or(160)?, record, size)
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn BtrieveStatusCodeToString(status: c_int) -> *const c_char {
    let words = match status {
        0 => c"no error",
        2 => c"input or output failed",
        5 => c"duplicate key",
        20 => c"the record manager is not active",
        22 => c"wrong data length",
        74 => c"the end became an abort",
        _ => c"something else",
    };
    words.as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn BtrievePageSizeToString(size: c_int) -> *const c_char {
    if size == 6 { c"4096 bytes" } else { c"unknown" }.as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn BtrieveFileVersionToString(version: c_int) -> *const c_char {
    if version == 7 { c"13.0" } else { c"unknown" }.as_ptr()
}

/// Returns the number of objects that this thread has not freed.
#[unsafe(no_mangle)]
pub extern "C" fn stand_in_things() -> usize {
    STATE.with_borrow(|state| state.things.len() + state.swept)
}

/// Returns how often this thread called a function.
#[unsafe(no_mangle)]
pub extern "C" fn stand_in_calls(name: *const c_char) -> u64 {
    // SAFETY: the tests give a C string.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    STATE.with_borrow(|state| state.calls.get(&*name).copied().unwrap_or(0))
}

/// Makes the `nth` call of a function from now on fail, once. Returns whether an earlier order was
/// left.
#[unsafe(no_mangle)]
pub extern "C" fn stand_in_fail(name: *const c_char, nth: u64, status: c_int) -> bool {
    // SAFETY: the tests give a C string.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
    let order = (nth > 0).then_some((name, nth, status));
    STATE.with_borrow_mut(|state| std::mem::replace(&mut state.fault, order).is_some())
}
