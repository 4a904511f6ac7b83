"use strict";
document.documentElement.classList.add("live");
for (const button of document.querySelectorAll(".lines button")) {
  button.addEventListener("click", () => {
    const shown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(shown));
    for (const part of document.querySelectorAll(`[data-line="${button.dataset.number}"]`)) part.classList.toggle("off", !shown);
  });
}
const tip = document.createElement("div");
tip.id = "tip";
tip.hidden = true;
document.body.append(tip);
for (const picture of document.querySelectorAll("figure svg")) {
  const points = [...picture.querySelectorAll("use > title")].map((title) => {
    const point = { of: title.parentNode, text: title.textContent };
    title.remove(); // a browser would tell it a second time
    return point;
  });
  if (!points.length) continue;
  picture.addEventListener("pointermove", (event) => {
    let nearest = null;
    let least = 24;
    for (const point of points) {
      const box = point.of.getBoundingClientRect();
      const away = Math.hypot(box.x + box.width / 2 - event.clientX, box.y + box.height / 2 - event.clientY);
      if (box.width && away < least) [nearest, least] = [point, away];
    }
    tip.hidden = !nearest;
    if (!nearest) return;
    tip.textContent = nearest.text;
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 4))}px`;
    tip.style.top = `${Math.max(4, event.clientY - tip.offsetHeight - 10)}px`;
  });
  picture.addEventListener("pointerleave", () => (tip.hidden = true));
}
for (const text of document.querySelectorAll("pre.copy")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copies";
  button.textContent = "Copy";
  button.addEventListener("click", () => {
    getSelection().selectAllChildren(text); // for a browser that gives no clipboard to a page
    navigator.clipboard?.writeText(text.textContent).then(() => (button.textContent = "Copied"), () => {});
  });
  text.before(button);
}
