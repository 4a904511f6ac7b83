//! The reference engine: one global heap over the same nodes. Slow, and obviously in order. Tests require the engine of
//! windows to give the same bytes.

use crate::RunError;
use crate::domain::Domain;
use crate::domain::build::Simulation;
use crate::event::order::{Event, Key, Order, Timer};
use crate::event::outbox::{Instant, Outbox, Stamp};
use crate::event::packet::{Ext, Packet};
use crate::ids::{DomainId, NodeId};
use crate::map::fabric::FabricMap;
use crate::node::context::Env;
use crate::run::ending::{self, Ending};
use incast_cc::Time;
use incast_record::{Collector, Outcome};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem::take;

/// An event in the heap, ordered by its key.
#[derive(Clone, Debug)]
struct Queued {
    key: Key,
    event: Event,
}

impl PartialEq for Queued {
    fn eq(&self, other: &Queued) -> bool {
        self.key == other.key
    }
}
impl Eq for Queued {}
impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Queued) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Queued {
    fn cmp(&self, other: &Queued) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

struct Heap {
    order: Order,
    queue: BinaryHeap<Reverse<Queued>>,
    pushes: u32,
}

impl Outbox for Heap {
    fn arrive(&mut self, packet: &Packet, stamp: Stamp, ext: Option<&mut Ext>, generation: u16) -> Option<usize> {
        self.pushes += 1;
        let mut copy = *packet;
        stamp.on(&mut copy, packet);
        let ext = ext.map(take);
        let key = Key::arrival(self.order, &copy, generation, self.pushes);
        self.queue.push(Reverse(Queued { key, event: Event::Arrival(copy, ext) }));
        None
    }
    fn timer(&mut self, time: Time, generation: u16, timer: Timer) {
        let key = Key::timer(self.order, time, generation, timer);
        self.queue.push(Reverse(Queued { key, event: Event::Timer(timer) }));
    }
    fn send_message(&mut self, _to: NodeId, time: Time, message: Timer) {
        self.timer(time, 0, message);
    }
    fn announce(&mut self, _to: Option<NodeId>, key: Key, message: Timer) {
        self.queue.push(Reverse(Queued { key, event: Event::Timer(message) }));
    }
}

fn domain_of(net: &FabricMap, event: &Event) -> DomainId {
    match event {
        Event::Arrival(packet, _) => net.links[packet.link].domain,
        Event::Timer(timer) => match *timer {
            Timer::Departure(link) | Timer::Transition(link) => net.place[net.spec.links[link].from as usize].domain,
            Timer::Query(query) => net.place[net.spec.queries[query].root as usize].domain,
            Timer::Activation(trigger) => net.place[net.triggers.list[trigger].home].domain,
            Timer::Opening(opening) => net.place[net.triggers.openings[opening].host].domain,
            Timer::Process(engine) => net.place[engine.host()].domain,
            Timer::Program(node) | Timer::NicSlot(node) | Timer::Pacer(node) => net.place[node.ix()].domain,
            Timer::Cell(cell) => net.cells[cell].domain,
            Timer::Rank(rank) => net.place[net.jobs.ranks[rank].host].domain,
            Timer::Calculation(stream) => net.place[net.jobs.ranks[net.jobs.of_stream(stream).0].host].domain,
            Timer::Message(task) | Timer::Again(task) | Timer::ScaleUpSent(task) | Timer::ScaleUpArrived(task) => {
                net.place[net.jobs.receiver_of(net.spec, task)].domain
            }
            Timer::DelayedAck(flow)
            | Timer::Receiver(flow)
            | Timer::WindowUpdate(flow)
            | Timer::SinkStop(flow)
            | Timer::SynAck(flow)
            | Timer::Closing(flow) => net.ends[flow].receiver_domain,
            Timer::Start(flow)
            | Timer::Stop(flow)
            | Timer::Retransmit(flow)
            | Timer::Pace(flow)
            | Timer::Sender(flow)
            | Timer::Wake(flow)
            | Timer::App(flow)
            | Timer::RunQueue(flow)
            | Timer::Closed(flow) => net.ends[flow].sender_domain,
        },
    }
}

/// Runs a simulation event by event.
pub fn run(mut simulation: Simulation) -> Result<Outcome, RunError> {
    let spec = simulation.net.spec;
    // shortcuts of the engine of windows are not taken here, and so are tested
    simulation.domains.iter_mut().for_each(Domain::disable_fast_paths);
    let mut heap = Heap { order: simulation.net.order, queue: BinaryHeap::new(), pushes: 0 };
    let mut collector = Collector::new(spec.groups.len());
    for (_, time, timer) in simulation.first_timers() {
        heap.timer(time, 0, timer);
    }
    let mut ending = Ending::new(&simulation);
    while let Some(Reverse(next)) = heap.queue.pop() {
        if next.key.time >= ending.at {
            heap.queue.push(Reverse(next));
            break;
        }
        let at = Instant { time: next.key.time, generation: next.key.generation() };
        ending::check(at)?;
        let domain = &mut simulation.domains[domain_of(&simulation.net, &next.event)];
        let env = Env::new(&simulation.net, &mut heap, &mut collector);
        match next.event {
            Event::Arrival(packet, mut ext) => {
                let planned = domain.plan(&packet, simulation.net.links[packet.link].node, &simulation.net);
                domain.arrival(at, &packet, ext.as_mut(), planned, env);
            }
            Event::Timer(timer) => domain.timer(at, timer, env),
        }
        ending.update(collector.finished, Time(collector.finished_at));
    }
    let keeps_going = |event: &Event| match event {
        Event::Arrival(..) => true,
        Event::Timer(timer) => timer.keeps_going(),
    };
    let idle = !heap.queue.iter().any(|Reverse(q)| keeps_going(&q.event));
    let under_way: Vec<Packet> = heap
        .queue
        .iter()
        .filter_map(|Reverse(q)| match q.event {
            Event::Arrival(packet, _) => Some(packet),
            Event::Timer(_) => None,
        })
        .collect();
    simulation.outcome(collector, under_way.into_iter(), ending.at, idle)
}
