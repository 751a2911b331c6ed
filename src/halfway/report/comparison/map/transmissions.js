// Transmissions on a canvas: rings and dashes that fade.
const ROLES = ["event", "walk", "overlay", "other"];
const MOST_PULSES = 800; // of each role in one picture: the latest ones
const AGES = 8; // steps in which a transmission fades

View.prototype.paintPulses = function (now, spread) {
  const { run } = this, sent = run.sent;
  const last = upTo(sent.t, now.t), first = upTo(sent.t, now.t - this.span);
  const lots = ROLES.map(() => []);
  for (let k = last - 1; k >= first; k--) {
    const lot = lots[sent.role[k]];
    if (lot.length >= MOST_PULSES) continue;
    if (spread && (sent.role[k] === 3 || (sent.role[k] === 0 && sent.event[k] !== spread.event))) {
      continue;
    }
    lot.push(k);
  }
  for (const role of [3, 2, 1, 0]) if (lots[role].length) this.paintRole(role, lots[role], now);
};

// Rings for broadcasts, moving dashes for unicasts.
View.prototype.paintRole = function (role, lot, now) {
  const { ctx, run, ink } = this, sent = run.sent;
  const strong = role < 2 && now.follow < 0, wide = strong ? 2 : 1;
  const reach = role === 3 ? 4 : role === 2 ? 6 : 10 + this.dot;
  const alpha = (age) => (strong ? 1 : 0.5) * (1 - age);
  const dashes = Array.from({ length: AGES }, () => []);
  for (const k of lot) {
    const age = Math.min(AGES - 1, Math.floor((AGES * (now.t - sent.t[k])) / this.span));
    if (sent.to[k] >= 0) dashes[age].push(k);
    else {
      const r = this.dot + reach * Math.sqrt((age + 0.5) / AGES);
      const ring = this.ring(ink[ROLES[role]], r, wide);
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
};

// A ring, drawn once and copied: a thousand arcs in a path take far longer.
View.prototype.ring = function (colour, r, wide) {
  const key = `${colour} ${r.toFixed(1)} ${wide} ${this.sharp}`;
  let made = this.rings.get(key);
  if (!made) {
    const half = Math.ceil(r + wide), canvas = this.layer();
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
};

// Lines in short paths: one path of thousands takes far longer.
const strokeMany = (ctx, some, line) => {
  for (let first = 0; first < some.length; first += 32) {
    ctx.beginPath();
    for (let k = first; k < Math.min(first + 32, some.length); k++) line(some[k]);
    ctx.stroke();
  }
};
