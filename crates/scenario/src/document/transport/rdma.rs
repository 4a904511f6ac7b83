//! Notes on RDMA: receivers that acknowledge less often than a window has packets, go-back-N over several paths, and
//! radio cells.

use super::rule::PacketTransport;
use super::tables::Rdma;
use incast_cc::Time;
use incast_engine::FlowId;
use incast_engine::map::ideal::Fabric;
use incast_engine::spec::{self, Repair, Window};

impl PacketTransport for Rdma {
    /// A note on go-back-N over several paths, on receivers that acknowledge too seldom, or on radio cells.
    fn note(run: &spec::Spec) -> Option<String> {
        spread(run).or_else(|| seldom(run)).or_else(|| radio(run))
    }
}

/// A note on stations of radio cells that begin at the rate of their channel.
fn radio(run: &spec::Spec) -> Option<String> {
    let station = |node: u32| run.links.iter().any(|link| link.cell.is_some() && link.from == node);
    let begins = |f: &spec::FlowSpec| {
        let own = run.transports[f.transport as usize].protocol.of::<spec::Rdma>();
        own.is_some() && (station(f.src) || station(f.dst))
    };
    (!run.cells.is_empty() && run.flows.iter().any(begins)).then(|| {
        "RDMA in a radio cell begins at the channel's rate and expects a network without losses; its NICs are those of \
         wires (docs/rdma.md)"
            .to_owned()
    })
}

/// A note on packets that overtake each other, which go-back-N repeats as lost.
fn spread(run: &spec::Spec) -> Option<String> {
    let goes_back = |f: &spec::FlowSpec| {
        let own = run.transports[f.transport as usize].protocol.of::<spec::Rdma>();
        f.path.is_none() && own.is_some_and(|own| own.repair != Repair::Selective)
    };
    (run.choice.spreads() && run.flows.iter().any(goes_back)).then(|| {
        "routing spreads the packets of a flow over paths, and RDMA with go-back-N repeats what has been overtaken as \
         lost; expected transport.rdma.repair = \"selective\", or routing.kind = \"ecmp\""
            .to_owned()
    })
}

/// A note on windows of a base round-trip time that are used up before the receiver acknowledges a packet.
fn seldom(run: &spec::Spec) -> Option<String> {
    let waits = |own: &&spec::Rdma| own.ack_every > 1 && matches!(own.window, Window::Fixed | Window::Rate);
    let of = |t: u32| run.transports[t as usize].protocol.of::<spec::Rdma>().filter(waits);
    let any = (0u32..).zip(&run.transports).any(|(t, _)| of(t).is_some());
    let fabric = any.then(|| Fabric::new(run))?;
    // the first thousand suffice: a fabric has few path lengths
    (0u32..).zip(&run.flows).take(1000).find_map(|(i, flow)| {
        let own = of(flow.transport).filter(|_| flow.app.datagram_gap().is_none())?;
        let mss = u64::from(run.transports[flow.transport as usize].sizes.mss);
        let base_rtt = own.base_rtt.unwrap_or_else(|| fabric.ideal(FlowId(i)).idle_rtt);
        let rate = run.links.iter().find(|link| link.from == flow.src)?.rate;
        let bytes = (rate.as_f64() * base_rtt.0 as f64 / 8e12) as u64;
        // a sender goes on while it has less than a window in flight; a chunk is a window at least
        let least = if own.repair == Repair::GoBackChunk { own.chunk.saturating_add(1) } else { 1 };
        let packets = bytes.max(least).div_ceil(mss);
        let more = flow.app.size().is_none_or(|size| size > packets.saturating_mul(mss));
        let then = match own.timeout {
            Time::ZERO => "for ever, with transport.rdma.timeout = 0s".to_owned(),
            timeout => format!("until transport.rdma.timeout = {timeout} has passed"),
        };
        (more && u64::from(own.ack_every) > packets).then(|| {
            format!(
                "transport.rdma.ack_every = {} is more than the window of flow {i}, about {packets} packets: the \
                     sender waits for an ACK {then}",
                own.ack_every
            )
        })
    })
}
