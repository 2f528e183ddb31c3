// A menu closes with Escape and with a click elsewhere.
const OPEN = "details[data-menu][open]";

export function startMenus() {
  addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll(OPEN)) if (!menu.contains(event.target)) menu.open = false;
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll(OPEN)) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
}
