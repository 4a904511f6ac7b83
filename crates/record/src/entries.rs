//! Figures of match-action tables: `entries.parquet`.

use crate::EntryRecord;
use crate::figure::Of::{OptTime, Time, U32, U64, Word};
use crate::figure::{Quantity, rows};

/// `entries.parquet`.
pub(crate) const COLUMNS: &[Quantity<EntryRecord>] = &rows! {
    "node" [""] = Word(|e| &e.node), "Node that runs the program.";
    "program" [""] = U32(|e| e.program), "Number of the program in the scenario, from 0.";
    "table" [""] = Word(|e| &e.table), "Table.";
    "entry" [""] = Word(|e| &e.entry), "Name of the entry; default: its number in the scenario.";
    "priority" [""] = U32(|e| e.priority), "Priority.";
    "installed_s" ["s"] = Time(|e| e.installed_ps), "Time at which the entry was installed.";
    "ended_s" ["s"] = OptTime(|e| e.ended_ps),
        "Simulated time at which its idle or hard timeout ended it; missing if it was still installed at the end of \
         the run.";
    "packets" ["packets"] = U64(|e| e.packets), "Packets that it matched, whole run.";
    "bytes" ["B"] = U64(|e| e.bytes), "Their IP bytes.";
};
