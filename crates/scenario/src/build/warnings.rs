//! Warnings before a run, about valid scenarios: a controller's form in a transport of another reference, values
//! without effect, flows that never start.

use super::failures::{self, changes_nothing};
use super::{Built, credits, jobs, pauses, ranks, triggers};
use crate::LeftOut;
use crate::document::Document;
use crate::document::app::{App, Bulk};
use crate::document::group::{Group, path_of};
use crate::document::program;
use crate::document::transport::{self, Preset, Transport};
use crate::text::controller::Controller;
use crate::text::words::Word;
use crate::topology::cell::notes::{at_line_rate, out_of_range};
use incast_cc as cc;
use incast_cc::Controller as _;
use incast_engine::map::triggers::Triggers;
use incast_engine::spec::{
    Discipline, Entropy, FlowSpec, Limit, LinkSpec, PathChoice, QueueSpec, Recovery, Rules, Spec,
};
use std::slice;

/// Notes on a scenario, one sentence each. `built` is the result of building it, `left_out` the values dropped on the
/// way.
pub(crate) fn warnings(doc: &Document, built: &Built, left_out: &[LeftOut]) -> Vec<String> {
    let Built { spec, failures, failing, notes } = built;
    let mut found = failures::notes(failures, spec);
    found.extend(notes.iter().cloned());
    found.extend(left_out.iter().filter(|l| !l.had.is_empty()).map(dropped));
    without_effect("transport", &doc.transport, &doc.transport.resolved(), &spec.choice, &mut found);
    let used = used(doc, spec);
    for (t, used) in doc.groups().zip(used) {
        let own = t.transport();
        let transport = own.map_or_else(|| doc.transport.resolved(), |own| own.over(&doc.transport.resolved()));
        if let Some(own) = own {
            without_effect(&format!("{}.transport", t.path()), own, &transport, &spec.choice, &mut found);
        }
        for controller in &used.controllers {
            form_of_another(doc, t, &spec.controllers[*controller as usize], &transport, &mut found);
            found.extend(never_emptied(t, &spec.controllers[*controller as usize], &transport));
        }
        found.extend(without_part(t, &used, spec));
        found.extend(without_deadlines(t, &used, spec));
        found.extend(too_near(t, &used));
        found.extend(never_refused(t, &transport));
        never_started(t, &used, doc, &mut found);
        if doc.fewest_classes().is_none() {
            found.extend(class_without_queue(t, used.classes));
        }
    }
    found.extend(nothing_demoted(doc, spec).or_else(|| without_priorities(spec)));
    found.extend(ranks::without_effect(doc, spec));
    found.extend(jobs::delayed(doc, spec));
    found.extend(jobs::nothing_recorded(spec));
    found.extend(transport::notes(spec));
    found.extend(credits::without_effect(doc, &spec.transports));
    found.extend(threads_not_taken(doc, spec));
    found.extend(short_of_a_window(doc, spec));
    found.extend(dropped_beside_pauses(spec));
    found.extend(telemetry_over_paths(spec));
    pauses::notes(doc, spec, &mut found);
    found.extend(out_of_range(spec));
    found.extend(at_line_rate(spec));
    // the builder has already refused what the engine would
    if let Ok(at_work) = Triggers::new(spec) {
        found.extend(relayed(spec, &at_work));
        found.extend(waiting_in_vain(spec, &at_work));
    }
    doc.routing.without_effect(spec, &mut found);
    program::without_effect(&doc.program, spec, &mut found);
    for (i, single) in doc.links.iter().enumerate().filter(|(_, single)| single.changes_nothing()) {
        found.push(format!("links.{i} changes nothing: it names {} alone", single.link));
    }
    let unchanged = |(i, f)| changes_nothing(f, i, spec, failing);
    found.extend(failures.iter().enumerate().filter_map(unchanged));
    if let Some(buffer) = &doc.buffer {
        buffer.without_effect(spec, &mut found);
    }
    found
}

/// A controller under a transport with its own rate control: a comparison of controllers would show no difference.
/// Datagrams have no controller and no transport.
fn without_part(t: Group, used: &Used, spec: &Spec) -> Option<String> {
    if matches!(t.app(), Some(App::Udp(_))) {
        return None;
    }
    let (packet_transport, controller) =
        (used.packet_transport?, &spec.controllers[*used.controllers.first()? as usize]);
    Some(format!(
        "{}: its controller, {controller}, has no effect: {packet_transport} controls the rate of its flows \
         (docs/receiver-driven.md)",
        t.path()
    ))
}

/// A window to be emptied by timeouts, under a controller that reacts to them differently.
fn never_emptied(t: Group, config: &cc::Config, transport: &Transport) -> Option<String> {
    let nth = transport.emptying_timeout.filter(|nth| *nth > 0)?;
    let message = format!(
        "{}: transport.emptying_timeout = {nth} does nothing: {config} reacts to timeouts in its own way",
        t.path()
    );
    (!is_emptied(config) && !matches!(t.app(), Some(App::Udp(_)))).then_some(message)
}

/// True if a timeout may leave a controller without a window, tested with a flow of its own. A controller in Python
/// is not told of such timeouts.
fn is_emptied(config: &cc::Config) -> bool {
    let rtt = cc::Time::us(100);
    let env = cc::Env {
        flow: 0,
        mss: 1000,
        initial_window: 10_000.0,
        packet_time: cc::Time::us(1),
        shortest_rtt: rtt,
        shortest_hops: 2,
        hop_rtt: rtt,
        base_rtt: rtt,
        line_rate: cc::Rate::gbps(10),
        line_packet_time: cc::Time::us(1),
    };
    let timeout = cc::Timeout {
        now: cc::Time::s(1),
        in_flight: 10_000,
        window: 10_000.0,
        rtt,
        sent: 10_000,
        consecutive: 1,
        emptying: 1,
        phase: cc::Phase::Open,
    };
    let mut flow = match config {
        cc::Config::External(_) => return false,
        _ => config.build(&env),
    };
    flow.on_timeout(&timeout);
    flow.cwnd() == 0.0
}

/// A controller that uses deadlines without any deadline.
fn without_deadlines(t: Group, used: &Used, spec: &Spec) -> Option<String> {
    let by_deadline = |i: &u32| spec.controllers[*i as usize].profile().deadlines;
    let goes = used.packet_transport.is_none() && !used.deadlines && !matches!(t.app(), Some(App::Udp(_)));
    let controller = &spec.controllers[*used.controllers.iter().find(|i| goes && by_deadline(i))? as usize];
    let (path, kind) = (t.path(), controller.kind().name);
    Some(match t {
        Group::Traffic(_) => format!(
            "{path}: {controller} uses deadlines, and its flows have none: {path}.deadline gives them one \
             (docs/controllers/{kind}.md)"
        ),
        Group::Job(_) => {
            format!("{path}: {controller} uses deadlines, and messages of jobs have none (docs/controllers/{kind}.md)")
        }
    })
}

/// Deadlines that cannot be met.
fn too_near(t: Group, used: &Used) -> Option<String> {
    let Used { too_near: n, flows, .. } = *used;
    (n > 0).then(|| {
        format!(
            "{}: the deadlines of {n} of its {flows} flows are shorter than the transmission time of their \
             bytes on their host's link: they cannot be met",
            t.path()
        )
    })
}

/// A write meant to be refused that the send buffer accepts.
fn never_refused(t: Group, transport: &Transport) -> Option<String> {
    let Some(App::Bulk(Bulk { refused: true, write, .. })) = t.app() else { return None };
    let why = match (transport.whole_writes, transport.send_buffer) {
        (Some(true), Some(buffer)) if write.0 > buffer.0 => return None,
        (Some(true), Some(buffer)) => format!("transport.send_buffer, {buffer}, takes writes of {write}"),
        _ => "without transport.whole_writes writes go in parts".to_owned(),
    };
    Some(format!("{}.app.refused = true does nothing: {why}", t.path()))
}

/// Threads not used because of a controller in Python.
fn threads_not_taken(doc: &Document, spec: &Spec) -> Option<String> {
    let asked = doc.run.threads.given()?.0;
    let python = spec.controllers.iter().find(|config| matches!(config, cc::Config::External(_)))?;
    (asked > 1).then(|| {
        format!(
            "run.threads = {asked} does nothing: the objects of {python}, a controller in Python, may share state, so \
             the run has one thread"
        )
    })
}

/// Properties of the flows of a traffic entry or job.
#[derive(Default)]
struct Used {
    /// Controllers of the flows, by number.
    controllers: Vec<u32>,
    /// Number of flows, and of those that would open after the end of the run.
    flows: usize,
    late: usize,
    /// True if some have another traffic class than the first.
    classes: bool,
    /// Name of their transport that controls their rate; `None`: a controller does.
    packet_transport: Option<&'static str>,
    /// Opening time of the first late flow.
    first_late: Option<cc::Time>,
    /// True if some have a deadline.
    deadlines: bool,
    /// Number of flows whose bytes take longer on their own host's link than the deadline allows.
    too_near: usize,
}

fn used(doc: &Document, spec: &Spec) -> Vec<Used> {
    let mut used: Vec<Used> = doc.groups().map(|_| Used::default()).collect();
    let mut rates = vec![cc::Rate(0); spec.hosts as usize];
    for link in &spec.links {
        if let Some(rate) = rates.get_mut(link.from as usize) {
            *rate = (*rate).max(link.rate);
        }
    }
    for f in &spec.flows {
        let Some(of) = used.get_mut(f.group as usize) else { continue };
        // flows of one controller are usually adjacent
        if of.controllers.last() != Some(&f.controller) && !of.controllers.contains(&f.controller) {
            of.controllers.push(f.controller);
        }
        of.flows += 1;
        if let Some(deadline) = f.deadline {
            of.deadlines = true;
            let takes = f.app.size().map(|size| rates[f.src as usize].serialize(size));
            of.too_near += takes.is_some_and(|takes| !deadline.random && takes > deadline.within) as usize;
        }
        let protocol = &spec.transports[f.transport as usize].protocol;
        // packets may have classes that no entry requests
        let own_classes = spec.transports[f.transport as usize].lowest_class().is_some();
        let facts = protocol.facts();
        of.packet_transport = facts.control.filter(|_| facts.numbers_packets).map(|_| facts.name);
        of.classes |= !own_classes && f.class.max(f.ack_class) > 0;
        if f.start >= spec.duration {
            of.late += 1;
            of.first_late = Some(of.first_late.map_or(f.start, |first| first.min(f.start)));
        }
    }
    used
}

fn dropped(left: &LeftOut) -> String {
    let had: Vec<String> = left.had.iter().map(|(k, v)| format!("{k} = {v}")).collect();
    let first = left.had.first().map_or("", |(k, _)| k);
    format!(
        "{path}.kind = \"{}\" drops the parameters set for {}: {}; to keep them for {} set {path}.{first} too",
        left.to,
        left.from,
        had.join(", "),
        left.to,
        path = left.path,
    )
}

/// A form whose reference is not that of its transport.
fn form_of_another(doc: &Document, t: Group, config: &cc::Config, transport: &Transport, found: &mut Vec<String>) {
    let preset = transport.preset.unwrap_or_default();
    let Some(form) = config.get("form").map(|form| form.to_string()) else { return };
    let Some(own) = Preset::of_form(&form).filter(|own| *own != preset.reference()) else { return };
    let name = |own: bool, key: &str| if own { format!("{}.{key}", t.path()) } else { key.to_owned() };
    let given = |c: Option<&Controller>| c.is_some_and(|Controller(c)| c == config);
    let form_key = match t.file() {
        Some(file) if !given(t.controller()) && (t.controller().is_some() || !given(doc.controller.as_ref())) => {
            format!("{file}, column controller: form")
        }
        _ => format!("{}.form", name(t.controller().is_some(), "controller")),
    };
    let (own, preset) = (own.name(), preset.name());
    let note = format!(
        "{form_key} = \"{form}\" belongs beside {}.preset = \"{own}\", here it is \"{preset}\": the result matches \
         neither reference (docs/forms.md)",
        name(t.transport().is_some_and(|own| own.preset.is_some()), "transport"),
    );
    if !found.contains(&note) {
        found.push(note);
    }
}

/// Explicit values without effect because of another value. `given` has the explicit values, `resolved` all values,
/// `choice` is the routing.
fn without_effect(path: &str, given: &Transport, resolved: &Transport, choice: &PathChoice, found: &mut Vec<String>) {
    let on = |value: Option<bool>| value == Some(true);
    let flag = |value: Option<bool>| on(value).then(|| "true".to_owned());
    let above_zero = |n: Option<u32>| n.filter(|n| *n > 0).map(|n| n.to_string());
    let (g, sack) = (given, on(resolved.sack));
    let clock = (on(resolved.timestamps), "with timestamps = false");
    let opens = (on(resolved.handshake), "with handshake = false");
    let rides = (on(resolved.fin_with_data), "with fin_with_data = false");
    let no_sack = (!sack, "with sack = true");
    let sack = (sack, "with sack = false");
    let not_ns3 = (resolved.scoreboard != Some(Word(Rules::Ns3)), "with scoreboard = \"ns3\"");
    let rack = (resolved.scoreboard == Some(Word(Rules::Rack)), "unless scoreboard = \"rack\"");
    let htsim = (resolved.recovery == Some(Word(Recovery::Htsim)), "unless recovery = \"htsim\"");
    let counter = (*choice == PathChoice::Entropy(Entropy::Counter), "unless routing.by = \"counter\"");
    let rows = [
        ("dsack", flag(g.dsack), sack),
        ("tail_loss_probe", flag(g.tail_loss_probe), sack),
        ("sack_compression", flag(g.sack_compression), sack),
        ("sack_block", above_zero(g.sack_block), sack),
        ("segment_rtt", flag(g.segment_rtt), clock),
        ("duplicate_rtt", flag(g.duplicate_rtt), clock),
        ("fin_with_data", flag(g.fin_with_data), opens),
        ("close_after_write", flag(g.close_after_write), rides),
        ("ecn_fallback", flag(g.ecn_fallback), opens),
        ("segment_rtt", flag(g.segment_rtt), not_ns3),
        ("tail_loss_probe", flag(g.tail_loss_probe), not_ns3),
        ("reordering_timer", flag(g.reordering_timer), rack),
        ("adaptive_reordering", flag(g.adaptive_reordering), rack),
        ("inflation_survives_timeout", flag(g.inflation_survives_timeout), htsim),
        ("inflation_survives_timeout", flag(g.inflation_survives_timeout), no_sack),
        ("go_back_n_point", flag(g.go_back_n_point), htsim),
        ("go_back_n_point", flag(g.go_back_n_point), no_sack),
        ("go_back_n_new_path", flag(g.go_back_n_new_path), counter),
    ];
    for (key, value, (works, otherwise)) in rows {
        if let Some(value) = value.filter(|_| !works) {
            found.push(format!("{path}.{key} = {value} does nothing {otherwise}"));
        }
    }
}

/// Flows that wait for events at other hosts.
fn relayed(spec: &Spec, at_work: &Triggers) -> Option<String> {
    let (n, by_a_third) = triggers::relayed(spec, at_work);
    let (flows, they) = if n == 1 { ("flow waits", "it learns of it") } else { ("flows wait", "they learn of it") };
    let later = if by_a_third {
        "the longest latency of a link later, or twice that"
    } else {
        "the longest latency of a link later"
    };
    (n > 0).then(|| format!("{n} {flows} for an end at another host, and {they} {later} (docs/traffic.md)"))
}

/// Flows that wait for flows without an end.
fn waiting_in_vain(spec: &Spec, at_work: &Triggers) -> Option<String> {
    let flows = triggers::never_open(spec, at_work, triggers::ends);
    let first = *flows.first()?;
    let path = path_of(spec, spec.flows[first as usize].group);
    Some(match flows.len() {
        1 => format!("flow {first}, of {path}, waits for a flow that has no end: it never opens"),
        n => format!(
            "{n} flows, the first of them flow {first}, of {path}, wait for flows that have no end: they never \
             open"
        ),
    })
}

/// Engines of senders that drop packets of an initial window.
fn short_of_a_window(doc: &Document, spec: &Spec) -> Option<String> {
    let queue = doc.hosts.as_ref()?.send.as_ref()?.queue;
    let Limit::Packets(holds) = queue.0 else { return None };
    let window = spec.transports.iter().map(|t| t.windows.initial_window).fold(0.0, f64::max);
    (window > holds as f64).then(|| {
        format!(
            "hosts.send.queue = \"{queue}\" holds less than an initial window, {window} packets: packets sent at once \
             beyond it are lost at their own host"
        )
    })
}

/// Queues that drop packets despite priority flow control; a queue of a switch as large as its buffer does not.
fn dropped_beside_pauses(spec: &Spec) -> Option<String> {
    let (pfc, buffer) = (spec.pfc()?, spec.buffer.as_ref()?);
    let drops = |link: &&LinkSpec| {
        let queue = &spec.queues[link.queue as usize];
        let classes = if queue.classes().is_empty() { slice::from_ref(queue) } else { queue.classes() };
        let limited = |limit: Limit| match limit {
            Limit::None => false,
            Limit::Bytes(bytes) if link.from >= spec.hosts => bytes < buffer.size,
            _ => true,
        };
        classes.iter().zip(&pfc.lossless).any(|(queue, lossless)| *lossless && limited(queue.limit))
    };
    let mut limited = spec.links.iter().filter(drops);
    let first = &limited.next()?.name;
    Some(format!(
        "{} ports, the first of them {first}, have queues with a limit: packets beyond it are dropped, although \
         buffer.pfc pauses their class; limit = \"none\" avoids this (docs/queues/pfc.md)",
        1 + limited.count()
    ))
}

/// Telemetry compared hop by hop with that of the ACK before, which came over another path.
fn telemetry_over_paths(spec: &Spec) -> Option<String> {
    let compares = |flow: &&FlowSpec| {
        let controller = &spec.controllers[flow.controller as usize];
        let own = spec.transports[flow.transport as usize].protocol.facts().control.is_some();
        flow.path.is_none() && flow.app.datagram_gap().is_none() && !own && controller.profile().telemetry
    };
    let flow = spec.flows.iter().find(compares).filter(|_| spec.choice.spreads())?;
    Some(format!(
        "routing spreads the packets of a flow over paths, and {} compares the telemetry of an ACK with that of the \
         ACK before, hop by hop: rates of links are then differences of two links; expected routing.kind = \"ecmp\"",
        spec.controllers[flow.controller as usize]
    ))
}

/// Traffic classes at ports that do not separate them.
fn class_without_queue(t: Group, others: bool) -> Option<String> {
    let key = match t.asks_for_class()? {
        (key, Some(class)) => format!("{key} = {class}"),
        (key, None) if others => key,
        _ => return None,
    };
    Some(format!("{key} does nothing: ports have one queue for all classes (docs/queues/strict-priority.md)"))
}

/// Priorities by bytes sent if all flows with them are datagrams, which keep the class of their flow.
fn nothing_demoted(doc: &Document, spec: &Spec) -> Option<String> {
    let mut demoted = spec.flows.iter().filter(|f| !spec.transports[f.transport as usize].output.demotion.is_empty());
    let first = demoted.next()?;
    let datagrams = |f: &FlowSpec| f.app.datagram_gap().is_some();
    if !datagrams(first) || !demoted.all(datagrams) {
        return None;
    }
    let entry = doc.group(first.group)?;
    let own = entry.transport().is_some_and(|own| own.preset.is_some() || own.demotion.is_some());
    let key = if own { format!("{}.transport.demotion", entry.path()) } else { "transport.demotion".to_owned() };
    Some(format!(
        "{key} does nothing: the flows that have it are datagrams, which keep the class of their flow \
         (docs/queues/pias.md)"
    ))
}

/// Priorities of packets at ports with one queue.
fn without_priorities(spec: &Spec) -> Option<String> {
    let t = spec.transports.iter().find(|t| t.lowest_class() > Some(0))?;
    let facts = t.protocol.facts();
    let levels = facts.lowest_class.map(|lowest| format!("transport.{}.levels = {}", facts.name, lowest + 1));
    let (by_rank, key) = (levels.is_some(), levels.unwrap_or_else(|| "transport.demotion".to_owned()));
    let most = spec.links.iter().filter(|l| l.from >= spec.hosts).map(|l| &spec.queues[l.queue as usize]);
    let serves = |queue: &&QueueSpec| by_rank && queue.discipline == Discipline::Pfabric;
    let flat = most.filter(|queue| queue.classes().is_empty() && !serves(queue)).count();
    (flat > 0).then(|| {
        format!(
            "{key} does nothing at {flat} ports of switches, which have one queue for all \
             priorities (docs/queues/strict-priority.md)"
        )
    })
}

/// Flows that would open after the end of the run.
fn never_started(t: Group, used: &Used, doc: &Document, found: &mut Vec<String>) {
    let Some(first) = used.first_late else { return };
    // a connection with requests and responses is two flows
    let (what, each) = if matches!(t.app(), Some(App::Query(_))) { ("connection", 2) } else { ("flow", 1) };
    let which = match (used.late / each, used.flows / each) {
        (_, 1) => format!("its {what} never starts: it"),
        (late, all) if late == all => format!("none of its {all} {what}s starts: the first"),
        (late, all) => format!("{late} of its {all} {what}s never start: the first of those"),
    };
    let (path, duration) = (t.path(), doc.run.duration);
    found.push(format!("{path}: {which} would open at {first}, and the run ends at run.duration, {duration}"));
}
