// Keeps the page up to date: by the socket, and where it cannot be had by asking again and again.
import { showLoads, takeLoads } from "./loads.js";
import { showRows } from "./regions.js";
import { noteSilence, noteTrouble } from "./trouble.js";

const STALE_MS = 6500; // the server says something at least every five seconds
const SILENCE_MS = 10_000;
const OPENING_MS = 4000;
const POLL_MS = 4000;
const ANSWER_MS = 10_000; // a server that takes longer is as good as none
const WAITS_MS = [300, 700, 1500, 2000]; // before the next try; the last one for ever
const HIDDEN_MS = 5000;
const RESTING_POLL_MS = 30_000; // what the title of a hidden tab says may be that old
const SIGNED_OUT = [4401, 4403];
const RESUMES = { load: () => ({}) };

export function startLive(body, log) {
  const topics = new Map(body.dataset.topics.split(" ").map((topic) => [topic, { board: "", version: 0 }]));
  const badge = badgeOn(document.getElementById("connection"));
  let socket = null;
  let tries = 0;
  let heardAt = 0;
  let timer = 0;
  let polling = 0;
  let asking = false;
  let over = false;

  function cursors() {
    const wish = {};
    for (const [topic, cursor] of topics) {
      if (document.hidden && topic !== "site") continue; // nobody sees it; the title is seen
      if (!topic.startsWith("log:")) wish[topic] = RESUMES[topic]?.() ?? cursor;
      else if (log?.ready) wish[topic] = log.cursor();
    }
    return wish;
  }

  function watch() {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ watch: cursors() }));
  }

  function connect() {
    clearTimeout(timer);
    if (over || document.hidden) return;
    drop();
    const mine = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${body.dataset.socket}`);
    socket = mine;
    heardAt = performance.now() - SILENCE_MS + OPENING_MS;
    mine.onopen = watch;
    mine.onmessage = (event) => {
      if (mine !== socket) return;
      heard();
      take(JSON.parse(event.data));
      mine.send('{"ack":true}');
    };
    mine.onclose = (event) => {
      if (mine !== socket) return;
      socket = null;
      if (SIGNED_OUT.includes(event.code)) signedOut();
      else again();
    };
  }

  function heard() {
    heardAt = performance.now();
    tries = 0;
    stopPolling();
    badge("good", "live", "This page is up to date.");
    noteSilence(false);
  }

  function again() {
    if (over || document.hidden) return;
    if (!polling) badge("warn", "reconnecting", "The connection was lost; trying to get it back.");
    if (tries >= 2 && !polling) {
      poll();
      polling = setInterval(poll, POLL_MS);
    }
    clearTimeout(timer);
    timer = setTimeout(connect, WAITS_MS[Math.min(tries++, WAITS_MS.length - 1)]);
  }

  function stopPolling() {
    clearInterval(polling);
    polling = 0;
  }

  function drop() {
    if (!socket) return;
    const old = socket;
    socket = null; // its handlers do nothing from here on
    old.close();
  }

  function take(frame) {
    if (document.hidden && frame.topic !== "site") return; // sent before the server knew; whoever looks again asks for it
    if (frame.kind === "rows") {
      topics.set(frame.topic, { board: frame.board, version: frame.version });
      showRows(frame.regions);
      showLoads();
      if (frame.topic === "site") noteTrouble(frame.regions);
    } else if (frame.kind === "load") takeLoads(frame);
    else if (frame.kind === "log") log?.take(frame);
  }

  async function poll() {
    if (document.hidden || asking) return; // two answers at once may come in the wrong order
    asking = true;
    try {
      const frames = await ask([...topics.keys()].filter((topic) => !topic.startsWith("log:")));
      if (!polling || !frames) return;
      frames.forEach(take);
      if (log?.follows) await log.fetchMore(AbortSignal.timeout(ANSWER_MS));
      if (!polling || document.hidden) return; // the socket came meanwhile, or nobody looks any more
      badge("warn", "polling", "Live updates cannot be had; this page asks for what is new every four seconds.");
      noteSilence(false);
    } catch {
      if (polling) silent();
    } finally {
      asking = false;
    }
  }

  async function ask(wanted) {
    const query = new URLSearchParams(wanted.map((topic) => ["topic", topic]));
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await fetch(`${body.dataset.rowsUrl}?${query}`, { redirect: "manual", signal });
    if (answer.type === "opaqueredirect") return signedOut();
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    return (await answer.json()).frames;
  }

  // Who has this page in another tab is still told of trouble.
  async function pollHidden() {
    try {
      for (const { regions } of (await ask(["site"])) ?? []) noteTrouble(regions);
      noteSilence(false);
    } catch {
      noteSilence(true);
    }
  }

  function silent() {
    badge("bad", "offline", "The server cannot be reached; trying again. What is shown is as it was when it last answered.");
    noteSilence(true);
  }

  function signedOut() {
    over = true;
    stopPolling();
    badge("bad", "signed out", "Reload the page to sign in again.");
  }

  function lookAfter() {
    const silence = performance.now() - heardAt;
    if (!socket || silence < STALE_MS) return;
    if (socket.readyState === WebSocket.OPEN) {
      badge("bad", `stale ${Math.round(silence / 1000)} s`, "Nothing has come from the server for a while.");
    }
    if (silence < SILENCE_MS) return;
    // A connection that was cut on the way may look open for minutes.
    drop();
    again();
  }

  let rest = 0;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(rest);
    watch();
    if (document.hidden) rest = setTimeout(sleep, HIDDEN_MS);
    else wake();
  });
  function wake() {
    if (socket || over) return;
    stopPolling();
    tries = 0;
    connect();
  }
  function sleep() {
    drop();
    clearTimeout(timer);
    stopPolling();
    if (over) return;
    polling = setInterval(pollHidden, RESTING_POLL_MS);
    badge("quiet", "resting", "Nobody looks at this page now; it goes on when somebody does.");
  }

  addEventListener("online", () => {
    tries = 0;
    connect();
  });
  setInterval(lookAfter, 1000);
  log?.whenReady(watch);
  badge("quiet", "connecting", "");
  if (document.hidden) sleep();
  else connect();
}

function badgeOn(element) {
  return (tone, word, title) => {
    if (!element) return;
    element.dataset.tone = tone;
    if (element.textContent !== word) element.textContent = word;
    element.title = title;
  };
}
