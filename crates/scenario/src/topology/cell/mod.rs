//! The radio cell: stations that share a channel, and a sink among them; or several cells behind gateways, with
//! servers on wires.

pub(crate) mod notes;
pub mod placement;
pub mod radio;

use super::link::Link;
use super::network::{MAX_HOSTS, Network, too_large};
use crate::files::Beside;
use crate::text::default::number;
use crate::text::problem::{Errors, Problem, Report};
use incast_cc as cc;
use incast_engine::spec::{CellSpec, LinkSpec, Loss, MAX_STATIONS, Name, StationSpec};
use placement::{Placement, Propagation};
use radio::Radio;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keys of `topology.kind = "cell"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Cell {
    /// Stations of a cell besides the sink or the gateway: hosts `source0`, `source1` ...
    #[schemars(range(min = 1))]
    pub sources: u32,
    /// Cells, one behind another's number: more than one with `servers` only.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1))]
    pub cells: u32,
    /// Hosts on wires, `server0`, `server1` ..., beyond a gateway in each cell; 0: the host `sink` is a station.
    #[serde(default = "number::<0>")]
    pub servers: u32,
    /// Links from the gateways to the switch that has the servers.
    pub gateway_link: Option<Link>,
    /// Links from that switch to the servers.
    pub server_link: Option<Link>,
    /// Positions of the stations.
    pub placement: Placement,
    /// Range of the stations.
    #[serde(default)]
    pub propagation: Propagation,
    /// Radios of the stations.
    #[serde(default)]
    pub radio: Radio,
}

impl Cell {
    /// Links on wires, with their keys.
    pub(super) fn wires(&self) -> Vec<(&'static str, Link)> {
        let own = [("topology.gateway_link", &self.gateway_link), ("topology.server_link", &self.server_link)];
        own.into_iter().filter_map(|(key, link)| Some((key, link.clone()?))).collect()
    }

    fn check(&self) -> Result<(), Errors> {
        let mut problems = Vec::new();
        let at = &mut Report::new("topology", &mut problems);
        if self.sources == 0 {
            at.value("sources", 0, "expected at least 1: a cell without stations sends nothing");
        }
        if self.sources as usize >= MAX_STATIONS {
            let message = format!("expected fewer than {MAX_STATIONS}: powers are kept for every pair");
            at.value("sources", self.sources, message);
        }
        if self.cells == 0 {
            at.value("cells", 0, "expected at least 1");
        }
        if self.cells > 1 && self.servers == 0 {
            at.value("cells", self.cells, "expected 1 without servers: nothing joins the cells");
        }
        for (key, link) in [("gateway_link", &self.gateway_link), ("server_link", &self.server_link)] {
            match (self.servers, link) {
                (0, Some(_)) => at.key(key, "expected none without servers: a cell by itself has no wires"),
                (1.., None) => at.key(key, "missing; servers are on wires"),
                _ => {}
            }
        }
        self.placement.check(&mut Report::new("topology.placement", &mut problems));
        self.propagation.check(&mut Report::new("topology.propagation", &mut problems));
        self.radio.check(&mut Report::new("topology.radio", &mut problems));
        Errors::unless_none(problems, ())
    }

    pub(super) fn build(&self, beside: &Beside) -> Result<Network, Errors> {
        self.check()?;
        let stations = self.sources as u64 * self.cells as u64;
        let others = if self.servers == 0 { 1 } else { self.servers as u64 };
        if stations + others > MAX_HOSTS {
            return Err(too_large("topology.sources", self.sources, stations + others));
        }
        let places = self.placement.places(self.sources + 1, beside)?;
        let (stations, others) = (stations as u32, others as u32);
        let hosts = stations + others;
        let mut net = Network { hosts, sides: Some((stations, others)), ..Network::default() };
        net.names = (0..stations).map(|i| format!("source{i}")).collect();
        // hosts first, then the channels, the gateways, and the switch
        let channel = |cell: u32| hosts + cell;
        let gateway = |cell: u32| hosts + self.cells + cell;
        let switch = hosts + 2 * self.cells;
        let numbered = |name: &str, cell: u32| if self.cells == 1 { name.to_owned() } else { format!("{name}{cell}") };
        for cell in 0..self.cells {
            let first = if self.servers == 0 { stations } else { gateway(cell) };
            let nodes = std::iter::once(first).chain(cell * self.sources..(cell + 1) * self.sources);
            let own = nodes.clone().zip(&places).map(|(node, at)| StationSpec { node, at: *at, routes: node >= hosts });
            nodes.for_each(|node| net.attach(node, channel(cell), cell));
            net.cells.push(CellSpec {
                channel: channel(cell),
                stations: own.collect(),
                propagation: self.propagation.spec(),
                phy: self.radio.phy(),
                mac: self.radio.mac(),
                framing: self.radio.framing(),
                energy: self.radio.energy(),
            });
        }
        if self.servers == 0 {
            net.names.push("sink".to_owned());
            net.names.push("air".to_owned());
        } else {
            net.names.extend((0..self.servers).map(|i| format!("server{i}")));
            net.names.extend((0..self.cells).map(|cell| numbered("air", cell)));
            net.names.extend((0..self.cells).map(|cell| numbered("gateway", cell)));
            net.names.push("switch".to_owned());
            let [Some(gateway_link), Some(server_link)] = [&self.gateway_link, &self.server_link] else {
                return Err(Problem::new("topology.gateway_link", "missing; servers are on wires").into());
            };
            (0..self.cells).for_each(|cell| net.join(gateway(cell), switch, gateway_link));
            (stations..hosts).for_each(|server| net.join(switch, server, server_link));
        }
        net.route();
        Ok(net)
    }
}

impl Network {
    /// Makes `node` a station of cell number `cell`, whose channel is node `channel`.
    fn attach(&mut self, node: u32, channel: u32, cell: u32) {
        let link = |from: u32, to: u32, rate: cc::Rate, cell: Option<u32>| LinkSpec {
            from,
            to,
            rate,
            delay: cc::Time::ZERO,
            tick: cc::Time::ZERO,
            overhead: 0,
            bucket: 0,
            queue: 0,
            loss: Loss::None,
            cell,
            name: Name::default(),
        };
        self.links.push(link(node, channel, radio::RATE, Some(cell)));
        self.links.push(link(channel, node, cc::Rate::INFINITE, None));
    }
}
