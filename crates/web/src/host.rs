//! Functions of the host, and what it writes. `unsafe_code` also means imports by name, which is all that is allowed
//! here.
#![allow(unsafe_code)]

use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(target_family = "wasm")]
#[link(wasm_import_module = "incast")]
unsafe extern "C" {
    /// Progress of a run: part of the set-up that is done, simulated time and end in seconds, hops; bytes delivered, and
    /// the time as of which they were counted, or NaN. 0 stops the run.
    pub(crate) safe fn progress(set_up: f64, now_s: f64, end_s: f64, hops: f64, counted_s: f64, delivered: f64) -> u32;
    /// Calls `method` of the object of `flow`, of the registered class `class`, with the event in [`EVENT`]. The host
    /// then writes the object's attributes there. Otherwise it writes a message with `input` and returns 1.
    pub(crate) safe fn call(class: u32, flow: u32, method: u32) -> u32;
    /// Message of a panic, before the module traps.
    pub(crate) safe fn panicked(at: *const u8, length: usize);
}

/// Stand-ins where there is no host, so that the crate is checked on every machine.
#[cfg(not(target_family = "wasm"))]
mod nobody {
    pub(crate) fn progress(_: f64, _: f64, _: f64, _: f64, _: f64, _: f64) -> u32 {
        1
    }
    pub(crate) fn call(_class: u32, _flow: u32, _method: u32) -> u32 {
        1
    }
    pub(crate) fn panicked(_at: *const u8, _length: usize) {}
}

#[cfg(not(target_family = "wasm"))]
pub(crate) use nobody::{call, panicked, progress};

/// Most values of an event, or attributes of an object with its state.
pub(crate) const MOST_VALUES: usize = 64;

/// Values of the event that an object of the host's is called with, as bits of `f64`; then its attributes.
pub(crate) static EVENT: [AtomicU64; MOST_VALUES] = [const { AtomicU64::new(0) }; MOST_VALUES];

/// Text written by the host.
pub(crate) static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the text that the host wrote last.
pub(crate) fn written() -> String {
    String::from_utf8_lossy(&std::mem::take(&mut *locked(&INPUT))).into_owned()
}
