"use strict";
// The page is drawn from the values of content.py. A *chain* is the places a line of code comes
// from: where it was written, and the calls that led there.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = id => document.getElementById(id);
const make = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};
const KEPT = "cubepy explore " + data.kernel;
const state = Object.assign(
  {target: 0, text: 0, pass: -1, diff: true, chain: null},
  JSON.parse(sessionStorage.getItem(KEPT) || "{}"));
const keep = () => sessionStorage.setItem(KEPT, JSON.stringify(state));
const target = () => data.targets[state.target];

// ── lines ──

const panes = {source: [], ir: [], text: []};  // their lines, as {node, chain}

function draw(name, lines) {
  panes[name] = lines;
  byId(name).replaceChildren(...lines.map(line => line.node));
}

function lineOf(name, number, chain, ...children) {
  const node = make("div", {class: "line", role: "option", id: `${name}-${number}`}, ...children);
  return {node, chain};
}

function code(string) {
  const node = make("span", {class: "code"});
  node.innerHTML = data.strings[string] || " ";
  return node;
}

function drawSource() {
  const lines = [], parts = [];
  const costs = target().costs, measured = target().measured, badges = badgesByPlace();
  const most = Math.max(0.01, ...Object.values(costs), ...Object.values(measured));
  data.sources.forEach((source, at) => {
    const section = source.fromStd ? make("details") : make("div");
    section.addEventListener("toggle", fit);
    if (at) {
      const title = `${source.name || "…"}, ${source.file}` + (source.fromStd ? " (library)" : "");
      section.append(make(source.fromStd ? "summary" : "h3", {}, title));
    }
    for (const [number, string, place] of source.rows) {
      const line = lineOf("source", lines.length, place < 0 ? [] : [place],
        make("span", {class: "number"}, String(number)),
        costOf(costs[place], measured[place], most), code(string), badges(place));
      line.number = number;
      lines.push(line);
      section.append(line.node);
    }
    parts.push(section);
  });
  panes.source = lines;
  byId("source").replaceChildren(...parts);
  const share = make("i", {class: "model"}), time = make("i", {class: "time"});
  byId("legend").replaceChildren(share, "cost by a model",
    ...(Object.keys(measured).length ? [time, `measured time (${target().remark})`] : []));
  fit();
}

// Badges stay in view at the right; where they would cover code they shrink to dots.
function fit() {
  const room = byId("source").clientWidth;
  const tight = panes.source.map(({node}) => {
    const [number, cost, code, badges] = node.children;
    return Boolean(badges) && code.offsetLeft + code.offsetWidth + wide(badges) > room;
  });
  panes.source.forEach(({node}, at) => node.classList.toggle("tight", tight[at]));
}

// The width that the words of some badges take, dots or not.
function wide(badges) {
  badges.room ||= badges.offsetWidth;
  return badges.room;
}

function costOf(model, time, most) {
  const cell = make("span", {class: "cost"});
  const words = [];
  for (const [share, name, word] of [[model, "model", "of the cost"], [time, "time", "of the time"]]) {
    if (!share) continue;
    cell.append(make("i", {class: name, style: `width:${Math.max(2, 52 * share / most)}px`}));
    words.push(`${(100 * share).toFixed(share < 0.1 ? 1 : 0)} % ${word}`);
  }
  if (words.length) cell.title = words.join(", ");
  return cell;
}

function badgesByPlace() {
  const found = {};
  for (const [place, topic, text] of target().decisions) {
    ((found[place] ||= {})[topic] ||= []).push(text);
  }
  return place => {
    if (!found[place]) return "";
    const cell = make("span", {class: "badges"});
    for (const [topic, texts] of Object.entries(found[place])) {
      const badge = make("span", {class: `badge ${topic}`}, topic);
      badge.title = texts.join("\n");
      cell.append(badge);
    }
    return cell;
  };
}

function drawPass() {
  const passes = target().passes;
  if (state.pass < 0 || state.pass >= passes.length) state.pass = passes.length - 1;
  const step = passes[state.pass];
  let from = state.pass;
  while (!passes[from].rows) from -= 1;
  byId("pass").max = passes.length - 1;
  byId("pass").value = state.pass;
  const told = state.pass === 0 ? "before all passes" : step.changed ? step.name : `${step.name}, no change`;
  byId("pass-name").textContent = `${state.pass}/${passes.length - 1} ${told}`;
  byId("pass").setAttribute("aria-valuetext", byId("pass-name").textContent);
  const marked = state.diff && step.changed;
  const lines = [];
  for (const [mark, string, chain] of passes[from].rows) {
    if (mark === "-" && !marked) continue;
    const line = lineOf("ir", lines.length, data.chains[chain],
      make("span", {class: "mark"}, marked && mark !== " " ? mark : ""), code(string));
    if (marked && mark !== " ") line.node.classList.add(mark === "+" ? "plus" : "minus");
    lines.push(line);
  }
  draw("ir", lines);
}

// Marks of machine code: of the loop that most of the work is in, of loops for units at the edges.
const HOT = "▌", EDGES = "~";

function drawText() {
  const texts = target().texts;
  if (state.text >= texts.length) state.text = 0;
  drawTabs("texts", texts.map(text => text.title), state.text, number => {
    state.text = number; drawText(); again();
  });
  draw("text", texts[state.text].rows.map(([mark, string, chain], number) => {
    const line = lineOf("text", number, data.chains[chain],
      make("span", {class: "loop"}, mark), code(string));
    line.node.classList.toggle("hot", mark === HOT);
    line.node.classList.toggle("edges", mark === EDGES);
    return line;
  }));
}

function toHotLoop() {
  const hot = line => line.node.classList.contains("hot") && line.chain.length > 0;
  const number = panes.text.findIndex(hot);
  if (number >= 0) goTo("text", number);
}

function drawTabs(id, titles, chosen, choose) {
  byId(id).replaceChildren(...titles.map((title, number) => {
    const tab = make("button", {role: "tab", type: "button", "aria-selected": number === chosen}, title);
    tab.addEventListener("click", () => choose(number));
    return tab;
  }));
}

function drawNeeds() {
  const rows = target().resources.flatMap(([name, number]) =>
    [make("dt", {}, name), make("dd", {}, number)]);
  byId("needs").replaceChildren(make("h2", {}, "needs"), make("dl", {}, ...rows));
}

function drawCalled() {
  const {called, assumed} = target();
  byId("called").replaceChildren(make("b", {}, "called "), called,
    ...(assumed.length ? [make("b", {}, " assumed "), assumed.join("; ")] : []));
}

function drawTarget() {
  drawTabs("targets", data.targets.map(each => each.title), state.target, chooseTarget);
  drawSource(); drawPass(); drawText(); drawNeeds(); drawCalled(); again();
}

function chooseTarget(number) {
  state.target = number; state.pass = -1; state.text = 0;
  drawTarget();
}

// ── links between lines ──

let shown = "";

function link(chain, pinned) {
  const key = JSON.stringify(chain);
  if (key !== shown) {
    shown = key;
    const [inner, outer] = [chain[0], chain[chain.length - 1]];
    for (const lines of Object.values(panes)) {
      for (const line of lines) {
        const near = chain.length > 0 && line.chain[0] === inner;
        const isSource = lines === panes.source;
        const far = !near && chain.length > 0 &&
          (isSource ? chain.includes(line.chain[0]) : line.chain.includes(outer));
        line.node.classList.toggle("near", near);
        line.node.classList.toggle("far", far);
      }
    }
    drawAbout(chain);
  }
  if (pinned) for (const [name, lines] of Object.entries(panes)) {
    if (name !== pinned) bringIntoView(name, lines);
  }
}

function bringIntoView(name, lines) {
  const whole = lines.filter(line => !line.node.classList.contains("edges"));
  const found = longestRun(whole, "near") || longestRun(lines, "near")
    || longestRun(whole, "far") || longestRun(lines, "far");
  if (!found) return;
  const details = found.node.closest("details");
  if (details) details.open = true;
  const box = byId(name).getBoundingClientRect(), at = found.node.getBoundingClientRect();
  if (at.top < box.top || at.bottom > box.bottom) {
    byId(name).scrollTop += at.top - box.top - box.height / 3;
  }
}

// The first line of the longest run: single instructions of a line are often far from the rest.
function longestRun(lines, kind) {
  let best = null, most = 0, start = -1, count = 0, last = -9;
  lines.forEach((line, number) => {
    if (!line.node.classList.contains(kind)) return;
    if (number - last > 3) { start = number; count = 0; }
    last = number;
    count += 1;
    if (count > most) { most = count; best = lines[start]; }
  });
  return best;
}

function drawAbout(chain) {
  const lines = {};
  for (const line of panes.source) if (line.chain.length) lines[line.chain[0]] = line;
  const every = target().decisions.filter(([place]) => lines[place]);
  const chosen = chain.length ? every.filter(([place]) => chain.includes(place)) : every;
  const rows = chosen.map(([place, topic, text]) => {
    const row = make("tr", {},
      make("td", {class: "line-number"}, String(lines[place].number)),
      make("td", {class: `topic ${topic}`}, topic), make("td", {}, text));
    row.addEventListener("click", () => pin([place], ""));
    return row;
  });
  const title = chain.length ? "decided here" : "decided";
  byId("about").replaceChildren(make("h2", {}, rows.length ? title : "nothing was decided here"),
    make("table", {}, ...rows));
}

function pin(chain, pane) {
  state.chain = chain && chain.length ? chain : null;
  link(state.chain || [], pane || "none");
  keep();
}

const again = () => { shown = ""; link(state.chain || [], state.chain ? "none" : ""); keep(); };

// ── mouse and keys ──

for (const name of Object.keys(panes)) {
  const box = byId(name);
  const lineAt = event => {
    const node = event.target.closest(".line");
    return node && panes[name].find(line => line.node === node);
  };
  box.addEventListener("mouseover", event => {
    const line = lineAt(event);
    if (line) link(line.chain, "");
  });
  box.addEventListener("mouseleave", () => link(state.chain || [], ""));
  box.addEventListener("click", event => {
    const line = lineAt(event);
    if (line) goTo(name, panes[name].indexOf(line));
  });
  box.addEventListener("keydown", event => {
    const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9};
    if (!(event.key in steps)) return;
    event.preventDefault();
    const now = panes[name].findIndex(line => line.node.classList.contains("now"));
    const near = panes[name].findIndex(line => line.node.classList.contains("near"));
    goTo(name, (now >= 0 ? now : near) + steps[event.key]);
  });
}

function goTo(name, number) {
  const lines = panes[name];
  const line = lines[Math.max(0, Math.min(lines.length - 1, number))];
  for (const node of document.querySelectorAll(".now")) node.classList.remove("now");
  line.node.classList.add("now");
  const details = line.node.closest("details");
  if (details) details.open = true;
  line.node.scrollIntoView({block: "nearest", inline: "nearest"});
  byId(name).setAttribute("aria-activedescendant", line.node.id);
  pin(line.chain, name);
}

function toPass(number) {
  state.pass = Math.max(0, Math.min(target().passes.length - 1, number));
  drawPass(); again();
}

function toChange(step) {
  const passes = target().passes;
  let number = state.pass + step;
  while (number > 0 && number < passes.length - 1 && !passes[number].changed) number += step;
  toPass(number);
}

function toggleTheme() {
  const dark = getComputedStyle(document.documentElement).colorScheme === "dark"
    || (!document.documentElement.style.colorScheme && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.style.colorScheme = dark ? "light" : "dark";
  state.theme = document.documentElement.style.colorScheme;
  keep();
}

function toggleDiff() {
  state.diff = !state.diff;
  byId("diff").checked = state.diff;
  drawPass(); again();
}

byId("pass").addEventListener("input", () => toPass(Number(byId("pass").value)));
byId("earlier").addEventListener("click", () => toChange(-1));
byId("later").addEventListener("click", () => toChange(1));
byId("diff").addEventListener("change", toggleDiff);
byId("theme").addEventListener("click", toggleTheme);
byId("ask").addEventListener("click", () => byId("help").showModal());
byId("close").addEventListener("click", () => byId("help").close());
const KEYS = {
  h: toHotLoop, "[": () => toChange(-1), "]": () => toChange(1), d: toggleDiff, t: toggleTheme,
  n: () => chooseTarget((state.target + 1) % data.targets.length),
  "?": () => byId("help").showModal(), Escape: () => pin([], "none"),
  ArrowLeft: () => toPass(state.pass - 1), ArrowRight: () => toPass(state.pass + 1),
};
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
  if (event.target.type === "range" && event.key.startsWith("Arrow")) return;
  if (/^[1-9]$/.test(event.key) && event.key <= target().texts.length) {
    state.text = Number(event.key) - 1; drawText(); again();
  } else if (event.key in KEYS) {
    KEYS[event.key](); event.preventDefault();
  }
});

// ── start ──

if (state.theme) document.documentElement.style.colorScheme = state.theme;
if (state.target >= data.targets.length) state.target = 0;
byId("kernel").textContent = data.kernel;
byId("place").textContent = data.place;
byId("refusals").textContent = data.refusals.map(each => `${each.target}: ${each.reason}`).join(" · ");
byId("diff").checked = state.diff;
drawTarget();
panes.text.find(line => line.node.classList.contains("hot"))?.node.scrollIntoView({block: "center"});
byId("source").focus();
new ResizeObserver(fit).observe(byId("source"));

if (data.live) {
  const events = new EventSource("events");
  events.addEventListener("page", () => location.reload());
  events.addEventListener("broken", event => {
    byId("broken").hidden = false;
    byId("broken").firstElementChild.textContent = JSON.parse(event.data);
  });
}
