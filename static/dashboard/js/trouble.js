// The page's title and icon tell of trouble, for whoever has the page in another tab.
import { parse } from "./morph.js";

const title = document.title;
let failed = "0";
let engine = "good";

export function noteTrouble(regions) {
  failed = first(regions.totals)?.dataset.failed ?? failed;
  engine = first(regions.engine)?.dataset.tone ?? engine;
  const trouble = failed !== "0" || engine === "bad";
  document.title = trouble ? `(${failed === "0" ? "!" : failed}) ${title}` : title;
  const icon = document.querySelector("link[rel=icon]");
  const wanted = trouble ? icon.dataset.bad : icon.dataset.good;
  if (icon.getAttribute("href") !== wanted) icon.href = wanted;
}

function first(region) {
  const html = Object.values(region?.rows ?? {})[0];
  return html ? parse(html) : null;
}
