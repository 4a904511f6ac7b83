//! Warnings about priority flow control: a headroom that is too small, thresholds that leave ports idle, and pauses
//! recorded where there are none.

use crate::document::Document;
use incast_cc::{Rate, Time};
use incast_engine::map::Account;
use incast_engine::map::pfc::Pfc;
use incast_engine::spec::{Headroom, LinkSpec, PfcSpec, Spec, Threshold};

/// Notes on priority flow control.
pub(super) fn notes(doc: &Document, spec: &Spec, found: &mut Vec<String>) {
    let Some(pfc) = spec.pfc() else {
        if doc.measure.pauses.is_some() {
            found.push("measure.pauses does nothing: without buffer.pfc no port is paused (docs/queues/pfc.md)".into());
        }
        return;
    };
    // a link without a limit of its rate needs headroom without end, which the engine refuses to reserve
    let Ok((map, needed)) = Pfc::new(spec, &PfcSpec { headroom: Headroom::Link, ..pfc.clone() }) else { return };
    let Ok((_, given)) = Pfc::new(spec, pfc) else { return };
    let both = || given.iter().flatten().zip(needed.iter().flatten());
    found.extend(little_headroom(doc, spec, &map, both().filter(|(given, needed)| given.headroom < needed.headroom)));
    found.extend(idle_after_pauses(spec, pfc, &map, &given));
}

/// Bytes that a link brings in `time`.
fn brings(rate: Rate, time: Time) -> u64 {
    let bytes = (rate.0 as u128 * time.0 as u128).div_ceil(8_000_000_000_000);
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// A number with separated thousands.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let parts: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|part| str::from_utf8(part).unwrap_or("")).collect();
    parts.join(",")
}

/// Delays of a link and of the opposite one.
fn both_delays(spec: &Spec, map: &Pfc, account: &Account) -> (Time, LinkSpec) {
    let link = spec.links[account.link].clone();
    let back = map.back[account.link].map_or(Time::ZERO, |back| spec.links[back].delay);
    (link.delay.saturating_add(back), link)
}

/// Links that bring more after a pause than the headroom holds, each with what it has and what it needs.
fn little_headroom<'a>(
    doc: &Document,
    spec: &Spec,
    map: &Pfc,
    mut short: impl Iterator<Item = (&'a Account, &'a Account)>,
) -> Option<String> {
    let (given, needed) = short.next()?;
    let more = short.filter(|(own, _)| own.class == given.class && own.link != given.link).count();
    let (delays, link) = both_delays(spec, map, given);
    let over = brings(link.rate, delays);
    let rest = needed.headroom.saturating_sub(over);
    let headroom = doc.buffer.as_ref().and_then(|buffer| buffer.pfc.as_ref()).map(|pfc| pfc.headroom)?;
    let which =
        if more > 0 { format!("{} links, the first of them {}", 1 + more, link.name) } else { link.name.to_string() };
    let need = if more > 0 { "need" } else { "needs" };
    Some(format!(
        "buffer.pfc.headroom = \"{headroom}\" is less than {which}, {need}: it holds {} B of the {} B that {} may \
         still bring after the decision to pause it, {} B over both delays ({delays}) and {} B for the pause frame, \
         the packet it waits for and two packets of the link; packets beyond the headroom are dropped \
         (docs/queues/pfc.md)",
        grouped(given.headroom),
        grouped(needed.headroom),
        link.name,
        grouped(over),
        grouped(rest),
    ))
}

/// Links whose packets come again, after the end of a pause, later than the bytes last that the switch then has.
fn idle_after_pauses(spec: &Spec, pfc: &PfcSpec, map: &Pfc, given: &[Vec<Account>]) -> Option<String> {
    let size = spec.buffer.as_ref()?.size;
    // reserves and headrooms on top leave the whole buffer to share
    let inside = !pfc.on_top;
    let short = |(node, own): (usize, &Vec<Account>)| {
        let reserved = own.iter().map(|a| a.reserve.saturating_add(a.headroom)).fold(0, u64::saturating_add);
        let shared = size.saturating_sub(if inside { reserved } else { 0 });
        own.iter().find_map(|account| {
            let share = match account.threshold {
                Threshold::Fixed(bytes) => bytes.min(shared),
                // the most that one account has while no other has any
                Threshold::Dynamic(alpha) => (shared as f64 * alpha / (1.0 + alpha)) as u64,
            };
            let left = account.reserve.saturating_add(share.saturating_sub(account.margin));
            let link = &spec.links[account.link];
            let onwards = |l: &&LinkSpec| l.from as usize == node && l.to != link.from;
            let fastest = spec.links.iter().filter(onwards).map(|l| l.rate).max()?.min(link.rate);
            let (delays, _) = both_delays(spec, map, account);
            let away = brings(fastest, delays);
            (left < away).then_some((account.link, left, away, delays))
        })
    };
    let (link, left, away, delays) = given.iter().enumerate().find_map(short)?;
    let key = match pfc.threshold {
        Some(Threshold::Fixed(bytes)) => format!("buffer.pfc.threshold = {} B", grouped(bytes)),
        Some(Threshold::Dynamic(alpha)) => format!("buffer.pfc.alpha = {alpha}"),
        None => "buffer.pfc.alpha".into(),
    };
    Some(format!(
        "{key} lets {} go on when the switch has at most {} B of it, and packets come again {delays} later, in which a \
         port sends {} B: the port may idle after every pause (docs/queues/pfc.md)",
        spec.links[link].name,
        grouped(left),
        grouped(away),
    ))
}
