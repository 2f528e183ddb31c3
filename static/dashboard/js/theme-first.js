// Before the first paint, so that no page flashes in the other theme: the kept choice, if there is one. Not a module, as
// those wait; js/theme.js does the rest.
(() => {
  try {
    const theme = localStorage.getItem("rota-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is blocked: the theme of the system.
  }
})();
