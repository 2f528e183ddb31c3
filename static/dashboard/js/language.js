// In which language a script is written, by its first line, as the runner decides who runs it.
import "../../vendor/editor/prism/languages/bash.js";
import "../../vendor/editor/prism/languages/python.js";

export function languageOf(text) {
  const first = text.slice(0, 200).split("\n", 1)[0];
  if (!first.startsWith("#!") || /python/.test(first)) return "python";
  return /\b(ba|da|k|z)?sh\b/.test(first) ? "bash" : "text";
}
