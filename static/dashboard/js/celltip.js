// Tells about a core of the heatmap what it has no room to say: who holds it, since when, what it asked for and uses.
import { tick } from "./clock.js";
import { loadOf } from "./loads.js";

const CELLS = ".cell[data-core], .speck";
const GAP = 8;

const tip = document.createElement("div");
tip.className = "celltip";
tip.id = "celltip";
tip.role = "tooltip";
tip.hidden = true;
document.body.append(tip);
let shown = null;

addEventListener("pointerover", (event) => event.pointerType === "mouse" && show(event.target.closest?.(CELLS) ?? null));
addEventListener("focusin", (event) => show(event.target.matches(":focus-visible") ? event.target.closest(CELLS) : null));
addEventListener("focusout", () => show(null));
// The browser itself scrolls to a cell that gets the focus.
addEventListener("scroll", () => show(shown?.contains(document.activeElement) ? shown : null), { passive: true, capture: true });
addEventListener("keydown", (event) => event.key === "Escape" && show(null));
document.documentElement.addEventListener("pointerleave", () => show(null));
setInterval(() => shown && show(shown.isConnected ? shown : null), 1000);

function show(cell) {
  if (shown !== cell) shown?.querySelector("a")?.removeAttribute("aria-describedby");
  shown = cell;
  tip.hidden = !cell;
  if (!cell) return;
  tip.replaceChildren(...told(cell));
  tick(tip);
  cell.querySelector("a")?.setAttribute("aria-describedby", tip.id);
  place(cell.getBoundingClientRect());
}

function told(cell) {
  const { node, core, who, instance, since, asked, held, cores, kept, abandoned } = cell.dataset;
  const { now, mean } = loadOf(node, core);
  const load = now === undefined ? "not measured from here" : `${percent(now)} now${mean === undefined ? "" : `, ${percent(mean)} over five minutes`}`;
  if (!who) return [strong(free(core, kept, cell.dataset.band)), list([["Load", load]])];
  const used = cores.split(" ").map((id) => loadOf(node, id).now);
  const known = used.every((one) => one !== undefined) && used.length;
  return [
    strong(`${who} #${instance}${abandoned ? ", an abandoned thread" : ""}`),
    list([
      ...(abandoned ? [["Abandoned for", clock(abandoned)]] : []),
      ["Since", clock(since)],
      ["Asked", `${asked} core${asked === "1" ? "" : "s"}`],
      ["Holds", held],
      ["Uses", known ? `${used.reduce((sum, one) => sum + one, 0).toFixed(1)} cores, measured on those it holds` : "not measured from here"],
      [`Core ${core}`, load],
    ]),
  ];
}

function free(core, kept, band) {
  if (kept) return `Core ${core}: kept for instance ${kept}, which needs more than are free`;
  return band === "busy" ? `Core ${core}: busy, but nobody has reserved it` : `Core ${core}: free`;
}

function clock(since) {
  const time = document.createElement("time");
  time.dateTime = since;
  time.dataset.clock = "elapsed";
  return time;
}

function strong(text) {
  const element = document.createElement("strong");
  element.textContent = text;
  return element;
}

function list(pairs) {
  const element = document.createElement("dl");
  for (const [word, what] of pairs) {
    const term = document.createElement("dt");
    const told = document.createElement("dd");
    term.textContent = word;
    told.append(what);
    element.append(term, told);
  }
  return element;
}

function percent(load) {
  return `${Math.round(load * 100)} %`;
}

// Below the cell, or above it where there is no room; it lies over the page and moves nothing.
function place(cell) {
  const below = cell.bottom + GAP + tip.offsetHeight < innerHeight;
  const left = Math.max(GAP, Math.min(cell.left, document.documentElement.clientWidth - tip.offsetWidth - GAP));
  tip.style.left = `${left}px`;
  tip.style.top = `${below ? cell.bottom + GAP : Math.max(GAP, cell.top - GAP - tip.offsetHeight)}px`;
}
