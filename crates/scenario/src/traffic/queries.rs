//! Two-way connections and their queries.

use super::flows::Flows;
use crate::document::app::{App, Connections, Query};
use crate::document::traffic::Traffic;
use crate::files::connection_matrix::MAX_BYTES;
use crate::text::problem::Problem;
use crate::text::quantity::Size;
use crate::text::words::Word;
use incast_cc as cc;
use incast_engine::spec;
use std::collections::BTreeMap;

impl Traffic {
    /// Adds two-way connections, given by the flow of the responses and, from a file, their size; connections of one
    /// root form one query.
    pub(crate) fn add_queries(
        &self,
        entry: u32,
        connections: Vec<(spec::FlowSpec, Option<u64>)>,
        flows: &mut Flows,
    ) -> Result<(), Problem> {
        let App::Query(query) = &self.app else { return Ok(()) };
        let first = query.first.map_or(self.start.0, |t| t.0);
        let mut by_root: BTreeMap<u32, Vec<spec::ConnectionSpec>> = BTreeMap::new();
        for (mut response, size) in connections {
            if query.close().is_some() {
                if !flows.settings(response.transport).connection.handshake {
                    let message = "expected a transport with handshake = true: nothing opens or closes without one";
                    let value = Word(Connections::PerQuery).word();
                    return Err(Problem::quoted(format!("{}.app.connections", flows.path), value, message));
                }
                // the first query opens the first connections
                response.start = first.saturating_add(response.start.saturating_sub(self.start.0));
            }
            let request = spec::FlowSpec {
                src: response.dst,
                dst: response.src,
                path: response.reverse_path.clone(),
                reverse_path: response.path.clone(),
                pull_path: None,
                ..response.clone()
            };
            let root = request.src;
            let number = flows.push(request);
            flows.push(response);
            by_root.entry(root).or_default().push(spec::ConnectionSpec {
                request: number,
                response: number + 1,
                request_size: query.request.0.0,
                response_size: size.or(query.response.map(|s| s.0.0)).unwrap_or(0),
            });
        }
        for (root, mut connections) in by_root {
            if let Some(total) = query.total.map(|t| t.0.0) {
                let n = connections.len() as u64;
                if total < n {
                    let message = format!("expected at least {n} bytes, one for each of the {n} workers");
                    let value = Size(cc::Bytes(total));
                    return Err(Problem::quoted(format!("{}.app.total", flows.path), value, message));
                }
                for (i, c) in (0u64..).zip(&mut connections) {
                    c.response_size = total / n + u64::from(i < total % n);
                }
            }
            self.check_bytes(query, &connections, flows)?;
            flows.queries.push(spec::QuerySpec {
                group: entry,
                root,
                first,
                think: query.think.0,
                count: query.count,
                stop: self.stop.map_or(cc::Time::NEVER, |s| s.0),
                close: query.close(),
                connections,
            });
        }
        Ok(())
    }

    /// Checks that all responses, and all requests, of a root's queries fit the byte counters.
    fn check_bytes(&self, query: &Query, connections: &[spec::ConnectionSpec], flows: &Flows) -> Result<(), Problem> {
        let (count, most) = (u128::from(query.count.unwrap_or(1)), u128::from(MAX_BYTES));
        let responses: u128 = connections.iter().map(|c| u128::from(c.response_size)).sum();
        let requests: u128 = connections.iter().map(|c| u128::from(c.request_size)).sum();
        let of_response = query.response.map_or(("total", query.total), |response| ("response", Some(response)));
        for (all, (key, size)) in [(responses, of_response), (requests, ("request", Some(query.request)))] {
            if all > most / count.max(1) {
                let what = format!("{} workers and {count} queries", connections.len());
                let message = format!("expected less: {key}s of {what} are at most {MAX_BYTES} bytes");
                let key = format!("{}.app.{key}", flows.path);
                return Err(
                    size.map_or_else(|| Problem::new(&*key, &*message), |s| Problem::quoted(&*key, s, &*message))
                );
            }
        }
        Ok(())
    }
}
