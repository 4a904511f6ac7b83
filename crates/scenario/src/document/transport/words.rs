//! Values of the transport written as words.

use crate::text::words::{Words, words};
use incast_cc as cc;
use incast_engine::spec;

/// Takes over words that the engine declares.
macro_rules! of_engine {
    ($($name:ident),+) => {
        $(impl Words for spec::$name {
            const NAME: &'static str = stringify!($name);
            const DOC: &'static str = spec::$name::DOC;
            const WORDS: &'static [(&'static str, spec::$name, &'static str)] = spec::$name::WORDS;
        })+
    };
}
of_engine!(Recovery, WindowUpdate, RtoRule, Flush, Rules, LossFlight, Walk, Free, Spread, Feedback, Control);

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
