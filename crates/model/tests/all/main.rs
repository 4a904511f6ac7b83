//! Tests of the closed-form models, in one binary: it links once.

mod astra;
mod dctcp_queue;
mod declarations;
mod docs;
mod fair;
mod mathis;
mod packets;
mod theorems;
