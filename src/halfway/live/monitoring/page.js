"use strict";
// The status page of a node: it asks its own node each second, and nothing else.
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);
const known = new Map(); // publications that were shown, so that each makes one pulse
let counts = null;

function element(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function places(nodes) {
  // A circle in the order of the ids: a node keeps its place while others come and go.
  const found = new Map();
  nodes.forEach((node, k) => {
    const angle = (2 * Math.PI * k) / nodes.length - Math.PI;
    const wide = nodes.length === 1 ? 0 : 1;
    found.set(node.id, [320 + wide * 250 * Math.cos(angle), 205 + wide * 155 * Math.sin(angle)]);
  });
  return found;
}

function draw(state) {
  const map = byId("map");
  const at = places(state.nodes);
  const own = new Set(state.nodes.filter((node) => node.own).map((node) => node.id));
  const parts = [];
  for (const [one, other] of state.links) {
    const [x1, y1] = at.get(one);
    const [x2, y2] = at.get(other);
    const kind = own.has(one) || own.has(other) ? "own" : "";
    parts.push(element("line", { x1, y1, x2, y2, class: kind }));
  }
  const labelled = state.nodes.length <= 60;
  for (const node of state.nodes) {
    const [cx, cy] = at.get(node.id);
    const dot = element("circle", { cx, cy, r: labelled ? 8 : 4, class: node.own ? "own" : "" });
    const where = node.position ? ` at ${node.position.join(", ")} m` : "";
    dot.append(element("title", {}, `${node.name} (${node.id})${where}`));
    parts.push(dot);
    if (labelled) parts.push(element("text", { x: cx, y: cy + 24 }, node.name));
  }
  for (const event of state.events) {
    const key = event.key;
    if (known.has(key)) continue;
    known.set(key, true);
    if (counts !== null && at.has(event.publisher)) {
      const [cx, cy] = at.get(event.publisher);
      parts.push(element("circle", { cx, cy, r: 30, class: "pulse" }));
    }
  }
  while (known.size > 1000) known.delete(known.keys().next().value);
  map.replaceChildren(...parts);
}

function rows(id, table, empty) {
  const body = byId(id);
  body.replaceChildren();
  for (const cells of table) {
    const row = body.insertRow();
    cells.forEach((cell, k) => {
      const made = row.insertCell();
      made.textContent = cell;
      if (k > 0) made.className = "number";
    });
  }
  if (table.length === 0) body.insertRow().insertCell().textContent = empty;
}

function age(seconds) {
  return seconds < 60 ? `${seconds.toFixed(0)} s` : `${(seconds / 60).toFixed(0)} min`;
}

function show(state) {
  byId("name").textContent = state.name;
  byId("security").textContent = state.security;
  byId("security").className = state.unsafe ? "unsafe" : "faint";
  byId("about").textContent =
    `${state.system}, ${state.compiled ? "machine code" : "interpreted"}, up ${age(state.up_s)}`;
  draw(state);
  const before = counts ?? state.counts;
  const rate = (name) => `${Math.max(0, state.counts[name] - (before[name] ?? 0))}/s`;
  rows("counts", Object.entries(state.counts).map(([name, n]) => [name, n, rate(name)]), "none");
  rows("drops", Object.entries(state.drops).map(([why, n]) => [why, n]), "none");
  rows("events", state.events.map((one) => [one.topic, `${one.size} B`, age(one.age_s)]), "none yet");
  const members = state.members ?? [];
  byId("members-section").hidden = state.members === null;
  byId("events-section").hidden = state.members !== null;
  rows("members", members.map((one) => [one.name || one.id, one.state, age(one.since_s)]), "none yet");
  rows("heard", state.heard.map((one) => [one.name, one.state]), "every node heard is a neighbour");
  counts = state.counts;
  byId("state").textContent = "";
  document.body.dataset.ready = "yes";
}

async function look() {
  try {
    const answer = await fetch("state.json", { cache: "no-store" });
    show(await answer.json());
  } catch {
    byId("state").textContent = "the node does not answer";
  }
  setTimeout(look, 1000);
}

look();
