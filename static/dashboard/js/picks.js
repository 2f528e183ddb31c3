// A list with boxes to tick: says how many are selected, selects all that are shown, and shift selects a stretch.
// Ticking "all that match" means those of other pages too, so what is ticked one by one does not count then.
export function startPicks(form) {
  const all = form.querySelector("[data-pick-all]");
  const box = all.querySelector("input");
  const said = all.querySelector("[data-picked]");
  const match = form.querySelector("[data-match]");
  const boxes = () => [...form.elements].filter((element) => element.matches("[data-pick]"));
  let last = null;

  function show() {
    const present = boxes();
    const count = present.filter((pick) => pick.checked).length;
    const everything = Boolean(match?.checked);
    said.textContent = everything ? "Every page" : count ? `${count} selected` : "Select all";
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
  addEventListener("pageshow", show);
  all.hidden = false;
  show();
}
