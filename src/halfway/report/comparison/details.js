// Beside the map: the receivers of the followed event, and the node under the pointer.
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
    const item = document.createElement("li"), button = document.createElement("button");
    const at = spread.got.get(row), path = at === undefined ? null : spread.path(row);
    const hops = path ? `, ${path.length - 1} ${path.length === 2 ? "hop" : "hops"}` : "";
    button.type = "button";
    button.dataset.row = String(row);
    button.dataset.at = String(at ?? "");
    button.setAttribute("aria-pressed", String(row === this.chosen));
    button.textContent = at === undefined
      ? `✗ node ${row}: not received`
      : `node ${row}: ${delay(at - begin)}${hops}`;
    item.append(button);
    return item;
  }));
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

// Describe the node under the pointer; a click on a receiver shows its path.
Player.prototype.point = function (view, event, pressed = false) {
  const box = view.canvas.getBoundingClientRect(), run = view.run;
  const row = view.rowAt(event.clientX - box.left, event.clientY - box.top);
  if (pressed && this.follow >= 0) {
    this.chosen = row === this.chosen ? -1 : row;
    this.updateDetails();
    this.draw();
  }
  view.canvas.title = row < 0 ? "" : description(run, row, this);
};

const description = (run, row, player) => {
  const { world } = run, roles = world.roles[row], broker = run.broker[row];
  const parts = [`node ${row}`];
  if (run.down[row]) parts.push("down");
  if (roles & 2) parts.push("publisher");
  if (roles & 1) parts.push("subscriber");
  if (broker === row) parts.push(`broker ${brokerName(run.brokerPlace.get(row))}`);
  else if (broker >= 0) parts.push(`in the region of ${brokerName(run.brokerPlace.get(broker))}`);
  if (player.follow >= 0) {
    const spread = run.spreadOf(player.follow), at = spread.when.get(row);
    if (at !== undefined) {
      parts.push(`received ${delay(at - world.published[player.follow])} after publication, `
        + `from node ${spread.from.get(row)}`);
    }
  }
  return parts.join(", ");
};

// The strip above the time slider: transmissions, publications and faults over time.
Player.prototype.paintDensity = function () {
  const strip = this.density, ctx = strip.getContext("2d"), ink = this.ink;
  const sharp = Math.min(2, window.devicePixelRatio || 1);
  const wide = strip.clientWidth, high = strip.clientHeight;
  if (!wide || !this.shownViews) return;
  strip.width = wide * sharp;
  strip.height = high * sharp;
  ctx.setTransform(sharp, 0, 0, sharp, 0, 0);
  const bins = Math.max(1, Math.floor((wide - 16) / 3)), edge = 8, step = (wide - 2 * edge) / bins;
  const counts = [new Float64Array(bins), new Float64Array(bins)];
  for (const { run } of this.shownViews) {
    const { t, role } = run.sent;
    for (let k = 0; k < t.length; k++) {
      const bin = Math.min(bins - 1, Math.floor((t[k] / this.seconds) * bins));
      counts[role[k] === 0 ? 0 : 1][bin] += run.sentFactor;
    }
  }
  // The few highest bins are cut off: a start at which all subscribe would flatten the rest.
  const sums = counts[0].map((one, k) => one + counts[1][k]).sort();
  const top = Math.max(1, sums[Math.floor(0.97 * (bins - 1))]);
  const height = (count) => (high - 10) * Math.min(1, Math.sqrt(count / top));
  for (let k = 0; k < bins; k++) {
    const whole = height(counts[0][k] + counts[1][k]), mine = height(counts[0][k]);
    ctx.fillStyle = ink.other;
    ctx.fillRect(edge + k * step, high - 8 - whole, step - 1, whole);
    ctx.fillStyle = ink.event;
    ctx.fillRect(edge + k * step, high - 8 - mine, step - 1, mine);
  }
  const world = this.world(), x = (t) => edge + (t / this.seconds) * (wide - 2 * edge);
  ctx.fillStyle = ink.text;
  for (const t of world.published) ctx.fillRect(x(t) - 0.5, high - 6, 1.5, 6);
  ctx.fillStyle = ink.bad;
  const { changes } = this.shownViews[0].run;
  for (let k = 0; k < changes.t.length; k++) {
    if (changes.what[k] % 2 === 0) ctx.fillRect(x(changes.t[k]) - 0.5, 0, 1.5, 5);
  }
};
