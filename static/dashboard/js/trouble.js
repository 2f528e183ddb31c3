// The page's title and icon tell of trouble, for whoever has the page in another tab.
import { parse } from "./morph.js";

const title = document.title;
let failed = "0";
let engine = "good";
let silent = false;

export function noteTrouble(regions) {
  failed = first(regions.totals)?.dataset.failed ?? failed;
  engine = first(regions.engine)?.dataset.tone ?? engine;
  show();
}

// The server does not answer: what the page shows, it only showed when it did.
export function noteSilence(isSilent) {
  if (silent === isSilent) return;
  silent = isSilent;
  document.body.toggleAttribute("data-silent", silent);
  show();
}

function show() {
  const mark = silent ? "offline" : failed !== "0" ? failed : engine === "bad" ? "!" : "";
  const wanted = mark ? `(${mark}) ${title}` : title;
  if (document.title !== wanted) document.title = wanted;
  const icon = document.querySelector("link[rel=icon]");
  const href = mark ? icon.dataset.bad : icon.dataset.good;
  if (icon.getAttribute("href") !== href) icon.href = href;
}

function first(region) {
  const html = Object.values(region?.rows ?? {})[0];
  return html ? parse(html) : null;
}
