//! A k-ary fat tree: its ports by domain, and the next port of a packet.

use crate::packet::{Address, Kind, Packet, mix};
use crate::port::Port;

/// Shape of a fat tree. A rack (its switch and hosts) is a domain, and so is every switch above.
///
/// Order of the ports. Rack: down to its hosts, up to the aggregation switches, from the hosts. Aggregation switch:
/// down, up. Core switch: one per pod.
pub struct Fabric {
    /// Half the ports of a switch.
    half: u32,
    /// Number of the first aggregation switch, and of the first core switch, among domains.
    aggregations: u32,
    cores: u32,
    /// Number of the first port of an aggregation switch, and of a core switch.
    aggregation_ports: u32,
    core_ports: u32,
}

impl Fabric {
    /// The fat tree of switches with `k` ports.
    pub fn new(k: u32) -> Fabric {
        let half = k / 2;
        let racks = k * half;
        let aggregation_ports = racks * 3 * half;
        Fabric {
            half,
            aggregations: racks,
            cores: 2 * racks,
            aggregation_ports,
            core_ports: aggregation_ports + racks * k,
        }
    }

    /// Number of domains.
    pub fn domains(&self) -> usize {
        (self.cores + self.half * self.half) as usize
    }

    /// Number of hosts.
    pub fn hosts(&self) -> u32 {
        self.aggregations * self.half
    }

    /// Address of host `host`.
    pub fn address(&self, host: u32) -> Address {
        let edge = host / self.half;
        Address { edge: edge as u16, pod: (edge / self.half) as u8, place: (host % self.half) as u8 }
    }

    /// All ports, idle.
    pub fn ports(&self) -> Vec<Port> {
        let Fabric { half, aggregations, cores, .. } = *self;
        let mut ports = Vec::new();
        for rack in 0..aggregations {
            let pod = rack / half;
            ports.extend((0..half).map(|_| Port::new(Kind::Host, rack)));
            ports.extend((0..half).map(|a| Port::new(Kind::Aggregation, aggregations + pod * half + a)));
            ports.extend((0..half).map(|_| Port::new(Kind::Edge, rack)));
        }
        for switch in 0..aggregations {
            let (pod, a) = (switch / half, switch % half);
            ports.extend((0..half).map(|e| Port::new(Kind::Edge, pod * half + e)));
            ports.extend((0..half).map(|c| Port::new(Kind::Core, cores + a * half + c)));
        }
        for core in 0..half * half {
            let a = core / half;
            ports.extend((0..2 * half).map(|pod| Port::new(Kind::Aggregation, aggregations + pod * half + a)));
        }
        ports
    }

    /// Port that forwards `packet` at the node of `domain` where it arrives; at a host its NIC.
    #[inline(always)]
    pub fn next<A>(&self, domain: u32, packet: &Packet<A>) -> u32 {
        let Fabric { half, .. } = *self;
        let up = || half + pick(mix(packet.hash ^ domain as u64), half);
        match packet.at {
            Kind::Edge => {
                let below = packet.to.edge as u32 == domain;
                domain * 3 * half + if below { packet.to.place as u32 } else { up() }
            }
            Kind::Aggregation => {
                let switch = domain - self.aggregations;
                let first = packet.to.pod as u32 * half;
                let below = switch.wrapping_sub(first) < half;
                self.aggregation_ports + switch * 2 * half + if below { packet.to.edge as u32 - first } else { up() }
            }
            Kind::Core => self.core_ports + (domain - self.cores) * 2 * half + packet.to.pod as u32,
            Kind::Host => self.nic(packet.to),
        }
    }

    /// Port of the host at `address`.
    #[inline(always)]
    pub fn nic(&self, address: Address) -> u32 {
        (address.edge as u32 * 3 + 2) * self.half + address.place as u32
    }
}

/// Selects one of `n` by the upper half of a hash.
#[inline(always)]
fn pick(hash: u64, n: u32) -> u32 {
    (((hash >> 32) * n as u64) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::HalfLine;

    #[test]
    fn every_host_is_six_links_from_another_pod_four_from_its_own_and_two_from_its_rack() {
        for k in [4, 8, 16] {
            let fabric = Fabric::new(k);
            let ports = fabric.ports();
            let far = |to: u32| {
                let mut packet = Packet::<HalfLine>::new(2 * to, fabric.address(to), 40, 0);
                let (mut port, mut links) = (fabric.nic(fabric.address(0)), 1);
                while ports[port as usize].to != Kind::Host {
                    let Port { to, domain, .. } = ports[port as usize];
                    packet.at = to;
                    port = fabric.next(domain, &packet);
                    links += 1;
                }
                // down at its own rack, to its own place
                let place = fabric.address(to);
                assert_eq!(port, place.edge as u32 * 3 * (k / 2) + place.place as u32);
                links
            };
            let half = k / 2;
            for to in 1..fabric.hosts() {
                let expected = if to < half {
                    2
                } else if to < half * half {
                    4
                } else {
                    6
                };
                assert_eq!(far(to), expected, "k={k}, to host {to}");
            }
        }
    }
}
