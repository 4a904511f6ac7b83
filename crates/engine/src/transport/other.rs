//! Endpoints of other transports than TCP: UDP, and those of the list of [`Protocol`].

use crate::event::metadata::Metadata;
use crate::event::order::Timer;
use crate::event::packet::{Ext, Packet};
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{Protocol, packet_transports};
use crate::transport::packet::credits::{CreditGrant, Credits, List};
use crate::transport::packet::sender_base::SenderBase;
use crate::transport::packet::{HostPacers, PacketReceiver, PacketSender};
use crate::transport::udp;
use incast_record::{FlowRecord, FlowState, Recorder};

/// Protocol of a flow's transport.
fn protocol<'n>(net: &'n FabricMap, flow: FlowId) -> &'n Protocol {
    &net.transport(net.flow(flow).transport).protocol
}

macro_rules! list {
    ($($(#[$doc:meta])+ $name:ident => $module:ident,)+) => {
        /// Sender of another transport than TCP.
        #[derive(Debug)]
        pub enum OtherSender {
            /// UDP.
            Udp(udp::Sender),
            $($(#[$doc])+ $name(Box<crate::transport::$module::Sender>),)+
        }

        /// Receiver of another transport than TCP.
        #[derive(Clone, Debug)]
        pub enum OtherReceiver {
            /// UDP.
            Udp(udp::Receiver),
            $($(#[$doc])+ $name(Box<crate::transport::$module::Receiver>),)+
        }

        /// Pacers of one host.
        #[derive(Debug, Default)]
        pub struct Kept {
            /// Credit pacer of all transports that have one.
            pub credits: Credits,
            $(#[allow(missing_docs)] pub $module: <crate::transport::$module::Receiver as PacketReceiver>::Pacer,)+
        }

        /// Calls a method of an endpoint: of UDP, and of a transport that numbers packets.
        macro_rules! of_any {
            ($end:expr, $udp:ident => $of_udp:expr, $own:ident => $of_other:expr) => {
                match $end {
                    Self::Udp($udp) => $of_udp,
                    $(Self::$name($own) => $of_other,)+
                }
            };
        }

        impl OtherSender {
            /// Handles a packet.
            pub fn on_packet(
                &mut self,
                ctx: &mut NodeCtx<impl Effects>,
                pacers: &mut Pacers,
                p: &Packet,
                ext: Option<&Ext>,
            ) {
                if !p.is_reverse() {
                    return;
                }
                let metadata = ext.and_then(|ext| ext.metadata.as_deref());
                match self {
                    OtherSender::Udp(_) => {}
                    $(OtherSender::$name(end) => {
                        let host = end.base().ip.host;
                        crate::transport::$module::Receiver::on_answer(ctx, &mut pacers.of(host).$module, host, p);
                        metadata.into_iter().for_each(|metadata| end.on_metadata(ctx, metadata));
                        end.on_packet(ctx, p);
                    })+
                }
            }

            /// Sender of `flow` on `host`, if its transport numbers packets.
            pub fn by_packets(net: &FabricMap, flow: FlowId, host: HostIx) -> Option<OtherSender> {
                match protocol(net, flow) {
                    Protocol::Tcp => None,
                    $(Protocol::$name(_) => Some(OtherSender::$name(Box::new(PacketSender::new(net, flow, host)))),)+
                }
            }
        }

        impl OtherReceiver {
            /// Receiver of `flow` on `host`, if its transport numbers packets.
            pub fn by_packets(net: &FabricMap, flow: FlowId, host: HostIx) -> Option<OtherReceiver> {
                match protocol(net, flow) {
                    Protocol::Tcp => None,
                    $(Protocol::$name(_) => {
                        Some(OtherReceiver::$name(Box::new(PacketReceiver::new(net, flow, host))))
                    })+
                }
            }

            /// Handles a packet.
            pub fn on_packet(
                &mut self,
                ctx: &mut NodeCtx<impl Effects>,
                pacers: &mut Pacers,
                p: &Packet,
                ext: Option<&mut Ext>,
            ) {
                let metadata: Option<Box<Metadata>> = ext.and_then(|ext| ext.metadata.take());
                match self {
                    OtherReceiver::Udp(end) => end.on_packet(ctx, p),
                    $(OtherReceiver::$name(end) => {
                        if let Some(metadata) = metadata {
                            end.on_metadata(metadata);
                        }
                        let Kept { credits, $module: own, .. } = pacers.of(end.base().ip.host);
                        end.on_packet(ctx, &mut HostPacers { own, credits }, p);
                    })+
                }
            }

            /// Gives credit on behalf of the host's credit pacer, which serves `list`.
            pub fn grant(
                &mut self,
                ctx: &mut NodeCtx<impl Effects>,
                kept: &mut Kept,
                list: List,
            ) -> Option<CreditGrant> {
                match self {
                    OtherReceiver::Udp(_) => None,
                    $(OtherReceiver::$name(end) => end.grant(ctx, &mut kept.$module, list),)+
                }
            }
        }
    };
}
packet_transports!(list);

impl OtherSender {
    /// Common state of senders that number packets.
    pub fn base_mut(&mut self) -> Option<&mut SenderBase> {
        of_any!(self, _udp => None, end => Some(end.base_mut()))
    }

    /// Handles one of the flow's timers, or its trigger.
    pub fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer) {
        of_any!(self, udp => udp.on_timer(ctx, timer), end => end.on_timer(ctx, timer));
    }

    /// Sends a message of the host's application.
    pub fn on_message(&mut self, ctx: &mut NodeCtx<impl Effects>, bytes: u64) {
        of_any!(self, _udp => {}, end => {
            end.base_mut().app.on_message(bytes);
            end.on_backlog(ctx);
        });
    }

    /// Bytes of the application that are acknowledged in order; none of datagrams are.
    pub fn acked(&self) -> u64 {
        of_any!(self, _udp => 0, end => end.base().app.acked())
    }

    /// IP packets so far.
    pub fn packets(&self) -> u32 {
        of_any!(self, udp => udp.ip.packets, end => end.base().ip.packets)
    }

    /// Returns whether the sender would do nothing more by itself.
    pub fn is_at_rest(&self) -> bool {
        of_any!(self, _udp => false, end => end.is_at_rest())
    }

    /// Called when the NIC is free for this sender.
    pub fn on_tx_ready(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        of_any!(self, _udp => {}, end => {
            end.base_mut().waits_for_nic = false;
            end.on_tx_ready(ctx);
        });
    }

    /// Index of the flow's time series.
    pub fn probe(&mut self) -> &mut Option<u32> {
        of_any!(self, udp => &mut udp.ip.probe, end => &mut end.base_mut().ip.probe)
    }

    /// Visits the state for time series. UDP data is never acknowledged.
    pub fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        of_any!(self, _udp => visit("acked_bytes", 0.0), end => {
            end.base().observe(visit);
            end.observe(visit);
        });
    }

    /// Window and state, once the flow has opened.
    pub fn snapshot(&self) -> Option<(Option<u64>, FlowState)> {
        of_any!(self, udp => udp.snapshot(), end => Some((end.window(), end.base().state()?)))
    }

    /// Adds the sender's fields to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        of_any!(self, udp => udp.record(record), end => end.base().record(record));
    }

    /// Records the writes that are unfinished at the end of the run.
    pub fn record_writes(&self, net: &FabricMap, rec: &mut impl Recorder) {
        of_any!(self, _udp => {}, end => end.base().app.record_writes(net, rec));
    }
}

impl OtherReceiver {
    /// Handles the flow's timer.
    pub fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        of_any!(self, _udp => {}, end => end.on_timer(ctx));
    }

    /// Takes a complete message, if one has arrived.
    pub fn take_message(&mut self) -> bool {
        of_any!(self, _udp => false, end => end.base_mut().take_message())
    }

    /// Bytes delivered.
    pub fn delivered(&self) -> u64 {
        of_any!(self, udp => udp.delivered(), end => end.base().received.delivered())
    }

    /// Packets to the sender so far; none of datagrams.
    pub fn packets(&self) -> u32 {
        of_any!(self, _udp => 0, end => end.base().packets())
    }

    /// Returns whether the receiver would do nothing more by itself.
    pub fn is_at_rest(&self) -> bool {
        of_any!(self, _udp => false, end => end.is_at_rest())
    }

    /// Flow of the receiver.
    pub fn flow(&self) -> FlowId {
        of_any!(self, udp => udp.flow, end => end.base().flow)
    }

    /// Adds the receiver's fields to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        of_any!(self, udp => udp.record(record), end => end.base().record(record));
    }
}

/// Pacers of the hosts of a domain: what a host keeps for its flows. Empty without transports that
/// number packets.
#[derive(Debug, Default)]
pub struct Pacers(Vec<Kept>);

impl Pacers {
    /// Adds the next host.
    pub fn add_host(&mut self) {
        self.0.push(Kept::default());
    }

    /// Pacers of a host.
    pub fn of(&mut self, host: HostIx) -> &mut Kept {
        &mut self.0[host.ix()]
    }
}
