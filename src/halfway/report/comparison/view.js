// One system on one canvas: a function of the time and of the followed event.
const SHOWN_S = 0.7; // of the viewer's time: a transmission stays visible

class View {
  constructor(canvas, run, ink) {
    Object.assign(this, { canvas, run, ink, world: run.world });
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
    this.scale = Math.min(inner[0] / this.world.wide, inner[1] / this.world.high);
    this.left = (clientWidth - this.scale * this.world.wide) / 2;
    this.top = (clientHeight - this.scale * this.world.high) / 2;
    // Dots that stay visible and do not touch.
    this.dot = Math.min(4, Math.max(1, 0.24 * Math.sqrt((inner[0] * inner[1]) / this.world.n)));
    this.big = Math.min(5.5, Math.max(3.2, 2.2 * this.dot)); // half the side of a sign
    this.extent = [this.canvas.width, this.canvas.height];
    this.forget();
  }

  px(row) { return this.left + this.scale * this.world.x[row]; }
  py(row) { return this.top + this.scale * this.world.y[row]; }

  rowAt(x, y) {
    const unit = 14 / this.scale;
    return this.world.nearest((x - this.left) / this.scale, (y - this.top) / this.scale, unit);
  }

  // now: {t, speed, follow (index of a publication or -1), chosen (a row or -1), still}
  paint(now) {
    this.fit();
    if (!this.wide) return;
    const { ctx, run, world } = this;
    world.place(now.t);
    run.seek(now.t);
    this.span = SHOWN_S * now.speed;
    this.paintBase(now);
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (run.brokers.length) ctx.drawImage(regionsNow(this, now.still), 0, 0, ...this.extent);
    ctx.drawImage(this.base, 0, 0);
    const spread = now.follow >= 0 ? run.spreadOf(now.follow) : null;
    this.paintTrail(now, spread);
    this.use(ctx);
    this.paintTree(spread);
    this.paintPulses(now, spread);
    if (spread) this.paintSpread(now, spread);
    this.paintMeetings(now, spread);
    if (!spread) this.paintDeliveries(now);
    this.paintBrokers();
  }

  use(ctx) {
    ctx.setTransform(this.sharp, 0, 0, this.sharp, 0, 0);
    ctx.lineCap = "round";
    ctx.globalAlpha = 1;
    ctx.setLineDash([]);
  }

  // Cells, links and nodes; drawn again only when they change.
  paintBase(now) {
    const { run, world, base, ink } = this;
    const dim = now.follow >= 0;
    const changing = world.moves || run.about.cells[2] > 0;
    const key = `${run.faults} ${dim} ${ink.name} ${changing ? now.t : ""}`;
    if (key === this.drawn) return;
    this.drawn = key;
    const ctx = base.getContext("2d");
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, base.width, base.height);
    this.use(ctx);
    if (run.about.cells[2] > 0) this.paintCells(ctx, now.t);
    this.paintLinks(ctx, dim);
    this.paintNodes(ctx, dim);
  }

  paintLinks(ctx, dim) {
    const { run, world, ink } = this;
    const pairs = world.links(), broken = [];
    ctx.beginPath();
    for (let k = 0; k < pairs.length; k += 2) {
      const a = pairs[k], b = pairs[k + 1];
      if (run.down[a] || run.down[b]) continue;
      if (run.isCut(a, b)) broken.push([a, b]);
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
    const { run, world, ink } = this, r = this.dot;
    ctx.beginPath();
    for (let i = 0; i < world.n; i++) {
      if (run.down[i]) continue;
      ctx.moveTo(this.px(i) + r, this.py(i));
      ctx.arc(this.px(i), this.py(i), r, 0, 7);
    }
    ctx.fillStyle = ink.node;
    ctx.globalAlpha = dim ? 0.6 : 1;
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.beginPath();
    for (let i = 0; i < world.n; i++) if (run.down[i]) this.cross(ctx, i, r + 1.2);
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

  paintTree(spread) {
    const { ctx, run, ink } = this;
    if (!run.tree.size) return;
    ctx.beginPath();
    for (const [a, b] of run.tree.values()) this.line(ctx, a, b);
    ctx.strokeStyle = ink.overlay;
    ctx.globalAlpha = spread ? 0.35 : 0.75;
    ctx.lineWidth = 2;
    ctx.stroke();
    ctx.globalAlpha = 1;
  }

  // Ticks on nodes with a recent delivery.
  paintDeliveries(now) {
    const { ctx, run } = this, delivered = run.delivered;
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
