// Puts the rows of a frame into the regions of the page; see docs/live-updates.md for the frame.
import { isHeld, keepInPlace } from "./anchor.js";
import { tick } from "./clock.js";
import { morph, parse } from "./morph.js";

export function showRows(regions) {
  const shown = Object.keys(regions).map((name) => [find(name), regions[name]]).filter(([region]) => region);
  keepInPlace(shown.map(([region]) => region), () => {
    // A row may bring a region along that the same frame fills.
    for (const name of Object.keys(regions)) {
      const region = find(name);
      if (region) update(region, regions[name]);
    }
  });
}

function find(name) {
  return document.querySelector(`[data-region="${CSS.escape(name)}"]`);
}

function update(region, { order, rows = {} }) {
  const present = new Map([...region.children].map((row) => [row.dataset.key, row]));
  for (const [key, html] of Object.entries(rows)) {
    const fresh = parse(html);
    if (present.has(key)) morph(present.get(key), fresh);
    else present.set(key, fresh);
    tick(present.get(key));
  }
  if (order) arrange(region, order, present);
}

function arrange(region, order, present) {
  const wanted = new Set(order);
  for (const row of [...region.children]) {
    row.classList.toggle("gone", !wanted.has(row.dataset.key));
    if (!wanted.has(row.dataset.key) && !isHeld(row)) row.remove();
  }
  const focused = document.activeElement;
  let place = afterGone(region.firstElementChild);
  for (const key of order) {
    const row = present.get(key);
    if (!row) continue; // a row that this page has not been sent: the next whole frame brings it
    if (row === place) place = afterGone(place.nextElementSibling);
    else region.insertBefore(row, place);
  }
  if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
  dropText(region);
}

function afterGone(row) {
  while (row?.classList.contains("gone")) row = row.nextElementSibling;
  return row;
}

// An empty region is found by :empty, which a line break would undo.
function dropText(region) {
  if (!region.firstElementChild) region.replaceChildren();
}
