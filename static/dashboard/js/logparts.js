// Parts of the view of a log: what of a frame one stream printed, what is said of bytes that are left out, the button.
import { size } from "./amounts.js";
import { setText } from "./differs.js";

export function onlyOf(frame, stream) {
  let at = 0;
  const parts = frame.runs.map((run) => {
    const text = frame.text.slice(at, at + run[3]);
    at += run[3];
    return [run, text];
  }).filter(([run]) => run[0] === stream);
  return { ...frame, text: parts.map(([, text]) => text).join(""), runs: parts.map(([run]) => run) };
}

export function left(skipped, dropped) {
  if (!dropped) return `${size(skipped)} of output are not shown here; the download has them.`;
  if (dropped >= skipped) return `${size(dropped)} of output were dropped here: the log has a cap.`;
  return `${size(skipped)} of output are not shown here; the download has them, but for ${size(dropped)} that the log's cap dropped.`;
}

export function droppedBefore(bytes) {
  return `${size(bytes)} of output before this were dropped: the log has a cap.`;
}

// `over`: nothing more comes, so that all that is left to do is to go to the end.
export function showFollowButton(button, { over, atEnd, following }) {
  if (!button) return;
  const follows = following && atEnd;
  button.hidden = over && atEnd;
  if (over) button.removeAttribute("aria-pressed");
  else button.setAttribute("aria-pressed", String(follows));
  setText(button, over ? "Go to the end" : follows ? "Following" : "Follow");
}
