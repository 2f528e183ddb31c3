// Attempts as tabs: each is a link to its own page; arrows go from one to the next.
import { setAttribute } from "./differs.js";

export function startTabs(list) {
  const panel = document.querySelector("[data-tab-panel]");
  const tabs = () => [...list.querySelectorAll("[role=tab]")];

  function show() {
    const all = tabs();
    if (!all.length) return;
    const newest = all.reduce((one, other) => (number(other) > number(one) ? other : one));
    const chosen = list.hasAttribute("data-newest") ? newest : all.find((tab) => tab.dataset.number === list.dataset.attempt) ?? newest;
    for (const tab of all) {
      setAttribute(tab, "aria-selected", String(tab === chosen));
      setAttribute(tab, "tabindex", tab === chosen ? "0" : "-1");
    }
    setAttribute(panel, "id", "attempt");
    setAttribute(panel, "role", "tabpanel");
    setAttribute(panel, "aria-labelledby", chosen.id);
  }

  list.addEventListener("keydown", (event) => {
    const all = tabs();
    const at = all.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    all[(to + all.length) % all.length].focus();
  });
  // A row from the server does not know which one is shown here.
  new MutationObserver(show).observe(list, { childList: true, attributes: true, subtree: true, attributeFilter: ["aria-selected", "tabindex"] });
  show();
}

function number(tab) {
  return Number(tab.dataset.number);
}
