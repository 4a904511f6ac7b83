//! Tests of the engine, in one binary: it links once.

mod bench;
mod draws;
mod fifo;
mod net;

mod application;
mod classes;
mod datagrams;
mod ecn_threshold;
mod failures;
mod hosts;
mod judge;
mod late;
mod linux;
mod measurement;
mod messages;
mod ns3;
mod pfc;
mod probes;
mod properties;
mod published;
mod random_drop;
mod receiver;
mod recovery;
mod red;
mod reordering;
mod routing;
mod rtt;
mod sender;
mod shared_buffer;
mod triggers;
mod trimming;
mod vectors;
