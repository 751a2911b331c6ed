// One system on one canvas: a function of the time and of the followed event.
const SHOWN_S = 0.7; // of the viewer's time: a transmission stays visible

class View {
  // layer: makes the canvases that the view keeps between pictures.
  constructor(canvas, run, ink, layer = () => document.createElement("canvas")) {
    Object.assign(this, { canvas, run, ink, layer, world: run.world });
    this.ctx = canvas.getContext("2d");
    this.base = layer();
    this.trail = layer();
    this.regions = null;
    this.rings = new Map();
    this.forget();
  }

  forget() {
    this.drawn = "";
    this.trailed = { steps: 0, key: "", place: null };
    this.coloured = { key: "", at: -1e9, place: null };
  }

  fit(camera) {
    const sharp = this.canvas.sharp || Math.min(2, window.devicePixelRatio || 1);
    const { clientWidth, clientHeight } = this.canvas;
    if (this.wide !== clientWidth || this.high !== clientHeight || this.sharp !== sharp) {
      Object.assign(this, { wide: clientWidth, high: clientHeight, sharp });
      for (const one of [this.canvas, this.base, this.trail]) {
        one.width = Math.round(clientWidth * sharp);
        one.height = Math.round(clientHeight * sharp);
      }
      this.extent = [this.canvas.width, this.canvas.height];
      this.forget();
    }
    const edge = Math.min(18, clientWidth / 22), { zoom } = camera, { world } = this;
    const inner = [clientWidth - 2 * edge, clientHeight - 2 * edge];
    this.scale = zoom * Math.min(inner[0] / world.wide, inner[1] / world.high);
    this.left = clientWidth / 2 - camera.x * this.scale * world.wide;
    this.top = clientHeight / 2 - camera.y * this.scale * world.high;
    // Dots that stay visible and do not touch.
    const grown = Math.min(1.6, Math.sqrt(zoom));
    const dot = 0.24 * Math.sqrt((inner[0] * inner[1] * zoom * zoom) / world.n);
    this.dot = Math.min(4 * grown, Math.max(1, dot));
    this.big = Math.min(5.5 * grown, Math.max(3.2, 2.2 * this.dot)); // half the side of a sign
    const { scale, left, top } = this;
    this.place = { scale, left, top, key: `${scale} ${left} ${top}` };
  }

  // Draw a picture of the field, made for another place, where its part of the field is now.
  drawKept(picture, place) {
    const { ctx, sharp } = this, k = this.scale / place.scale;
    const [x, y] = [this.left - k * place.left, this.top - k * place.top];
    ctx.setTransform(k, 0, 0, k, x * sharp, y * sharp);
    ctx.drawImage(picture, 0, 0, ...this.extent);
    ctx.setTransform(1, 0, 0, 1, 0, 0);
  }

  px(row) { return this.left + this.scale * this.world.x[row]; }
  py(row) { return this.top + this.scale * this.world.y[row]; }

  rowAt(x, y) {
    const unit = 14 / this.scale;
    return this.world.nearest((x - this.left) / this.scale, (y - this.top) / this.scale, unit);
  }

  // now: {t, speed, camera, follow (index of a publication or -1), chosen (a row or -1),
  // found (rows), still}
  paint(now) {
    this.fit(now.camera);
    if (!this.wide) return;
    const { ctx, run, world } = this;
    world.place(now.t);
    run.seek(now.t);
    this.span = SHOWN_S * now.speed;
    this.paintBase(now);
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (run.brokers.length) {
      const regions = regionsNow(this, now.still && !now.camera.moving);
      this.drawKept(regions, this.coloured.place);
    }
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
    this.paintMarked(now);
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
    const key = `${run.faults} ${dim} ${ink.name} ${changing ? now.t : ""} ${this.place.key}`;
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
    for (let i = 0; i < world.n; i++) {
      if (run.down[i]) drawDown(ctx, ink, this.px(i), this.py(i), r + 1.2);
    }
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
    drawTick(ctx, this.ink, this.px(row), this.py(row), r, strength);
  }
}
