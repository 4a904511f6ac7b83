//! One end of a connection on a test bench. Tests hand packets to it, and catch the packets it sends before the network
//! carries them on. The clock stands still until a test moves it.

use super::*;
use incast_engine::testing::{
    Blocks, Env, Ext, Instant, Kind, Outbox, Packet, Planned, ReceiveEndpoint, ReceiverIx, SendEndpoint, SenderIx,
    Simulation, Stamp, Timer, flag,
};
use incast_engine::{FlowId, LinkId, NodeId};
use incast_record::Collector;

/// A packet sent by the end under test.
#[derive(Clone, Debug)]
pub struct Caught {
    /// Time at which the stack sent it, ps.
    pub at: u64,
    pub packet: Packet,
    pub ext: Option<Ext>,
}

impl Caught {
    pub fn has(&self, flags: u16) -> bool {
        self.packet.has(flags)
    }
    /// SACK blocks, in the order of the header.
    pub fn blocks(&self) -> Vec<(u64, u64)> {
        self.ext
            .as_ref()
            .map_or(Vec::new(), |e| e.sack.near(self.packet.ack).into_iter().filter(|b| b.0 < b.1).collect())
    }
}

#[derive(Default)]
struct Wire {
    now: u64,
    caught: Vec<Caught>,
    timers: Vec<(u64, Timer)>,
}

impl Outbox for Wire {
    fn arrive(&mut self, packet: &Packet, _stamp: Stamp, ext: Option<&mut Ext>, _generation: u16) -> Option<usize> {
        self.caught.push(Caught { at: self.now, packet: *packet, ext: ext.map(std::mem::take) });
        None
    }
    fn timer(&mut self, time: Time, _generation: u16, timer: Timer) {
        self.timers.push((time.0, timer));
    }
    fn send_message(&mut self, _to: NodeId, time: Time, message: Timer) {
        self.timers.push((time.0, message));
    }
}

/// The ends of flow 0 of a network like [`wire`].
pub struct Bench {
    simulation: Simulation<'static>,
    wire: Wire,
    rec: Collector,
    /// Number of timers that fired, with or without effect.
    pub fired: u64,
}

impl Bench {
    pub fn new(spec: Spec) -> Bench {
        let nodes = spec.node_names.len();
        // the simulation borrows its specification, and a test lasts as long as its process
        let spec: &'static Spec = Box::leak(Box::new(Spec { domain_of: vec![0; nodes], ..spec }));
        let simulation = Simulation::new(spec).unwrap();
        Bench { simulation, wire: Wire::default(), rec: Collector::new(1), fired: 0 }
    }

    /// Current time, ps.
    pub fn now(&self) -> u64 {
        self.wire.now
    }

    fn caught(&mut self) -> Vec<Caught> {
        std::mem::take(&mut self.wire.caught)
    }

    fn give(&mut self, packet: Packet, mut ext: Option<Ext>) -> Vec<Caught> {
        let Simulation { net, domains, .. } = &mut self.simulation;
        let now = self.wire.now;
        let env = Env::new(net, &mut self.wire, &mut self.rec);
        domains[0].arrival(Instant { time: Time(now), generation: 0 }, &packet, ext.as_mut(), Planned::DELIVER, env);
        self.caught()
    }

    /// Moves the clock to `to`; timers due on the way fire. Returns the packets sent meanwhile.
    pub fn advance(&mut self, to: u64) -> Vec<Caught> {
        loop {
            let due = (0..self.wire.timers.len()).filter(|i| self.wire.timers[*i].0 <= to);
            let Some(first) = due.min_by_key(|i| self.wire.timers[*i].0) else { break };
            let (time, timer) = self.wire.timers.remove(first);
            self.fired += 1;
            self.wire.now = time;
            let Simulation { net, domains, .. } = &mut self.simulation;
            let env = Env::new(net, &mut self.wire, &mut self.rec);
            domains[0].timer(Instant { time: Time(time), generation: 0 }, timer, env);
        }
        self.wire.now = to;
        self.caught()
    }

    /// Opens the flow now.
    pub fn open(&mut self) -> Vec<Caught> {
        self.fire(Timer::Start(FlowId(0)))
    }

    /// Fires a timer now.
    pub fn fire(&mut self, timer: Timer) -> Vec<Caught> {
        let Simulation { net, domains, .. } = &mut self.simulation;
        let time = self.wire.now;
        let env = Env::new(net, &mut self.wire, &mut self.rec);
        domains[0].timer(Instant { time: Time(time), generation: 0 }, timer, env);
        self.caught()
    }

    /// Lets a packet arrive over `link`.
    fn arrives(&self, link: u32, mut packet: Packet) -> Packet {
        (packet.time, packet.link, packet.wnd, packet.size, packet.hop) =
            (Time(self.wire.now), LinkId(link), 1 << 29, 40, 2);
        packet
    }

    fn segment(&self, link: u32, seq: u64, len: u16) -> Packet {
        let mut packet =
            self.arrives(link, Packet::forward(Kind::Data, FlowId(0), NodeId(0), seq, len as u32, Time(self.wire.now)));
        packet.size += len;
        packet
    }

    fn answer(&self, kind: Kind, ack: u64, ts: u64) -> Packet {
        let mut packet = self.arrives(2, Packet::reverse(kind, FlowId(0), NodeId(0), ack));
        packet.flags |= flag::ACK;
        packet.set_echo(Time(ts), 0, Time::ZERO);
        packet
    }

    /// Delivers a data segment to the receiver.
    pub fn data(&mut self, seq: u64, len: u16, flags: u16) -> Vec<Caught> {
        self.give_segment(seq, len, |p| p.flags |= flags)
    }

    /// Delivers a modified data segment to the receiver.
    pub fn give_segment(&mut self, seq: u64, len: u16, change: impl FnOnce(&mut Packet)) -> Vec<Caught> {
        let mut packet = self.segment(3, seq, len);
        change(&mut packet);
        self.give(packet, None)
    }

    /// Delivers a control packet of the data direction to the receiver of `flow`.
    pub fn give_receiver(&mut self, kind: Kind, flow: u32, flags: u16) -> Vec<Caught> {
        let mut packet = self.arrives(3, Packet::forward(kind, FlowId(flow), NodeId(0), 0, 0, Time(self.wire.now)));
        packet.flags |= flags;
        self.give(packet, None)
    }

    /// Delivers a data segment of flow `flow` of a two-way connection to its receiver, over `link`.
    pub fn duplex_data(&mut self, flow: u32, link: u32, seq: u64, len: u16) -> Vec<Caught> {
        let mut packet = self.segment(link, seq, len);
        (packet.flow, packet.flags) = (FlowId(flow), flag::ACK | flag::DUPLEX);
        self.give(packet, Some(Ext::default()))
    }

    /// Puts caught packets back on the network. [`Bench::relay`] carries them first.
    pub fn resend(&mut self, sent: Vec<Caught>) {
        self.wire.caught.extend(sent);
    }

    /// Runs the ends of a two-way connection between hosts 0 and 1 until `until`: packets take `delay` each way, and
    /// `change` is applied to each on its way, with the time. Returns all packets sent.
    pub fn relay(&mut self, until: u64, delay: u64, mut change: impl FnMut(&mut Packet, u64)) -> Vec<Caught> {
        let mut sent: Vec<Caught> = Vec::new();
        let mut arrived = 0;
        while self.wire.now < until {
            let next = self.wire.now + US;
            sent.extend(self.advance(next));
            while let Some(Caught { packet, ext, .. }) = sent.get(arrived).filter(|c| c.at + delay <= next).cloned() {
                arrived += 1;
                let link = if packet.dst == NodeId(0) { 2 } else { 3 };
                let mut packet = packet;
                (packet.time, packet.link, packet.hop) = (Time(next), LinkId(link), 2);
                change(&mut packet, next);
                sent.extend(self.give(packet, ext));
            }
        }
        sent
    }

    /// Delivers a modified packet of flow `flow` of a two-way connection to its receiver, over `link`.
    pub fn duplex(
        &mut self,
        kind: Kind,
        (flow, link): (u32, u32),
        (seq, len): (u64, u16),
        change: impl FnOnce(&mut Packet),
    ) -> Vec<Caught> {
        let forward = Packet::forward(kind, FlowId(flow), NodeId(0), seq, len as u32, Time(self.wire.now));
        let mut packet = self.arrives(link, forward);
        packet.size += len;
        packet.flags = flag::ACK | flag::DUPLEX;
        change(&mut packet);
        let ext = packet.has(flag::ACK).then(Ext::default);
        self.give(packet, ext)
    }

    /// Delivers an answer to flow `flow` of a two-way connection to its sender, over `link`: up to `ack`, with a window
    /// of `wnd` bytes and the number `number`.
    pub fn duplex_answer(
        &mut self,
        kind: Kind,
        (flow, link): (u32, u32),
        (ack, wnd): (u64, u32),
        number: u32,
    ) -> Vec<Caught> {
        let mut packet = self.arrives(link, Packet::reverse(kind, FlowId(flow), NodeId(0), ack));
        packet.flags |= flag::ACK | flag::DUPLEX;
        packet.wnd = wnd;
        packet.set_echo(Time(self.wire.now), 0, Time::ZERO);
        self.give(packet, Some(Ext { ts: Time(self.wire.now), number, ..Ext::default() }))
    }

    /// Delivers an ACK to the sender, with the echoed time stamp `ts` and SACK blocks.
    pub fn ack(&mut self, ack: u64, ts: u64, flags: u16, sack: &[(u64, u64)]) -> Vec<Caught> {
        let mut blocks = [(0, 0); 4];
        blocks[..sack.len()].copy_from_slice(sack);
        let ext = Ext { sack: Blocks::of(&blocks), ..Ext::default() };
        let mut packet = self.answer(Kind::Ack, ack, ts);
        packet.flags |= flags;
        self.give(packet, (!sack.is_empty()).then_some(ext))
    }

    /// Delivers any packet of the ACK direction to the sender.
    pub fn give_sender(&mut self, kind: Kind, ack: u64, ts: u64, wnd: u32) -> Vec<Caught> {
        let mut packet = self.answer(kind, ack, ts);
        packet.wnd = wnd;
        self.give(packet, None)
    }

    /// A value of the sender's state, by its name in time series.
    pub fn state(&self, name: &str) -> f64 {
        let mut found = None;
        self.simulation.domains[0].endpoints.senders[SenderIx(0)].observe(&mut |n, value| {
            if n == name {
                found = Some(value);
            }
        });
        found.unwrap_or_else(|| panic!("a sender shows no {name}"))
    }

    /// The receiver.
    pub fn receiver(&self) -> &incast_engine::testing::Receiver {
        match &self.simulation.domains[0].endpoints.receivers[ReceiverIx(0)] {
            ReceiveEndpoint::Tcp(receiver) => receiver,
            _ => panic!("no TCP receiver"),
        }
    }

    /// The sender.
    pub fn sender(&self) -> &incast_engine::testing::Sender {
        match &self.simulation.domains[0].endpoints.senders[SenderIx(0)] {
            SendEndpoint::Tcp(sender) => sender,
            _ => panic!("no TCP sender"),
        }
    }

    /// The flow's record, as the sender and the receiver would leave it now.
    pub fn record(&self) -> FlowRecord {
        let mut record = FlowRecord::default();
        self.sender().record(&mut record);
        self.receiver().record(&mut record);
        record
    }
}
