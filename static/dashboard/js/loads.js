// The latest sample of each machine on its cells, with its last five minutes. Kept here, because a cell that is drawn
// anew knows nothing of it.
import { setAttribute, setText } from "./differs.js";

const STEPS = 60;
const nodes = new Map(); // node -> { cores: {core: [load, band]}, last: number of the newest step, past: Map(core -> per cent) }

export function takeLoads({ node, cores, past }) {
  const known = nodes.get(node) ?? { cores: {}, last: 0, past: new Map() };
  known.cores = cores;
  if (past) known.past = continued(known, past);
  known.last = past?.last ?? known.last;
  known.paths = new Map([...known.past].map(([core, steps]) => [core, drawn(steps)]));
  nodes.set(node, known);
  showLoads();
}

export function showLoads() {
  for (const cell of document.querySelectorAll("[data-core]")) {
    const known = nodes.get(cell.dataset.node);
    const [load, band] = known?.cores[cell.dataset.core] ?? [];
    setAttribute(cell.querySelector("[data-past]"), "d", known?.paths.get(cell.dataset.core));
    if (load === undefined) continue;
    const percent = Math.round(load * 100);
    if (cell.dataset.band !== band) cell.dataset.band = band;
    setText(cell.querySelector("[data-load]"), `${percent} %`);
    const level = cell.querySelector("[data-level]");
    setAttribute(level, "height", `${percent}`);
    setAttribute(level, "y", `${100 - percent}`);
  }
}

// What a core does now, from 0 to 1, and did in the last five minutes; undefined where nobody measures it.
export function loadOf(node, core) {
  const known = nodes.get(node);
  const steps = (known?.past.get(core) ?? []).filter((step) => step !== null);
  const mean = steps.length ? steps.reduce((sum, step) => sum + step, 0) / steps.length / 100 : undefined;
  return { now: known?.cores[core]?.[0], mean };
}

// The steps known before with the new ones over them: a frame says the last few again, or all of them.
function continued(known, { last, cores }) {
  const past = new Map();
  for (const core of new Set([...known.past.keys(), ...Object.keys(cores)])) {
    past.set(core, Array.from({ length: STEPS }, (_, index) => {
      const number = last - STEPS + 1 + index;
      const fresh = stepOf(cores[core], last, number);
      return (fresh === undefined ? stepOf(known.past.get(core), known.last, number) : fresh) ?? null;
    }));
  }
  return past;
}

function stepOf(steps, last, number) {
  return steps?.[steps.length - 1 - (last - number)];
}

// A closed area for each stretch without a gap.
function drawn(steps) {
  let path = "";
  let from = 0;
  for (let index = 0; index <= steps.length; index++) {
    if ((steps[index] ?? null) !== null) continue;
    if (index > from) path += area(steps.slice(from, index), from);
    from = index + 1;
  }
  return path;
}

function area(stretch, from) {
  const tops = stretch.map((step, index) => `L${from + index + 0.5} ${100 - step}`).join("");
  return `M${from} 100V${100 - stretch[0]}${tops}L${from + stretch.length} ${100 - stretch.at(-1)}V100Z`;
}

// The page is drawn with what was known of its machine by then.
const first = document.querySelector("[data-first-load]");
if (first) takeLoads(JSON.parse(first.dataset.firstLoad));
