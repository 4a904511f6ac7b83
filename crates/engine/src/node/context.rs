//! Event context of a node: send packets, set timers, record. The same code runs under the engine of windows and under
//! the reference engine, each with its own [`Outbox`].

use crate::event::order::Timer;
use crate::event::outbox::{Instant, Outbox};
use crate::host::Host;
use crate::host::messages::Tcb;
use crate::host::nic_queue::NicQueue;
use crate::map::fabric::FabricMap;
use crate::port::Port;
use crate::port::buffer::Pool;
use crate::radio::Cell;
use crate::radio::repeated::RepeatedArrivals;
use incast_cc::Time;
use incast_record::Recorder;

/// Destination of the effects of events.
pub trait Effects {
    /// Receives packets and timers.
    type Out: Outbox;
    /// Receives observations.
    type Rec: Recorder;
}

impl<O: Outbox, R: Recorder> Effects for (O, R) {
    type Out = O;
    type Rec = R;
}

/// Environment of a domain.
pub struct Env<'a, E: Effects> {
    /// The fabric map.
    pub net: &'a FabricMap<'a>,
    /// Packets and timers.
    pub out: &'a mut E::Out,
    /// Observations.
    pub rec: &'a mut E::Rec,
}

impl<'a, O: Outbox, R: Recorder> Env<'a, (O, R)> {
    /// An environment whose effects go to `out` and `rec`.
    #[inline(always)]
    pub fn new(net: &'a FabricMap<'a>, out: &'a mut O, rec: &'a mut R) -> Self {
        Env { net, out, rec }
    }
}

/// Counters over the whole run.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counts {
    /// Packets that passed a port.
    pub hops: u64,
    /// Packets that hosts handed to their NICs.
    pub sent: u64,
    /// Packets that reached their host.
    pub delivered: u64,
    /// Packets refused by queues, lost on links, or without a route.
    pub dropped: u64,
    /// Time of the last arrival, drop, or end of a host's work on a packet; with priority flow control, of the last
    /// event at a port. Never in the future.
    pub last: Time,
}

impl Counts {
    /// Records that the run has reached `time`.
    #[inline]
    pub fn happened(&mut self, time: Time) {
        self.last = self.last.max(time);
    }

    /// Counts a packet that is dropped, or certain to be lost, at `time`.
    #[inline]
    pub fn drop_at(&mut self, time: Time) {
        self.dropped += 1;
        self.happened(time);
    }
}

/// State shared by nodes of a domain.
#[derive(Debug, Default)]
pub struct Shared {
    /// Buffers of the switches.
    pub pools: Vec<Pool>,
    /// Radio cells.
    pub cells: Vec<Cell>,
    /// Packets of radio cells that have reached their hosts again.
    pub repeated: RepeatedArrivals,
    /// NIC queues of hosts. Empty without transports that number packets.
    pub nic_queues: Vec<NicQueue>,
}

/// State of a domain's nodes that an event's context borrows.
#[derive(Debug, Default)]
pub struct Nodes {
    /// Ports of all nodes. Those of one node are adjacent, in link order.
    pub ports: Vec<Port>,
    /// Hosts.
    pub hosts: Vec<Host>,
    /// State that nodes share.
    pub shared: Shared,
    /// Control blocks of two-way connections on the hosts.
    pub tcbs: Vec<Tcb>,
    /// Counts.
    pub counts: Counts,
}

impl Nodes {
    /// Context of an event. `cause` as in [`NodeCtx::cause`].
    #[inline(always)]
    pub fn ctx<'a, E: Effects>(&'a mut self, at: Instant, cause: u16, env: Env<'a, E>) -> NodeCtx<'a, E> {
        NodeCtx {
            now: at.time,
            generation: at.generation,
            cause,
            held: Time::ZERO,
            turn: None,
            net: env.net,
            out: env.out,
            rec: env.rec,
            ports: &mut self.ports,
            hosts: &mut self.hosts,
            shared: &mut self.shared,
            tcbs: &mut self.tcbs,
            counts: &mut self.counts,
        }
    }
}

/// The part of the simulation that one event may read and change.
pub struct NodeCtx<'a, E: Effects> {
    /// Current time.
    pub now: Time,
    /// Generation of the event.
    pub generation: u16,
    /// IP bytes of the packet whose arrival this is; [`u16::MAX`] for a timer.
    pub cause: u16,
    /// Time for which the current packet was in an engine of its host.
    pub held: Time,
    /// Generation and timer of an event that precedes the arrivals of its instant.
    pub turn: Option<(u16, Timer)>,
    /// The fabric map.
    pub net: &'a FabricMap<'a>,
    /// Packets and timers.
    pub out: &'a mut E::Out,
    /// Observations.
    pub rec: &'a mut E::Rec,
    /// Ports of the domain.
    pub ports: &'a mut [Port],
    /// Hosts of the domain.
    pub hosts: &'a mut [Host],
    /// State shared by its nodes.
    pub shared: &'a mut Shared,
    /// Control blocks of two-way connections on its hosts.
    pub tcbs: &'a mut [Tcb],
    /// Counts.
    pub counts: &'a mut Counts,
}

impl<E: Effects> NodeCtx<'_, E> {
    /// Generation of an effect at `time`.
    #[inline]
    pub(super) fn generation_at(&self, time: Time) -> u16 {
        if time == self.now { self.generation.saturating_add(1) } else { 0 }
    }

    /// Sets a timer.
    #[inline]
    pub fn timer(&mut self, time: Time, timer: Timer) {
        debug_assert!(time >= self.now);
        let generation = self.generation_at(time);
        self.out.timer(time, generation, timer);
    }

    /// True if the current time lies in the measured interval.
    #[inline]
    pub fn measured(&self) -> bool {
        self.net.interval.holds(self.now)
    }
}
