//! Names that live as long as the process, as required by time series.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Returns the name, stored once for all runs of the process: names of registers are few.
pub(crate) fn interned(name: &str) -> &'static str {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(name) = known.get(name) {
        return name;
    }
    let kept: &'static str = Box::leak(name.into());
    known.insert(kept);
    kept
}
