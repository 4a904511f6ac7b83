//! Observations over time: `samples.parquet` and `trace.parquet`.

use crate::figure::Of::{Index, OptF64, Time, U32, U64, Word};
use crate::figure::{Quantity, rows};
use crate::statistics::finite;
use crate::{Happening, PacketEvent, Sample};

/// `samples.parquet`.
pub(crate) const SAMPLES: &[Quantity<Sample>] = &rows! {
    "entity" [""] = Word(|s| &s.entity),
        "Observed entity: \"flow 3\", or the name of a port or of the channel of a radio cell.";
    "name" [""] = Word(|s| s.name),
        "State variable, with its unit at the end of the name: cwnd_bytes, rtt_s, alpha, queue_packets ...; \
         channel_busy is the busy share of the channel until the next row.";
    "time_s" ["s"] = Time(|s| s.time_ps), "Simulated time.";
    "value" ["as name"] = OptF64(|s| finite(s.value)),
        "Value from this time until the next row of the series; missing if it is not a number.";
};

/// `trace.parquet`.
pub(crate) const TRACE: &[Quantity<PacketEvent>] = &rows! {
    "time_ps" ["ps"] = U64(|e| e.time_ps), "Simulated time, exact.";
    "time_s" ["s"] = Time(|e| e.time_ps), "Simulated time in seconds.";
    "flow" [""] = U32(|e| e.flow), "Flow number.";
    "place" [""] = Word(|e| &e.place), "Node or port of the event.";
    "event" [""] = Index(|e| e.event as u32, Happening::names),
        "send (transport to NIC), enqueue (accepted by a port), mark (accepted and CE set), drop (dropped by a queue), \
         loss (lost on a link), arrive (far end of a link), receive (taken by the transport); in a radio cell transmit \
         (a frame of the packet, or its acknowledgement, begins) and hear (received by a station).";
    "seq" ["B"] = U64(|e| e.seq),
        "First payload byte of a data segment; 0 for ACKs. With the flag NUMBERED (data of transports that \
         number packets): number of the packet, from 0.";
    "ack" ["B"] = U64(|e| e.ack), "Cumulative acknowledgement; 0 for data.";
    "payload_bytes" ["B"] = U32(|e| e.payload), "Payload.";
    "size_bytes" ["B"] = U32(|e| e.size), "IP packet, headers included; PSDU of a radio frame.";
    "flags" [""] = Word(|e| &e.flags),
        "Header flags joined by a vertical bar: SYN, ACK, ECE, CE, NUMBERED ...; for a radio frame its number in the \
         packet and the number of frames, such as \"2/6\", or \"acknowledgement\".";
};
