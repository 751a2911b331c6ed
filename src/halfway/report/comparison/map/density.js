// The strip above the time slider: transmissions, publications and faults over time.
Player.prototype.paintDensity = function () {
  const strip = this.density, ctx = strip.getContext("2d"), ink = this.ink;
  const sharp = Math.min(2, window.devicePixelRatio || 1);
  const wide = strip.clientWidth, high = strip.clientHeight;
  if (!wide) return;
  strip.width = wide * sharp;
  strip.height = high * sharp;
  ctx.setTransform(sharp, 0, 0, sharp, 0, 0);
  const bins = Math.max(1, Math.floor((wide - 16) / 3)), edge = 8, step = (wide - 2 * edge) / bins;
  const counts = [new Float64Array(bins), new Float64Array(bins)];
  for (const { run } of this.shownViews) {
    const { t, role } = run.sent;
    for (let k = 0; k < t.length; k++) {
      const bin = Math.min(bins - 1, Math.floor((t[k] / this.seconds) * bins));
      counts[role[k] === 0 ? 0 : 1][bin] += run.sentFactor;
    }
  }
  // The few highest bins are cut off: a start at which all subscribe would flatten the rest.
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
  const world = this.world(), x = (t) => edge + (t / this.seconds) * (wide - 2 * edge);
  ctx.fillStyle = ink.text;
  for (const t of world.published) ctx.fillRect(x(t) - 0.5, high - 6, 1.5, 6);
  ctx.fillStyle = ink.bad;
  const { changes } = this.shownViews[0].run;
  for (let k = 0; k < changes.t.length; k++) {
    if (changes.what[k] % 2 === 0) ctx.fillRect(x(changes.t[k]) - 0.5, 0, 1.5, 5);
  }
};
