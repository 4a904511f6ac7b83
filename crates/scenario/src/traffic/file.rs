//! Flows from a CSV file.

use super::flows::Flows;
use super::place::host;
use crate::document::app::{App, Query};
use crate::document::traffic::Traffic;
use crate::files::connection_matrix::MAX_BYTES;
use crate::files::rows::{Row, Rows};
use crate::text::controller::{self, Controller};
use crate::text::problem::{Errors, Problem};
use crate::text::quantity::Time;
use incast_cc as cc;
use incast_engine::spec;
use std::ops::ControlFlow;

/// Largest number of problems kept for one flow file.
const MAX_PROBLEMS: usize = 100_000;

/// Columns of a flow file.
const COLUMNS: [&str; 11] = [
    "start",
    "source",
    "destination",
    "size",
    "controller",
    "path",
    "reverse_path",
    "pull_path",
    "after",
    "stop",
    "deadline",
];

/// A flow file being read.
struct Reader<'a> {
    entry: &'a Traffic,
    number: u32,
    name: &'a str,
    /// Number of flows taken from the file, and number in the file.
    count: u32,
    has: u64,
    /// Number of the first flow.
    first: u32,
    problems: Vec<Problem>,
    connections: Vec<(spec::FlowSpec, Option<u64>)>,
}

impl Traffic {
    /// Adds the flows of a file, one per line; the entry's start, stagger and jitter are added to their own.
    pub(crate) fn add_file(&self, name: &str, number: u32, flows: &mut Flows) -> Result<(), Errors> {
        let key = format!("{}.file", flows.path);
        let text = crate::files::read_named(&key, flows.beside, name)?;
        let rows = Rows::read(name, &text, &COLUMNS, &["start", "source", "destination"])?;
        let has = rows.iter().count() as u64;
        if has == 0 {
            let message = "the file has no flows; expected at least one line after the header";
            return Err(Problem::quoted(key, name, message).into());
        }
        let plural = if has == 1 { "" } else { "s" };
        self.check_most(has, format_args!("the file has {has} flow{plural}"), flows)?;
        let count = self.flows.unwrap_or(has) as u32;
        let (problems, connections) = (Vec::new(), Vec::new());
        let first = flows.len();
        let mut reader = Reader { entry: self, number, name, count, has, first, problems, connections };
        for (i, row) in (0..count).zip(rows.iter()) {
            // A file with this many wrong lines is the wrong file.
            if reader.problems.len() > MAX_PROBLEMS {
                break;
            }
            if row.fits(&mut reader.problems) && reader.add(i, &row, flows)?.is_break() {
                break;
            }
        }
        let Reader { problems, connections, .. } = reader;
        Errors::unless_none(problems, ())?;
        Ok(self.add_queries(number, connections, flows)?)
    }
}

impl Reader<'_> {
    /// Keeps the value, or the problem.
    fn take<T>(&mut self, read: Result<T, Problem>) -> Option<T> {
        read.map_err(|problem| self.problems.push(problem)).ok()
    }

    /// Adds the flow of a row, unless it is wrong. Breaks off if one row's problem holds for all.
    fn add(&mut self, i: u32, row: &Row, flows: &mut Flows) -> Result<ControlFlow<()>, Problem> {
        flows.reserve(1 + u64::from(matches!(self.entry.app, App::Query(_))))?;
        let controller = self.controller(row, flows);
        let ends = [self.end("source", row, flows), self.end("destination", row, flows)];
        let listed = match row.get("start") {
            Some(_) => row.quantity::<Time>("start", &mut self.problems),
            None => {
                let message = "expected a time with a unit (ps, ns, us, ms, s), such as \"10us\"";
                self.problems.push(row.wrong("start", message));
                None
            }
        };
        // A plain number is bytes: lists of flow sizes are commonly written so.
        let size = |t: &str| match t.parse::<u64>().or_else(|_| t.parse::<cc::Bytes>().map(|b| b.0)) {
            Ok(n) if n > 0 && n <= MAX_BYTES => Ok(n),
            Ok(n) if n > 0 => Err(format!("expected at most {MAX_BYTES}B")),
            _ => Err("expected a size above 0, in bytes or with a unit, such as 2000000 or \"2MB\"".to_owned()),
        };
        let size = row.parse("size", size, &mut self.problems);
        let controller = self.take(controller);
        let (Some(controller), [Some(src), Some(dst)], Some(listed)) = (controller, ends, listed) else {
            return Ok(ControlFlow::Continue(()));
        };
        if src == dst {
            let message = format!("expected another host than the source, {}", flows.network.names[src as usize]);
            self.problems.push(row.wrong("destination", message));
            return Ok(ControlFlow::Continue(()));
        }
        let own = self.entry.under(controller, self.number, flows);
        let start = listed.0.saturating_add(self.entry.opening(self.number, i.into(), flows.seed));
        if self.check_stop((i, listed.0, start), row, flows).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let mut flow = self.entry.paced(own.flow((src, dst), start), flows)?;
        self.check_size(size, row);
        if let Some(size) = size.filter(|_| !matches!(self.entry.app, App::Query(_))) {
            flow = own.transfer((src, dst), start, Some(size));
        }
        flow.stop = flow.stop.min(self.stop(row, (listed.0, start)));
        self.give_deadline(&mut flow, row);
        self.entry.check_write(&flow, flows)?;
        flow.path = self.take(given_path(row, "path", src, dst, flows)).flatten();
        flow.reverse_path = self.take(given_path(row, "reverse_path", dst, src, flows)).flatten();
        flow.pull_path = self.take(given_path(row, "pull_path", dst, src, flows)).flatten();
        self.check_pulls(&flow, row, flows);
        let after = activations(row, i, (self.count, self.has), self.first);
        let after = self.take(after).flatten();
        match (&self.entry.app, after) {
            (App::Query(_), after) => {
                if after.is_some() {
                    let message = "a two-way connection waits for no flow; expected none with app.kind = \"query\"";
                    self.problems.push(row.wrong("after", message));
                }
                self.connections.push((flow, size));
            }
            (_, None) => _ = flows.push(flow),
            (_, Some(activations)) => {
                let activation = activations.len() as u32;
                flow.trigger = Some(spec::Triggered { trigger: flows.add_trigger(activations), activation });
                let number = flows.push(flow);
                flows.listed.insert(number, (self.name.into(), row.line()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn controller(&self, row: &Row, flows: &mut Flows) -> Result<u32, Problem> {
        let Some(text) = row.get("controller") else { return flows.controller(self.entry.controller.as_ref()) };
        let read = controller::parse(&toml::Value::String(text.into()), "controller");
        let config = read.map_err(|p| {
            let Problem { key, value, .. } = row.wrong("controller", "");
            Problem { key, value, ..p[0].clone() }
        })?;
        flows.controller(Some(&Controller(config)))
    }

    fn end(&mut self, column: &str, row: &Row, flows: &Flows) -> Option<u32> {
        let end = match row.get(column) {
            None => Err(row.wrong(column, "expected a host's name or number")),
            Some(text) => host(text, flows, |m| row.wrong(column, m)),
        };
        self.take(end)
    }

    /// Refuses flow `i`, listed at one time and opened at another, if the entry has stopped by then.
    fn check_stop(
        &mut self,
        (i, listed, start): (u32, cc::Time, cc::Time),
        row: &Row,
        flows: &Flows,
    ) -> ControlFlow<()> {
        match self.entry.stop {
            Some(stop) if stop.0 <= listed => {
                self.problems.push(row.wrong("start", format!("expected a time before the entry's stop, {stop}")));
            }
            Some(stop) if stop.0 <= start => {
                // one flow moved beyond the entry's stop by its own keys stands for all
                let message = format!(
                    "flow {i} of {}, listed at {listed}, opens at {start} by the entry's {}; expected a later stop",
                    self.name,
                    self.entry.moved_by()
                );
                self.problems.push(Problem::quoted(format!("{}.stop", flows.path), stop, message));
                return ControlFlow::Break(());
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Stop time of a flow from its row: the listed time, moved as far as the flow's start (`listed` time and actual
    /// `start`).
    fn stop(&mut self, row: &Row, (listed, start): (cc::Time, cc::Time)) -> cc::Time {
        let Some(stop) = row.quantity::<Time>("stop", &mut self.problems) else { return cc::Time::NEVER };
        if stop.0 <= listed {
            let message = format!("expected a time after the start, {}", Time(listed));
            self.problems.push(row.wrong("stop", message));
        } else if let App::Query(_) = self.entry.app {
            let message = "a two-way connection stops with its entry; expected none with app.kind = \"query\"";
            self.problems.push(row.wrong("stop", message));
        }
        stop.0.saturating_add(start.saturating_sub(listed))
    }

    /// Sets the deadline of a flow from its row.
    fn give_deadline(&mut self, flow: &mut spec::FlowSpec, row: &Row) {
        let Some(within) = row.quantity::<Time>("deadline", &mut self.problems) else { return };
        let has_end = flow.app.size().is_some() || matches!(self.entry.app, App::ClosedLoop(_));
        let message = match &self.entry.app {
            App::Query(_) => "queries have the deadlines of their entry; expected none with app.kind = \"query\"",
            _ if !has_end => "this flow has no end, so it cannot be late; expected a size, or no deadline",
            _ if within.0 == cc::Time::ZERO => {
                "it has already passed when the flow opens; expected a time above 0, counted from its opening"
            }
            _ => {
                flow.deadline = Some(self.entry.due(within.0));
                return;
            }
        };
        self.problems.push(row.wrong("deadline", message));
    }

    /// Refuses a path of pulls for transports without pulls.
    fn check_pulls(&mut self, flow: &spec::FlowSpec, row: &Row, flows: &Flows) {
        let pulls = flows.settings(flow.transport).protocol.facts().has_pulls;
        if flow.pull_path.is_some() && !pulls {
            let message = "expected none but with NDP, EQDS, and UET with RCCC: no other transport has pulls";
            self.problems.push(row.wrong("pull_path", message));
        }
    }

    /// Reports a missing size, or one that the entry's application does not use.
    fn check_size(&mut self, size: Option<u64>, row: &Row) {
        let message = match (&self.entry.app, size) {
            (App::Udp(_), Some(_)) => "datagrams have a rate and no size; expected no size here",
            (App::Query(q), Some(_)) if q.total.is_some() => {
                "the entry's app has a total to split; expected no size here"
            }
            (App::Query(Query { response: None, total: None, .. }), None) => {
                "expected the bytes of this worker's response: the entry's app has none"
            }
            (App::ClosedLoop(_), Some(_)) => "closed-loop writes have a count and no size; expected no size here",
            _ => return,
        };
        self.problems.push(row.wrong("size", message));
    }
}

/// Ends that activate the trigger of flow `own` of a file of `count` flows, numbered from `first` on. The column
/// `after` has numbers of flows of the file, for their ends at the sender, or with `:received` at the receiver.
fn activations(
    row: &Row,
    own: u32,
    (count, has): (u32, u64),
    first: u32,
) -> Result<Option<Vec<(u32, spec::Done)>>, Problem> {
    let Some(text) = row.get("after") else { return Ok(None) };
    let mut of = Vec::new();
    for word in text.split_whitespace() {
        let (number, done) = match word.split_once(':') {
            None => (word, Some(spec::Done::Sent)),
            Some((number, "sent")) => (number, Some(spec::Done::Sent)),
            Some((number, "received")) => (number, Some(spec::Done::Received)),
            Some((number, _)) => (number, None),
        };
        let flow = number.parse::<u32>().ok();
        let why = match (flow, done) {
            (Some(flow), Some(_)) if flow == own => format!("{word} is of this flow itself"),
            (Some(flow), Some(done)) if flow < count => {
                of.push((first + flow, done));
                continue;
            }
            (Some(flow), Some(_)) if u64::from(flow) < has => {
                format!("{word} is of a flow that flows = {count} leaves out")
            }
            _ => format!("{word} is no end of a flow of the file"),
        };
        let message = format!("{why}; expected numbers of others from 0 to {}, such as 0 or 0:received", has - 1);
        return Err(row.wrong("after", message));
    }
    Ok(Some(of))
}

/// A list of node names, with or without the ends, as links.
fn given_path(row: &Row, column: &str, src: u32, dst: u32, flows: &Flows) -> Result<Option<Vec<u32>>, Problem> {
    let Some(text) = row.get(column) else { return Ok(None) };
    let mut nodes = Vec::new();
    for name in text.split_whitespace() {
        match flows.node(name) {
            Some(n) => nodes.push(n),
            None => {
                let p = row.wrong(
                    column,
                    format!("no node is called {name}; expected names of switches from source to destination"),
                );
                return Err(p.suggest(name, flows.network.names.iter().map(String::as_str)));
            }
        }
    }
    if nodes.first() != Some(&src) {
        nodes.insert(0, src);
    }
    if nodes.last() != Some(&dst) {
        nodes.push(dst);
    }
    let named = |n: u32| &flows.network.names[n as usize];
    let inner = &nodes[1..nodes.len() - 1];
    if let Some(h) = inner.iter().find(|n| **n < flows.network.hosts) {
        return Err(row.wrong(column, format!("{} is a host; hosts do not forward", named(*h))));
    }
    if let Some(again) = nodes.iter().enumerate().find(|(i, n)| nodes[..*i].contains(n)).map(|(_, n)| *n) {
        let message = format!("passes {} twice; expected a path without loops", named(again));
        return Err(row.wrong(column, message));
    }
    nodes
        .windows(2)
        .map(|w| {
            let link = flows.link(w[0], w[1]);
            link.ok_or_else(|| row.wrong(column, format!("no link goes from {} to {}", named(w[0]), named(w[1]))))
        })
        .collect::<Result<Vec<u32>, Problem>>()
        .map(Some)
}
