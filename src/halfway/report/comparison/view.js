// One system on one canvas. Everything is a function of the time and of the event that is followed.
const ROLES = ["event", "walk", "overlay", "other"];
const SHOWN_S = 0.7; // of the viewer's time: how long a transmission stays visible
const MOST_PULSES = 800; // of each role in one picture; the latest
const MOST_RECENT = 1500; // steps of walks that are drawn where nodes move
const MOST_STRONG = 500; // the latest steps, which stand out
const AGES = 8; // steps in which a transmission fades
const LOT = 256; // steps in one stroke of what is kept: the same time is always the same picture

class View {
  constructor(canvas, scene, ink) {
    Object.assign(this, { canvas, scene, ink, stage: scene.stage });
    this.ctx = canvas.getContext("2d");
    this.base = document.createElement("canvas");
    this.trail = document.createElement("canvas");
    this.regions = null;
    this.rings = new Map();
    this.forget();
  }

  forget() {
    this.drawn = "";
    this.trailed = { steps: 0, key: "" };
    this.coloured = { key: "", at: -1e9 };
  }

  fit() {
    const sharp = Math.min(2, window.devicePixelRatio || 1);
    const { clientWidth, clientHeight } = this.canvas;
    if (this.wide === clientWidth && this.high === clientHeight && this.sharp === sharp) return;
    Object.assign(this, { wide: clientWidth, high: clientHeight, sharp });
    for (const one of [this.canvas, this.base, this.trail]) {
      one.width = Math.round(clientWidth * sharp);
      one.height = Math.round(clientHeight * sharp);
    }
    const edge = Math.min(18, clientWidth / 22);
    const inner = [clientWidth - 2 * edge, clientHeight - 2 * edge];
    this.scale = Math.min(inner[0] / this.stage.wide, inner[1] / this.stage.high);
    this.left = (clientWidth - this.scale * this.stage.wide) / 2;
    this.top = (clientHeight - this.scale * this.stage.high) / 2;
    // Dots that neither vanish nor touch.
    this.dot = Math.min(4, Math.max(1, 0.24 * Math.sqrt((inner[0] * inner[1]) / this.stage.n)));
    this.big = Math.min(5.5, Math.max(3.2, 2.2 * this.dot)); // half of a square that means something
    this.extent = [this.canvas.width, this.canvas.height];
    this.forget();
  }

  px(row) { return this.left + this.scale * this.stage.x[row]; }
  py(row) { return this.top + this.scale * this.stage.y[row]; }

  rowAt(x, y) {
    const unit = 14 / this.scale;
    return this.stage.nearest((x - this.left) / this.scale, (y - this.top) / this.scale, unit);
  }

  // now: {t, speed, follow (a publication's place or -1), chosen (a row or -1), still}
  paint(now) {
    this.fit();
    if (!this.wide) return;
    const { ctx, scene, stage } = this;
    stage.place(now.t);
    scene.seek(now.t);
    this.span = SHOWN_S * now.speed;
    this.paintBase(now);
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (scene.brokers.length) ctx.drawImage(regionsNow(this, now.still), 0, 0, ...this.extent);
    ctx.drawImage(this.base, 0, 0);
    const way = now.follow >= 0 ? scene.way(now.follow) : null;
    this.paintTrail(now, way);
    this.use(ctx);
    this.paintTree(way);
    this.paintPulses(now, way);
    if (way) this.paintWay(now, way);
    this.paintMeetings(now, way);
    if (!way) this.paintDeliveries(now);
    this.paintBrokers();
  }

  use(ctx) {
    ctx.setTransform(this.sharp, 0, 0, this.sharp, 0, 0);
    ctx.lineCap = "round";
    ctx.globalAlpha = 1;
    ctx.setLineDash([]);
  }

  // What stands: cells, links, nodes. Drawn anew only when it changes.
  paintBase(now) {
    const { scene, stage, base, ink } = this;
    const dim = now.follow >= 0;
    const key = `${scene.faults} ${dim} ${ink.name} ${stage.moves || scene.about.cells[2] ? now.t : ""}`;
    if (key === this.drawn) return;
    this.drawn = key;
    const ctx = base.getContext("2d");
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, base.width, base.height);
    this.use(ctx);
    if (scene.about.cells[2] > 0) this.paintCells(ctx, now.t);
    this.paintLinks(ctx, dim);
    this.paintNodes(ctx, dim);
  }

  paintLinks(ctx, dim) {
    const { scene, stage, ink } = this;
    const pairs = stage.links(), broken = [];
    ctx.beginPath();
    for (let k = 0; k < pairs.length; k += 2) {
      const a = pairs[k], b = pairs[k + 1];
      if (scene.down[a] || scene.down[b]) continue;
      if (scene.isCut(a, b)) broken.push([a, b]);
      else this.line(ctx, a, b);
    }
    ctx.strokeStyle = ink.link;
    ctx.lineWidth = Math.min(1, 0.32 * this.dot);
    ctx.globalAlpha = dim ? 0.55 : 1;
    ctx.stroke();
    ctx.globalAlpha = 0.8;
    ctx.strokeStyle = ink.bad;
    ctx.setLineDash([3, 4]);
    ctx.beginPath();
    for (const [a, b] of broken) this.line(ctx, a, b);
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
  }

  line(ctx, a, b) {
    ctx.moveTo(this.px(a), this.py(a));
    ctx.lineTo(this.px(b), this.py(b));
  }

  paintNodes(ctx, dim) {
    const { scene, stage, ink } = this, r = this.dot;
    ctx.beginPath();
    for (let i = 0; i < stage.n; i++) {
      if (scene.down[i]) continue;
      ctx.moveTo(this.px(i) + r, this.py(i));
      ctx.arc(this.px(i), this.py(i), r, 0, 7);
    }
    ctx.fillStyle = ink.node;
    ctx.globalAlpha = dim ? 0.6 : 1;
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.beginPath();
    for (let i = 0; i < stage.n; i++) if (scene.down[i]) this.cross(ctx, i, r + 1.2);
    ctx.strokeStyle = ink.bad;
    ctx.lineWidth = 1.6;
    ctx.stroke();
  }

  cross(ctx, row, r) {
    const x = this.px(row), y = this.py(row);
    ctx.moveTo(x - r, y - r);
    ctx.lineTo(x + r, y + r);
    ctx.moveTo(x + r, y - r);
    ctx.lineTo(x - r, y + r);
  }

  paintCells(ctx, t) {
    const { scene, stage, ink } = this;
    const [cornerX, cornerY, length] = scene.about.cells, pixels = this.scale / stage.unit;
    const side = length * pixels;
    const low = [(stage.low[0] - cornerX) * pixels, (stage.low[1] - cornerY) * pixels];
    const bottom = this.top + stage.high * this.scale + low[1], first = this.left - low[0];
    const homes = new Map();
    for (let k = 0; k < scene.homes.t.length && scene.homes.t[k] <= t; k++) {
      const row = scene.homes.row[k];
      const x = Math.floor((this.px(row) - first) / side);
      const y = Math.floor((bottom - this.py(row)) / side);
      const place = `${x} ${y}`;
      if (!homes.has(place)) homes.set(place, { x, y, topics: new Set() });
      homes.get(place).topics.add(scene.homes.topic[k]);
    }
    ctx.strokeStyle = ink.link;
    ctx.lineWidth = 1;
    ctx.beginPath();
    for (let x = first + side * Math.ceil((this.left - 1 - first) / side);
      x <= this.left + stage.wide * this.scale + side; x += side) {
      ctx.moveTo(x, this.top - 4);
      ctx.lineTo(x, this.top + stage.high * this.scale + 4);
    }
    for (let y = bottom - side * Math.ceil((bottom - this.top - stage.high * this.scale - 1) / side);
      y >= this.top - side; y -= side) {
      ctx.moveTo(this.left - 4, y);
      ctx.lineTo(this.left + stage.wide * this.scale + 4, y);
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
      ctx.fillText([...topics].slice(0, 3).join(","), first + x * side + 3, bottom - y * side - 4);
    }
  }

  // Every step so far, faint, whole lots of them kept from picture to picture; the latest strong.
  paintTrail(now, way) {
    const { scene, stage, ink, trail } = this, steps = scene.steps;
    if (!steps.t.length) return;
    const topic = way ? stage.columns.topic[way.place] : -1, faint = way ? 0.45 : 0.3;
    const upto = upTo(steps.t, now.t), whole = stage.moves ? 0 : upto - (upto % LOT);
    const key = `${topic} ${ink.name}`;
    const ctx = trail.getContext("2d");
    if (key !== this.trailed.key || whole < this.trailed.steps) {
      ctx.setTransform(1, 0, 0, 1, 0, 0);
      ctx.clearRect(0, 0, trail.width, trail.height);
      this.trailed = { steps: 0, key };
    }
    this.use(ctx);
    for (; this.trailed.steps < whole; this.trailed.steps += LOT) {
      this.strokeSteps(ctx, this.trailed.steps, this.trailed.steps + LOT, topic, 1.2, faint);
    }
    this.ctx.drawImage(trail, 0, 0);
    this.use(this.ctx);
    const first = stage.moves ? Math.max(0, upto - MOST_RECENT) : whole;
    this.strokeSteps(this.ctx, first, upto, topic, 1.2, faint);
    const recent = Math.max(upTo(steps.t, now.t - 2.5 * this.span), upto - MOST_STRONG);
    this.strokeSteps(this.ctx, recent, upto, topic, 3, 1);
    this.paintHeads(recent, upto, topic);
  }

  strokeSteps(ctx, first, last, topic, width, strength) {
    const { scene, ink } = this, steps = scene.steps;
    if (first >= last) return;
    for (let label = 0; label < scene.labels.length; label++) {
      const some = [];
      for (let k = first; k < last; k++) {
        if (steps.label[k] === label && (topic < 0 || steps.topic[k] === topic)) some.push(k);
      }
      ctx.strokeStyle = ink.walks[label % ink.walks.length];
      ctx.lineWidth = width;
      ctx.globalAlpha = strength;
      ctx.setLineDash(label % 2 ? [2, 4] : []);
      strokeMany(ctx, some, (k) => this.line(ctx, steps.source[k], steps.row[k]));
    }
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
  }

  // Where walks are: a triangle for the first sort, a square for the second.
  paintHeads(first, last, topic) {
    const { ctx, scene, ink } = this, steps = scene.steps;
    const since = scene.t - Math.max(0.6 * this.span, 1e-9), left = new Set();
    for (let k = Math.max(first, last - 400); k < last; k++) left.add(steps.source[k]);
    for (let k = last - 1; k >= Math.max(first, last - 400); k--) {
      if (steps.t[k] < since) break;
      if (topic >= 0 && steps.topic[k] !== topic) continue;
      if (k < last - 1 && left.has(steps.row[k])) continue;
      const x = this.px(steps.row[k]), y = this.py(steps.row[k]), label = steps.label[k];
      ctx.beginPath();
      if (label % 2) ctx.rect(x - 4, y - 4, 8, 8);
      else {
        ctx.moveTo(x, y - 6);
        ctx.lineTo(x + 5.5, y + 4);
        ctx.lineTo(x - 5.5, y + 4);
        ctx.closePath();
      }
      ctx.fillStyle = ink.walks[label % ink.walks.length];
      ctx.fill();
      ctx.strokeStyle = ink.halo;
      ctx.lineWidth = 1;
      ctx.stroke();
    }
  }

  paintTree(way) {
    const { ctx, scene, ink } = this;
    if (!scene.tree.size) return;
    ctx.beginPath();
    for (const [a, b] of scene.tree.values()) this.line(ctx, a, b);
    ctx.strokeStyle = ink.overlay;
    ctx.globalAlpha = way ? 0.35 : 0.75;
    ctx.lineWidth = 2;
    ctx.stroke();
    ctx.globalAlpha = 1;
  }

  paintPulses(now, way) {
    const { scene } = this, sent = scene.sent;
    const last = upTo(sent.t, now.t), first = upTo(sent.t, now.t - this.span);
    const lots = ROLES.map(() => []);
    for (let k = last - 1; k >= first; k--) {
      const lot = lots[sent.role[k]];
      if (lot.length >= MOST_PULSES) continue;
      if (way && (sent.role[k] === 3 || (sent.role[k] === 0 && sent.event[k] !== way.event))) {
        continue;
      }
      lot.push(k);
    }
    for (const role of [3, 2, 1, 0]) if (lots[role].length) this.paintRole(role, lots[role], now);
  }

  // Rings for what everybody near hears, dashes on their way for what one neighbour is sent.
  paintRole(role, lot, now) {
    const { ctx, scene, ink } = this, sent = scene.sent;
    const strong = role < 2 && now.follow < 0, wide = strong ? 2 : 1;
    const reach = role === 3 ? 4 : role === 2 ? 6 : 10 + this.dot;
    const alpha = (age) => (strong ? 1 : 0.5) * (1 - age);
    const dashes = Array.from({ length: AGES }, () => []);
    for (const k of lot) {
      const age = Math.min(AGES - 1, Math.floor((AGES * (now.t - sent.t[k])) / this.span));
      if (sent.to[k] >= 0) dashes[age].push(k);
      else {
        const ring = this.ring(ink[ROLES[role]], this.dot + reach * Math.sqrt((age + 0.5) / AGES), wide);
        ctx.globalAlpha = alpha((age + 0.5) / AGES);
        const half = ring.half, a = sent.source[k];
        ctx.drawImage(ring.canvas, this.px(a) - half, this.py(a) - half, 2 * half, 2 * half);
      }
    }
    ctx.strokeStyle = ink[ROLES[role]];
    ctx.lineWidth = wide;
    dashes.forEach((some, place) => {
      ctx.globalAlpha = alpha((place + 0.5) / AGES);
      strokeMany(ctx, some, (k) => {
        const age = (now.t - sent.t[k]) / this.span, a = sent.source[k], b = sent.to[k];
        const tail = Math.max(0, age * 1.3 - 0.3), head = Math.min(1, age * 1.3 + 0.25);
        const x = this.px(a), y = this.py(a), dx = this.px(b) - x, dy = this.py(b) - y;
        ctx.moveTo(x + tail * dx, y + tail * dy);
        ctx.lineTo(x + head * dx, y + head * dy);
      });
    });
    ctx.globalAlpha = 1;
  }

  // A ring, drawn once and stamped wherever it is wanted: a thousand arcs in a path take far longer.
  ring(colour, r, wide) {
    const key = `${colour} ${r.toFixed(1)} ${wide} ${this.sharp}`;
    let made = this.rings.get(key);
    if (!made) {
      const half = Math.ceil(r + wide), canvas = document.createElement("canvas");
      canvas.width = canvas.height = Math.ceil(2 * half * this.sharp);
      const ctx = canvas.getContext("2d");
      ctx.scale(this.sharp, this.sharp);
      ctx.arc(half, half, r, 0, 7);
      ctx.strokeStyle = colour;
      ctx.lineWidth = wide;
      ctx.stroke();
      this.rings.set(key, (made = { canvas, half }));
    }
    return made;
  }

  paintMeetings(now, way) {
    const { ctx, scene, stage, ink } = this, met = scene.met;
    const topic = way ? stage.columns.topic[way.place] : -1;
    const last = upTo(met.t, now.t);
    for (let k = Math.max(0, last - 60); k < last; k++) {
      if (topic >= 0 && met.topic[k] !== topic) continue;
      const fresh = Math.max(0, 1 - (now.t - met.t[k]) / (4 * this.span));
      star(ctx, this.px(met.row[k]), this.py(met.row[k]), 5 + 6 * fresh);
      ctx.globalAlpha = 0.35 + 0.65 * fresh;
      ctx.fillStyle = ink.met;
      ctx.fill();
      ctx.strokeStyle = ink.text;
      ctx.lineWidth = 1;
      ctx.stroke();
    }
    ctx.globalAlpha = 1;
  }

  // Ticks over nodes whose applications were just told.
  paintDeliveries(now) {
    const { ctx, scene } = this, delivered = scene.delivered;
    const last = upTo(delivered.t, now.t), since = upTo(delivered.t, now.t - 2 * this.span);
    for (let k = Math.max(since, last - 300); k < last; k++) {
      const fresh = 1 - (now.t - delivered.t[k]) / (2 * this.span);
      this.tick(ctx, delivered.row[k], this.big + fresh, 0.25 + 0.75 * fresh);
    }
  }

  tick(ctx, row, r, strength) {
    const x = this.px(row), y = this.py(row);
    ctx.globalAlpha = strength;
    ctx.fillStyle = this.ink.good;
    ctx.fillRect(x - r, y - r, 2 * r, 2 * r);
    ctx.strokeStyle = this.ink.halo;
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    ctx.moveTo(x - 0.55 * r, y);
    ctx.lineTo(x - 0.1 * r, y + 0.5 * r);
    ctx.lineTo(x + 0.6 * r, y - 0.5 * r);
    ctx.stroke();
    ctx.globalAlpha = 1;
  }
}

// Lines in paths of a few: one of thousands takes far longer than as many paths.
const strokeMany = (ctx, some, line) => {
  for (let first = 0; first < some.length; first += 32) {
    ctx.beginPath();
    for (let k = first; k < Math.min(first + 32, some.length); k++) line(some[k]);
    ctx.stroke();
  }
};

const star = (ctx, x, y, r) => {
  ctx.beginPath();
  for (let k = 0; k < 10; k++) {
    const far = k % 2 ? 0.45 * r : r, turn = (Math.PI * k) / 5 - Math.PI / 2;
    ctx.lineTo(x + far * Math.cos(turn), y + far * Math.sin(turn));
  }
  ctx.closePath();
};
