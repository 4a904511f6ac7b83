//! Validation of a specification: contradictions are refused before anything is built.

use crate::event::metadata::STAMPS;
use crate::ids::{EngineId, FlowId};
use crate::map::back;
use crate::map::ideal::Fabric;
use crate::program::table;
use crate::spec::refusal::{invalid, refuse_flow, refuse_link};
use crate::spec::{
    About, CellSpec, D3, Discipline, Entropy, FlowSpec, LinkSpec, Loss, MAX_DATAGRAM, MAX_DISCOVERY, MAX_PSDU,
    MAX_STATIONS, Pacer, PathChoice, Program, ProgramSpec, Qjump, Rcp, Rules, RunError, Spec, Ties, TransportSpec, Xcp,
};
use crate::transport::check as transport;
use incast_cc::{Rate, Time};

/// Checks each of several parts of the specification; `about` names the part by its number.
fn each<'a, T: 'a>(
    all: impl IntoIterator<Item = &'a T>,
    about: fn(u32) -> About,
    mut check: impl FnMut(&'a T) -> Result<(), RunError>,
) -> Result<(), RunError> {
    (0..).zip(all).try_for_each(|(i, one)| check(one).map_err(|error| error.about(about(i))))
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
    each(&spec.transports, About::Transport, check_values)?;
    check_transports(spec)?;
    if spec.choice == PathChoice::Flowcell(0) {
        return invalid("flowcells of 0 B, expected at least 1".into());
    }
    if spec.ties == Ties::Scheduled && spec.choice.has_entropy() {
        let text = "packets carry what scheduled ties ask in place of their entropies; expected \"hash\" or \"link\" \
                    with this routing";
        return Err(RunError::Refused(About::Ties, text.to_owned()));
    }
    check_hosts(spec).map_err(|error| error.about(About::Hosts))?;
    check_shaping(spec)?;
    check_returns(spec)?;
    each(&spec.programs, About::Program, |own| check_program(spec, own))?;
    (0..).zip(&spec.cells).try_for_each(|(i, cell)| check_cell(spec, i, cell).map_err(|e| e.about(About::Cell(i))))?;
    let given = |f: &FlowSpec| spec.transports[f.transport as usize].output.demotion.len().saturating_sub(1);
    let class = spec.flows.iter().map(|f| given(f).max(f.class.max(f.ack_class) as usize)).max().unwrap_or(0);
    each(&spec.links, About::Link, |link| check_queue(spec, link, class))
}

/// Values of a transport.
fn check_values(t: &TransportSpec) -> Result<(), RunError> {
    match t.refused().first() {
        Some(refused) => invalid(format!("{}: {refused}", t.protocol.name())),
        None => Ok(()),
    }
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

/// Transports, and features that they exclude.
fn check_transports(spec: &Spec) -> Result<(), RunError> {
    let by_endpoints = matches!(spec.choice, PathChoice::GivenPath | PathChoice::Entropy(Entropy::Given));
    for (number, flow) in (0..).zip(&spec.flows).filter(|_| by_endpoints) {
        if flow.app.datagram_gap().is_some() {
            let text = "expected another application, or another routing.kind than \"transport\": senders of datagrams \
                        give packets no path and no entropy";
            return Err(RunError::Refused(About::Application(number), text.to_owned()));
        }
        if !spec.transports[flow.transport as usize].protocol.numbers_packets() {
            let text = "expected a transport that gives packets paths or entropies, such as transport.preset = \"ndp\"";
            return Err(RunError::Refused(About::Routing, text.to_owned()));
        }
    }
    each(&spec.transports, About::Transport, |t| transport::check(spec, t))
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
    if let Some(link) = spec.links.iter().filter(shapes).find(|l| l.rate == Rate::INFINITE) {
        let text = format!("expected all links with a finite rate, unlike {}: credits get a share of it", link.name);
        return refuse_link(spec, link, text);
    }
    let wrong = |l: &&LinkSpec| {
        let shaping = spec.queues[l.queue as usize].credits();
        shaping.is_some_and(|s| s.credit == 0 || s.packet == 0 || s.burst == 0)
    };
    match spec.links.iter().filter(shapes).find(wrong) {
        Some(link) => refuse_link(
            spec,
            link,
            format!(
                "link {}: credit shaping, expected a burst of at least 1 credit, and credits and packets of at least \
                 1 B",
                link.name
            ),
        ),
        None => Ok(()),
    }
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
        let size = (t.sizes.mss + t.overhead()).max(t.sizes.ack_size + 4 * t.loss.sack_block).max(t.sizes.syn_size);
        let fits = match &framing.adaptation {
            Some(_) => size <= MAX_DATAGRAM && (t.sizes.mtu == 0 || t.sizes.mtu >= MAX_DATAGRAM),
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
    let queue = &spec.queues[link.queue as usize];
    let kind = match &queue.discipline {
        Discipline::EcnAtDeparture(_) => Some("marks at departures"),
        Discipline::FairNic { .. } => Some("a fair NIC"),
        Discipline::Trimming(_) => Some("a queue that trims"),
        Discipline::Pfabric => Some("a queue that goes by ranks"),
        _ => queue.credits().map(|_| "a queue that shapes credits"),
    };
    if let Some(kind) = kind {
        let text = format!("the port {} of a radio station has {kind}; expected another kind of queue", link.name);
        return refuse_link(spec, link, text);
    }
    let wire = match link {
        _ if spec.pfc().is_some() => "priority flow control",
        _ if link.loss != Loss::None || link.bucket > 0 => "losses or a token bucket of a wired link",
        _ if spec.failures.iter().any(|f| spec.links[f.link as usize].cell == link.cell) => "failures of links",
        _ => return Ok(()),
    };
    refuse_link(spec, link, format!("link {}: the port of a radio station does not support {wire}", link.name))
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
        let whole = |t: &TransportSpec| t.sizes.mtu == 0 || t.sizes.mss + t.sizes.header <= t.sizes.mtu;
        let fit = |t: &TransportSpec| {
            whole(t) && (t.protocol.numbers_packets() || t.loss.sack && t.loss.scoreboard != Rules::Ns3)
        };
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
    transport::check_flow(spec, fabric, f)
}
