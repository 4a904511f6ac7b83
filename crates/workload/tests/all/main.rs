//! Tests of the crate, in one binary: it links once.

mod chakra;
mod collective;
mod expansion;
mod figures;
mod files;
mod fixtures;
mod fuzz;
mod goal_binary;
mod goal_text;
mod graph;
mod isolate;
mod lint;
mod llm;
mod loggops;
mod matching;
mod msccl;
mod pxn;
mod simai;
mod support;
