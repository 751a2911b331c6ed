// Beside the map: who got the event that is followed, and when; and what lies under the pointer.
Player.prototype.tellStory = function () {
  const { follow, story, told } = this;
  told.replaceChildren();
  told.hidden = this.shown < 0 || follow < 0;
  if (follow < 0) {
    story.textContent = "Pick an event to follow it: its way lights up, and here stands who got it "
      + "when, and who did not.";
    return;
  }
  const stage = this.stage(), begin = stage.published[follow];
  if (this.shown < 0) {
    const line = ({ scene }) => `${scene.about.system}: ${tally(scene, follow, begin)}`;
    const lines = this.shownViews.map(line);
    story.replaceChildren(...lines.map(paragraph));
    return;
  }
  const scene = this.scenes[this.shown], way = scene.way(follow);
  story.replaceChildren(paragraph(tally(scene, follow, begin)));
  const rows = [...scene.expected[follow]];
  rows.sort((a, b) => (way.got.get(a) ?? 1e300) - (way.got.get(b) ?? 1e300) || a - b);
  told.append(...rows.map((row) => {
    const item = document.createElement("li"), button = document.createElement("button");
    const at = way.got.get(row), path = at === undefined ? null : way.path(row);
    const hops = path ? `, ${path.length - 1} ${path.length === 2 ? "hop" : "hops"}` : "";
    button.type = "button";
    button.dataset.row = String(row);
    button.dataset.at = String(at ?? "");
    button.setAttribute("aria-pressed", String(row === this.chosen));
    button.textContent = at === undefined
      ? `✗ node ${row}: not by the end`
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

const tally = (scene, place, begin) => {
  const way = scene.way(place), due = scene.expected[place];
  if (!due.length) return "nobody was there to hear it";
  const times = [...due].filter((row) => way.got.has(row)).map((row) => way.got.get(row) - begin);
  const last = times.length ? `, the last after ${delay(Math.max(...times))}` : "";
  return `${times.length} of ${due.length} got it${last}`;
};

// Ticks in the list as the clock passes.
Player.prototype.markStory = function () {
  for (const item of this.told.children) {
    const { at } = item.firstChild.dataset;
    item.classList.toggle("got", at !== "" && Number(at) <= this.t);
  }
};

// What is under the pointer; a click on somebody who was told shows the way there.
Player.prototype.point = function (view, event, pressed = false) {
  const box = view.canvas.getBoundingClientRect(), scene = view.scene;
  const row = view.rowAt(event.clientX - box.left, event.clientY - box.top);
  if (pressed && this.follow >= 0) {
    this.chosen = row === this.chosen ? -1 : row;
    this.tellStory();
    this.draw();
  }
  view.canvas.title = row < 0 ? "" : told(scene, row, this);
};

const told = (scene, row, player) => {
  const { stage } = scene, roles = stage.roles[row], broker = scene.broker[row];
  const parts = [`node ${row}`];
  if (scene.down[row]) parts.push("down");
  if (roles & 2) parts.push("publishes");
  if (roles & 1) parts.push("subscribes");
  if (broker === row) parts.push(`broker ${letters(scene.brokerPlace.get(row))}`);
  else if (broker >= 0) parts.push(`in the region of ${letters(scene.brokerPlace.get(broker))}`);
  if (player.follow >= 0) {
    const way = scene.way(player.follow), at = way.when.get(row);
    if (at !== undefined) {
      parts.push(`heard it ${delay(at - stage.published[player.follow])} after publication, `
        + `from node ${way.from.get(row)}`);
    }
  }
  return parts.join(", ");
};

// The strip over the scrubber: transmissions by time, publications, faults.
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
  for (const { scene } of this.shownViews) {
    const { t, role } = scene.sent;
    for (let k = 0; k < t.length; k++) {
      const bin = Math.min(bins - 1, Math.floor((t[k] / this.seconds) * bins));
      counts[role[k] === 0 ? 0 : 1][bin] += scene.sentFactor;
    }
  }
  // The few highest may stand out: else a beginning when all subscribe would flatten the rest.
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
  const stage = this.stage(), x = (t) => edge + (t / this.seconds) * (wide - 2 * edge);
  ctx.fillStyle = ink.text;
  for (const t of stage.published) ctx.fillRect(x(t) - 0.5, high - 6, 1.5, 6);
  ctx.fillStyle = ink.bad;
  const { changes } = this.shownViews[0].scene;
  for (let k = 0; k < changes.t.length; k++) {
    if (changes.what[k] % 2 === 0) ctx.fillRect(x(changes.t[k]) - 0.5, 0, 1.5, 5);
  }
};
