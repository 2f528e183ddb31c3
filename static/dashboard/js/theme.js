// Light, dark or as the system is; tokens.css does the colours.
import { startSwitch } from "./chosen.js";

export function startTheme() {
  startSwitch("theme", ["system", "light", "dark"], (theme) => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  });
}
