//! Functions that the host calls. `unsafe_code` also means exports by name, which is all that is allowed here.
#![allow(unsafe_code)]

use crate::host::{EVENT, INPUT, locked, panicked, written};
use crate::request::{self, Reply};
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// Reply to the latest request.
static REPLY: Mutex<Reply> = Mutex::new(Reply::EMPTY);

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
