//! Radio cells.

mod discovery;
pub mod engines;
mod properties;
mod saturated;
mod vectors;

use incast_cc::Time;
use incast_engine::spec::{
    AdaptationSpec, Assessment, CellSpec, DiscoverySpec, EnergySpec, Errors, FramingSpec, MacSpec, PhySpec,
    Propagation, StationSpec,
};
use incast_engine::testing::{Cell, Effect, Interval, Kind, Observed, Order, Packet};
use incast_engine::{FlowId, NodeId};

/// A sink in the middle of a circle of 10 m with `senders` stations, as in ns-3.
pub fn circle(senders: u32) -> CellSpec {
    let place = |i: u32| {
        let turn = core::f64::consts::TAU * (i - 1) as f64 / senders as f64;
        (10.0 * turn.cos(), 10.0 * turn.sin())
    };
    let at = |i: u32| if i == 0 { (0.0, 0.0) } else { place(i) };
    let stations = (0..=senders).map(|node| StationSpec { node, at: at(node), routes: false });
    CellSpec {
        channel: senders + 1,
        stations: stations.collect(),
        propagation: Propagation::Range(80.0),
        phy: PhySpec {
            power: 0.0,
            noise: -106.99,
            busy_from: -96.58,
            errors: Errors::Ns3,
            assessment: Assessment::End,
        },
        mac: MacSpec {
            least_exponent: 3,
            most_exponent: 5,
            backoffs: 4,
            retries: 3,
            acknowledged: true,
            foreign_acks_fail: true,
            duplicates_rejected: false,
            reception_restarts: true,
        },
        framing: framing(),
        energy: EnergySpec { volts: 3.0, transmitting: 17.4, receiving: 18.8, listening: 18.8 },
    }
}

/// 6LoWPAN as in ns-3.
pub fn framing() -> FramingSpec {
    let adaptation =
        AdaptationSpec { tcp_header: 38, udp_header: 42, reassembly: Time::s(60), mesh: None, discovery: None };
    FramingSpec { overhead: 11, payload: 114, adaptation: Some(adaptation) }
}

/// The cell of `spec` with neighbour discovery as in ns-3, but without address claims.
pub fn discovering(spec: CellSpec) -> CellSpec {
    let discovery = Some(DiscoverySpec {
        jitter_ms: 9,
        interval: Time::s(1),
        retries: 3,
        waiting: 3,
        reachable: Time::s(30),
        delay: Time::s(5),
        probes: 3,
        addresses: 0,
        router_solicitations: 0,
    });
    let adaptation = spec.framing.adaptation.clone().map(|a| AdaptationSpec { discovery, ..a });
    CellSpec { framing: FramingSpec { adaptation, ..spec.framing }, ..spec }
}

/// A cell in which each packet is a frame.
pub fn raw(spec: CellSpec) -> CellSpec {
    CellSpec { framing: FramingSpec { adaptation: None, ..framing() }, ..spec }
}

/// Drives a cell by itself.
pub struct Drive {
    pub cell: Cell,
    /// Packets that arrived: nanoseconds, station, number of the packet.
    pub arrived: Vec<(u64, u16, u16)>,
    /// Packets that were lost: nanoseconds, number of the packet, true if unreachable.
    pub losses: Vec<(u64, u16, bool)>,
    pub again: u64,
    /// Stations that finished a packet and had no other one.
    pub done: Vec<u16>,
    /// Stations that always have a packet of this size for another station.
    busy: Vec<(u16, u16, u32)>,
    sent: u16,
    now: Time,
}

impl Drive {
    pub fn new(spec: &CellSpec) -> Drive {
        let order = Order { seed: 1, ties: incast_engine::spec::Ties::Link };
        Drive::with(spec, order)
    }

    pub fn with(spec: &CellSpec, order: Order) -> Drive {
        let interval = Interval { from: Time::ZERO, to: Time::NEVER, every: Time::s(1) };
        let cell = Cell::new(spec, order, &interval, Observed { frames: true, channel: true });
        Drive {
            cell,
            arrived: Vec::new(),
            losses: Vec::new(),
            again: 0,
            done: Vec::new(),
            busy: Vec::new(),
            sent: 0,
            now: Time::ZERO,
        }
    }

    /// Submits a datagram of `size` IP bytes from one station to another. Returns whether it is in service.
    pub fn submit(&mut self, now: Time, way: (u16, u16), size: u32) -> bool {
        self.sent += 1;
        let mut packet = Packet::forward(Kind::Datagram, FlowId(0), NodeId(way.1 as u32), 0, 0, now);
        (packet.size, packet.id) = (size as u16, self.sent);
        self.cell.submit(now, way, now, &packet, None)
    }

    /// Lets a station always have a datagram of `size` bytes for another, from `now` on.
    pub fn keep_busy(&mut self, now: Time, (from, to): (u16, u16), size: u32) {
        self.now = now;
        self.busy.push((from, to, size));
        self.submit(now, (from, to), size);
    }

    pub fn until(&mut self, end: Time) {
        while self.cell.next() <= end {
            self.now = self.cell.next();
            self.cell.run(self.now, self.now);
            let effects = std::mem::take(&mut self.cell.effects);
            for effect in effects {
                match effect {
                    Effect::Arrived { to, packet, again, .. } => {
                        self.arrived.push((self.now.0 / 1000, to, packet.id));
                        self.again += again as u64;
                    }
                    Effect::Done { station } => {
                        if let Some(&(from, to, size)) = self.busy.iter().find(|b| b.0 == station) {
                            self.submit(self.now, (from, to), size);
                        } else {
                            self.done.push(station);
                        }
                        self.cell.resume(self.now, station);
                    }
                    Effect::Lost { packet, unreachable, .. } => {
                        self.losses.push((self.now.0 / 1000, packet.id, unreachable));
                    }
                }
            }
        }
    }
}
