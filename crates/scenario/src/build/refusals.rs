//! Refusals of the engine in the user's terms: the key behind the refused part of a specification, and its value.

use crate::document::group::Group;
use crate::document::{Document, links};
use crate::text::problem::Problem;
use incast_engine::About;
use incast_engine::spec::Spec;
use toml::Value;

/// Problem of a document whose specification the engine refuses for this part, with this message.
pub(crate) fn problem(doc: &Document, spec: &Spec, about: About, text: String) -> Problem {
    let entry = |flow: u32| spec.flows.get(flow as usize).and_then(|f| doc.group(f.group));
    let key = match about {
        About::Network | About::Cell(_) => "topology.kind".to_owned(),
        About::Routing => "routing.kind".to_owned(),
        About::Ties => "run.ties".to_owned(),
        About::Threads => "run.threads".to_owned(),
        About::Hosts => "hosts".to_owned(),
        About::Buffer => "buffer.size".to_owned(),
        About::Failures => "failures".to_owned(),
        About::Program(number) => format!("program.{number}.kind"),
        About::Transport(number) => {
            let own = spec.flows.iter().position(|flow| flow.transport == number).and_then(|flow| entry(flow as u32));
            let own = own.filter(|entry| entry.transport().is_some());
            own.map_or_else(|| "transport.preset".to_owned(), |e| format!("{}.transport.preset", e.path()))
        }
        About::Link(number) => queue_of(doc, spec, number, "kind"),
        About::Cuts(number) => queue_of(doc, spec, number, "cuts"),
        About::Application(number) => {
            entry(number).map_or_else(|| "traffic".to_owned(), |entry| format!("{}.app.kind", entry.path()))
        }
        About::Job(number) => {
            let own = spec.jobs.get(number as usize).and_then(|job| doc.group(job.group));
            own.map_or_else(|| "job".to_owned(), Group::path)
        }
        About::Flow(number) => {
            let name = |node: u32| spec.node_names.get(node as usize).map_or("", String::as_str);
            let ends = spec.flows.get(number as usize).map_or(("", ""), |f| (name(f.src), name(f.dst)));
            let entry = entry(number).map_or_else(|| "traffic".to_owned(), Group::path);
            // the place names the flow
            let text = text.strip_prefix(&format!("flow {number}: ")).unwrap_or(&text);
            return Problem::new(format!("{entry}, flow {number} ({} to {})", ends.0, ends.1), text);
        }
    };
    let value = value_of(doc, &key);
    Problem { value, ..Problem::new(key, text) }
}

/// A key of a port's queue.
fn queue_of(doc: &Document, spec: &Spec, link: u32, key: &str) -> String {
    let Some(link) = spec.links.get(link as usize) else { return format!("queue.{key}") };
    let own = |single: &links::SingleLink| single.queue.is_some() && single.names(&link.name);
    match doc.links.iter().position(own) {
        Some(number) => format!("links.{number}.queue.{key}"),
        None if link.from < spec.hosts && doc.queue.host().is_some() => format!("queue.host.{key}"),
        None => format!("queue.{key}"),
    }
}

/// Value of a key as a scenario writes it, with every default; `None` for a table.
fn value_of(doc: &Document, key: &str) -> Option<String> {
    let mut doc = doc.clone();
    doc.transport = doc.transport.resolved();
    doc.name_groups();
    let mut value = Value::try_from(&doc).ok()?;
    for part in key.split('.') {
        value = match value {
            Value::Table(mut table) => table.remove(part)?,
            Value::Array(mut list) => {
                let named = |one: &Value| one.get("name").and_then(Value::as_str) == Some(part);
                let place = part.parse().ok().or_else(|| list.iter().position(named))?;
                if place < list.len() { list.swap_remove(place) } else { return None }
            }
            _ => return None,
        };
    }
    (!value.is_table() && !value.is_array()).then(|| value.to_string())
}
