// A form is sent once, however often its button is clicked.
export function startForms() {
  addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "yes";
    event.submitter?.setAttribute("aria-disabled", "true");
  });
  // Back from the next page: a kept page must work again.
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
    for (const button of document.querySelectorAll("button[aria-disabled]")) button.removeAttribute("aria-disabled");
  });
}
