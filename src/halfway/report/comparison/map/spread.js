// The spread of the followed event: receivers, waiting subscribers, and those that miss it.
View.prototype.paintSpread = function (now, spread) {
  const { ctx, run, ink } = this, { reached } = run;
  // All first receptions; thick on paths to a subscriber.
  for (const strong of [false, true]) {
    ctx.beginPath();
    for (const k of spread.hops) {
      if (reached.t[k] > now.t) break;
      if (spread.used.has(reached.row[k]) !== strong) continue;
      this.line(ctx, reached.source[k], reached.row[k]);
    }
    ctx.strokeStyle = ink.event;
    ctx.globalAlpha = strong ? 0.95 : 0.4;
    ctx.lineWidth = strong ? 2.6 : 1.2;
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
  ctx.beginPath();
  for (const k of spread.hops) {
    if (reached.t[k] > now.t) break;
    const x = this.px(reached.row[k]), y = this.py(reached.row[k]);
    ctx.moveTo(x + this.dot, y);
    ctx.arc(x, y, this.dot + 0.4, 0, 7);
  }
  ctx.fillStyle = ink.event;
  ctx.fill();
  if (now.chosen >= 0) this.paintChosen(now, spread);
  const over = now.t >= Math.min(spread.last + 1e-9, run.until);
  for (const row of run.expected[spread.place]) {
    const at = spread.got.get(row);
    if (at !== undefined && at <= now.t) this.tick(ctx, row, this.big + 0.5, 1);
    else {
      const missed = over && at === undefined;
      drawWaiting(ctx, ink, this.px(row), this.py(row), this.big - 0.7, missed);
    }
  }
  const { publisher } = spread;
  drawPublisher(ctx, ink, this.px(publisher), this.py(publisher), 1.4 * this.big + 1.5);
};

View.prototype.paintChosen = function (now, spread) {
  const { ctx, ink } = this, path = spread.path(now.chosen);
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
