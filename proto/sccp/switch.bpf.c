// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// The switch program of SCCP, on the port of a Linux switch that leads to the aggregator. Two tc programs in direct
// action share one map: `count` at the port's egress, before its queue, and `rewrite` at its ingress.
//
//   count     N, the flows of the port: + 1 for a packet with the SYN bit (SYN and SYN-ACK), - 1 for one with the FIN
//             bit, every copy, also one that the queue then drops; never below 0.
//   rewrite   window of a TCP packet that comes from the aggregator: at most capacity * common RTT / N, and at least the
//             floor. N = 0 is no limit. Packets with RST pass as they are.
//
// The map is one value, which user space maps into its memory (switch.py names the same fields in the same order).

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>
#include <stddef.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define EVENTS 65536
#define COUNTS 1024
#define TRIES 16

enum kind { SYN, SYN_ACK, FIN, FIN_AT_ZERO };

// N after a packet that changes it, or that would take it below 0.
struct event {
	__u64 time_ns;
	__u32 flows;
	__u32 kind;
};

// Windows that passed towards the workers while N had one value; the last entry holds all larger N.
struct window {
	__u64 packets;
	__u64 lowered;
	__u32 smallest;
	__u32 largest;
};

struct port {
	// Set by user space.
	__u64 capacity; // bytes: rate * common RTT / 8
	__u32 floor;    // bytes
	__u32 active;   // 0: counts, and leaves the windows alone
	// Kept by the programs.
	__u32 flows;
	__u32 logged; // events, those that found no room too
	__u64 packets;
	__u64 bytes;
	__u64 syn;
	__u64 syn_ack;
	__u64 fin;
	__u64 fin_at_zero;
	__u64 rst;
	struct window windows[COUNTS];
	struct event events[EVENTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct port);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} sccp_port SEC(".maps");

// Both ends of a connection, in the order of the packet from the aggregator.
struct connection {
	__u32 source;
	__u32 destination;
	__u16 source_port;
	__u16 destination_port;
};

// Window scale of the aggregator, as its SYN and the SYN-ACK announced it.
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct connection);
	__type(value, __u32);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} sccp_scales SEC(".maps");

struct segment {
	struct connection connection;
	__u32 at; // offset of the TCP header
	__u32 end; // offset of the first byte behind its options
	__u16 window; // network order
	__u8 syn, ack, fin, rst;
};

static __always_inline int parsed(struct __sk_buff *skb, struct segment *segment)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	struct ethhdr *ethernet = data;
	struct iphdr *ip = (void *)(ethernet + 1);

	if ((void *)(ip + 1) > end || ethernet->h_proto != bpf_htons(ETH_P_IP))
		return 0;
	if (ip->protocol != IPPROTO_TCP || ip->frag_off & bpf_htons(0x1fff))
		return 0;
	__u32 at = sizeof(*ethernet) + ip->ihl * 4;
	struct tcphdr *tcp = data + at;
	if ((void *)(tcp + 1) > end)
		return 0;
	*segment = (struct segment){
		.connection = {ip->saddr, ip->daddr, tcp->source, tcp->dest},
		.at = at,
		.end = at + tcp->doff * 4,
		.window = tcp->window,
		.syn = tcp->syn,
		.ack = tcp->ack,
		.fin = tcp->fin,
		.rst = tcp->rst,
	};
	return 1;
}

// Window scale that a SYN announces, -1 where it announces none.
static __always_inline int announced(struct __sk_buff *skb, const struct segment *segment)
{
	__u32 at = segment->at + sizeof(struct tcphdr);

	for (int i = 0; i < 40; i++) {
		__u8 option[3] = {};
		if (at >= segment->end || bpf_skb_load_bytes(skb, at, option, 1) || option[0] == 0)
			return -1;
		if (option[0] == 1) {
			at += 1;
			continue;
		}
		if (bpf_skb_load_bytes(skb, at, option, 2) || option[1] < 2)
			return -1;
		if (option[0] == 3)
			return bpf_skb_load_bytes(skb, at, option, 3) ? -1 : option[2] > 14 ? 14 : option[2];
		at += option[1];
	}
	return -1;
}

static __always_inline void note(struct port *port, __u32 flows, enum kind kind)
{
	__u32 slot = __sync_fetch_and_add(&port->logged, 1);

	if (slot < EVENTS)
		port->events[slot] = (struct event){bpf_ktime_get_ns(), flows, kind};
}

// Take one flow off, unless there is none.
static __always_inline void decrement(struct port *port)
{
	__sync_fetch_and_add(&port->fin, 1);
	for (int i = 0; i < TRIES; i++) {
		__u32 flows = *(volatile __u32 *)&port->flows;
		if (!flows) {
			__sync_fetch_and_add(&port->fin_at_zero, 1);
			note(port, 0, FIN_AT_ZERO);
			return;
		}
		if (__sync_val_compare_and_swap(&port->flows, flows, flows - 1) == flows) {
			note(port, flows - 1, FIN);
			return;
		}
	}
}

SEC("classifier/egress")
int count(struct __sk_buff *skb)
{
	__u32 zero = 0;
	struct port *port = bpf_map_lookup_elem(&sccp_port, &zero);
	struct segment segment;

	if (!port || !parsed(skb, &segment))
		return TC_ACT_OK;
	__sync_fetch_and_add(&port->packets, 1);
	__sync_fetch_and_add(&port->bytes, skb->len);
	if (segment.rst)
		__sync_fetch_and_add(&port->rst, 1);
	if (segment.syn) {
		__sync_fetch_and_add(segment.ack ? &port->syn_ack : &port->syn, 1);
		note(port, __sync_fetch_and_add(&port->flows, 1) + 1, segment.ack ? SYN_ACK : SYN);
		// Windows are scaled only where both ends offer it.
		if (segment.ack && announced(skb, &segment) < 0) {
			struct connection *to = &segment.connection;
			struct connection back = {to->destination, to->source, to->destination_port, to->source_port};
			bpf_map_delete_elem(&sccp_scales, &back);
		}
	}
	if (segment.fin)
		decrement(port);
	return TC_ACT_OK;
}

// Window scale of a packet from the aggregator; a SYN is never scaled, and tells the scale of what follows.
static __always_inline __u32 scale_of(struct __sk_buff *skb, const struct segment *segment)
{
	if (segment->syn) {
		int offered = announced(skb, segment);
		__u32 scale = offered;
		if (offered >= 0)
			bpf_map_update_elem(&sccp_scales, &segment->connection, &scale, BPF_ANY);
		else
			bpf_map_delete_elem(&sccp_scales, &segment->connection);
		return 0;
	}
	__u32 *scale = bpf_map_lookup_elem(&sccp_scales, &segment->connection);
	return scale ? *scale & 15 : 0;
}

static __always_inline void tally(struct port *port, __u32 flows, __u32 bytes, int lowered)
{
	__u32 at = flows < COUNTS ? flows : COUNTS - 1;
	struct window *window = &port->windows[at];

	// Two processors may do this at once: what they race for differs only between packets of one N.
	if (!window->packets || bytes < window->smallest)
		window->smallest = bytes;
	if (bytes > window->largest)
		window->largest = bytes;
	__sync_fetch_and_add(&window->packets, 1);
	if (lowered)
		__sync_fetch_and_add(&window->lowered, 1);
}

SEC("classifier/ingress")
int rewrite(struct __sk_buff *skb)
{
	__u32 zero = 0;
	struct port *port = bpf_map_lookup_elem(&sccp_port, &zero);
	struct segment segment;

	if (!port || !parsed(skb, &segment) || segment.rst)
		return TC_ACT_OK;
	__u32 scale = scale_of(skb, &segment);
	__u32 flows = *(volatile __u32 *)&port->flows;
	__u32 field = bpf_ntohs(segment.window);
	int lowered = 0;
	if (flows && port->active) {
		__u64 share = (port->capacity / flows) >> scale;
		// The share is rounded down to the scale, the floor up.
		__u64 least = (port->floor + (1ULL << scale) - 1) >> scale;
		__u64 limit = share > least ? share : least;
		if (field > limit) {
			__u16 written = bpf_htons((__u16)limit);
			__u32 at = segment.at;
			field = limit;
			lowered = 1;
			bpf_l4_csum_replace(skb, at + offsetof(struct tcphdr, check), segment.window, written, 2);
			bpf_skb_store_bytes(skb, at + offsetof(struct tcphdr, window), &written, 2, 0);
		}
	}
	tally(port, flows, field << scale, lowered);
	return TC_ACT_OK;
}

char _license[] SEC("license") = "Dual MIT/GPL";
