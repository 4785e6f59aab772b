use super::*;
use crate::{EngineError, Result};

#[test]
fn work_that_is_refused_is_done_again_and_any_other_error_is_told() {
    let refused = |error: &EngineError| error.to_string().contains("conflict");
    let mut calls = 0;
    let done = again_if(refused, || {
        calls += 1;
        match calls {
            1..=3 => Err(EngineError::failed("toy", "write", "conflict")),
            _ => Ok(calls),
        }
    });
    assert_eq!(done.unwrap(), 4);
    let failed = again_if(refused, || -> Result<()> {
        Err(EngineError::failed("toy", "write", "disk full"))
    });
    assert!(failed.is_err_and(|error| error.to_string().contains("disk full")));
}
