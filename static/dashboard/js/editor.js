// A text area with colours: the library draws them behind a text area of its own, which takes the place of ours in the
// form, so that labels, undo, screen readers and what is sent stay those of a text area.
import { createEditor } from "../../vendor/editor/index.js";
import { defaultCommands, setIgnoreTab } from "../../vendor/editor/extensions/commands/index.js";
import "../../vendor/editor/languages/bash.js";
import "../../vendor/editor/languages/python.js";
import { languageOf } from "./language.js";

const PASSED_ON = ["id", "name", "placeholder", "aria-describedby", "aria-invalid"];
const MOST_COLOURED = 200_000; // characters: each keystroke colours the whole text anew

export function startEditor(area, fixed = "") {
  const box = document.createElement("div");
  box.className = "editor";
  const language = (text) => (text.length > MOST_COLOURED ? "text" : fixed || languageOf(text));
  const options = { language: language(area.value), value: area.value, tabSize: 4, lineNumbers: !fixed, wordWrap: !!fixed };
  const editor = createEditor(box, options, defaultCommands([]));
  const inner = editor.textarea;
  for (const name of PASSED_ON) {
    if (area.hasAttribute(name)) inner.setAttribute(name, area.getAttribute(name));
  }
  inner.removeAttribute("aria-readonly"); // says nothing of a text area that may be written
  area.replaceWith(box);
  inner.addEventListener("input", () => {
    setIgnoreTab(false);
    const wanted = language(inner.value);
    if (wanted !== editor.options.language) editor.setOptions({ language: wanted });
  });
  // Tab indents, so there must be a way out of here without a mouse.
  editor.keyCommandMap.Escape = () => {
    setIgnoreTab(true);
    return false;
  };
  inner.addEventListener("blur", () => setIgnoreTab(false));
  return (text) => {
    editor.setOptions({ value: text, language: language(text) });
    inner.dispatchEvent(new Event("input", { bubbles: true }));
  };
}
