// Walks on a canvas: trails, positions and meetings.
const MOST_RECENT = 1500; // steps drawn where nodes move
const MOST_STRONG = 500; // the latest steps, drawn thick
const LOT = 256; // steps in one stroke of the kept picture, so that equal times give equal pictures

// Whether a walk is shown; a walk for all topics always is.
const isOf = (mine, followed) => followed < 0 || mine < 0 || mine === followed;

// All steps so far, faint and kept from picture to picture; the latest ones thick.
View.prototype.paintTrail = function (now, spread) {
  const { run, world, ink, trail } = this, steps = run.steps;
  if (!steps.t.length) return;
  const topic = spread ? world.columns.topic[spread.place] : -1, faint = spread ? 0.45 : 0.3;
  const upto = upTo(steps.t, now.t), whole = world.moves ? 0 : upto - (upto % LOT);
  const shifted = now.camera.moving && !world.moves && this.trailed.place;
  const key = `${topic} ${ink.name} ${(shifted || this.place).key}`;
  const ctx = trail.getContext("2d");
  if (key !== this.trailed.key || whole < this.trailed.steps) {
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, trail.width, trail.height);
    this.trailed = { steps: 0, key, place: this.place };
  }
  this.use(ctx);
  const more = this.trailed.place.key === this.place.key; // the kept picture is of this place
  for (; more && this.trailed.steps < whole; this.trailed.steps += LOT) {
    this.strokeSteps(ctx, this.trailed.steps, this.trailed.steps + LOT, topic, 1.2, faint);
  }
  this.ctx.setTransform(1, 0, 0, 1, 0, 0);
  this.drawKept(trail, this.trailed.place);
  this.use(this.ctx);
  const first = world.moves ? Math.max(0, upto - MOST_RECENT) : whole;
  this.strokeSteps(this.ctx, first, upto, topic, 1.2, faint);
  const recent = Math.max(upTo(steps.t, now.t - 2.5 * this.span), upto - MOST_STRONG);
  this.strokeSteps(this.ctx, recent, upto, topic, 3, 1);
  this.paintHeads(recent, upto, topic);
};

View.prototype.strokeSteps = function (ctx, first, last, topic, width, strength) {
  const { run, ink } = this, steps = run.steps;
  if (first >= last) return;
  for (let label = 0; label < run.labels.length; label++) {
    const some = [];
    for (let k = first; k < last; k++) {
      if (steps.label[k] === label && isOf(steps.topic[k], topic)) some.push(k);
    }
    const style = run.styles[label];
    ctx.strokeStyle = ink.walks[style % ink.walks.length];
    ctx.lineWidth = width;
    ctx.globalAlpha = strength;
    ctx.setLineDash(WALKS[style % WALKS.length].dash);
    strokeMany(ctx, some, (k) => this.line(ctx, steps.source[k], steps.row[k]));
  }
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
};

// Positions of walks, each with the head of its label.
View.prototype.paintHeads = function (first, last, topic) {
  const { ctx, run, ink } = this, steps = run.steps;
  const since = run.t - Math.max(0.6 * this.span, 1e-9), left = new Set();
  for (let k = Math.max(first, last - 400); k < last; k++) left.add(steps.source[k]);
  for (let k = last - 1; k >= Math.max(first, last - 400); k--) {
    if (steps.t[k] < since) break;
    if (!isOf(steps.topic[k], topic)) continue;
    if (k < last - 1 && left.has(steps.row[k])) continue;
    const x = this.px(steps.row[k]), y = this.py(steps.row[k]);
    drawHead(ctx, ink, x, y, run.styles[steps.label[k]]);
  }
};

View.prototype.paintMeetings = function (now, spread) {
  const { ctx, run, world, ink } = this, met = run.met;
  const topic = spread ? world.columns.topic[spread.place] : -1;
  const last = upTo(met.t, now.t);
  for (let k = Math.max(0, last - 60); k < last; k++) {
    if (!isOf(met.topic[k], topic)) continue;
    const fresh = Math.max(0, 1 - (now.t - met.t[k]) / (4 * this.span));
    ctx.globalAlpha = 0.35 + 0.65 * fresh;
    drawMeeting(ctx, ink, this.px(met.row[k]), this.py(met.row[k]), 5 + 6 * fresh);
  }
  ctx.globalAlpha = 1;
};
