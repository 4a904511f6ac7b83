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
of_engine!(Recovery, WindowUpdate, RtoRule, Flush, Rules, LossFlight, Rank, Walk, Free, Spread, Feedback, Control);
of_engine!(Repace, Repair, Window);

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

impl Words for Option<spec::Rank> {
    const NAME: &'static str = "RankOrNone";
    const DOC: &'static str = spec::Rank::DOC;
    const WORDS: &'static [(&'static str, Option<spec::Rank>, &'static str)] =
        &[("none", None, "None."), ranked(0), ranked(1), ranked(2)];
}

/// A word of a rank where there may be none.
const fn ranked(number: usize) -> (&'static str, Option<spec::Rank>, &'static str) {
    let (word, rank, text) = spec::Rank::WORDS[number];
    (word, Some(rank), text)
}
