// A message goes when its reader has read it.
export function startMessages() {
  for (const button of document.querySelectorAll("[data-dismiss]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const messages = button.closest(".messages");
      button.closest(".banner").remove();
      const next = messages.querySelector("[data-dismiss]") ?? document.getElementById("main");
      next.focus({ preventScroll: true }); // else the keyboard would begin at the top again
      if (!messages.firstElementChild) messages.remove();
    });
  }
}
