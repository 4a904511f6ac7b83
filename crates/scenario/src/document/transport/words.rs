//! Values of the transport written as words.

use crate::text::words::words;
use incast_cc as cc;
use incast_engine::spec;

words! {
    /// Window rule during fast recovery.
    "Recovery" spec::Recovery {
        /// RFC 6582: inflated by duplicates, deflated by partial ACKs.
        "newreno" => spec::Recovery::NewReno,
        /// htsim's Swift: as newreno, but the inflation is added to the controller's window, which continues to
        /// change; it begins at zero and is at most the window; every partial ACK restarts the retransmission timer;
        /// after a timeout the first segment is sent alone. With a controller that reduces when recovery ends
        /// (`swift:recovery=at-exit`), without SACK.
        "htsim" => spec::Recovery::Htsim,
        /// RFC 6937, proportional rate reduction.
        "prr" => spec::Recovery::Prr,
        /// Proportional rate reduction as in ns-3.43: a duplicate counts one segment more than it delivers, other
        /// ACKs count only if they make a whole segment, a partial ACK sends one segment beyond the window, 32-bit
        /// products.
        "prr-ns3" => spec::Recovery::PrrNs3,
        /// Proportional rate reduction as in Linux: whole segments, in proportion to the window before the reduction,
        /// one more only on ACKs that advance and find nothing newly lost; without SACK too, where a duplicate ACK
        /// stands for a segment that arrived.
        "linux" => spec::Recovery::Linux,
    }
}

words! {
    /// Peer's window.
    "WindowUpdate" spec::WindowUpdate {
        /// Every ACK of a flow. On a two-way connection, data that acknowledges something new or advances the
        /// window's right edge: a smaller window waits for that.
        "news" => spec::WindowUpdate::News,
        /// RFC 9293 section 3.10.7.4: each segment whose SEQ is not older than that of the segment that changed it
        /// last (SND.WL1, SND.WL2).
        "rfc9293" => spec::WindowUpdate::Rfc9293,
        /// Linux: each segment whose SEQ or ACK is newer; with neither, only one with a larger window, so that the
        /// first request, which has the SEQ of the handshake's last ACK, does not shrink the window of that. Nothing
        /// is retransmitted beyond a window that shrank, except the first segment (tcp_may_update_window,
        /// tcp_retransmit_skb).
        "linux" => spec::WindowUpdate::Linux,
    }
}

words! {
    /// Retransmission timeout.
    "RtoRule" spec::RtoRule {
        /// RFC 6298: the floor, or srtt + max(G, 4 rttvar).
        "rfc6298" => spec::RtoRule::Rfc6298,
        /// Linux: srtt + max(floor, 4 times the largest recent mean deviation).
        "linux" => spec::RtoRule::Linux,
    }
}

words! {
    /// Data covered by the ACK flushed at a change of the mark's state.
    "Flush" spec::Flush {
        /// All segments waiting for an ACK (DCTCP paper, RFC 8257).
        "pending" => spec::Flush::Pending,
        /// The segments that arrived before the latest of them; the next ACK covers the latest with the new state
        /// (ns-3.43).
        "prior" => spec::Flush::Prior,
    }
}

words! {
    /// Loss detection by the scoreboard.
    "Rules" spec::Rules {
        /// RFC 6675.
        "rfc6675" => spec::Rules::Rfc6675,
        /// ns-3.43: `dupthresh` SACKed segments above make a loss, whatever their size; an ACK that advances and
        /// SACKs counts as a duplicate; only losses below the highest SACKed segment are repaired, by segments split
        /// anew up to the full size; a retransmission counts as in flight until it is acknowledged, SACKed or not;
        /// without new data everything that fits and is not proven lost is sent; no rescue retransmission.
        "ns3" => spec::Rules::Ns3,
        /// RFC 8985 (RACK): a segment is lost when one that was sent after it has arrived; lost retransmissions are
        /// found too.
        "rack" => spec::Rules::Rack,
    }
}

words! {
    /// Bytes in flight reported to a controller at a loss.
    "LossFlight" spec::LossFlight {
        /// Outstanding bytes, minus limited transmit's segments (RFC 5681).
        "outstanding" => spec::LossFlight::Outstanding,
        /// Bytes estimated to be in the network, without those that SACKs or duplicates report as having left it
        /// (ns-3).
        "pipe" => spec::LossFlight::Pipe,
    }
}

words! {
    /// ECN.
    "Ecn" Option<cc::Ecn> {
        /// The signal that the controller was designed for.
        "auto" => None,
        /// Packets are not ECN-capable.
        "off" => Some(cc::Ecn::Off),
        /// RFC 3168: echoed until the sender sends CWR; one reduction per window.
        "classic" => Some(cc::Ecn::Classic),
        /// DCTCP's receiver: every ACK reports the mark of the data it covers.
        "dctcp" => Some(cc::Ecn::Dctcp),
    }
}

words! {
    /// Ranks of data.
    "Rank" Option<spec::Rank> {
        /// None.
        "none" => None,
        /// Bytes of the transfer, message or write neither acknowledged nor SACKed when the packet leaves (pFabric).
        /// The highest rank if endless.
        "remaining" => Some(spec::Rank::Remaining),
        /// Bytes sent before the packet in the transfer, message or write: no size has to be known.
        "sent" => Some(spec::Rank::Sent),
        /// Size of the transfer, message or write. The highest rank if endless.
        "size" => Some(spec::Rank::Size),
    }
}

words! {
    /// Measure that determines the class of packets.
    "DemotionBy" spec::Rank {
        /// Bytes sent before the packet in its transfer, message or write (PIAS): no size has to be known.
        "sent" => spec::Rank::Sent,
        /// Size of the transfer, message or write: all its packets have one class. The highest if endless.
        "size" => spec::Rank::Size,
        /// Bytes of it neither acknowledged nor SACKed when the packet leaves. The highest if endless.
        "remaining" => spec::Rank::Remaining,
    }
}
