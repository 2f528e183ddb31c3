// The form of a job, new or edited: previews the next fires, proposes a name.
import { startUnsaved } from "./unsaved.js";

const PAUSE_MS = 250;
export const BODIES = ["script_content", "command", "script_path", "callable"];

export function startJobForm(form) {
  startUnsaved(form);
  startSending(form);
  startExpressions(form);
  startWord(form);
  startCallables(form);
  startPreview(form, form.querySelector("[data-preview]"));
  if (form.hasAttribute("data-names")) startName(form);
}

// Calls `act` when what was typed into one of these inputs has been left alone for a moment.
export function whenTyped(form, names, act) {
  let timer = 0;
  const soon = (event) => {
    if (!names.includes(event.target.name)) return;
    clearTimeout(timer);
    timer = setTimeout(act, PAUSE_MS);
  };
  form.addEventListener("input", soon);
  form.addEventListener("change", soon);
}

// From any of its inputs; before the editor makes a new line of it.
function startSending(form) {
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.altKey || event.isComposing || event.repeat) return;
    event.preventDefault();
    event.stopPropagation();
    form.requestSubmit(form.querySelector("[data-submit]"));
  }, { capture: true });
}

function startWord(form) {
  const say = () => {
    const now = form.elements.when.value === "now";
    form.querySelector("[data-submit]").textContent = (now && form.dataset.wordNow) || form.dataset.word;
  };
  form.addEventListener("change", say);
  say();
}

// Each type of schedule keeps what was typed for it, and shows an example of its own.
function startExpressions(form) {
  const box = form.elements.schedule_expression;
  const examples = Object.fromEntries(
    [...form.querySelectorAll("[data-example]")].map((hint) => [hint.dataset.values, hint.dataset.example]),
  );
  const kept = {};
  let type = "";
  const follow = () => {
    const chosen = form.elements.when.value;
    form.elements.max_retries.placeholder = chosen in examples || chosen === "after" ? "0" : "3";
    if (!(chosen in examples)) return; // the box is hidden, with what is in it
    if (type && chosen !== type) {
      kept[type] = box.value;
      box.value = kept[chosen] ?? "";
    }
    type = chosen;
    box.placeholder = examples[chosen];
  };
  form.addEventListener("change", (event) => event.target.name === "when" && follow());
  follow();
}

// What a callable has from the project, or from the process that it shares, is neither asked nor sent for it.
function startCallables(form) {
  const { callable, cpu_cores_required: cores, runs } = form.elements;
  const fields = form.querySelector("[data-callable-fields]");
  let asked = null;
  const chosen = () => (runs.value === "callable" ? callable.selectedOptions[0] : null);
  const ask = async () => {
    asked?.abort();
    asked = new AbortController();
    fields.replaceChildren(); // those of another one must not be sent
    const body = new URLSearchParams({ callable: callable.value, job: form.elements.job?.value ?? "" });
    const headers = { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value };
    const failed = () => (fields.textContent = "Its parameters cannot be had now. Choose it again.");
    try {
      const answer = await fetch(fields.dataset.callableFields, { method: "POST", body, headers, signal: asked.signal });
      if (answer.redirected || !answer.ok) failed();
      else fields.innerHTML = await answer.text();
    } catch (error) {
      if (error.name !== "AbortError") failed();
    }
  };
  const follow = () => {
    const shared = chosen()?.hasAttribute("data-shared") ?? false;
    for (const part of form.querySelectorAll("[data-of-process], [data-of-script]")) {
      const apart = shared || (part.hasAttribute("data-of-script") && runs.value === "callable");
      part.toggleAttribute("data-apart", apart);
      for (const input of part.querySelectorAll("[name]")) input.disabled = apart;
    }
  };
  form.addEventListener("change", (event) => {
    if (!["runs", "callable"].includes(event.target.name)) return;
    const least = chosen()?.dataset.leastCores ?? "1";
    if (["", "0", "1"].includes(cores.value)) cores.value = least;
    follow();
    if (event.target.name === "callable") ask();
  });
  follow();
}

function startPreview(form, box) {
  const timing = ["when", ...[...form.querySelectorAll("[data-timing] [name]")].map((input) => input.name)];
  let asked = null;
  const ask = async () => {
    asked?.abort();
    asked = new AbortController();
    box.hidden = ["now", "by_hand"].includes(form.elements.when.value);
    const body = new URLSearchParams(timing.map((name) => [name, form.elements[name].value]));
    if (form.elements.job) body.set("job", form.elements.job.value);
    if (box.hidden || !(body.get("schedule_expression") || body.get("start_date"))) {
      box.hidden = true;
      return;
    }
    const headers = { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value };
    try {
      const answer = await fetch(form.dataset.previewUrl, { method: "POST", body, headers, signal: asked.signal });
      if (!answer.redirected && answer.ok) box.innerHTML = await answer.text();
    } catch (error) {
      if (error.name !== "AbortError") box.textContent = "The preview cannot be had now: no connection.";
    }
  };
  whenTyped(form, timing, ask);
  ask();
}

// The name follows what runs until somebody types one.
function startName(form) {
  const name = form.elements.name;
  let proposed = "";
  form.addEventListener("input", (event) => {
    if (!BODIES.includes(event.target.name)) return;
    if (name.value && name.value !== proposed) return;
    proposed = propose(event.target.name, event.target.value);
    name.value = proposed;
  });
}

function propose(kind, text) {
  if (kind === "callable") return slug(text.split(".").pop());
  if (kind === "script_path") return slug(text.split("/").pop().replace(/\.\w+$/, ""));
  if (kind === "command") return slug(text.trim().split(/\s+/).slice(0, 2).map((word) => word.split("/").pop()).join(" "));
  const told = text.match(/^\s*(?:#!.*\n\s*)?(?:#|"""|''')\s*(.+)/);
  const made = text.match(/^\s*(?:async\s+)?def\s+(\w+)/m) ?? text.match(/print\(f?["'](.+?)["']/);
  return slug((told ?? made)?.[1] ?? (text.trim() ? "script" : ""));
}

function slug(text) {
  const whole = text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  return whole.length > 40 ? whole.slice(0, 41).replace(/-[^-]*$/, "").slice(0, 40) : whole;
}
