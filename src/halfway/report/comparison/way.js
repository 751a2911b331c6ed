// The parts of a picture that stand for themselves: an event's way, regions, the names of brokers.
View.prototype.paintWay = function (now, way) {
  const { ctx, scene, ink } = this, { reached } = scene;
  // Everybody who has heard of it, and from whom; strong where it led to somebody who asked.
  for (const strong of [false, true]) {
    ctx.beginPath();
    for (const k of way.hops) {
      if (reached.t[k] > now.t) break;
      if (way.used.has(reached.row[k]) !== strong) continue;
      this.line(ctx, reached.source[k], reached.row[k]);
    }
    ctx.strokeStyle = ink.event;
    ctx.globalAlpha = strong ? 0.95 : 0.4;
    ctx.lineWidth = strong ? 2.6 : 1.2;
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
  ctx.beginPath();
  for (const k of way.hops) {
    if (reached.t[k] > now.t) break;
    const x = this.px(reached.row[k]), y = this.py(reached.row[k]);
    ctx.moveTo(x + this.dot, y);
    ctx.arc(x, y, this.dot + 0.4, 0, 7);
  }
  ctx.fillStyle = ink.event;
  ctx.fill();
  if (now.chosen >= 0) this.paintChosen(now, way);
  const over = now.t >= Math.min(way.last + 1e-9, scene.until);
  for (const row of scene.expected[way.place]) {
    const at = way.got.get(row);
    if (at !== undefined && at <= now.t) this.tick(ctx, row, this.big + 0.5, 1);
    else this.waiting(row, over && at === undefined);
  }
  this.publisher(way.publisher);
};

View.prototype.paintChosen = function (now, way) {
  const { ctx, ink } = this, path = way.path(now.chosen);
  if (!path) return;
  ctx.beginPath();
  path.forEach((row, k) => ctx[k ? "lineTo" : "moveTo"](this.px(row), this.py(row)));
  ctx.lineJoin = "round";
  for (const [colour, width] of [[ink.text, 7], [ink.met, 4]]) {
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.stroke();
  }
};

// A subscriber that waits: an empty square; with a cross where it waited in vain.
View.prototype.waiting = function (row, vain) {
  const { ctx, ink } = this, x = this.px(row), y = this.py(row);
  ctx.fillStyle = ink.halo;
  const r = this.big - 0.7;
  ctx.fillRect(x - r, y - r, 2 * r, 2 * r);
  ctx.strokeStyle = vain ? ink.bad : ink.text;
  ctx.lineWidth = 1.8;
  ctx.strokeRect(x - r, y - r, 2 * r, 2 * r);
  if (!vain) return;
  ctx.beginPath();
  this.cross(ctx, row, r - 2);
  ctx.stroke();
};

View.prototype.publisher = function (row) {
  const { ctx, ink } = this, x = this.px(row), y = this.py(row);
  ctx.beginPath();
  const r = 1.4 * this.big + 1.5;
  for (const [dx, dy] of [[0, -r], [r, 0], [0, r], [-r, 0]]) ctx.lineTo(x + dx, y + dy);
  ctx.closePath();
  ctx.fillStyle = ink.text;
  ctx.fill();
  ctx.strokeStyle = ink.halo;
  ctx.lineWidth = 2;
  ctx.stroke();
};

// A broker's name: a letter, or two; its region has its colour and one of five hatchings.
const letters = (place) => {
  const last = String.fromCharCode(65 + (place % 26));
  return place < 26 ? last : letters(Math.floor(place / 26) - 1) + last;
};

View.prototype.paintBrokers = function () {
  const { ctx, scene, ink } = this;
  if (!scene.brokers.length) return;
  ctx.font = "bold 11px system-ui,sans-serif";
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  scene.brokers.forEach((row, place) => {
    if (scene.broker[row] !== row || scene.down[row]) return; // not yet, or no more
    const x = this.px(row), y = this.py(row), name = letters(place);
    const half = 5 + 3.2 * name.length;
    ctx.fillStyle = ink.halo;
    ctx.fillRect(x - half, y - 8, 2 * half, 16);
    ctx.strokeStyle = ink.regions[place % ink.regions.length];
    ctx.lineWidth = 2.5;
    ctx.strokeRect(x - half, y - 8, 2 * half, 16);
    ctx.fillStyle = ink.text;
    ctx.fillText(name, x, y + 0.5);
  });
};

const GRAIN = 3; // pixels of the page to one of the picture of regions
const LEAST_MS = 250; // between two pictures of them while the map plays

// Every point belongs to the region of the node nearest to it. Looked at again now and then.
const regionsNow = (view, still) => {
  const { scene, stage, ink } = view, stamp = performance.now();
  const key = `${scene.shifts} ${scene.faults} ${ink.name} ${stage.moves ? scene.t : ""}`;
  if (key !== view.coloured.key && (still || stamp - view.coloured.at > LEAST_MS)) {
    view.coloured = { key, at: stamp };
    view.regions = regionsOf(view, scene, stage, ink);
  }
  return view.regions;
};

const regionsOf = (view, scene, stage, ink) => {
  const wide = Math.ceil(view.wide / GRAIN), high = Math.ceil(view.high / GRAIN);
  const picture = document.createElement("canvas");
  picture.width = wide;
  picture.height = high;
  const ctx = picture.getContext("2d"), image = ctx.createImageData(wide, high);
  const colours = ink.regions.map(channels), nearest = nearestRows(view, stage, wide, high);
  for (let py = 0, k = 0; py < high; py++) {
    for (let px = 0; px < wide; px++, k++) {
      const row = nearest[k];
      if (row < 0 || scene.broker[row] < 0 || scene.down[row]) continue;
      const place = scene.brokerPlace.get(scene.broker[row]);
      image.data.set(colours[place % colours.length], 4 * k);
      image.data[4 * k + 3] = hatched(place, px, py) ? 130 : 62;
    }
  }
  ctx.putImageData(image, 0, 0);
  return picture;
};

// The row nearest to each grain, -1 where nobody is near; found once where nobody moves.
const nearestRows = (view, stage, wide, high) => {
  const size = `${view.wide} ${view.high}`;
  if (!stage.moves && view.nearest?.size === size) return view.nearest.rows;
  const rows = new Int32Array(wide * high).fill(-1), far = stage.typical() * 0.8;
  const grid = stage.gridOf(far);
  for (let py = 0; py < high; py++) {
    const y = (py * GRAIN - view.top) / view.scale;
    if (y < -far || y > stage.high + far) continue;
    for (let px = 0; px < wide; px++) {
      const x = (px * GRAIN - view.left) / view.scale;
      let best = -1, least = far * far;
      grid.near(x, y, (j) => {
        const dx = x - stage.x[j], dy = y - stage.y[j], d = dx * dx + dy * dy;
        if (d < least) [best, least] = [j, d];
      });
      rows[py * wide + px] = best;
    }
  }
  view.nearest = { size, rows };
  return rows;
};

const hatched = (place, x, y) => {
  const way = place % 5;
  if (way === 0) return false;
  const along = way === 1 ? x + y : way === 2 ? x - y + 4096 : way === 3 ? y : x;
  return along % 4 === 0;
};

const channels = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
