//! Settings of the reliable transport, and the presets: the transports of Linux, ns-3, htsim and Swift's paper as
//! sets of values.
//!
//! The engine declares every key, with its type, bounds and documentation; the table below takes them over. A preset is
//! a file of values, `presets/NAME.toml` of this crate; explicit values of the user override it. `incast describe
//! transport ns3` prints a preset's values.

mod dcpim;
mod expresspass;
mod homa;
mod pacing;
mod phost;
mod rdma;
pub(crate) mod rule;
mod tables;
mod words;

use crate::text::problem::{Problem, Report};
use crate::text::quantity::{Auto, Size, Time};
use crate::text::reading::read;
use crate::text::words::Word;
use incast_cc::{self as cc, Ecn};
use incast_engine::spec::{self, Flush, LossFlight, Rank, Recovery, RtoRule, Rules, WindowUpdate};
use pacing::Pacing;
use rule::{Around, PacketTransport};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use std::sync::OnceLock;
use tables::{DcPim, Eqds, ExpressPass, Homa, Ndp, PHost, Rdma, Roce, Uet, joined, value, written};

/// Declares the transport's table in a scenario from the engine's keys, the merge with another, and the values that the
/// engine has under the same names.
macro_rules! keys {
    (
        $($(#[doc = $group_about:literal])+ $group:ident: $name:ident {
            $($(#[doc = $about:literal])+ $(#[schemars($($bound:tt)+)])* $key:ident: $type:ty $(as $written:ty)?,)+
        })+
        by packets { $($(#[$which:meta])+ $transport:ident: $table:ident,)+ }
    ) => {
        /// Transport of flows: a preset, and the values that differ from it.
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        pub struct Transport {
            /// Reference whose transport this is; default: `linux`.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub preset: Option<Preset>,
            $($($(#[doc = $about])+
            $(#[schemars($($bound)+)])*
            #[serde(skip_serializing_if = "Option::is_none")]
            pub $key: Option<written!($type $(as $written)?)>,)+)+
            $($(#[$which])+ #[serde(skip_serializing_if = "Option::is_none")] pub $transport: Option<$table>,)+
        }

        impl Transport {
            /// Returns these values, with missing ones from `base`.
            fn or(&self, base: &Transport) -> Transport {
                Transport {
                    preset: self.preset.or(base.preset),
                    $($($key: Clone::clone(&self.$key).or_else(|| Clone::clone(&base.$key)),)+)+
                    $($transport: joined(&self.$transport, &base.$transport, $table::or),)+
                }
            }

            /// All values for the engine; `None` if one is missing.
            fn engine(&self) -> Option<spec::TransportSpec> {
                Some(spec::TransportSpec {
                    protocol: spec::Protocol::Tcp,
                    $($group: spec::$name { $($key: value(&self.$key)?),+ },)+
                })
            }

            /// Transport of a preset, with the values given here; `None` if one is missing.
            fn protocol(&self, preset: Preset) -> Option<spec::Protocol> {
                let all = self.or(preset.values());
                match preset.protocol() {
                    $(stringify!($transport) => all.$transport?.engine(),)+
                    _ => Some(spec::Protocol::Tcp),
                }
            }

            /// Problems of tables of transports that are not those of the preset.
            fn misplaced_tables(&self) -> Vec<Problem> {
                let tables = [$((stringify!($transport), self.$transport.is_some())),+];
                let preset = self.preset.unwrap_or_default();
                let (found, preset) = (preset.protocol(), preset.name());
                let misplaced = tables.into_iter().filter(|(name, given)| *given && *name != found);
                let preset = format!("transport.preset is \"{preset}\"");
                let message = |name| format!("is of {name} alone, and {preset}; expected \"{name}\"");
                misplaced.map(|(name, _)| Problem::new(name, message(name))).collect()
            }
        }

        /// Derives values of transports that are not given from the traffic.
        pub(crate) fn derive(
            transports: &mut [spec::TransportSpec],
            flows: &[spec::FlowSpec],
            queries: &[spec::QuerySpec],
        ) {
            $($table::derive(transports, flows, queries);)+
        }

        /// Reports a network that lacks what the transports of its flows need.
        pub(crate) fn check_network(around: &Around, problems: &mut Vec<Problem>) {
            $($table::check_network(around, problems);)+
        }

        /// Notes of transports on a run.
        pub(crate) fn notes(run: &spec::Spec) -> Vec<String> {
            [$($table::note(run)),+].into_iter().flatten().collect()
        }
    };
}

incast_engine::transport_keys! {
    keys
    by packets {
        /// Further settings of NDP; with `preset = "ndp"`.
        ndp: Ndp,
        /// Further settings of EQDS; with `preset = "eqds"`.
        eqds: Eqds,
        /// Further settings of UET; with `preset = "uet"`.
        uet: Uet,
        /// Further settings of Homa; with `preset = "homa"`.
        homa: Homa,
        /// Further settings of ExpressPass; with `preset = "expresspass"`.
        expresspass: ExpressPass,
        /// Further settings of pHost; with `preset = "phost"`.
        phost: PHost,
        /// Further settings of RoCE; with `preset = "roce"`.
        roce: Roce,
        /// Further settings of dcPIM; with `preset = "dcpim"`.
        dcpim: DcPim,
        /// Further settings of RDMA; with `preset = "rdma"` and its variants.
        rdma: Rdma,
    }
}

/// List of the presets, each with its word. Its values are in the file `presets/WORD.toml`.
macro_rules! presets {
    ($($(#[$about:meta])+ $name:ident = $word:literal,)+) => {
        /// A named set of values.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        pub enum Preset {
            $($(#[$about])+ #[serde(rename = $word)] $name,)+
        }

        /// Names and files of the presets.
        const FILES: &[(&str, &str)] =
            &[$(($word, include_str!(concat!("../../../presets/", $word, ".toml")))),+];

        impl Preset {
            /// All of them.
            pub const ALL: &[Preset] = &[$(Preset::$name),+];
        }
    };
}

presets! {
    /// Linux 6.1 as measured: quick ACKs for 16 segments, then one ACK per 2 segments or 40 ms; SACK, PRR also for ECN
    /// reductions, minimum RTO of 200 ms. Loss detection is that of RFC 6675 (no RACK, no tail-loss probe);
    /// `linux-default` has both.
    #[default]
    Linux = "linux",
    /// Linux 6.1 with its default settings: `linux`, but RACK with its timer and tail-loss probes detect losses
    /// (net.ipv4.tcp_recovery = 1, tcp_early_retrans = 3).
    LinuxDefault = "linux-default",
    /// ns-3.43's TCP: buffers of 128 KiB, minimum RTO of 1 s, PRR. Without two accidents that decide published ns-3
    /// results: the time-stamp clock is exact, and a full segment fits the MTU.
    Ns3 = "ns3",
    /// `ns3` over IPv6, for radio cells: segments of 536 bytes, headers of 72.
    Ns3Ipv6 = "ns3-ipv6",
    /// htsim's TCP family: 4000-byte packets with no header, 40-byte ACKs, no handshake, 15
    /// packets of initial window, an ACK per packet, NewReno recovery without SACK, one packet
    /// more than the size asks for.
    Htsim = "htsim",
    /// A transport as Swift's paper describes it (SIGCOMM 2020, section 3.6): SACK, an ACK per
    /// packet, RTO from the RTT with a floor of 100 us, no handshake. Sizes are our choice.
    Swift = "swift",
    /// NDP (SIGCOMM 2017): packets of 4160 bytes, an initial unsolicited window of 15, then a packet per pull.
    Ndp = "ndp",
    /// EQDS (NSDI 2022): packets of 4160 bytes, a window of 50 on speculative credit, then on credit of the receiver.
    Eqds = "eqds",
    /// The transport of Ultra Ethernet: packets of 4160 bytes, NSCC at the sender, RCCC at the receiver, or both.
    Uet = "uet",
    /// Homa (SIGCOMM 2018): packets of 1500 bytes, 9328 unscheduled bytes of a message, then grants to the shortest;
    /// eight priorities.
    Homa = "homa",
    /// PIAS (NSDI 2015) as in its authors' simulations, beside `controller = "dctcp"`: packets of 1500 bytes, an
    /// initial window of 70, timeouts of at least 2 ms, and eight priorities by bytes sent, with the sizes for web
    /// search.
    Pias = "pias",
    /// pFabric (SIGCOMM 2013) as in its authors' simulations, beside `controller = "newreno"` and
    /// `queue.kind = "pfabric"`: packets of 1500 bytes, windows of 12 to 15, timeouts of 45 us, probes after five.
    Pfabric = "pfabric",
    /// ExpressPass (SIGCOMM 2017) as in its authors' simulations, beside `queue.kind = "credit-shaping"`: packets of
    /// 1538 bytes, each for a credit of 76 to 92 that its receiver sends.
    ExpressPass = "expresspass",
    /// pHost (CoNEXT 2015) as in its authors' simulator: packets of 1500 bytes, messages of up to eight at once, others
    /// for tokens of the receiver, one in the time of a packet.
    PHost = "phost",
    /// RoCEv2's reliable connection: packets of 1068 bytes, a window of 128 at the rate of the link, and go-back-N: a
    /// sender returns to the first missing packet.
    Roce = "roce",
    /// dcPIM (SIGCOMM 2022) as in its authors' simulator: packets of 1500 bytes, messages of up to 19 at once, others
    /// for tokens of the receiver, in four channels that hosts match in four rounds.
    DcPim = "dcpim",
    /// RDMA with congestion control in the NIC: packets of 1048 bytes, an ACK a packet, go-back-N by NACKs and by a
    /// timeout of 4 ms, the controller's window.
    Rdma = "rdma",
    /// `rdma` as in the simulator of HPCC's authors: windows of a bandwidth-delay product that follow the rate,
    /// go-back-N without a timeout, telemetry in units.
    RdmaHpcc = "rdma-hpcc",
    /// `rdma-hpcc` as in the simulator of PowerTCP's authors.
    RdmaNs3Datacenter = "rdma-ns3-datacenter",
}

/// File of a preset: the values that differ from its base, and the meaning of `auto`.
struct Values {
    transport: Transport,
    /// Segments per ACK if the controller does not require an ACK per packet.
    delayed_ack: u32,
}

impl Preset {
    /// Name as in scenarios.
    pub fn name(self) -> &'static str {
        FILES[self as usize].0
    }

    /// Name of its transport, that of its table: a variant has its reference's.
    fn protocol(self) -> &'static str {
        self.reference().name()
    }

    /// Transport that matches a controller's form; `None` for a form without a reference.
    pub fn of_form(form: &str) -> Option<Preset> {
        match form {
            "linux" => Some(Preset::Linux),
            "ns3" | "ns3-35" | "yasomam" | "cse322" | "cse322-text" => Some(Preset::Ns3),
            "htsim" => Some(Preset::Htsim),
            _ => None,
        }
    }

    /// Reference of the preset, ignoring its variants.
    pub fn reference(self) -> Preset {
        match self {
            Preset::LinuxDefault => Preset::Linux,
            Preset::Ns3Ipv6 => Preset::Ns3,
            Preset::RdmaHpcc | Preset::RdmaNs3Datacenter => Preset::Rdma,
            _ => self,
        }
    }

    /// Every value of the preset.
    pub fn values(self) -> &'static Transport {
        &self.read().transport
    }

    /// The values of its file.
    fn read(self) -> &'static Values {
        static READ: [OnceLock<Values>; Preset::ALL.len()] = [const { OnceLock::new() }; Preset::ALL.len()];
        READ[self as usize].get_or_init(|| {
            let (name, text) = FILES[self as usize];
            let mut table: toml::Table = text.parse().unwrap_or_else(|e| panic!("presets/{name}.toml: {e}"));
            let base = table.remove("base").map(read::<Preset>);
            let auto = table.remove("auto");
            let own: Transport = read(table.into()).unwrap_or_else(|e| panic!("presets/{name}.toml: {e}"));
            let own = Transport { preset: Some(self), ..own };
            match base {
                Some(Ok(base)) => Values { transport: own.or(base.values()), delayed_ack: base.read().delayed_ack },
                _ => {
                    let ack = auto.as_ref().and_then(|auto| auto.get("delayed_ack")?.as_integer());
                    Values { transport: own, delayed_ack: ack.and_then(|n| u32::try_from(n).ok()).unwrap_or(1) }
                }
            }
        })
    }
}

impl Transport {
    /// Writes out every value: explicit ones, the others from the preset named here, or without one from `base`.
    pub fn over(&self, base: &Transport) -> Transport {
        self.or(self.preset.map_or(base, |preset| preset.values()))
    }

    /// Writes out every value, over the preset.
    pub fn resolved(&self) -> Transport {
        self.over(Preset::default().values())
    }

    /// Engine settings for flows under a controller of this profile. Missing values are the preset's.
    pub fn spec(&self, profile: &cc::Profile) -> spec::TransportSpec {
        let preset = self.preset.unwrap_or_default();
        let (spec, protocol) = (self.or(preset.values()).engine(), self.protocol(preset));
        let (Some(mut spec), Some(protocol)) = (spec, protocol) else {
            unreachable!("the file of a preset sets every value")
        };
        spec.protocol = protocol;
        if spec.acks.delayed_ack == 0 {
            spec.acks.delayed_ack = if profile.ack_every_packet { 1 } else { preset.read().delayed_ack };
        }
        spec
    }

    /// Problems of these values, by their keys.
    fn problems(&self) -> Vec<Problem> {
        let mut problems = self.misplaced_tables();
        let all = toml::Value::try_from(self.resolved()).unwrap_or(toml::Value::Boolean(false));
        problems.extend(self.spec(&cc::Profile::TCP).refused().into_iter().map(|refused| {
            let value = refused.key.split('.').try_fold(&all, |table, key| table.get(key));
            Problem { value: value.map(ToString::to_string), ..Problem::new(refused.key, refused.message) }
        }));
        problems
    }

    /// Reports problems of these values over those of `base`, without those that `base` has itself.
    pub(crate) fn check(&self, base: Option<&Transport>, at: &mut Report) {
        let known = base.map(Transport::problems).unwrap_or_default();
        let all = base.map_or_else(|| self.clone(), |base| self.over(base));
        for problem in all.problems().into_iter().filter(|problem| !known.contains(problem)) {
            match problem.value {
                Some(value) => at.value(problem.key, value, problem.message),
                None => at.key(problem.key, problem.message),
            }
        }
    }
}
