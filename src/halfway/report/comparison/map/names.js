// Names of nodes on a canvas: of marked nodes always, of all nodes where there is room.
const NAME_PX = 11; // the height of a name
const NAME_ROOM = 6000; // square pixels of the canvas for each name, so that names do not hide the map
const MOST_FOUND = 60; // marked nodes of a search that are named

View.prototype.paintMarked = function (now) {
  const { ctx, ink } = this, r = this.big + 5;
  for (const row of now.found) drawMark(ctx, ink, this.px(row), this.py(row), r, false);
  if (now.chosen >= 0) drawMark(ctx, ink, this.px(now.chosen), this.py(now.chosen), r);
  this.paintNames(now);
};

View.prototype.paintNames = function (now) {
  const { ctx, ink, world } = this, taken = new Set();
  const marked = [...now.found.slice(0, MOST_FOUND)];
  if (now.chosen >= 0) marked.unshift(now.chosen);
  const rows = this.visibleRows();
  const all = rows.length * NAME_ROOM <= this.wide * this.high ? rows : [];
  ctx.font = `${NAME_PX}px system-ui,sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.lineJoin = "round";
  for (const [k, row] of [...marked, ...all].entries()) {
    const name = shortened(world.title(row)), gap = k < marked.length ? this.big + 8 : this.dot + 4;
    const wide = ctx.measureText(name).width;
    let x = this.px(row) + gap;
    if (x + wide > this.wide - 2) x = this.px(row) - gap - wide;
    if (k >= marked.length && (marked.includes(row) || !isFree(taken, x, this.py(row), wide))) continue;
    if (k < marked.length) isFree(taken, x, this.py(row), wide);
    ctx.strokeStyle = ink.halo;
    ctx.lineWidth = 3.5;
    ctx.strokeText(name, x, this.py(row));
    ctx.fillStyle = ink.text;
    ctx.fillText(name, x, this.py(row));
  }
};

View.prototype.visibleRows = function () {
  const rows = [];
  for (let row = 0; row < this.world.n; row++) {
    const x = this.px(row), y = this.py(row);
    if (x > 0 && y > 0 && x < this.wide && y < this.high) rows.push(row);
  }
  return rows;
};

const shortened = (name) => (name.length > 28 ? `${name.slice(0, 27)}…` : name);

// Whether a name finds free squares of the canvas; it takes them if it does.
const isFree = (taken, x, y, wide) => {
  const squares = [];
  for (let at = x; at < x + wide + 6; at += 6) {
    for (const up of [-5, 5]) squares.push(`${Math.floor(at / 6)} ${Math.floor((y + up) / 8)}`);
  }
  if (squares.some((one) => taken.has(one))) return false;
  for (const one of squares) taken.add(one);
  return true;
};
