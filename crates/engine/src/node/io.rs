//! What a node's state machines may do to the world outside: send packets, set timers, leave
//! observations. The same code runs under the engine of windows and under the judge, which
//! implement [`Outbox`] each in their way.

use std::sync::Arc;

use crate::event::interval::Interval;
use crate::event::order::{Timer, TimerKind};
use crate::event::outbox::{Instant, Outbox, Stamp};
use crate::event::packet::{Ext, Packet, flag, turn};
use crate::host::messages::Half;
use crate::host::nic::{FairNic, Served};
use crate::host::processing::{EngineId, Full, Held, Processing, Side};
use crate::map::fabric::FabricMap;
use crate::port::buffer::{Pool, Room};
use crate::port::class_queue::Dropped;
use crate::port::explicit::Offered;
use crate::port::{Port, Sent};
use crate::spec::Done;
use incast_record::{Happening, PacketEvent, Recorder, Sample};
use std::mem::take;

/// The world beyond a domain.
pub struct Reach<'a, O, R> {
    /// The map.
    pub net: &'a FabricMap<'a>,
    /// Packets and timers.
    pub out: &'a mut O,
    /// Observations.
    pub rec: &'a mut R,
}

/// Counts over the whole run.
#[derive(Clone, Copy, Default, Debug)]
pub struct Tally {
    /// Packets that passed a port.
    pub hops: u64,
    /// Packets that hosts handed to their NICs.
    pub sent: u64,
    /// Packets that reached their host.
    pub delivered: u64,
    /// Packets refused by queues, lost on links, or without a route.
    pub dropped: u64,
    /// Time of the last arrival, or of the end of a transmission that a failure has had, ps; with priority flow control
    /// of the last event at a port, which may come after it.
    pub last: u64,
}

/// One host.
#[derive(Clone, Debug)]
pub struct Host {
    /// Node number.
    pub node: u32,
    /// Domain-local number of its NIC's port.
    pub port: u32,
    /// Fair queues in front of that port, if asked for.
    pub nic: Option<FairNic>,
    /// Engines from the NIC to the stack, if it costs its packets something.
    pub receive: Option<Box<Processing>>,
    /// ... and from the stack to the NIC.
    pub send: Option<Box<Processing>>,
    /// What waits for its turn.
    pub turns: Turns,
}

/// Local senders of a host that act at this instant, each in its turn, once what arrives has been taken in.
#[derive(Clone, Default, Debug)]
pub struct Turns {
    /// Whose application a packet woke, in that order.
    pub woken: Vec<u32>,
    /// Whose timer fires, and when it was set in the order of [`Turns::settings`]: the retransmission timer of this
    /// sender, or the delayed ACK's of the half that it is joined to.
    pub due: Vec<(u64, u32, bool)>,
    /// When compressed SACKs of receivers may go, in the order of their timers, and which of them a timer that
    /// fires takes along.
    pub compressed: Vec<(u64, u32)>,
    /// See `compressed`.
    pub released: Vec<(u64, u32)>,
    /// Timers set so far.
    pub settings: u64,
}

/// A packet passes a FIFO port that nobody watches. Inlined into the walk of a window: it is the work
/// of a hop.
#[inline(always)]
pub fn pass<O: Outbox>(
    port: &mut Port,
    at: Instant,
    packet: &Packet,
    ext: Option<&mut Ext>,
    interval: &Interval,
    tally: &mut Tally,
    out: &mut O,
) {
    let sent = port.enqueue(at.time, packet, interval);
    settle(port, at, packet, ext, sent, tally, out);
}

/// Counts what a port has made of a packet, and sends it on.
#[inline(always)]
fn settle<O: Outbox>(
    port: &mut Port,
    at: Instant,
    packet: &Packet,
    ext: Option<&mut Ext>,
    sent: Sent,
    tally: &mut Tally,
    out: &mut O,
) {
    match sent {
        Sent::Arrives { time, marked } => {
            tally.hops += 1;
            let generation = if time == at.time { at.generation.saturating_add(1) } else { 0 };
            let stamp = Stamp { time, link: port.link, ce: (marked as u16) * flag::CE };
            out.arrive(packet, stamp, ext, generation, port);
        }
        Sent::Lost { .. } => {
            tally.hops += 1;
            tally.dropped += 1;
        }
        Sent::Dropped => tally.dropped += 1,
    }
}

/// Access to the world during one event.
pub struct Io<'a, O, R> {
    /// Now, ps.
    pub now: u64,
    /// Generation of the event.
    pub generation: u16,
    /// IP bytes of the packet whose arrival it is; [`u16::MAX`] for a timer.
    pub cause: u16,
    /// How long the packet at work was in an engine of its host, ps.
    pub held: u64,
    /// The map.
    pub net: &'a FabricMap<'a>,
    /// Packets and timers.
    pub out: &'a mut O,
    /// Observations.
    pub rec: &'a mut R,
    /// Ports of the domain.
    pub ports: &'a mut [Port],
    /// Hosts of the domain.
    pub hosts: &'a mut [Host],
    /// Shared buffers of its switches.
    pub pools: &'a mut [Pool],
    /// Sides of two-way connections on its hosts.
    pub halves: &'a mut [Half],
    /// Counts.
    pub tally: &'a mut Tally,
}

impl<O: Outbox, R: Recorder> Io<'_, O, R> {
    /// Generation of an effect at `time`.
    #[inline]
    fn generation_at(&self, time: u64) -> u16 {
        if time == self.now { self.generation.saturating_add(1) } else { 0 }
    }

    /// Sets a timer.
    #[inline]
    pub fn timer(&mut self, time: u64, kind: TimerKind, entity: u32) {
        debug_assert!(time >= self.now);
        let generation = self.generation_at(time);
        self.out.timer(time, generation, Timer { kind, entity });
    }

    /// A flow has come to an end at one of its hosts: triggers that count it hear of that.
    #[cold]
    pub fn announce(&mut self, flow: u32, done: Done) {
        let net = self.net;
        let host = net.spec.host_of((flow, done));
        for trigger in net.triggers.activated((flow, done)) {
            self.tell(host, net.triggers.list[trigger as usize].home, TimerKind::Activation, trigger);
        }
    }

    /// `trigger` has been activated so often: hosts with flows that this opens hear of it.
    pub fn activated(&mut self, trigger: u32, activation: u32) {
        let triggers = &self.net.triggers;
        let home = triggers.list[trigger as usize].home;
        for opening in triggers.opened(trigger, activation) {
            self.tell(home, triggers.openings[opening as usize].host, TimerKind::Opening, opening);
        }
    }

    /// Host `from` lets host `to` know: at once if they are one, else as late as the network may be.
    fn tell(&mut self, from: u32, to: u32, kind: TimerKind, entity: u32) {
        if from == to {
            self.timer(self.now, kind, entity);
        } else {
            let domain = self.net.place[to as usize].domain;
            self.out.timer_in(domain, self.now + self.net.relay.0, Timer { kind, entity });
        }
    }

    /// Whether now lies in the measured interval.
    #[inline]
    pub fn measured(&self) -> bool {
        self.net.interval.holds(self.now)
    }

    /// Offers `packet` to domain-local port `port`.
    #[inline]
    pub fn transmit(&mut self, port: u32, packet: &Packet, ext: Option<&mut Ext>) {
        let p = &mut self.ports[port as usize];
        if p.is_unusual() || packet.has(flag::TRACED) {
            return self.transmit_unusual(port, packet, ext);
        }
        let at = Instant { time: self.now, generation: self.generation };
        pass(p, at, packet, ext, &self.net.interval, self.tally, self.out);
    }

    /// A port has settled what happens to `packet`, seen by whoever traces it.
    fn sent(&mut self, port: u32, packet: &Packet, ext: Option<&mut Ext>, sent: Sent) {
        let p = &mut self.ports[port as usize];
        if packet.has(flag::TRACED) {
            let link = p.link;
            self.trace_sent(packet, sent, link);
        }
        let at = Instant { time: self.now, generation: self.generation };
        settle(&mut self.ports[port as usize], at, packet, ext, sent, self.tally, self.out);
    }

    /// To a port that is watched, or has an explicit queue, or of a packet that is traced or stamped.
    #[cold]
    fn transmit_unusual(&mut self, port: u32, packet: &Packet, ext: Option<&mut Ext>) {
        let now = self.now;
        self.watch(port);
        let p = &mut self.ports[port as usize];
        let mut ext = ext;
        if let Some(Ext { telemetry: Some(telemetry), .. }) = ext.as_deref_mut()
            && !packet.has(flag::REVERSE)
        {
            telemetry.push(p.stamp(now));
        }
        if !p.is_explicit() {
            let interval = &self.net.interval;
            let sent = match p.fails() {
                true => p.enqueue_failing(now, packet, interval),
                false => p.enqueue(now, packet, interval),
            };
            let turn = match sent {
                _ if self.net.entropy => packet.turn,
                Sent::Dropped => turn::NONE,
                _ => p.turn(packet),
            };
            self.watch(port);
            return self.sent(port, &Packet { turn, ..*packet }, ext, sent);
        }
        let packet = &Packet { turn: if self.net.entropy { packet.turn } else { turn::NONE }, ..*packet };
        // the flow is far away in memory: it is asked only where its class matters
        let class = if p.has_classes() { self.net.class(packet) } else { 0 };
        let pool = p.pool();
        let account = pool.and(self.net.pfc.as_ref()).and_then(|pfc| pfc.account(packet.link, class));
        let room = pool.map(|i| Room { pool: &mut self.pools[i as usize], account });
        let offered = p.offer(now, packet, ext.as_deref_mut(), class, room, &self.net.interval);
        let link = p.link;
        self.count_dropped(port);
        self.watch(port);
        match offered {
            Offered::Dropped => self.sent(port, packet, ext, Sent::Dropped),
            Offered::Passed { lost: true, .. } => self.sent(port, packet, ext, Sent::Lost { at: now }),
            Offered::Passed { marked, arrives, .. } => {
                self.sent(port, packet, ext, Sent::Arrives { time: arrives, marked });
            }
            Offered::Waits { ends, marked, lost } => {
                if packet.has(flag::TRACED) {
                    let sent = if lost { Sent::Lost { at: now } } else { Sent::Arrives { time: now, marked } };
                    self.trace_sent(packet, sent, link);
                }
                self.tally.hops += 1;
                self.tally.dropped += lost as u64;
                if let Some(ends) = ends {
                    self.timer(ends, TimerKind::Departure, link);
                }
                // what was refused asks for no pause: an account that is empty would never take it back
                if let (Some(pool), Some(account)) = (pool, account) {
                    self.balance(pool, account, packet, false);
                }
            }
        }
    }

    /// Packets that waited at a port and were dropped are counted, and leave their buffer.
    pub fn count_dropped(&mut self, port: u32) {
        while let Some(Dropped { packet, lost, place }) = self.ports[port as usize].take_dropped() {
            let p = &self.ports[port as usize];
            let (link, pool) = (p.link, p.pool());
            if let (Some(pool), Some(place)) = (pool, place) {
                self.pools[pool as usize].release(&packet, place.account, place.held, place.size);
                place.account.iter().for_each(|account| self.balance(pool, *account, &packet, true));
            }
            if !lost {
                self.tally.dropped += 1;
                if packet.has(flag::TRACED) {
                    self.trace(&packet, Happening::Drop, true, link);
                }
            }
        }
    }

    /// An explicit queue ends a transmission.
    pub fn depart(&mut self, port: u32) {
        if self.net.pfc.is_some() {
            // what waited while the port did not send is accounted for
            self.watch(port);
        }
        let p = &mut self.ports[port as usize];
        let pool = p.pool();
        let shared = pool.map(|i| &mut self.pools[i as usize]);
        let Some(mut departed) = p.depart(self.now, shared, &self.net.interval) else { return };
        let link = p.link;
        self.count_dropped(port);
        if let (Some(pool), Some(account)) = (pool, departed.account) {
            self.balance(pool, account, &departed.packet, true);
        }
        if let Some(next) = departed.next {
            // departures precede all else of their generation: one that follows at this instant is still of it, so that
            // a port without serialization sends whatever it holds within one
            let generation = if next == self.now { self.generation } else { 0 };
            self.out.timer(next, generation, Timer { kind: TimerKind::Departure, entity: link });
        }
        if departed.lost {
            return;
        }
        if departed.marked && departed.packet.has(flag::TRACED) {
            self.trace(&departed.packet, Happening::Mark, true, link);
        }
        let Some(time) = departed.arrives else {
            if departed.packet.is_pause_frame() {
                return;
            }
            self.tally.last = self.tally.last.max(self.now);
            self.tally.dropped += 1;
            if departed.packet.has(flag::TRACED) {
                self.trace(&departed.packet, Happening::Loss, true, link);
            }
            return;
        };
        // departures precede arrivals, so without delay the arrival is still of this generation
        let stamp = Stamp { time, link, ce: 0 };
        let port = &mut self.ports[port as usize];
        self.out.arrive(&departed.packet, stamp, departed.ext.as_mut(), self.generation, port);
    }

    /// Adds what happened at a port up to now to its time series, if it has one.
    pub fn watch(&mut self, port: u32) {
        if self.net.pfc.is_some() {
            self.tally.last = self.tally.last.max(self.now);
        }
        let p = &mut self.ports[port as usize];
        if p.is_probed() {
            observe_port(p, self.now, self.net, self.rec);
        }
    }

    #[cold]
    fn trace_sent(&mut self, packet: &Packet, sent: Sent, link: u32) {
        match sent {
            Sent::Dropped => self.trace(packet, Happening::Drop, true, link),
            Sent::Arrives { marked: true, .. } => {
                self.trace(&Packet { flags: packet.flags | flag::CE, ..*packet }, Happening::Mark, true, link);
            }
            Sent::Arrives { .. } => self.trace(packet, Happening::Enqueue, true, link),
            Sent::Lost { at } => {
                self.trace(packet, Happening::Enqueue, true, link);
                self.trace_at(at, packet, Happening::Loss, true, link);
            }
        }
    }

    /// Whether the host's NIC takes another data packet of `flow`.
    #[inline]
    pub fn has_room(&self, host: u32, flow: u32) -> bool {
        self.hosts[host as usize].nic.as_ref().is_none_or(|nic| nic.has_room(flow))
    }

    /// Hands a packet to the host's NIC.
    pub fn send(&mut self, host: u32, packet: &Packet, ext: Option<&mut Ext>) {
        self.tally.sent += 1;
        if packet.has(flag::TRACED) {
            let node = self.hosts[host as usize].node;
            self.trace(packet, Happening::Send, false, node);
        }
        if self.net.hosts_cost && self.hosts[host as usize].send.is_some() {
            return self.process(host, Side::Send, packet, ext);
        }
        self.hand_over(host, packet, ext);
    }

    /// A packet comes to one of its host's engines on this side, or is lost there.
    #[cold]
    pub fn process(&mut self, host: u32, side: Side, packet: &Packet, ext: Option<&mut Ext>) {
        let h = &mut self.hosts[host as usize];
        let node = h.node;
        let own = if side == Side::Send { &mut h.send } else { &mut h.receive };
        let Some(own) = own else { return };
        let engine = own.engine_of(self.net.spec.seed, packet);
        let held = Held { packet: *packet, ext: ext.map(take), since: self.now };
        match own.offer(engine, held, &self.net.interval) {
            Ok(Some(ends)) => self.timer(ends, TimerKind::Process, EngineId { host: node, side, engine }.entity()),
            Ok(None) => {}
            Err(Full) => {
                self.tally.dropped += 1;
                if packet.len > 0 && self.measured() {
                    self.rec.host_drop(packet.flow);
                }
                if packet.has(flag::TRACED) {
                    self.trace(packet, Happening::Drop, false, node);
                }
            }
        }
    }

    /// An engine is done with a packet, and begins the next.
    pub fn processed(&mut self, host: u32, id: EngineId) -> Option<Held> {
        let h = &mut self.hosts[host as usize];
        let own = if id.side == Side::Send { &mut h.send } else { &mut h.receive };
        let (held, next) = own.as_mut()?.finish(id.engine, self.now, &self.net.interval)?;
        if let Some(ends) = next {
            self.timer(ends, TimerKind::Process, id.entity());
        }
        Some(held)
    }

    /// The host's NIC takes a packet that its engines have worked on: what that took of an ACK's way is the
    /// host's delay, and data is stamped when it leaves the host.
    pub fn leave_host(&mut self, host: u32, held: Held) {
        let took = self.now - held.since;
        let (mut packet, mut ext) = (held.packet, held.ext);
        if packet.has(flag::REVERSE) {
            packet.seq += took;
        } else {
            packet.ts = self.now;
            if let Some(ext) = &mut ext {
                ext.host += took;
            }
        }
        self.hand_over(host, &packet, ext.as_mut());
    }

    /// A packet reaches the host's NIC from the stack.
    fn hand_over(&mut self, host: u32, packet: &Packet, ext: Option<&mut Ext>) {
        let h = &mut self.hosts[host as usize];
        match &mut h.nic {
            None => {
                let port = h.port;
                self.transmit(port, packet, ext);
            }
            Some(nic) if nic.is_idle() => {
                nic.begin(packet);
                self.begin_service(host, *packet, ext, self.now);
            }
            Some(nic) => nic.push(packet, ext, self.now),
        }
    }

    /// A fair NIC takes its next packet into service.
    pub fn serve(&mut self, host: u32) {
        let Some(nic) = &mut self.hosts[host as usize].nic else { return };
        let Some(Served { packet, mut ext, since }) = nic.serve_next() else { return };
        self.begin_service(host, packet, ext.as_mut(), since);
    }

    /// A packet that has been in a fair NIC since then is transmitted.
    fn begin_service(&mut self, host: u32, mut packet: Packet, ext: Option<&mut Ext>, since: u64) {
        let port = self.hosts[host as usize].port;
        if packet.flags & flag::ACK == 0 {
            packet.ts = self.now;
        }
        let p = &mut self.ports[port as usize];
        p.add_wait(since, self.now, packet.size as u64, &self.net.interval);
        let done = self.now + p.serialization(packet.size as u64);
        let link = p.link;
        self.transmit(port, &packet, ext);
        let p = &self.ports[port as usize];
        // a link at another rate: when the port has sent what it has just taken
        let done = if p.fails() { p.free_at().max(self.now) } else { done };
        self.timer(done, TimerKind::Departure, link);
    }

    /// Leaves a line in the packet trace, if its flow is traced.
    pub fn trace(&mut self, packet: &Packet, event: Happening, at_port: bool, place: u32) {
        self.trace_at(self.now, packet, event, at_port, place);
    }

    /// ... of what happens at `time`, ps: a run that ends before it takes the line back.
    #[cold]
    fn trace_at(&mut self, time: u64, packet: &Packet, event: Happening, at_port: bool, place: u32) {
        let spec = self.net.spec;
        if !spec.observe.trace.contains(&packet.flow) {
            return; // a packet that ports stamp
        }
        let place =
            if at_port { spec.links[place as usize].name.clone() } else { spec.node_names[place as usize].clone() };
        let mut flags = String::new();
        for (bit, name) in flag::NAMES {
            if packet.flags & bit != 0 {
                if !flags.is_empty() {
                    flags.push('|');
                }
                flags.push_str(name);
            }
        }
        self.rec.packet(PacketEvent {
            time_ps: time,
            flow: packet.flow,
            place,
            event,
            // an ACK has its host's delay there
            seq: if packet.has(flag::REVERSE) { 0 } else { packet.seq },
            ack: packet.ack,
            payload: packet.len as u32,
            size: packet.size as u32,
            flags,
        });
    }
}

/// Adds what happened at a probed port up to `now` to its time series.
#[cold]
pub fn observe_port<R: Recorder>(port: &mut Port, now: u64, net: &FabricMap, rec: &mut R) {
    let name: Arc<str> = net.spec.links[port.link as usize].name.as_str().into();
    port.observe(now, &net.interval, net.spec.observe.interval.map(|t| t.0), &mut |time_ps, value| {
        rec.sample(Sample { entity: name.clone(), name: "queue_packets", time_ps, value: value as f64 });
    });
}
