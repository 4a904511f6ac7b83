//! Values of the transport that users write as words.

use crate::text::words::words;
use incast_cc as cc;
use incast_engine::spec;

words! {
    /// Window rule during fast recovery.
    "Recovery" spec::Recovery {
        /// RFC 6582: inflated by duplicates, deflated by partial ACKs.
        "newreno" => spec::Recovery::NewReno,
        /// htsim's Swift: as newreno, but the inflation stands on the controller's window, which goes on moving, begins
        /// at nothing and is at most the window; every partial ACK restarts the retransmission timer; after a timeout
        /// the first segment goes alone. Beside a controller that cuts when recovery ends (`swift:recovery=at-exit`),
        /// without SACK.
        "htsim" => spec::Recovery::Htsim,
        /// RFC 6937, proportional rate reduction.
        "prr" => spec::Recovery::Prr,
        /// Proportional rate reduction as ns-3.43 does it: a duplicate counts one segment more than it delivers, other
        /// ACKs only when they make a whole segment, a partial ACK sends one segment beyond the window, 32-bit
        /// products.
        "prr-ns3" => spec::Recovery::PrrNs3,
        /// Proportional rate reduction as Linux does it: whole segments, in proportion to the window before the
        /// reduction, one more only on ACKs that advance and find nothing new lost; without SACK too, where a duplicate
        /// ACK stands for a segment that arrived.
        "linux" => spec::Recovery::Linux,
    }
}

words! {
    /// Peer's window.
    "WindowUpdate" spec::WindowUpdate {
        /// Every ACK of a flow. On a two-way connection data that acknowledges something new or moves the window's
        /// right edge ahead: a smaller window waits for that.
        "news" => spec::WindowUpdate::News,
        /// RFC 9293 section 3.10.7.4: each whose SEQ is not older than that of the segment that changed it last
        /// (SND.WL1, SND.WL2).
        "rfc9293" => spec::WindowUpdate::Rfc9293,
        /// Linux: each whose SEQ or ACK is newer; one that has neither only by a larger window, so that the first
        /// request, which has the SEQ of the handshake's last ACK, does not shrink the window of that. Nothing is sent
        /// again beyond a window that shrank, but for the first segment (tcp_may_update_window, tcp_retransmit_skb).
        "linux" => spec::WindowUpdate::Linux,
    }
}

words! {
    /// Retransmission timeout.
    "RtoRule" spec::RtoRule {
        /// RFC 6298: the floor, or srtt + max(G, 4 rttvar).
        "rfc6298" => spec::RtoRule::Rfc6298,
        /// Linux: srtt + max(floor, 4 times the largest mean deviation of late).
        "linux" => spec::RtoRule::Linux,
    }
}

words! {
    /// What the ACK covers that a change of the mark's state flushes.
    "Flush" spec::Flush {
        /// All segments waiting for an ACK (DCTCP paper, RFC 8257).
        "pending" => spec::Flush::Pending,
        /// What had arrived before the latest of them, which the next ACK covers with the new state (ns-3.43).
        "prior" => spec::Flush::Prior,
    }
}

words! {
    /// How the scoreboard finds losses.
    "Rules" spec::Rules {
        /// RFC 6675.
        "rfc6675" => spec::Rules::Rfc6675,
        /// ns-3.43: `dupthresh` SACKed segments above make a loss, whatever their size; an ACK that advances and SACKs
        /// counts as a duplicate; only losses below the highest SACKed segment are repaired, by segments cut anew up to
        /// the full size; a retransmission counts as in flight until it is acknowledged, SACKed or not; without new
        /// data all that fits of what is not proven lost goes; no rescue retransmission.
        "ns3" => spec::Rules::Ns3,
        /// RFC 8985 (RACK): a segment is lost when one that was sent after it has arrived; lost retransmissions are
        /// found too.
        "rack" => spec::Rules::Rack,
    }
}

words! {
    /// Bytes in flight that a controller is told of at a loss.
    "LossFlight" spec::LossFlight {
        /// All that is outstanding, less limited transmit's segments (RFC 5681).
        "outstanding" => spec::LossFlight::Outstanding,
        /// What is believed to be in the network, without what SACKs or duplicates say has left it (ns-3).
        "pipe" => spec::LossFlight::Pipe,
    }
}

words! {
    /// ECN.
    "Ecn" Option<cc::Ecn> {
        /// What the controller was designed for.
        "auto" => None,
        /// Packets are not ECN-capable.
        "off" => Some(cc::Ecn::Off),
        /// RFC 3168: echoed until the sender says CWR; one reduction a window.
        "classic" => Some(cc::Ecn::Classic),
        /// DCTCP's receiver: every ACK tells the mark of the data it covers.
        "dctcp" => Some(cc::Ecn::Dctcp),
    }
}

words! {
    /// Ranks of data.
    "Rank" Option<spec::Rank> {
        /// None.
        "none" => None,
        /// What is neither acknowledged nor SACKed of the transfer, message or write as the packet leaves (pFabric).
        /// Without an end it is the greatest.
        "remaining" => Some(spec::Rank::Remaining),
        /// What goes before the packet in it: no size has to be known.
        "sent" => Some(spec::Rank::Sent),
        /// All of it. Without an end it is the greatest.
        "size" => Some(spec::Rank::Size),
    }
}

words! {
    /// What classes of packets go by.
    "DemotionBy" spec::Rank {
        /// What goes before the packet in its transfer, message or write (PIAS): no size has to be known.
        "sent" => spec::Rank::Sent,
        /// All of it: every packet of it has one class. Without an end it is the greatest.
        "size" => spec::Rank::Size,
        /// What is neither acknowledged nor SACKed of it as the packet leaves. Without an end it is the greatest.
        "remaining" => spec::Rank::Remaining,
    }
}
