// The latest sample of each machine on its cells. Kept here, because a cell that is drawn anew knows nothing of it.
const latest = new Map();

export function takeLoads({ node, cores }) {
  latest.set(node, cores);
  showLoads();
}

export function showLoads() {
  for (const cell of document.querySelectorAll("[data-core]")) {
    const [load, band] = latest.get(cell.dataset.node)?.[cell.dataset.core] ?? [];
    if (load === undefined) continue;
    const percent = Math.round(load * 100);
    cell.dataset.band = band;
    setText(cell.querySelector("[data-load]"), `${percent} %`);
    const level = cell.querySelector("[data-level]");
    level?.setAttribute("height", percent);
    level?.setAttribute("y", 100 - percent);
  }
}

function setText(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}
