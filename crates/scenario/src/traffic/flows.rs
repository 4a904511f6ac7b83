//! Flows under construction, with the controllers, transport settings, triggers and queries that they use.

use crate::document::Document;
use crate::document::failures::LinkFailure;
use crate::document::traffic::Traffic;
use crate::document::transport::Transport;
use crate::files::Beside;
use crate::text::controller::Controller;
use crate::text::problem::Problem;
use crate::topology::network::Network;
use incast_cc as cc;
use incast_engine::spec;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Most flows of a scenario. State and record of a flow take about a kilobyte, so this many need some 4 GB.
pub const MAX_FLOWS: u64 = 4_000_000;

/// Flows under construction, with everything they refer to.
pub(crate) struct Flows<'a> {
    pub(crate) network: &'a Network,
    /// Smallest number of classes among ports with several, and the key of those ports.
    pub(crate) classes: Option<(String, usize)>,
    /// Failures from files of traffic.
    pub(crate) failures: Vec<LinkFailure>,
    /// Nodes by name, and links by their ends, once requested.
    nodes: OnceCell<HashMap<&'a str, u32>>,
    links: OnceCell<HashMap<(u32, u32), u32>>,
    pub(crate) beside: &'a Beside,
    pub(crate) seed: u64,
    /// Length of the run.
    pub(crate) duration: cc::Time,
    /// Key path of the current entry.
    pub(crate) path: String,
    /// All entries.
    pub(crate) entries: &'a [Traffic],
    default_controller: Option<&'a Controller>,
    default_transport: Transport,
    pub(crate) controllers: Vec<cc::Config>,
    pub(crate) transports: Vec<spec::TransportSpec>,
    pub(crate) flows: Vec<spec::FlowSpec>,
    pub(crate) triggers: Vec<spec::TriggerSpec>,
    /// File and line of waiting flows, if they come from one.
    pub(crate) listed: HashMap<u32, (Rc<str>, u64)>,
    pub(crate) queries: Vec<spec::QuerySpec>,
    pub(crate) jobs: Vec<spec::JobSpec>,
    /// Hosts of the jobs.
    pub(crate) taken: BTreeSet<u32>,
    /// Notes on what was read, in sentences.
    pub(crate) notes: Vec<String>,
    /// True if messages of jobs are recorded.
    pub(crate) messages: bool,
    /// Flows announced so far.
    announced: u64,
    /// Memory of the rows that jobs record, in bytes.
    rows: u64,
    /// Largest memory of a run, and memory of one with the flows announced so far, in bytes.
    pub(crate) most: u64,
    pub(crate) memory: u64,
}

impl<'a> Flows<'a> {
    /// Starts without flows, for a document and its network. `beside` has its files; a run may
    /// take `most` bytes.
    pub(crate) fn new(doc: &'a Document, network: &'a Network, beside: &'a Beside, most: u64) -> Flows<'a> {
        Flows {
            network,
            classes: doc.fewest_classes(),
            failures: Vec::new(),
            nodes: OnceCell::new(),
            links: OnceCell::new(),
            beside,
            seed: doc.run.seed,
            duration: doc.run.duration.0,
            path: String::new(),
            entries: &doc.traffic,
            default_controller: doc.controller.as_ref(),
            default_transport: doc.transport.resolved(),
            controllers: Vec::new(),
            transports: Vec::new(),
            flows: Vec::new(),
            triggers: Vec::new(),
            listed: HashMap::new(),
            queries: Vec::new(),
            jobs: Vec::new(),
            taken: BTreeSet::new(),
            notes: Vec::new(),
            messages: doc.measure.messages != Some(false),
            announced: 0,
            rows: 0,
            most,
            memory: 0,
        }
    }

    /// The node of this name.
    pub(crate) fn node(&self, name: &str) -> Option<u32> {
        let by_name = || self.network.names.iter().map(String::as_str).zip(0..).collect();
        self.nodes.get_or_init(by_name).get(name).copied()
    }

    /// The first link from one node to another.
    pub(crate) fn link(&self, from: u32, to: u32) -> Option<u32> {
        // of equal keys the last one stays
        let number = 0..self.network.links.len() as u32;
        let by_ends = || number.zip(&self.network.links).rev().map(|(i, l)| ((l.from, l.to), i)).collect();
        self.links.get_or_init(by_ends).get(&(from, to)).copied()
    }

    /// Announces `n` more flows.
    pub(crate) fn reserve(&mut self, n: u64) -> Result<(), Problem> {
        self.announced = self.announced.saturating_add(n);
        if self.announced > MAX_FLOWS {
            let message = format!(
                "expected at most {MAX_FLOWS} flows in all: the state and the record of a flow take about a kilobyte"
            );
            return Err(Problem::with_value(format!("{}.flows", self.path), n, message));
        }
        self.count_memory();
        if self.memory > self.most {
            let message = format!("expected fewer flows: the run would take {} bytes of memory", self.memory);
            return Err(Problem::with_value(format!("{}.flows", self.path), n, message));
        }
        self.flows.reserve(n as usize);
        Ok(())
    }

    /// Announces rows of the tables of jobs: the memory of a run has to hold them.
    pub(crate) fn reserve_rows(&mut self, bytes: u64) -> Result<(), Problem> {
        self.rows = self.rows.saturating_add(bytes);
        self.count_memory();
        if self.memory > self.most {
            let message = format!(
                "expected fewer iterations, fewer messages in one, or measure.messages = false: the run would take \
                 {:.1} GB of memory, {:.1} GB of these for the rows of ranks and messages",
                self.memory as f64 / 1e9,
                self.rows as f64 / 1e9
            );
            return Err(Problem::new(format!("{}.iterations", self.path), message));
        }
        Ok(())
    }

    fn count_memory(&mut self) {
        let flows = spec::memory_of(self.network.links.len() as u64, self.announced);
        self.memory = flows.saturating_add(self.rows);
    }

    /// Adds a flow and returns its number.
    pub(crate) fn push(&mut self, flow: spec::FlowSpec) -> u32 {
        self.flows.push(flow);
        self.flows.len() as u32 - 1
    }

    /// Number of flows so far.
    pub(crate) fn len(&self) -> u32 {
        self.flows.len() as u32
    }

    /// Adds a trigger and returns its number.
    pub(crate) fn add_trigger(&mut self, activations: Vec<(u32, spec::Done)>) -> u32 {
        self.triggers.push(spec::TriggerSpec { activations });
        self.triggers.len() as u32 - 1
    }

    /// Source and destination of flow `number`.
    pub(crate) fn ends(&self, number: u32) -> (u32, u32) {
        let flow = &self.flows[number as usize];
        (flow.src, flow.dst)
    }

    /// Number of the entry's controller, or else of the scenario's.
    pub(crate) fn controller(&mut self, own: Option<&Controller>) -> Result<u32, Problem> {
        let Some(Controller(config)) = own.or(self.default_controller) else {
            let message =
                "missing; expected a controller such as \"dctcp\", here or at the top of the scenario for all entries";
            return Err(Problem::new(format!("{}.controller", self.path), message));
        };
        Ok(number_of(&mut self.controllers, config.clone()))
    }

    /// Number of a controller for flows without one: the scenario's, or any.
    pub(crate) fn any_controller(&mut self) -> u32 {
        let config = self.default_controller.map(|c| c.0.clone()).or_else(|| cc::Config::new("newreno"));
        config.map_or(0, |config| number_of(&mut self.controllers, config))
    }

    /// Number of the transport settings of flows under a controller.
    pub(crate) fn transport(&mut self, own: Option<&Transport>, controller: u32) -> u32 {
        let profile = self.controllers[controller as usize].profile();
        let settings = match own {
            Some(t) => t.over(&self.default_transport).spec(&profile),
            None => self.default_transport.spec(&profile),
        };
        number_of(&mut self.transports, settings)
    }

    /// As [`Flows::transport`], for flows with settings of their own within an entry with settings.
    pub(crate) fn transport_over(
        &mut self,
        own: Option<&Transport>,
        entry: Option<&Transport>,
        controller: u32,
    ) -> u32 {
        let Some(own) = own else { return self.transport(entry, controller) };
        let around = entry.map_or_else(|| self.default_transport.clone(), |t| t.over(&self.default_transport));
        let profile = self.controllers[controller as usize].profile();
        let settings = own.over(&around).spec(&profile);
        number_of(&mut self.transports, settings)
    }

    /// Transport settings by number.
    pub(crate) fn settings(&self, transport: u32) -> &spec::TransportSpec {
        &self.transports[transport as usize]
    }
}

/// Index of `item` in `list`; appends it if it is new.
pub(crate) fn number_of<T: PartialEq>(list: &mut Vec<T>, item: T) -> u32 {
    let at = list.iter().position(|x| *x == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    });
    at as u32
}
