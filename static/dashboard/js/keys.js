// "/" searches, "g" and a letter go to a page, "?" helps. Never while somebody types, and off for whoever says so: some
// speak to their computer, and what they say arrives as single letters.
import { startSwitch } from "./chosen.js";

const BETWEEN_MS = 1500; // from "g" to its letter
const TYPED_IN = "input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=reset]), textarea, select, [contenteditable]";

export function startKeys() {
  const help = document.getElementById("keys");
  let on = true;
  let goneAt = -Infinity; // when "g" was pressed

  startSwitch("keys", ["on", "off"], (value) => {
    on = value === "on";
  });
  document.querySelector("[data-help]")?.addEventListener("click", () => help.showModal());
  help?.addEventListener("click", (event) => {
    if (event.target === help) help.close(); // its backdrop
  });

  addEventListener("keydown", (event) => {
    if (!on || event.defaultPrevented || event.isComposing || event.repeat) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.(TYPED_IN) || document.querySelector("dialog[open]")) return;
    if (act(event)) event.preventDefault();
  });

  function act({ key, timeStamp }) {
    const afterG = timeStamp - goneAt < BETWEEN_MS;
    goneAt = key === "g" && !afterG ? timeStamp : -Infinity;
    if (afterG) return go(key);
    if (key === "/") return search();
    if (key !== "?" || !help) return false;
    help.showModal();
    return true;
  }
}

function go(key) {
  const link = document.querySelector(`a[data-go="${CSS.escape(key)}"]`);
  link?.click();
  return link !== null;
}

function search() {
  const field = [...document.querySelectorAll("[data-search]")].find((one) => one.checkVisibility());
  field?.focus();
  field?.select?.();
  return field !== undefined;
}
