//! Every call of the interface, made to fail.

use std::ops::ControlFlow;

use embermark_engines::kv::{Range, TableDef};
use embermark_engines::{Result, Scope, Store};

use super::common::{
    PLACES, TIERS, WAYS, bulk, calls, fail, numbered, opened, short, unfreed, zen,
};
use crate::scopes::{Alone, Reads};

/// Does everything that can be done, in both tiers.
fn everything() -> Result<()> {
    for tier in TIERS {
        let dir = tempfile::tempdir().unwrap();
        let Store::Kv(mut store) = opened(tier, dir.path())?.store else { panic!("no kv") };
        let store_ = store.as_mut();
        let t = store_.table(&TableDef { name: "t", key_length: Some(2), indexes: PLACES })?;
        bulk(store_, t, &numbered(40, short))?;
        store_.put(t, b"\0\0", b"123")?;
        store_.modify(t, b"\0\0", &mut |v| v[0] = 0)?;
        store_.delete(t, b"\0\0")?;
        store_.value(t, b"\0\x01")?;
        let (mut seen, mut visit) = (0, 0);
        for direction in WAYS {
            store_.visit(t, Range { direction, ..Range::default() }, &mut |_, _| {
                seen += 1;
                ControlFlow::Continue(())
            })?;
        }
        store_.visit_index(t, 0, Range::between(&[1], Some(&[2])), &mut |_, _| {
            visit += 1;
            ControlFlow::Continue(())
        })?;
        assert_eq!((seen, visit), (78, 6));
        store_.within(Scope::Batch, |batch| batch.put(t, b"\0\0", b"123456"))?;
        let range = Range::between(b"\0\x05", None);
        store_.visit(t, range, &mut |_, _| ControlFlow::Continue(()))?;
        store_.clear(t)?;
        store_.maintain()?;
        store.close()?;
    }
    Ok(())
}

/// Every function whose failure can be reported.
const FUNCTIONS: &[&str] = &[
    "ClientAllocate",
    "ClientFree",
    "ClientReset",
    "ClientGetVersion",
    "ClientTransactionBegin",
    "ClientTransactionEnd",
    "ClientFileCreate",
    "ClientFileDelete",
    "ClientFileOpen",
    "ClientFileClose",
    "VersionAllocate",
    "VersionGetClientVersionNumber",
    "VersionGetClientRevisionNumber",
    "VersionGetLocalVersionNumber",
    "VersionGetLocalRevisionNumber",
    "FileAttributesAllocate",
    "FileAttributesSetFixedRecordLength",
    "FileAttributesSetVariableLengthRecordsMode",
    "IndexAttributesAllocate",
    "IndexAttributesSetIndex",
    "IndexAttributesSetDuplicateMode",
    "IndexAttributesAddKeySegment",
    "KeySegmentAllocate",
    "KeySegmentSetField",
    "FileInformationAllocate",
    "FileGetInformation",
    "FileInformationGetLoggable",
    "FileInformationGetRecordCount",
    "FileIndexCreate",
    "FileRecordCreate",
    "FileRecordUpdate",
    "FileRecordDelete",
    "FileRecordRetrieve",
    "FileRecordRetrieveFirst",
    "FileRecordRetrieveLast",
    "FileRecordRetrieveNext",
    "FileRecordRetrievePrevious",
    "BulkCreatePayloadAllocate",
    "BulkCreatePayloadAddRecord",
    "BulkCreateResultAllocate",
    "BulkCreateResultGetRecordCount",
    "FileBulkCreate",
    "BulkRetrieveAttributesAllocate",
    "BulkRetrieveAttributesAddField",
    "BulkRetrieveAttributesSetMaximumRecordCount",
    "BulkRetrieveAttributesSetSkipCurrentRecord",
    "BulkRetrieveResultAllocate",
    "BulkRetrieveResultGetRecord",
    "FileBulkRetrieveNext",
    "FileBulkRetrievePrevious",
];

#[test]
fn every_call_that_fails_is_told_in_words_and_leaves_nothing_behind() {
    zen();
    everything().unwrap();
    assert_eq!(unfreed(), 0);
    for function in FUNCTIONS {
        let before = calls(function);
        everything().unwrap();
        let times = calls(function) - before;
        assert!(times > 0, "{function} is not called");
        for nth in 1..=times {
            let left = unfreed();
            fail(function, nth, 2);
            let error = everything().err();
            let error = error.unwrap_or_else(|| panic!("{function}: call {nth} failed unseen"));
            let words = match *function {
                "BulkCreateResultGetRecordCount" => "it created -1 of 40 records",
                _ => "input or output failed (status 2)",
            };
            assert!(error.to_string().contains(words), "{function}: {error}");
            assert!(!fail(function, 0, 0), "{function}: call {nth} never came");
            // The only object that the stand-in refused to free.
            let refused = matches!(*function, "ClientFree" | "ClientFileClose");
            assert_eq!(unfreed() - left, usize::from(refused), "{function}: call {nth}");
        }
    }
}
