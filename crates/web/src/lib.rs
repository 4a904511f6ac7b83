//! The engine as WebAssembly: scenarios in, results out, one run at a time.
//!
//! A host (`viewer/src/engine`, in a worker) writes a request in JSON, and reads a reply: JSON, and bytes for the
//! columns of tables. The interface is a C ABI of five functions and three imports ([`abi`]). It needs no generator of
//! bindings, whose version would have to match the crate's, and no pointer is read in Rust.

mod abi;
mod external;
mod host;
mod request;
mod tables;
