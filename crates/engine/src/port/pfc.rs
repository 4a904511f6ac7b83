//! Priority flow control: a switch pauses its neighbours instead of dropping their packets (IEEE 802.1Qbb).
//!
//! What a class of a link has in the buffer of the switch at its end is an account ([`shared`](super::shared)), which
//! says when to pause and when to resume. The switch then sends a frame over the link back, which waits for the packet
//! in transmission there and for no queue, takes 64 B on the wire or more, and is neither counted among packets nor
//! lost but where the link is down. From its arrival on the neighbour begins no packet of the class; others go on. A
//! pause holds until the frame that ends it: times in quanta, and their refreshing, are not modelled.
//!
//! A link that goes down or comes up, in either direction, forgets all pauses at both of its ends. When both directions
//! are up again the switch says at that instant which classes are to pause, and the port is silent for as long as that
//! may take to come: it begins no packet of a class that can be paused. What it sent until then would come on top of
//! what filled the headroom before the link went down. While the way back is down nobody can pause the link.

use super::shared::{Account, Pool, Threshold};
use super::{Interval, Port, explicit::Departed};
use crate::domain::Domain;
use crate::io::{Io, Outbox};
use crate::net::Net;
use crate::order::TimerKind;
use crate::packet::{PAUSE_FRAME, Packet};
use crate::spec::{Discipline, Effect, Headroom, LinkSpec, PfcSpec, Spec, TransportSpec};
use incast_cc::{Rate, Time};
use incast_record::Recorder;
use std::collections::BTreeMap;

/// No frame is shorter on the wire.
const SHORTEST: u64 = 64;

/// Bytes that a pause frame takes on `link`.
fn frame_bytes(overhead: u32) -> u64 {
    (PAUSE_FRAME as u64 + overhead as u64).max(SHORTEST)
}

/// Who pauses whom.
#[derive(Debug)]
pub struct Pfc {
    /// Place of every class among those that are paused rather than dropped.
    places: Vec<Option<u32>>,
    /// First account of every link in the buffer of the switch at its end.
    first: Vec<Option<u32>>,
    /// The link back, of every link between two nodes.
    back: Vec<Option<u32>>,
    /// When a link or the one back goes down or comes up, in order.
    transitions: BTreeMap<u32, Vec<Transition>>,
}

/// A link or the one back goes down or comes up.
#[derive(Clone, Copy, Debug)]
struct Transition {
    /// When, ps.
    at: u64,
    /// Both are up from then on.
    up: bool,
    /// Until when the port is silent, ps; `at` where it is not.
    silent: u64,
}

/// Rates and delay that a link has at one time or another: its own, and those of failures that degrade it.
#[derive(Clone, Copy, Debug)]
struct Extremes {
    slowest: Rate,
    quickest: Rate,
    longest: Time,
}

impl Extremes {
    /// Those of all links that are degraded, by the worst of each, whether or not they come together.
    fn of_degraded(spec: &Spec) -> BTreeMap<u32, Extremes> {
        let mut known = BTreeMap::new();
        for failure in &spec.failures {
            let Effect::Degraded { rate, delay, .. } = failure.effect else { continue };
            let link = &spec.links[failure.link as usize];
            let extremes = known.entry(failure.link).or_insert_with(|| Extremes::from(link));
            extremes.slowest = extremes.slowest.min(rate.unwrap_or(link.rate));
            extremes.quickest = extremes.quickest.max(rate.unwrap_or(link.rate));
            extremes.longest = extremes.longest.max(delay.unwrap_or(link.delay));
        }
        known
    }
}

impl From<&LinkSpec> for Extremes {
    fn from(link: &LinkSpec) -> Extremes {
        Extremes { slowest: link.rate, quickest: link.rate, longest: link.delay }
    }
}

impl Pfc {
    /// What `spec` asks for, and the accounts of every switch; an error in words if that cannot be.
    pub fn new(spec: &Spec, pfc: &PfcSpec) -> Result<(Pfc, Vec<Vec<Account>>), String> {
        let mut next = 0..;
        let places: Vec<Option<u32>> = pfc.lossless.iter().map(|l| if *l { next.next() } else { None }).collect();
        let back = links_back(spec);
        let mut first = vec![None; spec.links.len()];
        let mut accounts: Vec<Vec<Account>> = vec![Vec::new(); spec.node_names.len()];
        // of all links and packets once, there being many of both
        let hosts = rate_of_hosts(spec);
        let packet = largest_packet(spec);
        let degraded = Extremes::of_degraded(spec);
        let extremes = |l: u32| degraded.get(&l).copied().unwrap_or_else(|| Extremes::from(&spec.links[l as usize]));
        let classes = pfc.lossless.iter().filter(|l| **l).count() as u64;
        let mut transitions = transitions(spec, &back);
        for (l, link) in (0u32..).zip(&spec.links) {
            let queue = &spec.queues[link.queue as usize];
            if queue.count() != places.len() || matches!(queue.discipline, Discipline::Trimming(_)) {
                return Err(format!(
                    "link {}: {} queues by class, where priority flow control knows {}, and none that trims",
                    link.name,
                    queue.count(),
                    places.len()
                ));
            }
            if matches!(queue.discipline, Discipline::FairNic { .. }) {
                return Err(format!("link {}: a fair NIC obeys no pause of priority flow control", link.name));
            }
            if link.to < spec.hosts {
                continue;
            }
            let Some(back) = back[l as usize] else {
                return Err(format!(
                    "link {}: no link back, over which priority flow control could pause it",
                    link.name
                ));
            };
            let way_back = &spec.links[back as usize];
            let told = told_within(way_back, extremes(back), classes, packet);
            if let Some(transitions) = transitions.get_mut(&l) {
                keep_silent(transitions, told);
            }
            let overhead = if spec.queues[way_back.queue as usize].count_overhead { link.overhead } else { 0 } as u64;
            let headroom = headroom(pfc, link, extremes(l), told, packet + overhead)?;
            let own = &mut accounts[link.to as usize];
            first[l as usize] = Some(own.len() as u32);
            let threshold = pfc.threshold.unwrap_or(Threshold::Dynamic(share_of(link.rate, hosts)));
            let account = |class: u8| Account::new(l, class, pfc, headroom, threshold, overhead);
            own.extend((0u8..).zip(&pfc.lossless).filter(|c| *c.1).map(|c| account(c.0)));
        }
        Ok((Pfc { places, first, back, transitions }, accounts))
    }

    /// The account of a packet of `class` that came over `link`, if it is on one.
    pub fn account(&self, link: u32, class: u8) -> Option<u32> {
        Some(self.first[link as usize]? + (*self.places.get(class as usize)?)?)
    }

    /// When the link, or the one back, last went down or came up by `now`.
    fn transition_by(&self, link: u32, now: u64) -> Option<Transition> {
        let transitions = self.transitions.get(&link)?;
        Some(transitions[transitions.partition_point(|t| t.at <= now).checked_sub(1)?])
    }

    /// What was asked before, ps, holds no longer.
    fn cleared(&self, link: u32, now: u64) -> Option<u64> {
        self.transition_by(link, now).map(|transition| transition.at)
    }

    /// Edges of a link that are not over at `now`, the silence that follows included.
    fn to_come(&self, link: u32, now: u64) -> &[Transition] {
        let transitions = self.transitions.get(&link).map_or(&[][..], |transitions| transitions);
        &transitions[transitions.partition_point(|t| t.at <= now && t.silent <= now)..]
    }

    /// When next after `now` a transition of the link is, or the end of a silence.
    fn next_transition(&self, link: u32, now: u64) -> Option<u64> {
        self.to_come(link, now).first().map(|t| if t.at > now { t.at } else { t.silent })
    }

    /// The first silence of the port of a link that is not over at `now`, ps.
    pub fn silence(&self, link: u32, now: u64) -> Option<(u64, u64)> {
        self.to_come(link, now).iter().find(|t| t.silent > t.at).map(|t| (t.at, t.silent))
    }

    /// The first transition of every link that has some, ps.
    pub fn first_transitions(&self) -> impl Iterator<Item = (u32, u64)> {
        self.transitions.iter().filter_map(|(link, transitions)| Some((*link, transitions.first()?.at)))
    }
}

/// Of the links from one node to another the first has the first one back, and so on.
fn links_back(spec: &Spec) -> Vec<Option<u32>> {
    let mut between: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    for (l, link) in (0u32..).zip(&spec.links) {
        between.entry((link.from, link.to)).or_default().push(l);
    }
    let mut back = vec![None; spec.links.len()];
    for ((from, to), links) in &between {
        for (there, here) in links.iter().zip(between.get(&(*to, *from)).into_iter().flatten()) {
            back[*there as usize] = Some(*here);
        }
    }
    back
}

/// Edges of every link that goes down, or whose way back does, without silences.
fn transitions(spec: &Spec, back: &[Option<u32>]) -> BTreeMap<u32, Vec<Transition>> {
    let mut spans: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    for failure in spec.failures.iter().filter(|f| matches!(f.effect, Effect::Down { .. })) {
        for link in [Some(failure.link), back[failure.link as usize]].into_iter().flatten() {
            spans.entry(link).or_default().push((failure.from.0, failure.until.0));
        }
    }
    let transitions = |spans: Vec<(u64, u64)>| {
        // how many of the two directions go down less those that come up, by instant
        let mut changes: BTreeMap<u64, i32> = BTreeMap::new();
        for (from, until) in spans {
            *changes.entry(from).or_default() += 1;
            *changes.entry(until).or_default() -= 1;
        }
        changes.remove(&Time::NEVER.0);
        let mut down = 0;
        let transition = |(at, change): (u64, i32)| {
            down += change;
            Transition { at, up: down == 0, silent: at }
        };
        changes.into_iter().map(transition).collect()
    };
    spans.into_iter().map(|(link, spans)| (link, transitions(spans))).collect()
}

/// A port that is told to pause within `told` ps is silent until after that where its link comes up, or until the next
/// transition.
fn keep_silent(transitions: &mut [Transition], told: u64) {
    let mut next = u64::MAX;
    for transition in transitions.iter_mut().rev() {
        if transition.up {
            transition.silent = transition.at.saturating_add(told).saturating_add(1).min(next);
        }
        next = transition.at;
    }
}

/// Rate of the hosts' links; where they differ that of the median host.
fn rate_of_hosts(spec: &Spec) -> Rate {
    let mut rates: Vec<Rate> = spec.links.iter().filter(|l| l.from < spec.hosts).map(|l| l.rate).collect();
    rates.sort_unstable();
    rates.get(rates.len().saturating_sub(1) / 2).copied().unwrap_or(Rate::INFINITE)
}

/// Part of what is free that an account of a link at this rate may fill, hosts' links being at another.
fn share_of(rate: Rate, hosts: Rate) -> f64 {
    // HPCC's simulator shifts by 3, one less for every doubling of the rate
    let (mut shift, mut rate) = (3, rate.0);
    while rate > hosts.0 && shift > 0 {
        shift -= 1;
        rate /= 2;
    }
    1.0 / (1u32 << shift) as f64
}

/// Bytes of the largest packet that its transports send.
fn largest_packet(spec: &Spec) -> u64 {
    let largest = |t: &TransportSpec| {
        let segment = t.mss + t.header;
        let data = if t.mtu > 0 { segment.min(t.mtu) } else { segment };
        data.max(t.ack_size + 4 * t.sack_block).max(t.syn_size)
    };
    spec.transports.iter().map(largest).max().unwrap_or(0) as u64
}

/// Time, ps, within which the port of a link has heard that it is to pause, the frame going over `back`: it waits for
/// what is in transmission there, a packet of `packet` bytes or a frame, and for frames about other `classes`.
fn told_within(back: &LinkSpec, extremes: Extremes, classes: u64, packet: u64) -> u64 {
    // a time on the wire is rounded
    let wire = |bytes: u64| extremes.slowest.serialize(bytes).0.saturating_add(1);
    let frame = frame_bytes(back.overhead);
    let waits = wire(frame.max(packet + back.overhead as u64));
    waits.saturating_add(wire(frame).saturating_mul(classes)).saturating_add(extremes.longest.0)
}

/// Bytes that may still come over a link whose port is told within `told` ps to pause; an account counts packets as
/// `counted` bytes.
fn headroom(pfc: &PfcSpec, link: &LinkSpec, extremes: Extremes, told: u64, counted: u64) -> Result<u64, String> {
    if let Headroom::Bytes(bytes) = pfc.headroom {
        return Ok(bytes);
    }
    let (time, rate) = match pfc.headroom {
        Headroom::Delays => (link.delay.0, link.rate),
        _ => (told.saturating_add(extremes.longest.0), extremes.quickest),
    };
    if rate == Rate::INFINITE {
        return Err(format!(
            "link {}: at an infinite rate no headroom holds what comes until it has stopped",
            link.name
        ));
    }
    let brings = (time as u128 * rate.0 as u128).div_ceil(8_000_000_000_000);
    let bytes = match pfc.headroom {
        Headroom::Delays => brings.saturating_mul(3),
        // then the port may just have begun a packet, and one went over the threshold
        _ => brings.saturating_add(2 * counted as u128),
    };
    u64::try_from(bytes).map_err(|_| {
        format!(
            "link {}: {bytes} B may come until it has stopped, more than any buffer has; expected a lower rate or \
             shorter delays",
            link.name
        )
    })
}

impl Port {
    /// Time on the wire of a pause frame that begins at `now`.
    pub(super) fn frame_wire(&self, now: u64) -> u64 {
        let (framing, overhead) = (self.class.framing, self.class.overhead);
        self.wire_from(now, frame_bytes(framing + overhead) - overhead as u64)
    }

    /// Takes a pause frame at `now`, ps; when its transmission ends, ps, if it begins now.
    pub fn send_frame(&mut self, now: u64, frame: Packet) -> Option<u64> {
        let explicit = self.rare.explicit.as_mut()?;
        // a frame says what holds now: it takes the place of one about its class that still waits
        if let Some(waits) = explicit.frames.iter_mut().find(|f| f.seq == frame.seq) {
            *waits = frame;
            return None;
        }
        explicit.frames.push_back(frame);
        if explicit.is_idle() { self.begin(now) } else { None }
    }

    /// The transmission of a pause frame, begun at `began`, ends.
    pub(super) fn depart_frame(&mut self, frame: Packet, began: u64, now: u64, interval: &Interval) -> Departed {
        let arrives = self.arrival_of_frame(began, now);
        let next = self.begin_anew(now, interval);
        Departed { packet: frame, ext: None, lost: false, marked: false, arrives, next, account: None }
    }

    /// Begins a transmission at `now`, after a time without one in which packets may have waited.
    fn begin_anew(&mut self, now: u64, interval: &Interval) -> Option<u64> {
        if now >= self.next_look {
            self.look(now, interval);
        }
        self.settle(now);
        self.begin(now)
    }

    /// `class` is paused from `now` on, ps, or resumed, as the neighbour asked at `asked`, ps; when the transmission
    /// ends that begins then, ps, if one does.
    pub fn obey(&mut self, class: u8, pause: bool, asked: u64, now: u64, interval: &Interval) -> Option<u64> {
        let explicit = self.rare.explicit.as_mut()?;
        let lane = explicit.lanes.get_mut(class as usize)?;
        if pause {
            lane.pausing.begin(now, asked, interval);
            explicit.pausing.begin(now, asked, interval);
            return None;
        }
        lane.pausing.end(now, interval);
        self.go_on(now, interval)
    }

    /// Pauses that were asked for before `now` hold no longer.
    fn clear_pauses(&mut self, now: u64, interval: &Interval) {
        let Some(explicit) = &mut self.rare.explicit else { return };
        for lane in explicit.lanes.iter_mut().filter(|l| l.pausing.asked < now) {
            lane.pausing.end(now, interval);
        }
    }

    /// It begins no packet of classes that can be paused in this span, ps; none is kept for the time before.
    pub fn keep_silent(&mut self, span: (u64, u64), pfc: &PfcSpec) {
        let lanes = self.rare.explicit.iter_mut().flat_map(|q| &mut q.lanes);
        lanes.zip(&pfc.lossless).filter(|l| *l.1).for_each(|(lane, _)| lane.pausing.silence = span);
    }

    /// Something is in its queues, or it is paused.
    fn is_in_use(&self) -> bool {
        self.rare.explicit.as_ref().is_some_and(|q| q.filling().0 > 0 || q.pausing.since.is_some())
    }

    /// Some class may be held no longer; when the transmission ends that begins then, if one does.
    fn go_on(&mut self, now: u64, interval: &Interval) -> Option<u64> {
        let explicit = self.rare.explicit.as_mut()?;
        if explicit.lanes.iter().all(|l| l.pausing.since.is_none()) {
            explicit.pausing.end(now, interval);
        }
        if explicit.is_idle() { self.begin_anew(now, interval) } else { None }
    }

    /// Something is in its queues that nothing under way sends: a pause holds it.
    pub fn is_stalled(&self) -> bool {
        self.rare.explicit.as_ref().is_some_and(|q| q.is_idle() && q.filling().0 > 0)
    }

    /// Its classes that are paused and have something: since when they are, and when the neighbour asked for it.
    fn stalled(&self) -> impl Iterator<Item = (u8, u64, u64)> {
        let lanes = self.rare.explicit.iter().flat_map(|q| (0u8..).zip(&q.lanes));
        let lanes = lanes.filter(|l| !l.1.queue.is_empty());
        lanes.filter_map(|(class, lane)| Some((class, lane.pausing.since?, lane.pausing.asked)))
    }

    /// Class and account of what it has, the packet in transmission without a class.
    fn on_accounts(&self) -> impl Iterator<Item = (Option<u8>, u32)> {
        let explicit = self.rare.explicit.iter();
        let waiting = explicit.clone().flat_map(|q| (0u8..).zip(&q.lanes));
        let waiting = waiting.flat_map(|(class, lane)| lane.queue.iter().map(move |w| (Some(class), w.account)));
        let service = explicit.map(|q| (None, q.account_in_service()));
        waiting.chain(service).filter_map(|(class, account)| Some((class, account?)))
    }
}

impl<O: Outbox, R: Recorder> Io<'_, O, R> {
    /// A packet has been taken by an account of a buffer of this domain, or (`left`) has left it: its neighbour may
    /// have to be told.
    #[cold]
    pub fn balance(&mut self, pool: u32, account: u32, packet: &Packet, left: bool) {
        let Some(pfc) = &self.net.pfc else { return };
        let pool = &mut self.pools[pool as usize];
        let (link, class) = (pool.account(account).link, pool.account(account).class);
        let cleared = pfc.cleared(link, self.now);
        let told = match left {
            true => pool.resumes(account, cleared),
            false => pool.pauses(account, packet, self.now, cleared),
        };
        let Some(back) = pfc.back[link as usize].filter(|_| told) else { return };
        let port = self.net.port_of[back as usize];
        self.watch(port);
        let frame = Packet::pause_frame(packet, class, !left, self.now);
        if let Some(ends) = self.ports[port as usize].send_frame(self.now, frame) {
            self.timer(ends, TimerKind::Departure, back);
        }
    }

    /// A pause frame arrives over the link back of the one that it is about.
    #[cold]
    pub fn obey(&mut self, frame: &Packet) {
        let Some(pfc) = &self.net.pfc else { return };
        let Some(link) = pfc.back[frame.link as usize] else { return };
        if pfc.cleared(link, self.now).is_some_and(|cleared| cleared > frame.ts) {
            return;
        }
        let port = self.net.port_of[link as usize];
        self.watch(port);
        let (class, pause) = (frame.seq as u8, frame.ack > 0);
        let ends = self.ports[port as usize].obey(class, pause, frame.ts, self.now, &self.net.interval);
        if let Some(ends) = ends {
            self.timer(ends, TimerKind::Departure, link);
        }
    }

    /// A link or the one back goes down or comes up, or its port has been silent long enough after that.
    #[cold]
    pub fn transition(&mut self, link: u32) {
        let (now, net) = (self.now, self.net);
        let (Some(pfc), Some(spec)) = (&net.pfc, net.spec.pfc()) else { return };
        if let Some(next) = pfc.next_transition(link, now) {
            self.timer(next, TimerKind::Transition, link);
        }
        let transition = pfc.transition_by(link, now).filter(|transition| transition.at == now);
        if transition.is_some_and(|transition| transition.up) {
            self.tell_all(link);
        }
        let port = net.port_of[link as usize];
        if transition.is_some() {
            self.ports[port as usize].keep_silent(pfc.silence(link, now).unwrap_or_default(), spec);
        }
        // a port that has nothing to do is left as it is: the run may be over
        if !self.ports[port as usize].is_in_use() {
            return;
        }
        self.watch(port);
        let own = &mut self.ports[port as usize];
        if transition.is_some() {
            own.clear_pauses(now, &net.interval);
        }
        if let Some(ends) = own.go_on(now, &net.interval) {
            self.timer(ends, TimerKind::Departure, link);
        }
    }

    /// The switch says over `link`, which is up again, which classes of the link back are to pause.
    fn tell_all(&mut self, link: u32) {
        let Some(pfc) = &self.net.pfc else { return };
        let Some(pool) = self.ports[self.net.port_of[link as usize] as usize].pool() else { return };
        let from = pfc.back[link as usize];
        for class in 0..pfc.places.len() {
            let Some(account) = from.and_then(|from| pfc.account(from, class as u8)) else { continue };
            if self.pools[pool as usize].account(account).is_empty() {
                continue;
            }
            // any packet of the account stands for the one that came last, which may have left: where there is next to
            // no headroom, and packets differ in size, the room asked for is that for another of its size
            let own = self.ports.iter().filter(|p| p.pool() == Some(pool));
            if let Some(packet) = { own }.find_map(|p| p.rare.explicit.as_ref()?.packet_on(account)).copied() {
                self.balance(pool, account, &packet, false);
            }
        }
    }
}

/// Where a packet is: link of the port, and its class unless it is being transmitted.
type Place = (u32, Option<u8>);

/// Ports of which a class is in a deadlock, and since when it is paused: all that its account at the other end waits
/// for are such ports. A pause that the other end has taken back by now, or asked for anew since, is none of these.
pub fn deadlocked(net: &Net, domains: &[Domain]) -> BTreeMap<u32, u64> {
    let Some(pfc) = &net.pfc else { return BTreeMap::new() };
    let ports = || domains.iter().flat_map(|d| &d.ports);
    let mut buffers: BTreeMap<u32, &Pool> = BTreeMap::new();
    for domain in domains {
        let own = domain.ports.iter().filter_map(|p| Some((net.spec.links[p.link as usize].from, p.pool()?)));
        buffers.extend(own.map(|(switch, pool)| (switch, &domain.pools[pool as usize])));
    }
    let asked =
        |link: u32, class: u8| buffers.get(&net.spec.links[link as usize].to)?.paused(pfc.account(link, class)?);
    let stalled = ports().flat_map(|p| p.stalled().map(|(class, since, at)| (p.link, class, since, at)));
    let stalled = stalled.filter(|(link, class, _, at)| asked(*link, *class) == Some(*at));
    let mut stalled: BTreeMap<(u32, u8), u64> = stalled.map(|(l, class, since, _)| ((l, class), since)).collect();
    // what is on an account waits at these ports, by link and class
    let mut waits: BTreeMap<(u32, u32), Vec<Place>> = BTreeMap::new();
    for port in ports() {
        let switch = net.spec.links[port.link as usize].from;
        for (class, account) in port.on_accounts() {
            let at = waits.entry((switch, account)).or_default();
            if at.last() != Some(&(port.link, class)) {
                at.push((port.link, class));
            }
        }
    }
    loop {
        let stuck = |link: u32, class: u8| {
            let account = pfc.account(link, class).map(|a| (net.spec.links[link as usize].to, a));
            let at = account.and_then(|account| waits.get(&account));
            at.is_some_and(|at| at.iter().all(|(l, c)| c.is_some_and(|c| stalled.contains_key(&(*l, c)))))
        };
        let left: BTreeMap<(u32, u8), u64> =
            stalled.iter().filter(|((l, c), _)| stuck(*l, *c)).map(|(k, since)| (*k, *since)).collect();
        if left.len() == stalled.len() {
            break;
        }
        stalled = left;
    }
    let mut first = BTreeMap::new();
    for ((link, _), since) in stalled {
        let known = first.entry(link).or_insert(since);
        *known = since.min(*known);
    }
    first
}
