//! What a specification must be like: whatever contradicts itself is refused before anything is built.

use crate::event::aside::STAMPS;
use crate::ids::{EngineId, FlowId, LinkId};
use crate::map::back;
use crate::map::ideal::Fabric;
use crate::program::table;
use crate::spec::{
    About, CellSpec, D3, Discipline, Entropy, Eqds, ExpressPass, FlowSpec, Homa, LinkSpec, Loss, MOST_DATAGRAM,
    MOST_DISCOVERY, MOST_PSDU, MOST_STATIONS, PHost, Pacer, PathChoice, Program, ProgramSpec, Protocol, Qjump,
    QuerySpec, QueueSpec, Rcp, Rules, RunError, Spec, Ties, TransportSpec, Uet, Xcp,
};
use incast_cc::{Rate, Time};

fn invalid(text: String) -> Result<(), RunError> {
    Err(RunError::Invalid(text))
}

/// A check of each of several things, which are part of the specification as `about` says by their numbers.
fn each<'a, T: 'a>(
    all: impl IntoIterator<Item = &'a T>,
    about: fn(u32) -> About,
    mut check: impl FnMut(&'a T) -> Result<(), RunError>,
) -> Result<(), RunError> {
    (0..).zip(all).try_for_each(|(i, one)| check(one).map_err(|error| error.about(about(i))))
}

/// A refusal of a flow.
fn refuse_flow(spec: &Spec, flow: &FlowSpec, text: String) -> Result<(), RunError> {
    let number = spec.flows.iter().position(|other| std::ptr::eq(other, flow)).unwrap_or_default();
    Err(RunError::Refused(About::Flow(number as u32), text))
}

/// A refusal of a link.
fn refuse_link(spec: &Spec, link: &LinkSpec, text: String) -> Result<(), RunError> {
    let number = spec.links.iter().position(|other| std::ptr::eq(other, link)).unwrap_or_default();
    Err(RunError::Refused(About::Link(number as u32), text))
}

/// Checks all that needs nothing but the specification.
pub fn check(spec: &Spec) -> Result<(), RunError> {
    check_all(spec).map_err(|error| error.about(About::Network))
}

fn check_all(spec: &Spec) -> Result<(), RunError> {
    let nodes = spec.node_names.len();
    if spec.domain_of.len() != nodes || spec.hosts as usize + spec.routers.len() != nodes {
        return invalid(format!(
            "{nodes} node names, {} domain entries, {} hosts and {} routers do not fit together",
            spec.domain_of.len(),
            spec.hosts,
            spec.routers.len()
        ));
    }
    each(&spec.transports, About::Transport, check_segments)?;
    each(&spec.transports, About::Transport, check_demotion)?;
    check_driven(spec)?;
    if spec.choice == PathChoice::Flowcell(0) {
        return invalid("flowcells of 0 B, expected at least 1".into());
    }
    if spec.ties == Ties::Scheduled && spec.choice.has_entropy() {
        let text = "packets have room for an entropy or for what scheduled ties ask, not for both".to_owned();
        return Err(RunError::Refused(About::Ties, text));
    }
    check_hosts(spec).map_err(|error| error.about(About::Hosts))?;
    check_shaping(spec)?;
    check_returns(spec)?;
    each(&spec.programs, About::Program, |own| check_program(spec, own))?;
    (0..).zip(&spec.cells).try_for_each(|(i, cell)| check_cell(spec, i, cell).map_err(|e| e.about(About::Cell(i))))?;
    let given = |f: &FlowSpec| spec.transports[f.transport as usize].demotion.len().saturating_sub(1);
    let class = spec.flows.iter().map(|f| given(f).max(f.class.max(f.ack_class) as usize)).max().unwrap_or(0);
    each(&spec.links, About::Link, |link| check_queue(spec, link, class))
}

/// Segments that can travel.
fn check_segments(t: &TransportSpec) -> Result<(), RunError> {
    if t.mss == 0 || t.mss + t.header > 65_535 || (t.mtu > 0 && t.mtu < 68) {
        return invalid(format!("a segment of {} + {} bytes cannot travel", t.mss, t.header));
    }
    if t.mtu > 0 && (t.mss + t.header).div_ceil((t.mtu - 20) / 8 * 8) > 16 {
        return invalid(format!("a segment of {} bytes makes more than 16 fragments", t.mss + t.header));
    }
    if t.rank.is_some() && t.protocol.is_driven() {
        return invalid(format!("data of {} has no rank, expected none", t.protocol.name()));
    }
    Ok(())
}

/// What packets cost at hosts.
fn check_hosts(spec: &Spec) -> Result<(), RunError> {
    if !spec.host_costs.is_empty() && spec.host_costs.len() != spec.hosts as usize {
        return invalid(format!("costs of {} hosts are given for {}", spec.host_costs.len(), spec.hosts));
    }
    let sides = spec.host_costs.iter().flat_map(|h| [&h.receive, &h.send]).flatten();
    if let Some(costs) = { sides }.find(|c| !(1..=EngineId::MOST).contains(&c.engines)) {
        return invalid(format!("a host has {} engines a side, expected 1 to {}", costs.engines, EngineId::MOST));
    }
    Ok(())
}

/// Headers without room go back over the link that they came by.
fn check_returns(spec: &Spec) -> Result<(), RunError> {
    let returns = |link: &&LinkSpec| spec.queues[link.queue as usize].returns();
    let mut nodes = vec![false; spec.node_names.len()];
    spec.links.iter().filter(returns).for_each(|link| nodes[link.from as usize] = true);
    if let Some(link) = spec.links.iter().filter(returns).find(|link| link.from < spec.hosts) {
        return refuse_link(spec, link, format!("link {}: switches send headers back, hosts do not", link.name));
    }
    if !nodes.contains(&true) {
        return Ok(());
    }
    let ways = spec.links.iter().zip(back::links(spec));
    match { ways }.find(|(link, back)| nodes[link.to as usize] && back.is_none()) {
        Some((link, _)) => {
            refuse_link(spec, link, format!("link {}: no link leads back, over which headers could return", link.name))
        }
        None => Ok(()),
    }
}

/// Classes by bytes sent: their sizes, and whose they are.
fn check_demotion(t: &TransportSpec) -> Result<(), RunError> {
    let sizes = &t.demotion;
    let rise = sizes.is_sorted_by(|a, b| a < b) && sizes.first() != Some(&0);
    if rise && sizes.len() <= TransportSpec::MOST_SIZES && (sizes.is_empty() || t.protocol == Protocol::Tcp) {
        return Ok(());
    }
    invalid(format!(
        "classes of {} by sizes {sizes:?}, expected at most {} sizes above 0 that rise, of tcp",
        t.protocol.name(),
        TransportSpec::MOST_SIZES
    ))
}

/// Transports that receivers drive, and what does not go with them.
fn check_driven(spec: &Spec) -> Result<(), RunError> {
    let cuts = |queue: &QueueSpec| matches!(queue.discipline, Discipline::Trimming(_)) && !queue.drops_uncut();
    let sleeks = |t: &TransportSpec| matches!(&t.protocol, Protocol::Uet(uet) if uet.sleek);
    if spec.transports.iter().any(sleeks) && spec.queues.iter().any(cuts) {
        let sleek = spec.transports.iter().position(sleeks).unwrap_or_default() as u32;
        let text = "SLEEK is for switches that cut nothing: NACKs say what is missing".to_owned();
        return Err(RunError::Refused(About::Transport(sleek), text));
    }
    let by_endpoints = matches!(spec.choice, PathChoice::GivenPath | PathChoice::Entropy(Entropy::Given));
    let driven =
        |f: &FlowSpec| f.app.datagram_gap().is_none() && spec.transports[f.transport as usize].protocol.is_driven();
    if by_endpoints && !spec.flows.iter().all(driven) {
        let text = "endpoints are to choose paths, and those of TCP and UDP do not".to_owned();
        return Err(RunError::Refused(About::Routing, text));
    }
    each(&spec.transports, About::Transport, |t| check_alone(spec, t))?;
    each(&spec.transports, About::Transport, |t| match &t.protocol {
        Protocol::Tcp => Ok(()),
        Protocol::Ndp(ndp) if ndp.window == 0 || !(ndp.pull_rate > 0.0 && ndp.pull_rate <= 1.0) => invalid(format!(
            "ndp with a window of {} packets and pulls at {} of the rate, expected at least 1, and above 0 and at most \
             1",
            ndp.window, ndp.pull_rate
        )),
        Protocol::Ndp(_) => Ok(()),
        Protocol::Eqds(eqds) => check_eqds(eqds),
        Protocol::Uet(uet) => check_uet(spec, uet),
        Protocol::Homa(homa) => check_homa(spec, homa),
        Protocol::ExpressPass(own) => check_expresspass(spec, own),
        Protocol::PHost(own) => check_phost(spec, own),
    })
}

/// One of them, and what does not go with it.
fn check_alone(spec: &Spec, t: &TransportSpec) -> Result<(), RunError> {
    if !t.protocol.is_driven() {
        return Ok(());
    }
    let name = t.protocol.name();
    if t.mtu > 0 && t.mss + t.header > t.mtu {
        return invalid(format!("{name} with an MTU below a segment: its packets are no fragments"));
    }
    if t.extra_packets > 0 {
        return invalid(format!("{name} with packets beyond a flow's bytes, which TCP alone has"));
    }
    if !spec.host_costs.is_empty() {
        return invalid(format!("{name}, and hosts cost their packets time, which it does not have"));
    }
    let fair = |link: &&LinkSpec| matches!(spec.queues[link.queue as usize].discipline, Discipline::FairNic { .. });
    if let Some(link) = spec.links.iter().find(fair) {
        let text = format!("link {}: a fair NIC, and {name} has a queue of its own in the host", link.name);
        return refuse_link(spec, link, text);
    }
    let whole = |q: &QuerySpec| q.close.is_none();
    if !spec.queries.iter().all(whole) {
        return invalid(format!("{name} opens no connection, and a query closes its own"));
    }
    Ok(())
}

/// Homa: its levels, what they are for, and that all flows have one setting and the lowest level as their class.
fn check_homa(spec: &Spec, homa: &Homa) -> Result<(), RunError> {
    let cutoffs = homa.cutoffs.as_deref().unwrap_or_default();
    let levels = (1..=Homa::MOST_LEVELS).contains(&homa.levels) && cutoffs.len() < homa.levels as usize;
    if homa.unscheduled == 0 || !levels || homa.overcommit == Some(0) || !cutoffs.is_sorted_by(|a, b| a < b) {
        return invalid(format!(
            "homa with {} unscheduled bytes, {} levels, grants to {:?} messages and cutoffs {cutoffs:?}, expected at \
             least 1, 1 to {}, at least 1, and rising ones, fewer than levels",
            homa.unscheduled,
            homa.levels,
            homa.overcommit,
            Homa::MOST_LEVELS
        ));
    }
    if spec.transports.iter().filter_map(|t| t.protocol.homa()).any(|other| other != homa) {
        return invalid("homa with two settings, expected one: a host grants messages of all its flows".into());
    }
    // datagrams beside messages have the class that they are given
    let own = |f: &&FlowSpec| {
        spec.transports[f.transport as usize].protocol.homa().is_some() && f.app.datagram_gap().is_none()
    };
    let (class, ack_class) = (homa.levels - 1, 0);
    match spec.flows.iter().filter(own).find(|f| (f.class, f.ack_class) != (class, ack_class)) {
        Some(flow) => refuse_flow(
            spec,
            flow,
            format!(
                "a flow of homa with class {} and ack_class {}, expected {class}, its lowest level, and 0",
                flow.class, flow.ack_class
            ),
        ),
        None => Ok(()),
    }
}

/// pHost: its numbers, that its flows have the classes of its packets, and that hosts have a time for a packet.
fn check_phost(spec: &Spec, own: &PHost) -> Result<(), RunError> {
    let time = |x: f64| x.is_finite() && x > 0.0;
    let times = [own.gap, own.expiry, own.skip, own.reissue];
    if !times.into_iter().all(time) || own.window == 0 || own.large == Some(0) {
        return invalid(format!(
            "phost with times of {times:?} packets, a window of {} tokens and messages large above {:?} bytes, \
             expected times above 0, at least 1, and more than 0",
            own.window, own.large
        ));
    }
    if spec.transports.iter().any(|t| t.protocol.phost() == Some(own) && t.rto_min == Time::ZERO) {
        return invalid("phost with an rto_min of 0, expected a time above 0: it asks again after it".to_owned());
    }
    let is_own = |f: &&FlowSpec| {
        spec.transports[f.transport as usize].protocol.phost() == Some(own) && f.app.datagram_gap().is_none()
    };
    let class = own.lowest_class();
    if let Some(flow) = spec.flows.iter().filter(is_own).find(|f| (f.class, f.ack_class) != (class, 0)) {
        return refuse_flow(
            spec,
            flow,
            format!(
                "a flow of phost with class {} and ack_class {}, expected {class}, its lowest class, and 0",
                flow.class, flow.ack_class
            ),
        );
    }
    let ends = |l: &&LinkSpec| spec.flows.iter().filter(is_own).any(|f| l.from == f.src || l.from == f.dst);
    match spec.links.iter().filter(|l| l.rate == Rate::INFINITE).find(ends) {
        Some(link) => refuse_link(
            spec,
            link,
            format!(
                "link {}: phost, and its host would give tokens without end, expected a rate: there is one a packet's \
                 time",
                link.name
            ),
        ),
        None => Ok(()),
    }
}

/// ExpressPass: its numbers, and that its packets there and back take the same links.
fn check_expresspass(spec: &Spec, own: &ExpressPass) -> Result<(), RunError> {
    let share = |x: f64| x > 0.0 && x <= 1.0;
    let weights = share(own.weight) && share(own.min_weight) && own.min_weight <= own.weight;
    let credit = own.credit.0 > 0 && own.credit.0 <= own.credit.1 && own.credit.1 <= u16::MAX as u32;
    if !credit
        || !share(own.alpha)
        || !weights
        || !(0.0..1.0).contains(&own.target_loss)
        || !(0.0..1.0).contains(&own.jitter)
    {
        return invalid(format!(
            "expresspass with credits of {:?} bytes, alpha {}, weights {} and {}, target_loss {} and jitter {}, \
             expected sizes above 0 that rise, shares above 0 and at most 1, the least weight last, and shares below 1",
            own.credit, own.alpha, own.weight, own.min_weight, own.target_loss, own.jitter
        ));
    }
    match spec.choice.is_symmetric() {
        true => Ok(()),
        false => invalid("expresspass, and credits may take other links than their data, expected symmetric".into()),
    }
}

/// Ports that shape credits: class 0 is for these alone, and nothing is paused there.
fn check_shaping(spec: &Spec) -> Result<(), RunError> {
    let shapes = |l: &&LinkSpec| spec.queues[l.queue as usize].credits().is_some();
    let Some(link) = spec.links.iter().find(shapes) else { return Ok(()) };
    if let Some(flow) = spec.flows.iter().find(|f| f.class == 0 || f.ack_class == 0) {
        return refuse_flow(
            spec,
            flow,
            format!(
                "link {}: class 0 is for credits, and a flow has class {} and ack_class {}, expected 1 or more",
                link.name, flow.class, flow.ack_class
            ),
        );
    }
    if spec.pfc().is_some() {
        return refuse_link(spec, link, format!("link {}: a port that shapes credits obeys no pauses", link.name));
    }
    let wrong = |l: &&LinkSpec| {
        let shaping = spec.queues[l.queue as usize].credits();
        shaping.is_some_and(|s| s.credit == 0 || s.packet == 0 || s.burst == 0) || l.rate == Rate::INFINITE
    };
    match spec.links.iter().filter(shapes).find(wrong) {
        Some(link) => refuse_link(
            spec,
            link,
            format!(
                "link {}: shapes credits, expected a rate, a burst of at least 1 credit, and credits and packets of at \
             least 1 B",
                link.name
            ),
        ),
        None => Ok(()),
    }
}

/// ExpressPass over a path without credit shaping.
fn check_credits(spec: &Spec, fabric: &Fabric, f: FlowId) -> Result<(), RunError> {
    let flow = &spec.flows[f];
    if spec.transports[flow.transport as usize].protocol.expresspass().is_none() || flow.app.datagram_gap().is_some() {
        return Ok(());
    }
    let back = fabric.path(f, true);
    if let Some(link) = back.iter().find(|l| spec.queues[spec.links[**l].queue as usize].credits().is_none()) {
        return invalid(format!(
            "flow {}: expresspass, and link {} on the way of its credits does not shape them, expected credit shaping",
            f.0, spec.links[*link].name
        ));
    }
    let ends = |links: &[LinkId], turn: bool| -> Vec<(u32, u32)> {
        let of = |l: &LinkId| (spec.links[*l].from, spec.links[*l].to);
        links.iter().map(of).map(|(from, to)| if turn { (to, from) } else { (from, to) }).collect()
    };
    let given = flow.path.is_some() || flow.reverse_path.is_some();
    let mut there = ends(&fabric.path(f, false), true);
    there.reverse();
    if given && there != ends(&back, false) {
        return invalid(format!("flow {}: expresspass, and its path back is not its path there, turned around", f.0));
    }
    Ok(())
}

/// EQDS: its window, pace and entropies.
fn check_eqds(eqds: &Eqds) -> Result<(), RunError> {
    let pace = eqds.pull_rate > 0.0 && eqds.pull_rate <= 1.0;
    if eqds.window > 0 && pace && eqds.entropies.is_power_of_two() && eqds.entropies <= 1 << 15 {
        return Ok(());
    }
    invalid(format!(
        "eqds with a window of {} packets, credit at {} of the rate and {} entropies, expected at least 1, above 0 and \
         at most 1, and a power of two up to 32768",
        eqds.window, eqds.pull_rate, eqds.entropies
    ))
}

/// UET: its controls, pace and entropies.
fn check_uet(spec: &Spec, uet: &Uet) -> Result<(), RunError> {
    if !uet.window && !uet.credit {
        return invalid("uet without a window and without credit, expected one of them, or both".into());
    }
    let ratio = uet.oversubscription;
    if !(ratio >= 1.0 && ratio.is_finite()) || ratio > 1.0 && !uet.credit {
        return invalid(format!(
            "uet with {} credit over a core of which hosts have {ratio} times the capacity, expected at least 1 of a \
             finite number, and 1 without credit",
            if uet.credit { "its" } else { "no" }
        ));
    }
    let others = spec.transports.iter().filter_map(|t| t.protocol.uet()).map(|other| other.oversubscription);
    if let Some(other) = others.filter(|_| ratio > 1.0).find(|other| *other > 1.0 && *other != ratio) {
        return invalid(format!(
            "uet over cores of which hosts have {ratio} and {other} times the capacity, expected one ratio above 1: a \
             host has one rate of credit for all its flows"
        ));
    }
    if ratio > 1.0 && uet.rtt.is_some_and(|rtt| rtt < Uet::LEAST_RTT) {
        return invalid(format!(
            "uet over a core of which hosts have {ratio} times the capacity and a round trip of {:?}, expected at \
             least {}",
            uet.rtt,
            Uet::LEAST_RTT
        ));
    }
    let pace = uet.pull_rate > 0.0 && uet.pull_rate <= 1.0;
    let times = uet.rtt != Some(Time::ZERO) && uet.target_delay != Some(Time::ZERO);
    if pace && times && uet.ack_bytes > 0 && uet.entropies.is_power_of_two() && uet.entropies <= 1 << 15 {
        return Ok(());
    }
    invalid(format!(
        "uet with credit at {} of the rate, an ACK after {} B, {} entropies, a round trip of {:?} and a target of \
         {:?}, expected above 0 and at most 1, at least 1, a power of two up to 32768, and times above 0",
        uet.pull_rate, uet.ack_bytes, uet.entropies, uet.rtt, uet.target_delay
    ))
}

/// A program: its nodes, and the ranges of its parameters.
fn check_program(spec: &Spec, own: &ProgramSpec) -> Result<(), RunError> {
    let nodes = spec.node_names.len() as u32;
    if !own.nodes.is_sorted_by(|a, b| a < b) || own.nodes.last().is_some_and(|node| *node >= nodes) {
        return invalid(format!(
            "a program runs at nodes {:?}, expected some of 0 to {}, rising",
            own.nodes,
            nodes - 1
        ));
    }
    match &own.program {
        Program::Sccp(sccp) if sccp.scale > 14 || sccp.floor == 0 => invalid(format!(
            "sccp with scale {} and floor {} B, expected at most 14 and at least 1",
            sccp.scale, sccp.floor
        )),
        Program::Idle(idle) if idle.timeout == Time::ZERO || own.nodes.iter().any(|node| *node >= spec.hosts) => {
            invalid("flows are idle after a time above 0, at hosts".into())
        }
        Program::Phantom(phantom) if !(phantom.drain > 0.0 && phantom.drain <= 1.0) => {
            invalid(format!("a phantom queue drains at {} of its link, expected above 0 and at most 1", phantom.drain))
        }
        Program::Phantom(_) => check_phantom(spec, own),
        Program::Rcp(rcp) => check_rcp(rcp),
        Program::Xcp(xcp) => check_xcp(xcp),
        Program::D3(d3) if !is_d3(d3) => {
            invalid(format!("{d3:?}, expected gains from 0 to 1, and times and a least rate above 0"))
        }
        Program::Pacer(pacer) if own.nodes.iter().any(|node| *node >= spec.hosts) || !is_pacer(pacer) => invalid(
            format!("{pacer:?}, expected hosts, a period, a burst and a least rate above 0, and shares from 0 to 1"),
        ),
        Program::Qjump(qjump) if own.nodes.iter().any(|node| *node >= spec.hosts) || !is_qjump(qjump) => {
            invalid(format!("{qjump:?}, expected hosts, factors, and hosts, packets and epochs above 0"))
        }
        Program::Bolt(bolt) if bolt.threshold == Some(0) || bolt.supply == Some(0) => {
            invalid("bolt with a threshold or a supply of nothing, expected at least a byte".into())
        }
        Program::Table(table) => table::check(own, table, spec).or_else(invalid),
        _ => Ok(()),
    }
}

/// A radio cell: its stations and their links, and what radio does not go with.
fn check_cell(spec: &Spec, number: u32, cell: &CellSpec) -> Result<(), RunError> {
    let name = |node: u32| spec.node_names.get(node as usize).map_or("?", String::as_str);
    let channel = cell.channel;
    if channel < spec.hosts || channel as usize >= spec.node_names.len() {
        return invalid(format!("cell {number}: its channel, node {channel}, is no switch"));
    }
    let count = cell.stations.len();
    if !(2..=MOST_STATIONS).contains(&count) {
        return invalid(format!("cell {}: {count} stations, expected 2 to {MOST_STATIONS}", name(channel)));
    }
    let ends = |from: u32, to: u32| move |l: &&LinkSpec| (l.from, l.to) == (from, to);
    for station in &cell.stations {
        let up = spec.links.iter().filter(ends(station.node, channel)).collect::<Vec<_>>();
        let down = spec.links.iter().filter(ends(channel, station.node)).count();
        let twice = cell.stations.iter().filter(|s| s.node == station.node).count() > 1;
        if up.len() != 1 || down != 1 || up[0].cell != Some(number) || twice {
            return invalid(format!(
                "cell {}: node {} is a station once, with a link to the channel and one from it",
                name(channel),
                name(station.node)
            ));
        }
        check_radio_port(spec, up[0])?;
        if !(station.at.0.is_finite() && station.at.1.is_finite()) {
            return invalid(format!("cell {}: station {} has no place", name(channel), name(station.node)));
        }
    }
    let own = spec.links.iter().filter(|l| l.cell == Some(number) || l.to == channel || l.from == channel).count();
    if own != 2 * count {
        return invalid(format!("cell {}: {own} links for {count} stations, expected two each", name(channel)));
    }
    let runs = |node: u32| spec.programs.iter().any(|own| own.nodes.binary_search(&node).is_ok());
    if let Some(node) = cell.stations.iter().map(|s| s.node).chain([channel]).find(|node| runs(*node)) {
        return invalid(format!("cell {}: node {} runs a program, expected none", name(channel), name(node)));
    }
    let framing = &cell.framing;
    if framing.overhead.saturating_add(framing.payload) > MOST_PSDU {
        return invalid(format!("cell {}: frames beyond {MOST_PSDU} bytes", name(channel)));
    }
    if let Some(adaptation) = &framing.adaptation
        && let Some(discovery) = adaptation.discovery
    {
        let most = MOST_DISCOVERY + if adaptation.mesh.is_some() { 7 } else { 0 };
        if framing.payload < most || discovery.waiting == 0 || discovery.interval == Time::ZERO {
            return invalid(format!(
                "cell {}: neighbour discovery with frames of {} bytes, {} packets that wait and an interval of {}, \
                 expected at least {most} bytes, 1 packet, and a time above 0",
                name(channel),
                framing.payload,
                discovery.waiting,
                discovery.interval
            ));
        }
    }
    for t in &spec.transports {
        let size = (t.mss + t.header).max(t.ack_size + 4 * t.sack_block).max(t.syn_size);
        let fits = match &framing.adaptation {
            Some(_) => size <= MOST_DATAGRAM && (t.mtu == 0 || t.mtu >= MOST_DATAGRAM),
            None => size <= framing.payload,
        };
        if !fits {
            return invalid(format!(
                "cell {}: packets of {size} bytes do not fit: expected at most {} bytes",
                name(channel),
                if framing.adaptation.is_some() { MOST_DATAGRAM } else { framing.payload }
            ));
        }
    }
    Ok(())
}

/// A port of a radio station.
fn check_radio_port(spec: &Spec, link: &LinkSpec) -> Result<(), RunError> {
    let wire = match &spec.queues[link.queue as usize].discipline {
        Discipline::EcnAtDeparture(_) => Some("marks at departures"),
        Discipline::FairNic { .. } => Some("a fair NIC"),
        Discipline::Trimming(_) => Some("trimming"),
        Discipline::Pfabric => Some("ranks of packets"),
        _ if spec.queues[link.queue as usize].credits().is_some() => Some("credit shaping"),
        _ if spec.pfc().is_some() => Some("priority flow control"),
        _ if link.loss != Loss::None || link.bucket > 0 => Some("losses or a token bucket of a wire"),
        _ if spec.failures.iter().any(|f| spec.links[f.link as usize].cell == link.cell) => Some("failures of links"),
        _ => None,
    };
    match wire {
        Some(what) => refuse_link(spec, link, format!("link {}: a radio station's port has no {what}", link.name)),
        None => Ok(()),
    }
}

/// Phantom queues go by departures that follow from the arrivals.
fn check_phantom(spec: &Spec, own: &ProgramSpec) -> Result<(), RunError> {
    let other = |l: &&LinkSpec| spec.is_explicit(l) || l.bucket > 0 || l.rate == Rate::INFINITE;
    let mut links = spec.links.iter().filter(|l| own.nodes.binary_search(&l.from).is_ok());
    match links.find(other) {
        Some(link) => invalid(format!("phantom queues, and link {} has no plain FIFO queue, or no rate", link.name)),
        None => Ok(()),
    }
}

/// Gains and shares of explicit rates.
fn check_rcp(rcp: &Rcp) -> Result<(), RunError> {
    let share = |x: f64| x > 0.0 && x <= 1.0;
    let gains = rcp.alpha > 0.0 && rcp.alpha.is_finite() && rcp.beta >= 0.0 && rcp.beta.is_finite();
    if gains && share(rcp.utilisation) && share(rcp.initial) && rcp.period > Time::ZERO && rcp.rtt != Some(Time::ZERO) {
        return Ok(());
    }
    invalid(format!(
        "rcp with alpha {}, beta {}, utilisation {}, initial {}, period {} and rtt {:?}, expected alpha and times \
         above 0, beta of at least 0, and shares above 0 and at most 1",
        rcp.alpha, rcp.beta, rcp.utilisation, rcp.initial, rcp.period, rcp.rtt
    ))
}

/// Parameters of a pacer.
fn is_pacer(pacer: &Pacer) -> bool {
    let share = |x: f64| (0.0..=1.0).contains(&x);
    let gain = pacer.beta >= 0.0 && pacer.beta.is_finite();
    let above = pacer.period > Time::ZERO && pacer.burst != Some(0) && pacer.least > Rate(0);
    share(pacer.eta) && share(pacer.share) && gain && above && pacer.least != Rate::INFINITE
}

/// Parameters of levels.
fn is_qjump(qjump: &Qjump) -> bool {
    let factors = !qjump.factors.is_empty() && qjump.factors.iter().all(|f| *f > 0.0 && f.is_finite());
    factors && qjump.hosts != Some(0) && qjump.packet != Some(0) && qjump.epoch != Some(Time::ZERO)
}

/// Parameters of rates for deadlines.
fn is_d3(d3: &D3) -> bool {
    let gain = |x: f64| (0.0..=1.0).contains(&x);
    gain(d3.alpha) && gain(d3.beta) && d3.period > Time::ZERO && d3.forget > Time::ZERO && d3.least > 0
}

/// Gains and shares of explicit windows.
fn check_xcp(xcp: &Xcp) -> Result<(), RunError> {
    let share = |x: f64| x > 0.0 && x <= 1.0;
    let gains = xcp.alpha > 0.0 && xcp.alpha.is_finite() && xcp.beta >= 0.0 && xcp.beta.is_finite();
    let shares = share(xcp.utilisation) && share(xcp.queue_share) && (0.0..=1.0).contains(&xcp.shuffle);
    if gains && shares && xcp.rtt != Some(Time::ZERO) {
        return Ok(());
    }
    invalid(format!(
        "xcp with alpha {}, beta {}, shuffle {}, utilisation {}, queue share {} and rtt {:?}, expected alpha and rtt \
         above 0, beta of at least 0, a shuffle from 0 to 1, and shares above 0 and at most 1",
        xcp.alpha, xcp.beta, xcp.shuffle, xcp.utilisation, xcp.queue_share, xcp.rtt
    ))
}

/// The queue of a link, and what it asks of the traffic, whose highest class is `most`.
fn check_queue(spec: &Spec, link: &LinkSpec, most: usize) -> Result<(), RunError> {
    let queue = &spec.queues[link.queue as usize];
    if spec.is_explicit(link) && link.bucket > 0 {
        return invalid(format!("link {}: an explicit queue takes no token bucket", link.name));
    }
    if let Discipline::Trimming(_) = queue.discipline {
        if queue.device > 0 {
            return invalid(format!("link {}: a queue that trims has no device queue below it", link.name));
        }
        let whole = |t: &TransportSpec| t.mtu == 0 || t.mss + t.header <= t.mtu;
        let fit = |t: &TransportSpec| whole(t) && (t.protocol.is_driven() || t.sack && t.scoreboard != Rules::Ns3);
        if !spec.transports.iter().all(fit) {
            return invalid(format!(
                "link {}: a queue trims segments, so transports must not fragment them, and must know by SACK \
                 which are missing (and not by ns-3's scoreboard)",
                link.name
            ));
        }
    }
    if queue.discipline == Discipline::Pfabric && (queue.device > 0 || spec.shares_buffer(link)) {
        return invalid(format!(
            "link {}: a queue that goes by ranks has no device queue below it and shares no buffer",
            link.name
        ));
    }
    let classes = queue.classes();
    if !classes.is_empty() && queue.device > 0 {
        return invalid(format!("link {}: classes have no device queue below them", link.name));
    }
    if classes.iter().any(|c| !c.classes().is_empty() || matches!(c.discipline, Discipline::FairNic { .. })) {
        return invalid(format!("link {}: a class is one queue, without classes of its own", link.name));
    }
    if classes.iter().any(|c| c.discipline == Discipline::Pfabric) {
        return invalid(format!("link {}: a class goes by the order of arrival, not by ranks", link.name));
    }
    if matches!(queue.discipline, Discipline::Classes { .. }) {
        if most >= classes.len() {
            let has = classes.len();
            return invalid(format!("link {}: has {has} classes, and flows are of class {most}", link.name));
        }
    }
    Ok(())
}

/// Checks flows, given their paths.
pub fn check_flows(spec: &Spec, fabric: &Fabric) -> Result<(), RunError> {
    for (f, flow) in (0..).map(FlowId).zip(&spec.flows) {
        check_flow(spec, fabric, f, flow).map_err(|error| error.about(About::Flow(f.0)))?;
    }
    Ok(())
}

fn check_flow(spec: &Spec, fabric: &Fabric, f: FlowId, flow: &FlowSpec) -> Result<(), RunError> {
    if flow.app.datagram_gap() == Some(Time::ZERO) {
        return invalid(format!("flow {}: datagrams without time between them", f.0));
    }
    let controller = &spec.controllers[flow.controller as usize];
    let asks = flow.app.datagram_gap().is_none();
    if asks && controller.profile().telemetry && fabric.path(f, false).len() > STAMPS {
        return invalid(format!(
            "flow {}: ports stamp the packets of {}, which hold {STAMPS} stamps, and its path crosses {} \
                 ports",
            f.0,
            controller.kind().name,
            fabric.path(f, false).len()
        ));
    }
    check_credits(spec, fabric, f)
}
