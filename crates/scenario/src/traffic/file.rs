//! Flows from a CSV file.

use super::flows::Flows;
use super::place::host;
use crate::document::app::{App, Query, bulk_write};
use crate::document::traffic::Traffic;
use crate::files::connection_matrix::MOST_BYTES;
use crate::files::rows::{Row, Rows};
use crate::text::controller::Controller;
use crate::text::problem::Problem;
use incast_cc as cc;
use incast_engine::spec;
use std::rc::Rc;

/// Problems of one flow file that are kept.
const MOST_PROBLEMS: usize = 100_000;

/// Columns of a flow file.
const COLUMNS: [&str; 8] = ["start", "source", "destination", "size", "controller", "path", "reverse_path", "after"];

impl Traffic {
    /// Flows of a file, a line each; the entry's start, stagger and jitter are added to their own.
    pub(crate) fn add_file(&self, entry: u32, flows: &mut Flows) -> Result<(), Vec<Problem>> {
        let name = self.file.clone().unwrap_or_default();
        let key = format!("{}.file", flows.path);
        let text = crate::files::read_named(&key, flows.dir, &name).map_err(|p| vec![p])?;
        let rows = Rows::read(&name, &text, &COLUMNS, &["start", "source", "destination"])?;
        if rows.iter().next().is_none() {
            let message = "the file has no flows; expected at least one line after the header";
            return Err(vec![Problem::with_value(key, format!("\"{name}\""), message)]);
        }
        let mut problems = Vec::new();
        let mut connections = Vec::new();
        let file: Rc<str> = name.as_str().into();
        let has = rows.iter().count() as u64;
        let first = flows.len();
        let count = self.flows.unwrap_or(has).min(has) as u32;
        if let Some(n) = self.flows.filter(|n| *n > has) {
            let message =
                format!("the file has {has} flow{}; expected at most as many", if has == 1 { "" } else { "s" });
            return Err(vec![Problem::with_value(format!("{}.flows", flows.path), n, message)]);
        }
        for (i, row) in (0u64..).zip(rows.iter().take(self.flows.map_or(usize::MAX, |n| n as usize))) {
            // A file that is wrong in this many lines is the wrong file.
            if problems.len() > MOST_PROBLEMS {
                break;
            }
            if !row.fits(&mut problems) {
                continue;
            }
            flows.reserve(1 + u64::from(matches!(self.app, App::Query(_)))).map_err(|p| vec![p])?;
            let controller = match row.get("controller") {
                None => flows.controller(self.controller.as_ref()),
                Some(text) => crate::text::controller::parse(&toml::Value::String(text.into()), "controller")
                    .map_err(|p| Problem {
                        suggestion: p[0].suggestion.clone(),
                        ..row.wrong("controller", &p[0].message)
                    })
                    .and_then(|config| flows.controller(Some(&Controller(config)))),
            };
            let end = |column: &str, problems: &mut Vec<Problem>| match row.get(column) {
                None => {
                    problems.push(row.wrong(column, "expected a host's name or number"));
                    None
                }
                Some(text) => host(text, flows, |m| row.wrong(column, m)).map_err(|p| problems.push(p)).ok(),
            };
            let (src, dst) = (end("source", &mut problems), end("destination", &mut problems));
            let start = match row.get("start") {
                None => Err(row.wrong("start", "expected a time with a unit (ps, ns, us, ms, s), such as \"10us\"")),
                Some(_) => Ok(row.quantity::<cc::Time>("start", "time", &mut problems)),
            };
            let start = start.map_err(|p| problems.push(p)).ok().flatten();
            // A bare number is bytes: lists of flow sizes are commonly written so.
            let size = |t: &str| match t.parse::<u64>().or_else(|_| t.parse::<cc::Bytes>().map(|b| b.0)) {
                Ok(n) if n > 0 && n <= MOST_BYTES => Ok(n),
                Ok(n) if n > 0 => Err(format!("expected at most {MOST_BYTES}B")),
                _ => Err("expected a size above 0, in bytes or with a unit, such as 2000000 or \"2MB\"".to_owned()),
            };
            let size = row.parse("size", size, &mut problems);
            let controller = controller.map_err(|p| problems.push(p)).ok();
            let (Some(src), Some(dst), Some(start), Some(controller)) = (src, dst, start, controller) else { continue };
            if src == dst {
                problems.push(row.wrong(
                    "destination",
                    format!("expected another host than the source, {}", flows.network.names[src as usize]),
                ));
                continue;
            }
            let transport = flows.transport(self.transport.as_ref(), controller);
            let listed = start;
            let start = listed.saturating_add(self.opening(entry, i, flows.seed));
            match self.stop {
                Some(stop) if stop.0 <= listed => {
                    problems.push(row.wrong("start", format!("expected a time before the entry's stop, {stop}")));
                }
                Some(stop) if stop.0 <= start => {
                    // one flow of those that the entry's own keys move beyond its stop says it for all
                    let message = format!(
                        "flow {i} of {name}, listed at {listed}, opens at {start} by the entry's {}; expected a later \
                         stop",
                        self.moved_by()
                    );
                    problems.push(Problem::with_value(format!("{}.stop", flows.path), format!("\"{stop}\""), message));
                    break;
                }
                _ => {}
            }
            let flow = self.flow(src, dst, start, transport, controller, entry);
            let mut flow = self.paced(flow, flows).map_err(|p| vec![p])?;
            match (&self.app, size) {
                (App::Udp(_), Some(_)) => {
                    problems.push(row.wrong("size", "datagrams have a rate and no size; expected no size here"));
                }
                (App::Query(q), Some(_)) if q.total.is_some() => {
                    problems.push(row.wrong("size", "the entry's app has a total to split; expected no size here"));
                }
                (App::Query(Query { response: None, total: None, .. }), None) => {
                    problems.push(
                        row.wrong("size", "expected the bytes of this worker's response: the entry's app has none"),
                    );
                }
                (App::ClosedLoop(_), Some(_)) => {
                    problems
                        .push(row.wrong("size", "closed-loop writes have a count and no size; expected no size here"));
                }
                _ => {}
            }
            if let Some(size) = size.filter(|_| !matches!(self.app, App::Query(_))) {
                let write = if let App::Bulk(b) = &self.app { b.write } else { bulk_write() };
                flow.app = spec::App::Bulk { size: Some(size), write: write.0.0 };
            }
            self.check_write(&flow, flows).map_err(|p| vec![p])?;
            flow.path = given_path(&row, "path", src, dst, flows).map_err(|p| problems.push(p)).ok().flatten();
            flow.reverse_path =
                given_path(&row, "reverse_path", dst, src, flows).map_err(|p| problems.push(p)).ok().flatten();
            let after = activations(&row, i as u32, (count, has), first).map_err(|p| problems.push(p)).ok().flatten();
            if let (Some(_), App::Query(_)) = (&after, &self.app) {
                let message = "a two-way connection waits for no flow; expected none with app.kind = \"query\"";
                problems.push(row.wrong("after", message));
            }
            match (&self.app, after) {
                (App::Query(_), _) => connections.push((flow, size)),
                (_, None) => _ = flows.push(flow),
                (_, Some(activations)) => {
                    let activation = activations.len() as u32;
                    flow.trigger = Some(spec::Triggered { trigger: flows.add_trigger(activations), activation });
                    let number = flows.push(flow);
                    flows.list(number, &file, row.line());
                }
            }
        }
        if problems.is_empty() {
            self.add_queries(entry, connections, flows).map_err(|p| vec![p])
        } else {
            Err(problems)
        }
    }
}

/// What activates the trigger of flow `own` of a file of `count` flows, which are numbered from `first` on: the column
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

/// A list of node names, the ends included or not, as links.
fn given_path(row: &Row, column: &str, src: u32, dst: u32, flows: &Flows) -> Result<Option<Vec<u32>>, Problem> {
    let Some(text) = row.get(column) else { return Ok(None) };
    let mut nodes = Vec::new();
    for name in text.split_whitespace() {
        match flows.names.get(name) {
            Some(n) => nodes.push(*n),
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
        let message = format!("passes {} twice; expected a path that goes round no circle", named(again));
        return Err(row.wrong(column, message));
    }
    nodes
        .windows(2)
        .map(|w| {
            let link = flows.link_between(w[0], w[1]);
            link.ok_or_else(|| row.wrong(column, format!("no link goes from {} to {}", named(w[0]), named(w[1]))))
        })
        .collect::<Result<Vec<u32>, Problem>>()
        .map(Some)
}
