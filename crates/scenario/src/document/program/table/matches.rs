//! Matches of entries.

use super::value::{Value, exact, masked, outside, way};
use crate::document::program::kind::Around;
use crate::text::problem::Report;
use incast_engine::spec::Spec;
use incast_engine::spec::table::{self, Field, KindOf, Masked, Way, tcp_flag};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Packets matched by an entry. A number may be a text with a mask: `"0x4/0x6"` requires bit 2 set and bit 1 clear.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(inline)]
pub struct Match {
    /// Number of the flow, in either direction.
    pub flow: Option<Value>,
    /// Sending host: its name or number.
    pub source: Option<Value>,
    /// Destination host: its name or number.
    pub destination: Option<Value>,
    /// TCP flags (FIN, SYN, RST, PSH, ACK, ECE, CWR): a value, and after `/` the mask of compared flags, each joined
    /// by `+`; default: all are compared. `"SYN/SYN+ACK"` is a SYN without ACK. IP fragments after the first have no
    /// FIN, SYN and RST.
    pub flags: Option<String>,
    /// Kind of packet.
    pub kind: Option<Kind>,
    /// Traffic class.
    pub class: Option<Value>,
    /// Port through which the packet arrived: that of a link (`"s>h3"`), the one to a node (`"h3"`, `"core*"`), or
    /// `"stack"`, the node's own.
    pub ingress: Option<String>,
    /// Port through which the packet will leave, in the same form.
    pub egress: Option<String>,
    /// IP bytes.
    pub size: Option<Value>,
    /// Payload bytes of the segment.
    pub len: Option<Value>,
    /// True for ECN-capable packets.
    pub ect: Option<bool>,
    /// True for marked packets: congestion experienced.
    pub ce: Option<bool>,
}

/// Kind of packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Any segment of TCP: one of the next four.
    Tcp,
    /// A segment of the data direction: payload, FIN, window probe.
    Data,
    /// An acknowledgement without data.
    Ack,
    /// A segment with SYN.
    Syn,
    /// A segment with RST.
    Rst,
    /// A UDP datagram.
    Datagram,
    /// A congestion notification packet.
    Cnp,
    /// A negative acknowledgement of data that a queue has trimmed.
    Nack,
    /// Notice of a host that a flow is idle.
    Idle,
    /// Notice of a host that a flow sends again.
    Resumed,
}

const FLAGS: [(&str, u32); 7] = [
    ("FIN", tcp_flag::FIN),
    ("SYN", tcp_flag::SYN),
    ("RST", tcp_flag::RST),
    ("PSH", tcp_flag::PSH),
    ("ACK", tcp_flag::ACK),
    ("ECE", tcp_flag::ECE),
    ("CWR", tcp_flag::CWR),
];

/// Flags joined by `+`; 0 for an empty text.
fn flags(text: &str) -> Result<u32, &str> {
    let mut bits = 0;
    for word in text.split('+').map(str::trim).filter(|word| !word.is_empty()) {
        bits |= FLAGS.iter().find(|(name, _)| *name == word).ok_or(word)?.1;
    }
    Ok(bits)
}

impl Kind {
    fn masked(self) -> (u32, u32) {
        let exact = |kind: KindOf| (kind.bits(), 31);
        match self {
            Kind::Tcp => (KindOf::TCP, KindOf::TCP),
            Kind::Data => exact(KindOf::Data),
            Kind::Ack => exact(KindOf::Ack),
            Kind::Syn => exact(KindOf::Syn),
            Kind::Rst => exact(KindOf::Rst),
            Kind::Datagram => exact(KindOf::Datagram),
            Kind::Cnp => exact(KindOf::Cnp),
            Kind::Nack => exact(KindOf::Nack),
            Kind::Idle => exact(KindOf::Idle),
            Kind::Resumed => exact(KindOf::Resumed),
        }
    }
}

impl Match {
    /// Compiles it for the engine; problems go to `at`.
    pub(super) fn compiled(&self, around: &Around, at: &mut Report) -> table::Match {
        let hosts = &around.network.names[..around.network.hosts as usize];
        let mut fields = Vec::new();
        let mut put = |field, masked: Option<(u32, u32)>| {
            fields.extend(masked.map(|(value, mask)| Masked { field, value, mask }));
        };
        let numbers = [
            ("flow", Field::Flow, &self.flow, u32::MAX, &[][..]),
            ("source", Field::Source, &self.source, u32::MAX, hosts),
            ("destination", Field::Destination, &self.destination, u32::MAX, hosts),
            ("class", Field::Class, &self.class, 0xff, &[]),
            ("size", Field::Size, &self.size, 0xffff, &[]),
            ("len", Field::Len, &self.len, 0xffff, &[]),
        ];
        for (key, field, value, all, names) in numbers {
            put(field, value.as_ref().and_then(|value| masked(value, all, names, key, at)));
        }
        put(Field::Flags, self.flags.as_ref().and_then(|text| self.flag_bits(text, at)));
        // flags belong to TCP's header
        let kind = self.kind.or(self.flags.as_ref().map(|_| Kind::Tcp));
        put(Field::Kind, kind.map(Kind::masked));
        let ecn = [(self.ect, 1), (self.ce, 2)];
        let ecn = ecn.into_iter().filter_map(|(said, bit)| Some((if said? { bit } else { 0 }, bit)));
        put(Field::Ecn, ecn.reduce(|a, b| (a.0 | b.0, a.1 | b.1)));
        let mut port = |key, text: &Option<String>| text.as_ref().and_then(|text| way(text, key, around, at));
        let (ingress, egress) = (port("ingress", &self.ingress), port("egress", &self.egress));
        table::Match { fields, ingress, egress }
    }

    /// Reports flows and hosts that the run does not have.
    pub(super) fn check_run(&self, spec: &Spec, at: &mut Report) {
        let (flows, hosts) = (spec.flows.len() as u64, u64::from(spec.hosts));
        let numbers = [
            ("flow", &self.flow, flows, "flows"),
            ("source", &self.source, hosts, "hosts"),
            ("destination", &self.destination, hosts, "hosts"),
        ];
        for (key, value, count, what) in numbers {
            if let Some(value) = value.as_ref().filter(|value| exact(value).is_some_and(|number| number >= count)) {
                value.wrong(key, format!("the run has {count} {what}; expected one of 0 to {}", count.max(1) - 1), at);
            }
        }
    }

    fn flag_bits(&self, text: &str, at: &mut Report) -> Option<(u32, u32)> {
        if let Some(kind) = self.kind.filter(|kind| kind.masked().0 & KindOf::TCP == 0) {
            let message = format!("are TCP's, which {} does not have", crate::text::words::word_of(&kind));
            at.text("flags", text, message);
        }
        let (value, mask) = text.split_once('/').map_or((text, None), |(value, mask)| (value, Some(mask)));
        let read = flags(value).and_then(|value| Ok((value, mask.map_or(Ok(tcp_flag::ALL), flags)?)));
        match read {
            Ok((value, mask)) => {
                let message = "has flags outside its mask, which no packet matches; expected a mask that covers them";
                outside(value, mask, || at.text("flags", text, message)).then_some((value, mask))
            }
            Err(word) => {
                let known: Vec<&str> = FLAGS.iter().map(|(name, _)| *name).collect();
                let message = format!("has {word}; expected {} joined by +, such as \"SYN/SYN+ACK\"", known.join(", "));
                at.text("flags", text, message);
                None
            }
        }
    }
}

/// True if a packet may match both, by each field and port.
pub(super) fn overlap(a: &table::Match, b: &table::Match) -> bool {
    let differ = |a: &Masked, b: &Masked| {
        // no segment has two of these
        let alone = (a.value | b.value) & (tcp_flag::SYN | tcp_flag::RST | tcp_flag::FIN);
        let both = a.field == Field::Flags && alone.count_ones() > 1;
        a.field == b.field && ((a.value ^ b.value) & a.mask & b.mask != 0 || both)
    };
    let apart = |a: &Option<Way>, b: &Option<Way>| match (a, b) {
        (Some(Way::Links(a)), Some(Way::Links(b))) => !a.iter().any(|link| b.contains(link)),
        (Some(a), Some(b)) => a != b,
        _ => false,
    };
    let fields = a.fields.iter().any(|a| b.fields.iter().any(|b| differ(a, b)));
    !fields && !apart(&a.ingress, &b.ingress) && !apart(&a.egress, &b.egress)
}
