// Colours the script on the page of a job, line by line, and again when the script has changed.
import { highlightText } from "../../vendor/editor/prism/index.js";
import { languageOf } from "./language.js";

const region = document.querySelector("[data-region=script]");
const watcher = new MutationObserver(colour);
colour();

function colour() {
  watcher.disconnect();
  for (const script of region.querySelectorAll("[data-script]")) colourLines(script);
  watcher.observe(region, { childList: true, characterData: true, subtree: true });
}

function colourLines(script) {
  const lines = [...script.querySelectorAll("code")];
  const text = lines.map((line) => line.textContent).join("\n");
  // Escapes what it is given, and closes at each line's end what it opened.
  const html = highlightText(text, script.dataset.script || languageOf(text)).split("\n");
  lines.forEach((line, index) => {
    line.innerHTML = html[index] ?? "";
  });
}
