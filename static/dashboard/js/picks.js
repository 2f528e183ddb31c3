// A list with boxes to tick: says how many are selected, selects all of the page, and shift selects a stretch.
// Ticking "on all pages" means those of other pages too, so what is ticked one by one does not count then.
import { setText } from "./differs.js";

export function startPicks(form) {
  const all = form.querySelector("[data-pick-all]");
  const box = all.querySelector("input");
  const said = all.querySelector("[data-picked]");
  const match = form.querySelector("[data-match]");
  const everywhere = form.querySelector("[data-everywhere]");
  const boxes = () => [...form.elements].filter((element) => element.matches("[data-pick]"));
  let last = null;

  function show() {
    const present = boxes();
    const count = present.filter((pick) => pick.checked).length;
    const everything = Boolean(match?.checked);
    said.textContent = everything ? "On every page" : count ? `${count} selected` : "On this page";
    const total = document.querySelector("[data-region] [data-count]")?.dataset.count;
    if (everywhere) setText(everywhere, total ? `On all pages (${total})` : "On all pages");
    box.checked = count > 0 && count === present.length;
    box.indeterminate = count > 0 && count < present.length;
    box.disabled = everything;
    form.toggleAttribute("data-some", count > 0 || everything);
    form.toggleAttribute("data-everything", everything);
    for (const button of form.querySelectorAll("button[name]")) button.disabled = count === 0 && !everything;
  }

  match?.addEventListener("change", show);
  box.addEventListener("change", () => {
    for (const pick of boxes()) pick.checked = box.checked;
    show();
  });
  document.addEventListener("click", (event) => {
    const pick = event.target;
    if (!pick.matches?.("[data-pick]") || pick.form !== form) return;
    const present = boxes();
    if (event.shiftKey && last?.isConnected) {
      const [from, to] = [present.indexOf(last), present.indexOf(pick)].sort((a, b) => a - b);
      for (const between of present.slice(from, to + 1)) between.checked = pick.checked;
    }
    last = pick;
    show();
  });
  // Rows come and go while the page is live.
  new MutationObserver(show).observe(form.parentElement.querySelector("[data-region]"), { childList: true });
  for (const counted of document.querySelectorAll('[data-region="matches"], [data-region="pages"]')) {
    new MutationObserver(show).observe(counted, { childList: true, subtree: true, attributes: true });
  }
  addEventListener("pageshow", show);
  all.hidden = false;
  show();
}
