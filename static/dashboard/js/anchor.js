// What a reader has in hand stays: what is under the pointer or a finger, has the focus, is selected or ticked.
//
// Rows of a region with the pointer or the focus in it neither come nor go above that place until it is left: those
// that went are dimmed, those that came wait (see regions.js). What changes its height above it is scrolled away.
const IDLE_MS = 15_000; // a mouse that was left on a list must not keep it from going on
const TOUCH_MS = 500; // after a finger is lifted: the tap that it made is still to be answered
const READING_AT = [90, 150, 210, 270]; // pixels from the top of the window, where whoever has scrolled reads

let pointer = null; // where the mouse is, or the finger that is down, in the window
let movedAt = 0;
let kept = false; // whether anything waits for the reader to let go
let settled = []; // what undoes the last keeping
let inHand = []; // elements, as of the change under way
let place = null; // the one of them that must not move
const listeners = [];

addEventListener("pointermove", (event) => {
  movedAt = performance.now();
  if (event.pointerType !== "mouse") return;
  const before = pointed();
  pointer = { x: event.clientX, y: event.clientY };
  if (kept && pointed() !== before) release();
}, { passive: true });
addEventListener("pointerdown", (event) => {
  movedAt = performance.now();
  pointer = { x: event.clientX, y: event.clientY };
}, { passive: true });
for (const end of ["pointerup", "pointercancel"]) {
  addEventListener(end, (event) => event.pointerType !== "mouse" && setTimeout(letGo, TOUCH_MS), { passive: true });
}
document.documentElement.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && letGo());
addEventListener("keydown", () => (movedAt = performance.now()), { passive: true });
for (const change of ["focusout", "change"]) addEventListener(change, () => kept && setTimeout(release));
document.addEventListener("selectionchange", () => kept && getSelection().isCollapsed && release());
setInterval(() => kept && isIdle() && release(), 1000);

// Calls back when a reader has let go of something.
export function onRelease(listener) {
  listeners.push(listener);
}

// While `change` runs, the functions below tell what is in hand.
export function keepInPlace(regions, change) {
  take();
  const still = place ?? read();
  if (!still) {
    change();
    return;
  }
  const top = still.getBoundingClientRect().top;
  const heights = regions.map((region) => region.offsetHeight);
  change();
  regions.forEach((region, index) => {
    if (place && region.offsetHeight < heights[index] && precedes(region, place)) freeze(region, heights[index]);
  });
  scrollBack(still, top);
}

// Whether a row that has left the list must stay for now.
export function isHeld(row) {
  const held = inHand.some((element) => row.contains(element)) || isAbove(row) || isMarked(row);
  kept = kept || held;
  return held;
}

// The row of this region that must stay where it is, or null.
export function fixedRow(region) {
  if (!place || !region.contains(place) || place === region) return null;
  const row = [...region.children].find((child) => child.contains(place)) ?? null;
  kept = kept || Boolean(row);
  return row;
}

function take() {
  const under = pointed();
  const focused = document.activeElement?.closest("main [data-key]");
  const visibly = document.activeElement?.matches(":focus-visible") && !isIdle() ? focused : null;
  inHand = [under, focused, ...selectedRows()].filter(Boolean);
  place = under ?? visibly ?? null;
}

function pointed() {
  if (!pointer || isIdle()) return null;
  return document.elementFromPoint(pointer.x, pointer.y)?.closest("main [data-key]") ?? null;
}

function isIdle() {
  return performance.now() - movedAt > IDLE_MS;
}

function selectedRows() {
  const selection = getSelection();
  if (selection.isCollapsed || !selection.rangeCount) return [];
  return [...document.querySelectorAll("main [data-region] > [data-key]")].filter((row) => selection.containsNode(row, true));
}

function isAbove(row) {
  return Boolean(place && row.parentElement.contains(place) && precedes(row, place));
}

function isMarked(row) {
  return Boolean(row.querySelector("[data-pick]:checked"));
}

function precedes(element, other) {
  return Boolean(element.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING);
}

function freeze(region, height) {
  region.style.minHeight = `${height}px`;
  kept = true;
  settled.push(() => (region.style.minHeight = ""));
}

function scrollBack(element, top) {
  if (!element.isConnected) return;
  const shift = element.getBoundingClientRect().top - top;
  if (Math.abs(shift) < 1) return;
  const room = document.documentElement.scrollHeight - innerHeight - scrollY;
  if (shift > room) {
    document.body.style.minHeight = `${document.documentElement.scrollHeight + shift - room}px`;
    kept = true;
    settled.push(() => (document.body.style.minHeight = ""));
  }
  scrollBy({ top: shift, behavior: "instant" });
}

function letGo() {
  pointer = null;
  if (kept) release();
}

function release() {
  const undo = settled;
  settled = [];
  kept = false;
  take();
  const still = place ?? read();
  const top = still?.getBoundingClientRect().top;
  for (const listener of listeners) listener();
  for (const step of undo) step();
  if (still) scrollBack(still, top);
}

// What whoever has scrolled looks at.
function read() {
  if (scrollY === 0) return null;
  const rows = READING_AT.map((y) => document.elementFromPoint(innerWidth / 2, y)?.closest("main [data-region] > [data-key]"));
  return rows.find(Boolean) ?? null;
}
