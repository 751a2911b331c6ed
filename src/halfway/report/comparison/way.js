// The way of the event that is followed: who heard of it, who waits, who waits in vain.
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
