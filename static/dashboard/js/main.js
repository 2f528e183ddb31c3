// Wires each behaviour to the elements that ask for it by data attributes. Every page works without any of them.
import { startClock } from "./clock.js";
import { startForms } from "./forms.js";
import { startJobForm } from "./jobform.js";
import { startKeys } from "./keys.js";
import { startLive } from "./live.js";
import { startLog } from "./log.js";
import { startMenus } from "./menus.js";
import { startMessages } from "./messages.js";
import { startPicks } from "./picks.js";
import { startShown } from "./shown.js";
import { startTheme } from "./theme.js";
import { startZone } from "./zone.js";

startTheme();
startZone();
startClock();
startForms();
startMenus();
startMessages();
startKeys();
for (const form of document.querySelectorAll("[data-shows]")) startShown(form);
for (const form of document.querySelectorAll("[data-job-form]")) startJobForm(form);
for (const form of document.querySelectorAll("[data-bulk]")) startPicks(form);
const log = document.querySelector("[data-log]");
const view = log ? startLog(log) : null;
if (document.body.hasAttribute("data-live")) startLive(document.body, view);
