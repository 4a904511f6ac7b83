//! Facts of every flow. With jobs, whose connections are many and alike, equal ones are kept once.

use crate::ids::FlowId;
use crate::map::ideal::FlowIdeal;
use crate::spec::Spec;
use incast_cc::Env;
use std::collections::HashMap;
use std::hash::Hash;

/// A value of every flow.
#[derive(Debug)]
pub struct PerFlow<T> {
    values: Vec<T>,
    /// Index of every flow's value; empty if each flow has its own.
    of: Vec<u32>,
}

impl<T: Copy> PerFlow<T> {
    /// Values of all flows; `key` tells apart those that are not equal, if equal ones are to be kept once.
    fn new<K: Hash + Eq>(all: Vec<T>, key: Option<impl Fn(&T) -> K>) -> PerFlow<T> {
        let Some(key) = key else { return PerFlow { values: all, of: Vec::new() } };
        let (mut values, mut known) = (Vec::new(), HashMap::new());
        let mut number = |value: &T| {
            *known.entry(key(value)).or_insert_with(|| {
                values.push(*value);
                values.len() as u32 - 1
            })
        };
        let of = all.iter().map(&mut number).collect();
        PerFlow { values, of }
    }

    /// Value of a flow.
    pub fn of(&self, flow: FlowId) -> T {
        self.values[self.of.get(flow.ix()).map_or(flow.ix(), |own| *own as usize)]
    }
}

impl PerFlow<Env> {
    /// Environment of a flow's controller.
    pub fn env(&self, flow: FlowId) -> Env {
        Env { flow: flow.0, ..self.of(flow) }
    }
}

impl<T> Default for PerFlow<T> {
    fn default() -> Self {
        PerFlow { values: Vec::new(), of: Vec::new() }
    }
}

/// Environments of controllers and ideal figures of all flows.
pub fn of(spec: &Spec, facts: Vec<(Env, FlowIdeal)>) -> (PerFlow<Env>, PerFlow<FlowIdeal>) {
    let of_env = |env: &Env| {
        let Env { flow: _, mss, initial_window, packet_time, shortest_rtt, shortest_hops, .. } = *env;
        let Env { hop_rtt, base_rtt, line_rate, line_packet_time, .. } = *env;
        let first = (mss, initial_window.to_bits(), packet_time.0, shortest_rtt.0, shortest_hops);
        (first, hop_rtt.0, base_rtt.0, line_rate.0, line_packet_time.0)
    };
    let of_ideal = |own: &FlowIdeal| {
        let FlowIdeal { hops, idle_rtt, ideal_delivery, ideal_fct } = *own;
        (hops, idle_rtt.0, ideal_delivery.map(|at| at.0), ideal_fct.map(|at| at.0))
    };
    let share = !spec.jobs.is_empty();
    let (envs, ideals) = facts.into_iter().unzip();
    (PerFlow::new(envs, share.then_some(of_env)), PerFlow::new(ideals, share.then_some(of_ideal)))
}

/// Returns whether environments are needed after the set-up: for connections yet to come or to be used, and for
/// segments bounded by the handshake. Senders have a copy.
pub fn keeps_envs(spec: &Spec) -> bool {
    let later = spec.queries.iter().any(|query| query.close.is_some()) || !spec.jobs.is_empty();
    later || spec.transports.iter().any(|t| t.windows.half_window_mss)
}
