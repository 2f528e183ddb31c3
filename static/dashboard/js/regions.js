// Puts the rows of a frame into the regions of the page; see docs/live-updates.md for the frame.
import { fixedRow, isHeld, keepInPlace, onRelease } from "./anchor.js";
import { tick } from "./clock.js";
import { morph, parse } from "./morph.js";
import { keepSelection } from "./selected.js";

// What waits until a reader lets go. By region: the order that it should have, and rows by key that are not shown yet.
const withheld = new Map();
// By row: how it should look, where a control in use would have become another one.
const unfinished = new Map();

export function showRows(regions) {
  const shown = Object.keys(regions).map((name) => [find(name), regions[name]]).filter(([region]) => region);
  keepSelection(() => {
    keepInPlace(shown.map(([region]) => region), () => {
      // A row may bring a region along that the same frame fills.
      for (const name of Object.keys(regions)) {
        const region = find(name);
        if (region) update(region, regions[name]);
      }
    });
  });
}

onRelease(() => {
  for (const [row, fresh] of [...unfinished]) {
    unfinished.delete(row);
    if (row.isConnected) look(row, fresh);
  }
  for (const [region, { order, rows }] of [...withheld]) {
    withheld.delete(region);
    if (region.isConnected) arrange(region, order, new Map([...rows, ...rowsOf(region)]));
  }
  for (const row of document.querySelectorAll("[data-region] > .gone")) {
    if (!withheld.has(row.parentElement) && !isHeld(row)) row.remove();
  }
});

function find(name) {
  return document.querySelector(`[data-region="${CSS.escape(name)}"]`);
}

function rowsOf(region) {
  return [...region.children].map((row) => [row.dataset.key, row]);
}

function update(region, { order, rows = {} }) {
  const waiting = withheld.get(region);
  const present = new Map([...(waiting?.rows ?? []), ...rowsOf(region)]);
  for (const [key, html] of Object.entries(rows)) {
    const fresh = parse(html);
    if (present.has(key)) look(present.get(key), fresh);
    else present.set(key, fresh);
    tick(present.get(key));
  }
  const wanted = order ?? waiting?.order;
  if (wanted) arrange(region, wanted, present);
}

function look(row, fresh) {
  if (morph(row, fresh.cloneNode(true))) unfinished.delete(row);
  else unfinished.set(row, fresh);
}

function arrange(region, order, present) {
  const wanted = new Set(order);
  for (const row of region.children) row.classList.toggle("gone", !wanted.has(row.dataset.key));
  const fixed = fixedRow(region);
  const below = fixed ? order.slice(firstBelow(region, fixed, order)) : order;
  put(region, below, present, fixed);
  // A list that turns over is not emptied around the pointer.
  dropGone(region, fixed ? order.length : 0);
  const missing = order.filter((key) => present.get(key) && !present.get(key).isConnected);
  const rows = new Map(missing.map((key) => [key, present.get(key)]));
  if (fixed) withheld.set(region, { order, rows });
  else withheld.delete(region);
  tell(region, rows.size);
  dropText(region);
}

// Where in `order` the rows below the fixed one begin; it may have left the list itself.
function firstBelow(region, fixed, order) {
  const own = order.indexOf(fixed.dataset.key);
  if (own >= 0) return own + 1;
  let last = -1;
  for (let row = fixed.previousElementSibling; row && last < 0; row = row.previousElementSibling) last = order.indexOf(row.dataset.key);
  if (last >= 0) return last + 1;
  for (let row = fixed.nextElementSibling; row; row = row.nextElementSibling) {
    const next = order.indexOf(row.dataset.key);
    if (next >= 0) return next;
  }
  return order.length;
}

// Rows in this order; below the fixed row, if there is one, and none of those above it is touched. Rows that are gone
// stay where they are.
function put(region, order, present, fixed) {
  const focused = document.activeElement;
  let next = fixed ? fixed.nextElementSibling : region.firstElementChild;
  for (const key of order) {
    const row = present.get(key);
    if (!row) continue; // a row that this page has not been sent: the next whole frame brings it
    if (fixed && row.isConnected && !isBelow(row, fixed)) continue;
    if (row === afterGone(next)) next = row.nextElementSibling;
    else region.insertBefore(row, next);
  }
  if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
}

function dropGone(region, least) {
  for (const row of [...region.children].reverse()) {
    if (row.classList.contains("gone") && region.childElementCount > least && !isHeld(row)) row.remove();
  }
}

function isBelow(row, fixed) {
  return Boolean(fixed.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING);
}

function afterGone(row) {
  while (row?.classList.contains("gone")) row = row.nextElementSibling;
  return row;
}

// An empty region is found by :empty, which a line break would undo.
function dropText(region) {
  if (!region.firstElementChild) region.replaceChildren();
}

// How many rows wait to be shown, for its stylesheet to say.
function tell(region, count) {
  if (count) region.dataset.withheld = `${count} new`;
  else delete region.dataset.withheld;
}
