// A menu closes with Escape and with a click elsewhere.
export function startMenus() {
  const open = () => document.querySelectorAll("details.user[open]");
  addEventListener("click", (event) => {
    for (const menu of open()) if (!menu.contains(event.target)) menu.open = false;
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of open()) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
}
