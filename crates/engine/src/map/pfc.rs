//! Priority flow control: a switch pauses its neighbours instead of dropping their packets (IEEE 802.1Qbb).
//!
//! Each class of a link has an account in the buffer of the switch at its end ([`buffer`](crate::port::buffer)), which
//! says when to pause and when to resume. The switch then sends a frame over the link back, which waits for the packet
//! in transmission there and for no queue, takes 64 B on the wire or more, and is neither counted among packets nor
//! lost but where the link is down. From its arrival on the neighbour begins no packet of the class; others go on. A
//! pause holds until the frame that ends it: times in quanta, and their refreshing, are not modelled.
//!
//! A link that goes down or comes up, in either direction, forgets all pauses at both of its ends. When both directions
//! are up again the switch says at that instant which classes are to pause, and the port is silent for as long as that
//! may take to come: it begins no packet of a class that can be paused. What it sent until then would come on top of
//! what filled the headroom before the link went down. While the way back is down nobody can pause the link.

use crate::ids::LinkId;
use crate::port::buffer::Account;
use crate::port::pause::frame_bytes;
use crate::spec::{Discipline, Effect, Headroom, LinkSpec, PfcSpec, Spec, Threshold, TransportSpec};
use incast_cc::{Rate, Time};
use std::collections::BTreeMap;

/// Who pauses whom.
#[derive(Debug)]
pub struct Pfc {
    /// Place of every class among those that are paused rather than dropped.
    pub places: Vec<Option<u32>>,
    /// First account of every link in the buffer of the switch at its end.
    first: Vec<Option<u32>>,
    /// The link back, of every link between two nodes.
    pub back: Vec<Option<LinkId>>,
    /// When a link or the one back goes down or comes up, in order.
    transitions: BTreeMap<LinkId, Vec<Transition>>,
}

/// A link or the one back goes down or comes up.
#[derive(Clone, Copy, Debug)]
pub struct Transition {
    /// When.
    pub at: Time,
    /// Both are up from then on.
    pub up: bool,
    /// Until when the port is silent; `at` where it is not.
    pub silent: Time,
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
    fn of_degraded(spec: &Spec) -> BTreeMap<LinkId, Extremes> {
        let mut known = BTreeMap::new();
        for failure in &spec.failures {
            let Effect::Degraded { rate, delay, .. } = failure.effect else { continue };
            let link = &spec.links[failure.link as usize];
            let extremes = known.entry(LinkId(failure.link)).or_insert_with(|| Extremes::from(link));
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
    /// The tables of `spec`, and the accounts of every switch; an error in words if that cannot be.
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
        let extremes = |l: LinkId| degraded.get(&l).copied().unwrap_or_else(|| Extremes::from(&spec.links[l]));
        let classes = pfc.lossless.iter().filter(|l| **l).count() as u64;
        let mut transitions = transitions(spec, &back);
        for (l, link) in (0..).map(LinkId).zip(&spec.links) {
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
            let Some(back) = back[l] else {
                return Err(format!(
                    "link {}: no link back, over which priority flow control could pause it",
                    link.name
                ));
            };
            let way_back = &spec.links[back];
            let told = told_within(way_back, extremes(back), classes, packet);
            if let Some(transitions) = transitions.get_mut(&l) {
                keep_silent(transitions, told);
            }
            let overhead = if spec.queues[way_back.queue as usize].count_overhead { link.overhead } else { 0 } as u64;
            let headroom = headroom(pfc, link, extremes(l), told, packet + overhead)?;
            let own = &mut accounts[link.to as usize];
            first[l] = Some(own.len() as u32);
            let threshold = pfc.threshold.unwrap_or(Threshold::Dynamic(share_of(link.rate, hosts)));
            let account = |class: u8| Account::new(l, class, pfc, headroom, threshold, overhead);
            own.extend((0u8..).zip(&pfc.lossless).filter(|c| *c.1).map(|c| account(c.0)));
        }
        Ok((Pfc { places, first, back, transitions }, accounts))
    }

    /// The account of a packet of `class` that came over `link`, if it is on one.
    pub fn account(&self, link: LinkId, class: u8) -> Option<u32> {
        Some(self.first[link]? + (*self.places.get(class as usize)?)?)
    }

    /// When the link, or the one back, last went down or came up by `now`.
    pub fn transition_by(&self, link: LinkId, now: Time) -> Option<Transition> {
        let transitions = self.transitions.get(&link)?;
        Some(transitions[transitions.partition_point(|t| t.at <= now).checked_sub(1)?])
    }

    /// The latest transition of the link by `now`: pauses asked for before it hold no longer.
    pub fn cleared(&self, link: LinkId, now: Time) -> Option<Time> {
        self.transition_by(link, now).map(|transition| transition.at)
    }

    /// Edges of a link that are not over at `now`, the silence that follows included.
    fn to_come(&self, link: LinkId, now: Time) -> &[Transition] {
        let transitions = self.transitions.get(&link).map_or(&[][..], |transitions| transitions);
        &transitions[transitions.partition_point(|t| t.at <= now && t.silent <= now)..]
    }

    /// When next after `now` a transition of the link is, or the end of a silence.
    pub fn next_transition(&self, link: LinkId, now: Time) -> Option<Time> {
        self.to_come(link, now).first().map(|t| if t.at > now { t.at } else { t.silent })
    }

    /// The first silence of the port of a link that is not over at `now`.
    pub fn silence(&self, link: LinkId, now: Time) -> Option<(Time, Time)> {
        self.to_come(link, now).iter().find(|t| t.silent > t.at).map(|t| (t.at, t.silent))
    }

    /// The first transition of every link that has some.
    pub fn first_transitions(&self) -> impl Iterator<Item = (LinkId, Time)> {
        self.transitions.iter().filter_map(|(link, transitions)| Some((*link, transitions.first()?.at)))
    }
}

/// Of the links from one node to another the first has the first one back, and so on.
fn links_back(spec: &Spec) -> Vec<Option<LinkId>> {
    let mut between: BTreeMap<(u32, u32), Vec<LinkId>> = BTreeMap::new();
    for (l, link) in (0..).map(LinkId).zip(&spec.links) {
        between.entry((link.from, link.to)).or_default().push(l);
    }
    let mut back = vec![None; spec.links.len()];
    for ((from, to), links) in &between {
        for (there, here) in links.iter().zip(between.get(&(*to, *from)).into_iter().flatten()) {
            back[*there] = Some(*here);
        }
    }
    back
}

/// Edges of every link that goes down, or whose way back does, without silences.
fn transitions(spec: &Spec, back: &[Option<LinkId>]) -> BTreeMap<LinkId, Vec<Transition>> {
    let mut spans: BTreeMap<LinkId, Vec<(Time, Time)>> = BTreeMap::new();
    for failure in spec.failures.iter().filter(|f| matches!(f.effect, Effect::Down { .. })) {
        let link = LinkId(failure.link);
        for link in [Some(link), back[link]].into_iter().flatten() {
            spans.entry(link).or_default().push((failure.from, failure.until));
        }
    }
    let transitions = |spans: Vec<(Time, Time)>| {
        // how many of the two directions go down less those that come up, by instant
        let mut changes: BTreeMap<Time, i32> = BTreeMap::new();
        for (from, until) in spans {
            *changes.entry(from).or_default() += 1;
            *changes.entry(until).or_default() -= 1;
        }
        changes.remove(&Time::NEVER);
        let mut down = 0;
        let transition = |(at, change): (Time, i32)| {
            down += change;
            Transition { at, up: down == 0, silent: at }
        };
        changes.into_iter().map(transition).collect()
    };
    spans.into_iter().map(|(link, spans)| (link, transitions(spans))).collect()
}

/// A port that is told to pause within `told` is silent until after that where its link comes up, or until the next
/// transition.
fn keep_silent(transitions: &mut [Transition], told: Time) {
    let mut next = Time::NEVER;
    for transition in transitions.iter_mut().rev() {
        if transition.up {
            transition.silent = transition.at.saturating_add(told).saturating_add(Time::ps(1)).min(next);
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

/// Time within which the port of a link has received a pause, the frame going over `back`: it waits for
/// what is in transmission there, a packet of `packet` bytes or a frame, and for frames about other `classes`.
fn told_within(back: &LinkSpec, extremes: Extremes, classes: u64, packet: u64) -> Time {
    // a time on the wire is rounded
    let wire = |bytes: u64| extremes.slowest.serialize(bytes).saturating_add(Time::ps(1));
    let frame = frame_bytes(back.overhead);
    let waits = wire(frame.max(packet + back.overhead as u64));
    let frames = wire(frame).saturating_mul(classes);
    waits.saturating_add(frames).saturating_add(extremes.longest)
}

/// Bytes that may still come over a link whose port is told within `told` to pause; an account counts packets as
/// `counted` bytes.
fn headroom(pfc: &PfcSpec, link: &LinkSpec, extremes: Extremes, told: Time, counted: u64) -> Result<u64, String> {
    if let Headroom::Bytes(bytes) = pfc.headroom {
        return Ok(bytes);
    }
    let (time, rate) = match pfc.headroom {
        Headroom::Delays => (link.delay, link.rate),
        _ => (told.saturating_add(extremes.longest), extremes.quickest),
    };
    if rate == Rate::INFINITE {
        return Err(format!(
            "link {}: at an infinite rate no headroom holds what comes until it has stopped",
            link.name
        ));
    }
    let brings = (time.0 as u128 * rate.0 as u128).div_ceil(8_000_000_000_000);
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
