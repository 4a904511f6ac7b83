//! Observations over time: `samples.parquet` and `trace.parquet`.

use crate::figure::Of::{Index, OptF64, Time, U32, U64, Word};
use crate::figure::{Quantity, rows};
use crate::statistics::finite;
use crate::{Happening, PacketEvent, Sample};

/// `samples.parquet`.
pub(crate) const SAMPLES: &[Quantity<Sample>] = &rows! {
    "entity" [""] = Word(|s| &s.entity),
        "What was observed: \"flow 3\", or a port or the channel of a radio cell by its name.";
    "name" [""] = Word(|s| s.name),
        "State variable, its unit as its ending: cwnd_bytes, rtt_s, alpha, queue_packets ...; channel_busy is \
         the share of the time up to the next row in which anything is on the air.";
    "time_s" ["s"] = Time(|s| s.time_ps), "Simulated time.";
    "value" ["as name"] = OptF64(|s| finite(s.value)),
        "Value from this time on, until the next row of the series; missing where it is no number.";
};

/// `trace.parquet`.
pub(crate) const TRACE: &[Quantity<PacketEvent>] = &rows! {
    "time_ps" ["ps"] = U64(|e| e.time_ps), "Simulated time, exact.";
    "time_s" ["s"] = Time(|e| e.time_ps), "The same in seconds.";
    "flow" [""] = U32(|e| e.flow), "Flow number.";
    "place" [""] = Word(|e| &e.place), "Node or port where it happened.";
    "event" [""] = Index(|e| e.event as u32, Happening::names),
        "send (transport to NIC), enqueue (a port accepted it), mark (accepted and CE set), drop (refused by a \
         queue), loss (lost on a link), arrive (far end of a link), receive (taken by the transport); in a radio \
         cell transmit (a frame of it, or the acknowledgement of one, begins) and hear (a station has received it).";
    "seq" ["B"] = U64(|e| e.seq),
        "First payload byte of a data segment; 0 for ACKs. Of data with the flag NUMBERED, that of transports that \
         receivers drive, the number of the packet, from 0.";
    "ack" ["B"] = U64(|e| e.ack), "Cumulative acknowledgement; 0 for data.";
    "payload_bytes" ["B"] = U32(|e| e.payload), "Payload.";
    "size_bytes" ["B"] = U32(|e| e.size), "IP packet, headers included; PSDU of a radio frame.";
    "flags" [""] = Word(|e| &e.flags),
        "Header flags joined by a vertical bar: SYN, ACK, ECE, CE, NUMBERED ...; of a radio frame its number in the \
         packet and their count, such as \"2/6\", or \"acknowledgement\".";
};
