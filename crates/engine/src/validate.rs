//! Validation of a specification: contradictions are refused before anything is built.

use crate::event::metadata::STAMPS;
use crate::ids::{EngineId, FlowId, LinkId};
use crate::map::back;
use crate::map::ideal::Fabric;
use crate::program::table;
use crate::spec::{
    About, CellSpec, D3, Discipline, Entropy, Eqds, ExpressPass, FlowSpec, Homa, LinkSpec, Loss, MAX_DATAGRAM,
    MAX_DISCOVERY, MAX_PSDU, MAX_STATIONS, PHost, Pacer, PathChoice, Program, ProgramSpec, Protocol, Qjump, QuerySpec,
    QueueSpec, Rcp, Rules, RunError, Spec, Ties, TransportSpec, Uet, Xcp,
};
use incast_cc::{Rate, Time};

fn invalid(text: String) -> Result<(), RunError> {
    Err(RunError::Invalid(text))
}

/// Checks each of several parts of the specification; `about` names the part by its number.
fn each<'a, T: 'a>(
    all: impl IntoIterator<Item = &'a T>,
    about: fn(u32) -> About,
    mut check: impl FnMut(&'a T) -> Result<(), RunError>,
) -> Result<(), RunError> {
    (0..).zip(all).try_for_each(|(i, one)| check(one).map_err(|error| error.about(about(i))))
}

/// Refuses a flow.
fn refuse_flow(spec: &Spec, flow: &FlowSpec, text: String) -> Result<(), RunError> {
    let number = spec.flows.iter().position(|other| std::ptr::eq(other, flow)).unwrap_or_default();
    Err(RunError::Refused(About::Flow(number as u32), text))
}

/// Refuses a link.
fn refuse_link(spec: &Spec, link: &LinkSpec, text: String) -> Result<(), RunError> {
    let number = spec.links.iter().position(|other| std::ptr::eq(other, link)).unwrap_or_default();
    Err(RunError::Refused(About::Link(number as u32), text))
}

/// Checks everything that depends on the specification alone.
pub fn check(spec: &Spec) -> Result<(), RunError> {
    check_all(spec).map_err(|error| error.about(About::Network))
}

fn check_all(spec: &Spec) -> Result<(), RunError> {
    let nodes = spec.node_names.len();
    if spec.domain_of.len() != nodes || spec.hosts as usize + spec.routers.len() != nodes {
        return invalid(format!(
            "inconsistent specification: {nodes} node names, {} domain entries, {} hosts and {} routers",
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
        let text = "a packet cannot carry both an entropy and the data of scheduled ties".to_owned();
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

/// Sizes of segments.
fn check_segments(t: &TransportSpec) -> Result<(), RunError> {
    if t.mss == 0 || t.mss + t.header > 65_535 || (t.mtu > 0 && t.mtu < 68) {
        return invalid(format!(
            "a segment of {} + {} bytes, expected payload, at most 65535 bytes, and an MTU of 0 or at least 68",
            t.mss, t.header
        ));
    }
    if t.mtu > 0 && (t.mss + t.header).div_ceil((t.mtu - 20) / 8 * 8) > 16 {
        return invalid(format!("a segment of {} bytes needs more than 16 fragments", t.mss + t.header));
    }
    if t.rank.is_some() && t.protocol.numbers_packets() {
        return invalid(format!("{} does not support ranks", t.protocol.name()));
    }
    Ok(())
}

/// Processing times at hosts.
fn check_hosts(spec: &Spec) -> Result<(), RunError> {
    if !spec.host_costs.is_empty() && spec.host_costs.len() != spec.hosts as usize {
        return invalid(format!("processing times of {} hosts, expected {}", spec.host_costs.len(), spec.hosts));
    }
    let sides = spec.host_costs.iter().flat_map(|h| [&h.receive, &h.send]).flatten();
    if let Some(costs) = { sides }.find(|c| !(1..=EngineId::MAX).contains(&c.engines)) {
        return invalid(format!("{} engines per direction of a host, expected 1 to {}", costs.engines, EngineId::MAX));
    }
    Ok(())
}

/// Returned headers: they take the link back to the previous node.
fn check_returns(spec: &Spec) -> Result<(), RunError> {
    let returns = |link: &&LinkSpec| spec.queues[link.queue as usize].returns();
    let mut nodes = vec![false; spec.node_names.len()];
    spec.links.iter().filter(returns).for_each(|link| nodes[link.from as usize] = true);
    if let Some(link) = spec.links.iter().filter(returns).find(|link| link.from < spec.hosts) {
        return refuse_link(spec, link, format!("link {}: hosts cannot return headers, only switches can", link.name));
    }
    if !nodes.contains(&true) {
        return Ok(());
    }
    let ways = spec.links.iter().zip(back::links(spec));
    match { ways }.find(|(link, back)| nodes[link.to as usize] && back.is_none()) {
        Some((link, _)) => {
            refuse_link(spec, link, format!("link {}: no reverse link over which headers could return", link.name))
        }
        None => Ok(()),
    }
}

/// Demotion: sizes, and transport.
fn check_demotion(t: &TransportSpec) -> Result<(), RunError> {
    let sizes = &t.demotion;
    let rise = sizes.is_sorted_by(|a, b| a < b) && sizes.first() != Some(&0);
    if rise && sizes.len() <= TransportSpec::MAX_SIZES && (sizes.is_empty() || t.protocol == Protocol::Tcp) {
        return Ok(());
    }
    invalid(format!(
        "demotion of {} by sizes {sizes:?}, expected tcp, and at most {} sizes above 0 that rise",
        t.protocol.name(),
        TransportSpec::MAX_SIZES
    ))
}

/// Receiver-driven transports, and features that they exclude.
fn check_driven(spec: &Spec) -> Result<(), RunError> {
    let cuts = |queue: &QueueSpec| matches!(queue.discipline, Discipline::Trimming(_)) && !queue.drops_uncut();
    let sleeks = |t: &TransportSpec| matches!(&t.protocol, Protocol::Uet(uet) if uet.sleek);
    if spec.transports.iter().any(sleeks) && spec.queues.iter().any(cuts) {
        let sleek = spec.transports.iter().position(sleeks).unwrap_or_default() as u32;
        let text = "SLEEK needs switches that drop instead of trimming: with trimming, NACKs report losses".to_owned();
        return Err(RunError::Refused(About::Transport(sleek), text));
    }
    let by_endpoints = matches!(spec.choice, PathChoice::GivenPath | PathChoice::Entropy(Entropy::Given));
    let receiver_driven = |f: &FlowSpec| {
        f.app.datagram_gap().is_none() && spec.transports[f.transport as usize].protocol.numbers_packets()
    };
    if by_endpoints && !spec.flows.iter().all(receiver_driven) {
        let text = "the routing policy needs endpoints that choose paths; those of TCP and UDP do not".to_owned();
        return Err(RunError::Refused(About::Routing, text));
    }
    each(&spec.transports, About::Transport, |t| check_alone(spec, t))?;
    each(&spec.transports, About::Transport, |t| match &t.protocol {
        Protocol::Tcp => Ok(()),
        Protocol::Ndp(ndp) if ndp.window == 0 || !(ndp.pull_rate > 0.0 && ndp.pull_rate <= 1.0) => invalid(format!(
            "ndp with a window of {} packets (expected at least 1) and a pull rate of {} (expected above 0 and at \
             most 1)",
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

/// One receiver-driven transport, and features that it excludes.
fn check_alone(spec: &Spec, t: &TransportSpec) -> Result<(), RunError> {
    if !t.protocol.numbers_packets() {
        return Ok(());
    }
    let name = t.protocol.name();
    if t.mtu > 0 && t.mss + t.header > t.mtu {
        return invalid(format!("{name} with an MTU below a segment: it does not support IP fragments"));
    }
    if t.extra_packets > 0 {
        return invalid(format!("{name} does not support extra packets, which TCP alone has"));
    }
    if !spec.host_costs.is_empty() {
        return invalid(format!("{name} does not support [hosts] processing times"));
    }
    let fair = |link: &&LinkSpec| matches!(spec.queues[link.queue as usize].discipline, Discipline::FairNic { .. });
    if let Some(link) = spec.links.iter().find(fair) {
        let text =
            format!("link {}: {name} does not support a fair NIC: it has a queue of its own in the host", link.name);
        return refuse_link(spec, link, text);
    }
    let whole = |q: &QuerySpec| q.close.is_none();
    if !spec.queries.iter().all(whole) {
        return invalid(format!(
            "{name} does not support queries that close their connections: it opens no connection"
        ));
    }
    Ok(())
}

/// Homa: levels and cutoffs, one setting for all flows, and the lowest level as the class of its flows.
fn check_homa(spec: &Spec, homa: &Homa) -> Result<(), RunError> {
    let cutoffs = homa.cutoffs.as_deref().unwrap_or_default();
    let levels = (1..=Homa::MAX_LEVELS).contains(&homa.levels) && cutoffs.len() < homa.levels as usize;
    if homa.unscheduled == 0 || !levels || homa.overcommit == Some(0) || !cutoffs.is_sorted_by(|a, b| a < b) {
        return invalid(format!(
            "homa with {} unscheduled bytes (expected at least 1), {} levels, overcommit {:?} (expected at least 1) \
             and cutoffs {cutoffs:?} (expected rising, and fewer than levels), expected 1 to {} levels",
            homa.unscheduled,
            homa.levels,
            homa.overcommit,
            Homa::MAX_LEVELS
        ));
    }
    if spec.transports.iter().filter_map(|t| t.protocol.of::<Homa>()).any(|other| other != homa) {
        return invalid(
            "homa with two settings, expected one: a host grants messages of all its flows together".into(),
        );
    }
    // datagrams keep the class that they are given
    let own = |f: &&FlowSpec| {
        spec.transports[f.transport as usize].protocol.of::<Homa>().is_some() && f.app.datagram_gap().is_none()
    };
    let (class, ack_class) = (homa.levels - 1, 0);
    match spec.flows.iter().filter(own).find(|f| (f.class, f.ack_class) != (class, ack_class)) {
        Some(flow) => refuse_flow(
            spec,
            flow,
            format!(
                "a flow of homa with class {} and ack_class {}, expected {class}, its lowest level, and ack_class 0",
                flow.class, flow.ack_class
            ),
        ),
        None => Ok(()),
    }
}

/// pHost: parameters, classes of its flows, and finite rates at its hosts.
fn check_phost(spec: &Spec, own: &PHost) -> Result<(), RunError> {
    let time = |x: f64| x.is_finite() && x > 0.0;
    let times = [own.gap, own.expiry, own.skip, own.reissue];
    if !times.into_iter().all(time) || own.window == 0 || own.large == Some(0) {
        return invalid(format!(
            "phost with times of {times:?} packets (expected above 0), a window of {} tokens (expected at least 1) and \
             large messages above {:?} bytes (expected above 0)",
            own.window, own.large
        ));
    }
    if spec.transports.iter().any(|t| t.protocol.of::<PHost>() == Some(own) && t.rto_min == Time::ZERO) {
        return invalid(
            "phost with an rto_min of 0, expected a time above 0: requests are repeated after it".to_owned(),
        );
    }
    let is_own = |f: &&FlowSpec| {
        spec.transports[f.transport as usize].protocol.of::<PHost>() == Some(own) && f.app.datagram_gap().is_none()
    };
    let class = own.lowest_level();
    if let Some(flow) = spec.flows.iter().filter(is_own).find(|f| (f.class, f.ack_class) != (class, 0)) {
        return refuse_flow(
            spec,
            flow,
            format!(
                "a flow of phost with class {} and ack_class {}, expected {class}, its lowest class, and ack_class 0",
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
                "link {}: phost at a host with infinite rate, expected a rate: a host sends one token per packet time",
                link.name
            ),
        ),
        None => Ok(()),
    }
}

/// ExpressPass: parameters, and symmetric paths.
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
            "expresspass with credits of {:?} bytes (expected a range above 0), alpha {} (above 0, at most 1), weight \
             {} and min_weight {} (above 0, at most 1, the minimum not larger), target_loss {} and jitter {} (from 0, \
             below 1)",
            own.credit, own.alpha, own.weight, own.min_weight, own.target_loss, own.jitter
        ));
    }
    match spec.choice.is_symmetric() {
        true => Ok(()),
        false => invalid("expresspass needs credits on the links of their data, expected symmetric routing".into()),
    }
}

/// Ports that shape credits: class 0 only for credits, and no pauses.
fn check_shaping(spec: &Spec) -> Result<(), RunError> {
    let shapes = |l: &&LinkSpec| spec.queues[l.queue as usize].credits().is_some();
    let Some(link) = spec.links.iter().find(shapes) else { return Ok(()) };
    if let Some(flow) = spec.flows.iter().find(|f| f.class == 0 || f.ack_class == 0) {
        return refuse_flow(
            spec,
            flow,
            format!(
                "link {}: class 0 is for credits, a flow has class {} and ack_class {}, expected 1 or more",
                link.name, flow.class, flow.ack_class
            ),
        );
    }
    if spec.pfc().is_some() {
        return refuse_link(
            spec,
            link,
            format!("link {}: a port that shapes credits does not support priority flow control", link.name),
        );
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
                "link {}: credit shaping, expected a rate, a burst of at least 1 credit, and credits and packets of at \
             least 1 B",
                link.name
            ),
        ),
        None => Ok(()),
    }
}

/// ExpressPass: credit shaping on the whole path of a flow.
fn check_credits(spec: &Spec, fabric: &Fabric, f: FlowId) -> Result<(), RunError> {
    let flow = &spec.flows[f];
    if spec.transports[flow.transport as usize].protocol.of::<ExpressPass>().is_none()
        || flow.app.datagram_gap().is_some()
    {
        return Ok(());
    }
    let back = fabric.path(f, true);
    if let Some(link) = back.iter().find(|l| spec.queues[spec.links[**l].queue as usize].credits().is_none()) {
        return invalid(format!(
            "flow {}: expresspass: link {} on the path of its credits does not shape them, expected credit shaping",
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
        return invalid(format!("flow {}: expresspass: its reverse path does not use the same links as its path", f.0));
    }
    Ok(())
}

/// EQDS: window, credit rate and entropies.
fn check_eqds(eqds: &Eqds) -> Result<(), RunError> {
    let pace = eqds.pull_rate > 0.0 && eqds.pull_rate <= 1.0;
    if eqds.window > 0 && pace && eqds.entropies.is_power_of_two() && eqds.entropies <= 1 << 15 {
        return Ok(());
    }
    invalid(format!(
        "eqds with a window of {} packets (expected at least 1), a credit rate of {} (expected above 0 and at most 1) \
         and {} entropies (expected a power of two up to 32768)",
        eqds.window, eqds.pull_rate, eqds.entropies
    ))
}

/// UET: congestion control, credit rate and entropies.
fn check_uet(spec: &Spec, uet: &Uet) -> Result<(), RunError> {
    if !uet.window && !uet.credit {
        return invalid("uet without NSCC and without RCCC, expected one of them, or both".into());
    }
    let ratio = uet.oversubscription;
    if !(ratio >= 1.0 && ratio.is_finite()) || ratio > 1.0 && !uet.credit {
        return invalid(format!(
            "uet {} credit, with oversubscription {ratio}, expected a finite number of at least 1, and 1 without \
             credit",
            if uet.credit { "with" } else { "without" }
        ));
    }
    let others = spec.transports.iter().filter_map(|t| t.protocol.of::<Uet>()).map(|other| other.oversubscription);
    if let Some(other) = others.filter(|_| ratio > 1.0).find(|other| *other > 1.0 && *other != ratio) {
        return invalid(format!(
            "uet with oversubscription {ratio} and {other}, expected one ratio above 1: a host has one credit rate for \
             all its flows"
        ));
    }
    if ratio > 1.0 && uet.rtt.is_some_and(|rtt| rtt < Uet::MIN_RTT) {
        return invalid(format!(
            "uet with oversubscription {ratio} and a round-trip time of {:?}, expected at least {}",
            uet.rtt,
            Uet::MIN_RTT
        ));
    }
    let pace = uet.pull_rate > 0.0 && uet.pull_rate <= 1.0;
    let times = uet.rtt != Some(Time::ZERO) && uet.target_delay != Some(Time::ZERO);
    if pace && times && uet.ack_bytes > 0 && uet.entropies.is_power_of_two() && uet.entropies <= 1 << 15 {
        return Ok(());
    }
    invalid(format!(
        "uet with a credit rate of {} (expected above 0 and at most 1), an ACK after {} B (expected at least 1), {} \
         entropies (expected a power of two up to 32768), a round-trip time of {:?} and a target delay of {:?} \
         (expected above 0)",
        uet.pull_rate, uet.ack_bytes, uet.entropies, uet.rtt, uet.target_delay
    ))
}

/// Program: nodes, and ranges of its parameters.
fn check_program(spec: &Spec, own: &ProgramSpec) -> Result<(), RunError> {
    let nodes = spec.node_names.len() as u32;
    if !own.nodes.is_sorted_by(|a, b| a < b) || own.nodes.last().is_some_and(|node| *node >= nodes) {
        return invalid(format!(
            "a program at nodes {:?}, expected numbers from 0 to {}, rising",
            own.nodes,
            nodes - 1
        ));
    }
    match &own.program {
        Program::Sccp(sccp) if sccp.scale > 14 || sccp.floor == 0 => invalid(format!(
            "sccp with scale {} (expected at most 14) and floor {} B (expected at least 1)",
            sccp.scale, sccp.floor
        )),
        Program::Idle(idle) if idle.timeout == Time::ZERO || own.nodes.iter().any(|node| *node >= spec.hosts) => {
            invalid("idle, expected a timeout above 0, and hosts".into())
        }
        Program::Phantom(phantom) if !(phantom.drain > 0.0 && phantom.drain <= 1.0) => invalid(format!(
            "phantom queue with drain rate {}, expected above 0 and at most 1 of its link",
            phantom.drain
        )),
        Program::Phantom(_) => check_phantom(spec, own),
        Program::Rcp(rcp) => check_rcp(rcp),
        Program::Xcp(xcp) => check_xcp(xcp),
        Program::D3(d3) if !is_d3(d3) => {
            invalid(format!("{d3:?}, expected gains from 0 to 1, and times and a minimum rate above 0"))
        }
        Program::Pacer(pacer) if own.nodes.iter().any(|node| *node >= spec.hosts) || !is_pacer(pacer) => invalid(
            format!("{pacer:?}, expected hosts, a period, a burst and a minimum rate above 0, and shares from 0 to 1"),
        ),
        Program::Qjump(qjump) if own.nodes.iter().any(|node| *node >= spec.hosts) || !is_qjump(qjump) => {
            invalid(format!("{qjump:?}, expected nodes that are hosts, factors, and hosts, packet and epoch above 0"))
        }
        Program::Bolt(bolt) if bolt.threshold == Some(0) || bolt.supply == Some(0) => {
            invalid("bolt with a threshold or a supply of 0, expected at least 1 B".into())
        }
        Program::Table(table) => table::check(own, table, spec).or_else(invalid),
        _ => Ok(()),
    }
}

/// Radio cell: stations and their links, and features that radio excludes.
fn check_cell(spec: &Spec, number: u32, cell: &CellSpec) -> Result<(), RunError> {
    let name = |node: u32| spec.node_names.get(node as usize).map_or("?", String::as_str);
    let channel = cell.channel;
    if channel < spec.hosts || channel as usize >= spec.node_names.len() {
        return invalid(format!("cell {number}: its channel, node {channel}, is not a switch"));
    }
    let count = cell.stations.len();
    if !(2..=MAX_STATIONS).contains(&count) {
        return invalid(format!("cell {}: {count} stations, expected 2 to {MAX_STATIONS}", name(channel)));
    }
    let ends = |from: u32, to: u32| move |l: &&LinkSpec| (l.from, l.to) == (from, to);
    for station in &cell.stations {
        let up = spec.links.iter().filter(ends(station.node, channel)).collect::<Vec<_>>();
        let down = spec.links.iter().filter(ends(channel, station.node)).count();
        let twice = cell.stations.iter().filter(|s| s.node == station.node).count() > 1;
        if up.len() != 1 || down != 1 || up[0].cell != Some(number) || twice {
            return invalid(format!(
                "cell {}: node {}: expected one station, with one link to the channel and one from it",
                name(channel),
                name(station.node)
            ));
        }
        check_radio_port(spec, up[0])?;
        if !(station.at.0.is_finite() && station.at.1.is_finite()) {
            return invalid(format!("cell {}: station {} has no finite position", name(channel), name(station.node)));
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
    if framing.overhead.saturating_add(framing.payload) > MAX_PSDU {
        return invalid(format!("cell {}: frames of more than {MAX_PSDU} bytes", name(channel)));
    }
    if let Some(adaptation) = &framing.adaptation
        && let Some(discovery) = adaptation.discovery
    {
        let max = MAX_DISCOVERY + if adaptation.mesh.is_some() { 7 } else { 0 };
        if framing.payload < max || discovery.waiting == 0 || discovery.interval == Time::ZERO {
            return invalid(format!(
                "cell {}: neighbour discovery with frames of {} bytes (expected at least {max}), {} waiting packets \
                 (expected at least 1) and an interval of {} (expected above 0)",
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
            Some(_) => size <= MAX_DATAGRAM && (t.mtu == 0 || t.mtu >= MAX_DATAGRAM),
            None => size <= framing.payload,
        };
        if !fits {
            return invalid(format!(
                "cell {}: packets of {size} bytes do not fit: expected at most {} bytes",
                name(channel),
                if framing.adaptation.is_some() { MAX_DATAGRAM } else { framing.payload }
            ));
        }
    }
    Ok(())
}

/// Port of a radio station.
fn check_radio_port(spec: &Spec, link: &LinkSpec) -> Result<(), RunError> {
    let wire = match &spec.queues[link.queue as usize].discipline {
        Discipline::EcnAtDeparture(_) => Some("marking at departure"),
        Discipline::FairNic { .. } => Some("a fair NIC"),
        Discipline::Trimming(_) => Some("trimming"),
        Discipline::Pfabric => Some("packet ranks"),
        _ if spec.queues[link.queue as usize].credits().is_some() => Some("credit shaping"),
        _ if spec.pfc().is_some() => Some("priority flow control"),
        _ if link.loss != Loss::None || link.bucket > 0 => Some("losses or a token bucket of a wired link"),
        _ if spec.failures.iter().any(|f| spec.links[f.link as usize].cell == link.cell) => Some("failures of links"),
        _ => None,
    };
    match wire {
        Some(what) => {
            refuse_link(spec, link, format!("link {}: the port of a radio station does not support {what}", link.name))
        }
        None => Ok(()),
    }
}

/// Phantom queues: they need departure times that are known at arrival.
fn check_phantom(spec: &Spec, own: &ProgramSpec) -> Result<(), RunError> {
    let other = |l: &&LinkSpec| spec.is_explicit(l) || l.bucket > 0 || l.rate == Rate::INFINITE;
    let mut links = spec.links.iter().filter(|l| own.nodes.binary_search(&l.from).is_ok());
    match links.find(other) {
        Some(link) => invalid(format!("phantom queues need a plain FIFO queue and a rate at link {}", link.name)),
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
        "rcp with alpha {} (expected above 0), beta {} (at least 0), utilisation {} and initial {} (above 0, at most \
         1), period {} and rtt {:?} (above 0)",
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
        "xcp with alpha {} (expected above 0), beta {} (at least 0), shuffle {} (from 0 to 1), utilisation {} and \
         queue share {} (above 0, at most 1), and rtt {:?} (above 0)",
        xcp.alpha, xcp.beta, xcp.shuffle, xcp.utilisation, xcp.queue_share, xcp.rtt
    ))
}

/// Queue of a link, and its requirements for the traffic, whose highest class is `max`.
fn check_queue(spec: &Spec, link: &LinkSpec, max: usize) -> Result<(), RunError> {
    let queue = &spec.queues[link.queue as usize];
    if spec.is_explicit(link) && link.bucket > 0 {
        return invalid(format!("link {}: an explicit queue does not support a token bucket", link.name));
    }
    if let Discipline::Trimming(_) = queue.discipline {
        if queue.device > 0 {
            return invalid(format!("link {}: a trimming queue does not support a device queue", link.name));
        }
        let whole = |t: &TransportSpec| t.mtu == 0 || t.mss + t.header <= t.mtu;
        let fit =
            |t: &TransportSpec| whole(t) && (t.protocol.numbers_packets() || t.sack && t.scoreboard != Rules::Ns3);
        if !spec.transports.iter().all(fit) {
            return invalid(format!(
                "link {}: with a trimming queue, transports must not fragment segments, and must detect losses by SACK \
                 (without ns-3's scoreboard)",
                link.name
            ));
        }
    }
    if queue.discipline == Discipline::Pfabric && (queue.device > 0 || spec.shares_buffer(link)) {
        return invalid(format!(
            "link {}: a queue served by rank does not support a device queue or a shared buffer",
            link.name
        ));
    }
    let classes = queue.classes();
    if !classes.is_empty() && queue.device > 0 {
        return invalid(format!("link {}: class queues do not support a device queue", link.name));
    }
    if classes.iter().any(|c| !c.classes().is_empty() || matches!(c.discipline, Discipline::FairNic { .. })) {
        return invalid(format!("link {}: a class is one queue, without classes or a fair NIC of its own", link.name));
    }
    if classes.iter().any(|c| c.discipline == Discipline::Pfabric) {
        return invalid(format!("link {}: a class queue is served in order of arrival, not by rank", link.name));
    }
    if matches!(queue.discipline, Discipline::Classes { .. }) {
        if max >= classes.len() {
            let has = classes.len();
            return invalid(format!("link {}: has {has} classes, but flows use class {max}", link.name));
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
        return invalid(format!("flow {}: datagrams without an interval, expected a time above 0", f.0));
    }
    let controller = &spec.controllers[flow.controller as usize];
    let asks = flow.app.datagram_gap().is_none();
    if asks && controller.profile().telemetry && fabric.path(f, false).len() > STAMPS {
        return invalid(format!(
            "flow {}: packets of {} hold telemetry of at most {STAMPS} ports, but its path crosses {} ports",
            f.0,
            controller.kind().name,
            fabric.path(f, false).len()
        ));
    }
    check_credits(spec, fabric, f)
}
