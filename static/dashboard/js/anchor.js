// Keeps what is under the pointer, or has the focus, where it is while rows come and go.
//
// Rows that go away above it stay, dimmed, and regions above it do not shrink, until the pointer has left; what comes
// above it is scrolled away by as much.
let pointer = null; // where the mouse is, in the window
let kept = false; // whether anything waits for the pointer to leave
let settled = []; // what undoes the last keeping

addEventListener("pointermove", (event) => {
  if (event.pointerType !== "mouse") return;
  const before = anchor();
  pointer = { x: event.clientX, y: event.clientY };
  if (kept && anchor() !== before) release();
}, { passive: true });
document.documentElement.addEventListener("pointerleave", () => {
  pointer = null;
  release();
});
addEventListener("focusout", () => kept && setTimeout(release));

export function isHeld(row) {
  const held = anchor();
  return Boolean(held && row.parentElement.contains(held) && (row.contains(held) || precedes(row, held)));
}

export function keepInPlace(regions, change) {
  const held = anchor();
  if (!held) {
    change();
    return;
  }
  kept = true;
  const top = held.getBoundingClientRect().top;
  const heights = regions.map((region) => region.offsetHeight);
  change();
  regions.forEach((region, index) => {
    if (region.offsetHeight < heights[index] && precedes(region, held)) freeze(region, heights[index]);
  });
  scrollBack(held, top);
}

function anchor() {
  const under = pointer && document.elementFromPoint(pointer.x, pointer.y);
  const hovered = under?.closest("main [data-key]");
  if (hovered) return hovered;
  const focused = document.activeElement;
  return focused?.matches(":focus-visible") ? focused.closest("main [data-key]") : null;
}

function precedes(element, held) {
  return Boolean(element.compareDocumentPosition(held) & Node.DOCUMENT_POSITION_FOLLOWING);
}

function freeze(region, height) {
  region.style.minHeight = `${height}px`;
  settled.push(() => (region.style.minHeight = ""));
}

function scrollBack(held, top) {
  if (!held.isConnected) return;
  const shift = held.getBoundingClientRect().top - top;
  if (Math.abs(shift) < 1) return;
  const room = document.documentElement.scrollHeight - innerHeight - scrollY;
  if (shift > room) {
    document.body.style.minHeight = `${document.documentElement.scrollHeight + shift - room}px`;
    settled.push(() => (document.body.style.minHeight = ""));
  }
  scrollBy({ top: shift, behavior: "instant" });
}

function release() {
  const undo = settled;
  settled = [];
  kept = false;
  const held = anchor();
  const top = held?.getBoundingClientRect().top;
  for (const row of document.querySelectorAll("[data-region] > .gone")) {
    if (isHeld(row)) kept = true;
    else row.remove();
  }
  for (const step of undo) step();
  if (held) scrollBack(held, top);
}
