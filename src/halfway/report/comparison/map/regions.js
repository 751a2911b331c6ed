// Regions of brokers, and cells.
View.prototype.paintCells = function (ctx, t) {
  const { run, world, ink } = this;
  const [cornerX, cornerY, length] = run.about.cells, pixels = this.scale / world.unit;
  const side = length * pixels;
  const low = [(world.low[0] - cornerX) * pixels, (world.low[1] - cornerY) * pixels];
  const bottom = this.top + world.high * this.scale + low[1], first = this.left - low[0];
  const homes = new Map();
  for (let k = 0; k < run.homes.t.length && run.homes.t[k] <= t; k++) {
    const row = run.homes.row[k];
    const x = Math.floor((this.px(row) - first) / side);
    const y = Math.floor((bottom - this.py(row)) / side);
    const place = `${x} ${y}`;
    if (!homes.has(place)) homes.set(place, { x, y, topics: new Set() });
    homes.get(place).topics.add(run.homes.topic[k]);
  }
  ctx.strokeStyle = ink.link;
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (let x = first + side * Math.ceil((this.left - 1 - first) / side);
    x <= this.left + world.wide * this.scale + side; x += side) {
    ctx.moveTo(x, this.top - 4);
    ctx.lineTo(x, this.top + world.high * this.scale + 4);
  }
  for (let y = bottom - side * Math.ceil((bottom - this.top - world.high * this.scale - 1) / side);
    y >= this.top - side; y -= side) {
    ctx.moveTo(this.left - 4, y);
    ctx.lineTo(this.left + world.wide * this.scale + 4, y);
  }
  ctx.stroke();
  for (const { x, y, topics } of homes.values()) {
    ctx.fillStyle = ink.overlay;
    ctx.globalAlpha = 0.3;
    ctx.fillRect(first + x * side, bottom - (y + 1) * side, side, side);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = ink.overlay;
    ctx.strokeRect(first + x * side, bottom - (y + 1) * side, side, side);
    if (side < 18) continue;
    ctx.fillStyle = ink.text;
    ctx.font = "11px system-ui,sans-serif";
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    ctx.fillText([...topics].slice(0, 3).join(","), first + x * side + 3, bottom - y * side - 4);
  }
};

// The name of a broker: one or two letters; its region has its colour and one of five hatchings.
const brokerName = (place) => {
  const last = String.fromCharCode(65 + (place % 26));
  return place < 26 ? last : brokerName(Math.floor(place / 26) - 1) + last;
};

View.prototype.paintBrokers = function () {
  const { ctx, run, ink } = this;
  if (!run.brokers.length) return;
  run.brokers.forEach((row, place) => {
    if (run.broker[row] !== row || run.down[row]) return; // not a broker at this time
    drawBroker(ctx, ink, this.px(row), this.py(row), brokerName(place), place);
  });
};

const GRAIN = 3; // pixels of the page per pixel of the regions
const LEAST_MS = 250; // between two updates of the regions while the map plays

// Every point belongs to the region of its nearest node. Updated at intervals.
const regionsNow = (view, still) => {
  const { run, world, ink } = view, stamp = performance.now();
  const moving = world.moves ? run.t : "";
  const key = `${run.shifts} ${run.faults} ${ink.name} ${moving} ${view.place.key}`;
  if (key !== view.coloured.key && (still || stamp - view.coloured.at > LEAST_MS)) {
    view.coloured = { key, at: stamp, place: view.place };
    view.regions = regionsOf(view, run, world, ink);
  }
  return view.regions;
};

const regionsOf = (view, run, world, ink) => {
  const wide = Math.ceil(view.wide / GRAIN), high = Math.ceil(view.high / GRAIN);
  const picture = document.createElement("canvas");
  picture.width = wide;
  picture.height = high;
  const ctx = picture.getContext("2d"), image = ctx.createImageData(wide, high);
  const colours = ink.regions.map(channels), nearest = nearestRows(view, world, wide, high);
  for (let py = 0, k = 0; py < high; py++) {
    for (let px = 0; px < wide; px++, k++) {
      const row = nearest[k];
      if (row < 0 || run.broker[row] < 0 || run.down[row]) continue;
      const place = run.brokerPlace.get(run.broker[row]);
      image.data.set(colours[place % colours.length], 4 * k);
      image.data[4 * k + 3] = hatched(place, px, py) ? 130 : 62;
    }
  }
  ctx.putImageData(image, 0, 0);
  return picture;
};

// The row nearest to each pixel, -1 where no node is near; computed once for static nodes.
const nearestRows = (view, world, wide, high) => {
  const size = `${view.wide} ${view.high} ${view.place.key}`;
  if (!world.moves && view.nearest?.size === size) return view.nearest.rows;
  const rows = new Int32Array(wide * high).fill(-1), far = world.typical() * 0.8;
  const grid = world.gridOf(far);
  for (let py = 0; py < high; py++) {
    const y = (py * GRAIN - view.top) / view.scale;
    if (y < -far || y > world.high + far) continue;
    for (let px = 0; px < wide; px++) {
      const x = (px * GRAIN - view.left) / view.scale;
      let best = -1, least = far * far;
      grid.near(x, y, (j) => {
        const dx = x - world.x[j], dy = y - world.y[j], d = dx * dx + dy * dy;
        if (d < least) [best, least] = [j, d];
      });
      rows[py * wide + px] = best;
    }
  }
  view.nearest = { size, rows };
  return rows;
};

const hatched = (place, x, y) => {
  const style = place % 5;
  if (style === 0) return false;
  const along = style === 1 ? x + y : style === 2 ? x - y + 4096 : style === 3 ? y : x;
  return along % 4 === 0;
};

const channels = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
