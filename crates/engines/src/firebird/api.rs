//! The functions of Firebird's object-oriented interface that are used, as version 5 declares them
//! (<https://github.com/FirebirdSQL/firebird/blob/v5.0.4/src/include/firebird/FirebirdInterface.idl>).
//! Its manual is <https://github.com/FirebirdSQL/firebird/blob/v5.0.4/doc/Using_OO_API.html>.
//!
//! An interface is a pointer to an object that begins with a private word and a pointer to a table:
//! a word, the version, then the functions in the order of their declaration. Later versions only
//! append functions.

use std::ffi::{c_char, c_short, c_uchar, c_void};
use std::mem;
use std::ptr::NonNull;

use crate::library::functions;

/// A text that is terminated, or whose length is given too.
type Text = *const c_char;

/// Bytes whose length is given too.
type Bytes = *const u8;

functions! {
    /// Functions outside of interfaces.
    pub(super) struct Api of "";

    fb_get_master_interface() -> Option<Master>;
    isc_get_client_version(room: *mut c_char);
    gds__get_prefix(of: c_short, folder: Text) -> i32;
}

/// Argument of `gds__get_prefix`: the folder of lock files.
pub(super) const LOCK_PREFIX: c_short = 1;

/// An object with an interface.
#[repr(C)]
pub(super) struct Object {
    own: *mut c_void,
    table: *const Table,
}

/// The object's functions, as many as its version has.
#[repr(C)]
struct Table {
    own: *mut c_void,
    version: usize,
    functions: [*const c_void; 0],
}

/// Declares interfaces, each with its name and its functions' positions in the table.
macro_rules! interfaces {
    ($($(#[$about:meta])* $name:ident {
        $($place:literal $function:ident($($argument:ident: $of:ty),* $(,)?) $(-> $result:ty)?;)*
    })*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub(super) struct $name(NonNull<Object>);

        #[allow(clippy::too_many_arguments, reason = "as many as Firebird's function has")]
        impl $name {
            $(
                /// # Safety
                /// The object must be alive, pointers must be as Firebird's manual requires, and
                /// only one thread at a time can use the object's attachment.
                #[inline]
                pub unsafe fn $function(self, $($argument: $of),*) $(-> $result)? {
                    type Function =
                        unsafe extern "C" fn(NonNull<Object>, $($of),*) $(-> $result)?;
                    // SAFETY: the object's table has a function of that type in that place.
                    unsafe {
                        let functions = (&raw const (*self.0.as_ref().table).functions)
                            .cast::<*const c_void>();
                        let function = *functions.add($place);
                        mem::transmute::<*const c_void, Function>(function)(self.0, $($argument),*)
                    }
                }
            )*
        }
    )*};
}

interfaces! {
    /// `IMaster`, the entry point. There is one, which is never freed.
    Master {
        0 status() -> Option<Status>;
        1 dispatcher() -> Option<Provider>;
        9 util() -> Option<Util>;
    }

    /// `IStatus`: the outcome of a call. It is passed to the call, and is empty until the call
    /// fails.
    Status {
        0 dispose();
        1 init();
        2 state() -> u32;
        7 errors() -> *const isize;
    }

    /// `IUtil`.
    Util {
        9 format_status(room: *mut c_char, bytes: u32, status: Status) -> u32;
    }

    /// `IProvider`: opens databases. There is one, which is never freed.
    Provider {
        4 attach_database(
            status: Status, file: Text, bytes: u32, parameters: Bytes
        ) -> Option<Attachment>;
        5 create_database(
            status: Status, file: Text, bytes: u32, parameters: Bytes
        ) -> Option<Attachment>;
    }

    /// `IAttachment`: a connection.
    Attachment {
        1 release() -> i32;
        2 get_info(status: Status, count: u32, items: Bytes, bytes: u32, room: *mut u8);
        3 start_transaction(status: Status, bytes: u32, parameters: Bytes) -> Option<Transaction>;
        7 create_blob(
            status: Status, transaction: Transaction, id: *mut BlobId, bytes: u32,
            parameters: Bytes,
        ) -> Option<Blob>;
        8 open_blob(
            status: Status, transaction: Transaction, id: *mut BlobId, bytes: u32,
            parameters: Bytes,
        ) -> Option<Blob>;
        12 prepare(
            status: Status, transaction: Transaction, bytes: u32, sql: Text,
            dialect: u32, flags: u32,
        ) -> Option<Statement>;
        26 detach(status: Status);
    }

    /// `ITransaction`.
    Transaction {
        1 release() -> i32;
        12 commit(status: Status);
        13 rollback(status: Status);
    }

    /// `IStatement`.
    Statement {
        1 release() -> i32;
        3 kind(status: Status) -> u32;
        4 plan(status: Status, detailed: c_uchar) -> Text;
        5 affected_records(status: Status) -> u64;
        6 input_metadata(status: Status) -> Option<Metadata>;
        7 output_metadata(status: Status) -> Option<Metadata>;
        8 execute(
            status: Status, transaction: Transaction, input: Option<Metadata>, values: *mut c_void,
            output: Option<Metadata>, row: *mut c_void,
        ) -> Option<Transaction>;
        9 open_cursor(
            status: Status, transaction: Transaction, input: Option<Metadata>, values: *mut c_void,
            output: Option<Metadata>, flags: u32,
        ) -> Option<ResultSet>;
        15 create_batch(
            status: Status, input: Metadata, bytes: u32, parameters: Bytes
        ) -> Option<Batch>;
        16 free(status: Status);
    }

    /// `IResultSet`.
    ResultSet {
        1 release() -> i32;
        2 fetch_next(status: Status, row: *mut c_void) -> i32;
        13 close(status: Status);
    }

    /// `IMessageMetadata`: offsets and types of the values in a message.
    Metadata {
        1 release() -> i32;
        2 count(status: Status) -> u32;
        6 alias(status: Status, place: u32) -> Text;
        7 sql_type(status: Status, place: u32) -> u32;
        9 sub_type(status: Status, place: u32) -> i32;
        10 length(status: Status, place: u32) -> u32;
        11 scale(status: Status, place: u32) -> i32;
        12 character_set(status: Status, place: u32) -> u32;
        13 offset(status: Status, place: u32) -> u32;
        14 null_offset(status: Status, place: u32) -> u32;
        15 builder(status: Status) -> Option<Builder>;
        16 message_length(status: Status) -> u32;
        18 aligned_length(status: Status) -> u32;
    }

    /// `IMetadataBuilder`.
    Builder {
        1 release() -> i32;
        2 set_type(status: Status, place: u32, of: u32);
        3 set_sub_type(status: Status, place: u32, of: i32);
        4 set_length(status: Status, place: u32, bytes: u32);
        5 set_character_set(status: Status, place: u32, of: u32);
        6 set_scale(status: Status, place: u32, of: i32);
        11 metadata(status: Status) -> Option<Metadata>;
    }

    /// `IBlob`.
    Blob {
        1 release() -> i32;
        3 get_segment(status: Status, bytes: u32, room: *mut c_void, length: *mut u32) -> i32;
        4 put_segment(status: Status, bytes: u32, from: *const c_void);
        9 close(status: Status);
    }

    /// `IBatch`: many messages for one statement.
    Batch {
        1 release() -> i32;
        2 add(status: Status, count: u32, messages: *const c_void);
        7 execute(status: Status, transaction: Transaction) -> Option<BatchCompletionState>;
        13 close(status: Status);
    }

    /// `IBatchCompletionState`.
    BatchCompletionState {
        0 dispose();
        3 find_error(status: Status, from: u32) -> u32;
        4 status_of(status: Status, to: Status, place: u32);
    }
}

/// `ISC_QUAD`, two words of 32 bits: the id of a blob, which only the engine reads.
pub(super) type BlobId = u64;

/// Flag of a status with an error.
pub(super) const STATE_ERRORS: u32 = 2;

/// Kinds of arguments in a status, and its end.
pub(super) mod argument {
    pub(in super::super) const END: isize = 0;
    /// An error code.
    pub(in super::super) const CODE: isize = 1;
    /// A text, preceded by its length.
    pub(in super::super) const COUNTED_TEXT: isize = 3;
}

/// Results of fetching a row and of reading a segment.
pub(super) mod answer {
    pub(in super::super) const OK: i32 = 0;
    /// The segment was longer than the buffer.
    pub(in super::super) const SEGMENT: i32 = 2;
}

/// No further message of a batch failed.
pub(super) const NO_MORE_ERRORS: u32 = u32::MAX;

/// Firebird's SQL since version 1.
pub(super) const SQL_DIALECT: u32 = 3;

/// `isc_info_sql_stmt_…`: kinds of statements.
pub(super) mod kind {
    pub(in super::super) const SELECT: u32 = 1;
    pub(in super::super) const DEFINE: u32 = 5;
    pub(in super::super) const SELECT_FOR_UPDATE: u32 = 12;
}

/// `isc_dpb_…`: parameters for opening a database.
pub(super) mod open {
    /// Lengths have four bytes.
    pub(in super::super) const VERSION: u8 = 2;
    pub(in super::super) const PAGE_SIZE: u8 = 4;
    pub(in super::super) const PAGE_BUFFERS: u8 = 5;
    pub(in super::super) const VERIFY: u8 = 9;
    pub(in super::super) const SWEEP_INTERVAL: u8 = 22;
    pub(in super::super) const FORCE_WRITE: u8 = 24;
    pub(in super::super) const USER_NAME: u8 = 28;
    pub(in super::super) const CHARACTER_SET: u8 = 48;
    pub(in super::super) const SQL_DIALECT: u8 = 63;
    pub(in super::super) const DATABASE_CHARACTER_SET: u8 = 68;
    pub(in super::super) const UTF8_FILE_NAME: u8 = 77;
    pub(in super::super) const CONFIG: u8 = 87;

    /// Flags of `VERIFY`: pages, records, and no repair.
    pub(in super::super) const VERIFY_ALL: u8 = 1 | 2 | 16;
}

/// `isc_info_end` and `isc_info_truncated`: ends of the answer to items that are asked for.
pub(super) const INFO_ENDS: [u8; 2] = [1, 2];

/// `isc_tpb_…`: parameters for beginning a transaction.
pub(super) mod begin {
    pub(in super::super) const VERSION: u8 = 3;
    pub(in super::super) const CONCURRENCY: u8 = 2;
    pub(in super::super) const WAIT: u8 = 6;
    pub(in super::super) const NO_WAIT: u8 = 7;
    pub(in super::super) const READ: u8 = 8;
    pub(in super::super) const WRITE: u8 = 9;
    pub(in super::super) const READ_COMMITTED: u8 = 15;
    pub(in super::super) const AUTOCOMMIT: u8 = 16;
    pub(in super::super) const READ_CONSISTENCY: u8 = 22;
}

/// `SQL_…`: types of values in messages.
pub(super) mod types {
    pub(in super::super) const VARYING: u32 = 448;
    pub(in super::super) const TEXT: u32 = 452;
    pub(in super::super) const DOUBLE: u32 = 480;
    pub(in super::super) const FLOAT: u32 = 482;
    pub(in super::super) const LONG: u32 = 496;
    pub(in super::super) const SHORT: u32 = 500;
    pub(in super::super) const TIMESTAMP: u32 = 510;
    pub(in super::super) const BLOB: u32 = 520;
    pub(in super::super) const TIME: u32 = 560;
    pub(in super::super) const DATE: u32 = 570;
    pub(in super::super) const INT64: u32 = 580;
    pub(in super::super) const INT128: u32 = 32752;
    pub(in super::super) const TIMESTAMP_TZ: u32 = 32754;
    pub(in super::super) const TIME_TZ: u32 = 32756;
    pub(in super::super) const DECFLOAT16: u32 = 32760;
    pub(in super::super) const DECFLOAT34: u32 = 32762;
    pub(in super::super) const BOOLEAN: u32 = 32764;
}
