// The form of a job: the editor, a script from a file, the environment it would find, and a run of it as a test.
import { startEditor } from "./editor.js";
import { BODIES, whenTyped } from "./jobform.js";
import { tick } from "./clock.js";

const AGAIN_MS = 1000;
const SHAPES = ["environment", "secrets", "cpu_cores_required", "memory_mb_required", "name"];

for (const form of document.querySelectorAll("[data-job-form]")) {
  const show = startEditor(form.elements.script_content);
  startEditor(form.elements.command, "bash");
  form.querySelector("[data-editor-hint]").hidden = false;
  startUpload(form.querySelector("[data-upload]"), show);
  startSurroundings(form, form.querySelector("[data-surroundings]"));
  startTry(form, form.querySelector("[data-try]"), form.querySelector("[data-tried]"));
}

// Read here, so that it can be looked at before it is sent.
function startUpload(input, show) {
  const said = input.parentElement.querySelector("[data-upload-said]");
  const usual = said.textContent;
  input.addEventListener("change", async () => {
    const file = input.files[0];
    if (!file) return;
    said.dataset.tone = "bad";
    try {
      if (file.size > input.dataset.most) throw new Error("is too large for a script; put it on the node and give its path");
      const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
      show(text.replace(/\r\n?/g, "\n"));
      said.dataset.tone = "good";
      said.textContent = `${file.name} is in the editor now. ${usual}`;
    } catch (error) {
      const why = error instanceof TypeError ? "is not UTF-8 text; save it as UTF-8, or put it on the node and give its path" : error.message;
      said.textContent = `${file.name} ${why}. The script above is as it was.`;
    }
    input.value = ""; // or it would be sent again, over what is written since
  });
}

function startSurroundings(form, fold) {
  const shown = fold.querySelector("[data-surroundings-shown]");
  let turn = 0;
  const ask = async () => {
    if (!fold.open) return;
    const mine = ++turn;
    const body = new URLSearchParams(SHAPES.map((name) => [name, form.elements[name].value]));
    const found = await post(form, fold.dataset.surroundings, body).then((answer) => answer.ok && !answer.redirected && answer.text()).catch(() => "");
    if (found && mine === turn) shown.innerHTML = found; // else it is of what was typed before
  };
  whenTyped(form, [...SHAPES, ...BODIES], ask); // a new name may be proposed from what runs
  fold.addEventListener("toggle", ask);
}

function startTry(form, button, box) {
  let turn = 0;
  button.addEventListener("click", async (event) => {
    event.preventDefault();
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    const mine = ++turn;
    try {
      await show(await post(form, button.formAction, new FormData(form)), mine);
      box.scrollIntoView({ block: "nearest" });
    } catch {
      say("The server cannot be reached; nothing was run.");
    }
    button.removeAttribute("aria-disabled");
  });

  async function show(answer, mine) {
    if (mine !== turn) return;
    box.hidden = false;
    if (!answer.ok) return say(`The server answered ${answer.status}; look at the list of instances.`);
    const html = await answer.text();
    if (mine !== turn) return;
    // A page instead of a part of one: who was signed out is asked to sign in.
    if (html.includes("<html")) return say("Reload the page to sign in again; copy what you typed first.");
    if (html !== box.dataset.shown) box.innerHTML = html;
    box.dataset.shown = html;
    tick(box);
    const again = box.querySelector("[data-again]")?.dataset.again;
    if (again) setTimeout(() => look(again, mine), AGAIN_MS);
  }

  async function look(url, mine) {
    if (mine !== turn) return;
    const answer = document.hidden ? null : await fetch(url).catch(() => null);
    if (answer) await show(answer, mine);
    else setTimeout(() => look(url, mine), AGAIN_MS);
  }

  function say(sentence) {
    box.hidden = false;
    box.textContent = sentence;
    delete box.dataset.shown;
  }
}

function post(form, url, body) {
  const headers = { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value, "X-In-Place": "1" };
  return fetch(url, { method: "POST", body, headers });
}
