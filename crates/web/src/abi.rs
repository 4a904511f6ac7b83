//! Functions that the host calls, and functions of the host. `unsafe_code` also means exports and imports by name,
//! which is all that is allowed here.
#![allow(unsafe_code)]

use crate::external;
use crate::request::{self, Reply};
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(target_family = "wasm")]
#[link(wasm_import_module = "incast")]
unsafe extern "C" {
    /// Progress of a run: part of the set-up that is done, simulated time and end in seconds, hops. 0 stops the run.
    pub(crate) safe fn progress(set_up: f64, now_s: f64, end_s: f64, hops: f64) -> u32;
    /// Calls `method` of the object of `flow`, of the registered class `class`, with the event in [`event`]. The host
    /// then writes the object's attributes there. Otherwise it writes a message with [`input`] and returns 1.
    pub(crate) safe fn call(class: u32, flow: u32, method: u32) -> u32;
    /// Message of a panic, before the module traps.
    safe fn panicked(at: *const u8, length: usize);
}

/// Stand-ins where there is no host, so that the crate is checked on every machine.
#[cfg(not(target_family = "wasm"))]
mod nobody {
    pub(crate) fn progress(_set_up: f64, _now_s: f64, _end_s: f64, _hops: f64) -> u32 {
        1
    }
    pub(crate) fn call(_class: u32, _flow: u32, _method: u32) -> u32 {
        1
    }
    pub(super) fn panicked(_at: *const u8, _length: usize) {}
}

#[cfg(not(target_family = "wasm"))]
use nobody::panicked;
#[cfg(not(target_family = "wasm"))]
pub(crate) use nobody::{call, progress};

/// Text written by the host.
static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Reply to the latest request.
static REPLY: Mutex<Reply> = Mutex::new(Reply::EMPTY);

/// Values of the event that an object of the host's is called with, as bits of `f64`; then its attributes.
pub(crate) static EVENT: [AtomicU64; external::MOST_VALUES] = [const { AtomicU64::new(0) }; external::MOST_VALUES];

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the text that the host wrote last.
pub(crate) fn written() -> String {
    String::from_utf8_lossy(&std::mem::take(&mut *locked(&INPUT))).into_owned()
}

/// Makes room for a text of `length` bytes, and returns its place.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    let mut input = locked(&INPUT);
    *input = vec![0; length];
    input.as_mut_ptr()
}

/// Place of the values of events.
#[unsafe(no_mangle)]
pub extern "C" fn event() -> *const AtomicU64 {
    EVENT.as_ptr()
}

/// Carries out the request in the input.
#[unsafe(no_mangle)]
pub extern "C" fn ask() {
    std::panic::set_hook(Box::new(|info| {
        let words = info.to_string();
        panicked(words.as_ptr(), words.len());
    }));
    let reply = request::carried_out(&written());
    *locked(&REPLY) = reply;
}

/// Place of the reply's text (`part` 0) or of its bytes (1).
#[unsafe(no_mangle)]
pub extern "C" fn reply(part: u32) -> *const u8 {
    let reply = locked(&REPLY);
    if part == 0 { reply.text.as_ptr() } else { reply.bytes.as_ptr() }
}

/// Length of the same.
#[unsafe(no_mangle)]
pub extern "C" fn reply_length(part: u32) -> usize {
    let reply = locked(&REPLY);
    if part == 0 { reply.text.len() } else { reply.bytes.len() }
}
