// Beside the map: the receivers of the followed event, and the marked node.
const MOST_BUSY = 8; // nodes in the list of those with the most transmissions

Player.prototype.updateDetails = function () {
  const { follow, details, receivers } = this;
  receivers.replaceChildren();
  receivers.hidden = this.shown < 0 || follow < 0;
  if (follow < 0) {
    details.textContent = "Select an event to follow it. The map shows its spread, and this list "
      + "shows when each subscriber received it.";
    return;
  }
  const world = this.world(), begin = world.published[follow];
  if (this.shown < 0) {
    const line = ({ run }) => `${run.about.system}: ${tally(run, follow, begin)}`;
    const lines = this.shownViews.map(line);
    details.replaceChildren(...lines.map(paragraph));
    return;
  }
  const run = this.runs[this.shown], spread = run.spreadOf(follow);
  details.replaceChildren(paragraph(tally(run, follow, begin)));
  const rows = [...run.expected[follow]];
  rows.sort((a, b) => (spread.got.get(a) ?? 1e300) - (spread.got.get(b) ?? 1e300) || a - b);
  receivers.append(...rows.map((row) => {
    const at = spread.got.get(row), path = at === undefined ? null : spread.path(row);
    const hops = path ? `, ${path.length - 1} ${path.length === 2 ? "hop" : "hops"}` : "";
    const item = this.nodeItem(row, at === undefined ? "not received" : delay(at - begin) + hops);
    if (at === undefined) item.classList.add("missed");
    item.firstChild.dataset.at = String(at ?? "");
    return item;
  }));
};

// An item of a list with a button that marks a node: its name, and a text.
Player.prototype.nodeItem = function (row, text) {
  const item = document.createElement("li"), button = document.createElement("button");
  button.type = "button";
  button.dataset.row = String(row);
  button.setAttribute("aria-pressed", String(row === this.chosen));
  button.textContent = `${this.world().title(row)}: ${text}`;
  item.append(button);
  return item;
};

const paragraph = (text) => {
  const made = document.createElement("p");
  made.textContent = text;
  return made;
};

const delay = (seconds) =>
  (seconds < 1 ? `${(1000 * seconds).toFixed(0)} ms` : `${seconds.toFixed(2)} s`);

const tally = (run, place, begin) => {
  const { got } = run.spreadOf(place), due = run.expected[place];
  if (!due.length) return "no subscriber was up";
  const times = [...due].filter((row) => got.has(row)).map((row) => got.get(row) - begin);
  const last = times.length ? `, the last after ${delay(Math.max(...times))}` : "";
  return `received by ${times.length} of ${due.length}${last}`;
};

// Tick receivers in the list as the clock passes.
Player.prototype.markReceivers = function () {
  for (const item of this.receivers.children) {
    const { at } = item.firstChild.dataset;
    item.classList.toggle("got", at !== "" && Number(at) <= this.t);
  }
};

// Describe the node under the pointer; a click marks it.
Player.prototype.point = function (view, event, pressed = false) {
  const box = view.canvas.getBoundingClientRect(), run = view.run;
  const row = view.rowAt(event.clientX - box.left, event.clientY - box.top);
  if (pressed) this.choose(row === this.chosen ? -1 : row);
  view.canvas.title = row < 0 ? "" : this.description(run, row);
};

Player.prototype.description = function (run, row) {
  const parts = [run.world.title(row), ...stateOf(run, row), ...this.receptionOf(run, row)];
  return parts.join(", ");
};

const stateOf = (run, row) => {
  const roles = run.world.roles[row], broker = run.broker[row], parts = [];
  if (run.down[row]) parts.push("down");
  if (roles & 2) parts.push("publisher");
  if (roles & 1) parts.push("subscriber");
  if (broker === row) parts.push(`broker ${brokerName(run.brokerPlace.get(row))}`);
  else if (broker >= 0) parts.push(`in the region of ${brokerName(run.brokerPlace.get(broker))}`);
  return parts;
};

// When a node received the followed event, and from which node.
Player.prototype.receptionOf = function (run, row) {
  if (this.follow < 0) return [];
  const { world } = run, spread = run.spreadOf(this.follow), at = spread.when.get(row);
  if (at === undefined) return [];
  return [`received ${delay(at - world.published[this.follow])} after publication, `
    + `from ${world.title(spread.from.get(row))}`];
};

// The marked node at the time of the map, or else the nodes with the most transmissions.
Player.prototype.updateNode = function () {
  const { chosen, node } = this;
  if (this.playing || !this.shownViews) return;
  const heading = (text) => {
    const made = document.createElement("h3");
    made.textContent = text;
    return made;
  };
  const about = ({ sentFactor }) => (sentFactor > 1 ? "about " : "");
  const sent = (run, row) => `${about(run)}${Math.round(run.sentBy(this.t)[row]).toLocaleString("en")}`;
  if (chosen >= 0) {
    const lines = this.shownViews.map(({ run }) => {
      const parts = [`${sent(run, chosen)} sent`, ...stateOf(run, chosen), ...this.receptionOf(run, chosen)];
      return paragraph((this.shown < 0 ? `${run.about.system}: ` : "") + parts.join(", "));
    });
    node.replaceChildren(heading(this.world().title(chosen)), ...lines);
    return;
  }
  if (this.shown < 0 || this.follow >= 0) return node.replaceChildren();
  const run = this.runs[this.shown], counts = run.sentBy(this.t), list = document.createElement("ol");
  const rows = [...counts.keys()].filter((row) => counts[row] > 0);
  rows.sort((a, b) => counts[b] - counts[a] || a - b);
  list.append(...rows.slice(0, MOST_BUSY).map((row) => this.nodeItem(row, sent(run, row))));
  node.replaceChildren(heading(`Most transmissions until ${timeText(this.t)}`), list);
};
