// The page of one instance: its attempts as tabs, its curves, and what is left of it when it has been deleted.
import { startCurves } from "./curves.js";
import { startTabs } from "./tabs.js";

startTabs(document.querySelector("[data-tabs]"));
startCurves(document.querySelector("[data-curves]"));
startLeaving(document.querySelector('[data-region="notice"]'));

// Deleted elsewhere: what its buttons did, nobody can do any more.
function startLeaving(notice) {
  new MutationObserver(() => {
    if (!notice.firstElementChild) return;
    document.querySelector(".verdict").dataset.status = "deleted"; // nothing of it runs, whatever was shown last
    for (const element of document.querySelectorAll('[data-region="head"] .actions button, .verdict-says, .verdict-more, .log-tools, [data-log-bar], .verdict progress')) element.remove();
  }).observe(notice, { childList: true });
}
