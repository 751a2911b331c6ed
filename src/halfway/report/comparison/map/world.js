// Positions and links at a time, and the node nearest to a point of the canvas.
class World {
  constructor(about, columns) {
    Object.assign(this, about);
    this.columns = columns;
    this.moves = about.frames > 1;
    this.x = new Float32Array(about.n);
    this.y = new Float32Array(about.n);
    this.frame = -1;
    this.t = -1;
    const { n, frames } = about;
    for (const axis of ["x", "y"]) {
      const places = columns[axis];
      for (let k = n; k < n * frames; k++) places[k] += places[k - n];
    }
    if (columns.from) for (let k = 0; k < columns.to.length; k++) columns.to[k] += columns.from[k];
    this.published = inSeconds(columns.published, about.tick);
    this.wide = about.size[0] / about.unit;
    this.high = about.size[1] / about.unit;
    this.roles = new Uint8Array(n); // bit 1: subscriber, bit 2: publisher
    for (const row of columns.subscriber) this.roles[row] |= 1;
    for (const row of columns.publisher) this.roles[row] |= 2;
    this.place(0);
  }

  // Positions at t, in units; linear between two frames.
  place(t) {
    if (t === this.t || (this.t >= 0 && !this.moves)) return;
    this.t = t;
    const { n, frames, columns } = this;
    const at = (frames - 1) * Math.min(1, Math.max(0, t / this.seconds));
    const first = Math.min(Math.floor(at), Math.max(frames - 2, 0));
    const part = at - first, here = first * n, there = Math.min(first + 1, frames - 1) * n;
    for (let i = 0; i < n; i++) {
      const x = columns.x[here + i], y = columns.y[here + i];
      this.x[i] = x + part * (columns.x[there + i] - x);
      this.y[i] = this.high - (y + part * (columns.y[there + i] - y)); // y points down on the page
    }
    this.grid = null;
  }

  // The links now, as pairs of rows in one list; of moving nodes, all within reach.
  links() {
    if (!this.moves) {
      if (!this.pairs) {
        const { from, to } = this.columns;
        this.pairs = new Int32Array(2 * from.length);
        for (let k = 0; k < from.length; k++) {
          this.pairs[2 * k] = from[k];
          this.pairs[2 * k + 1] = to[k];
        }
      }
      return this.pairs;
    }
    const reach = this.reach / this.unit, most = reach * reach, found = [];
    const grid = this.gridOf(reach);
    for (let i = 0; i < this.n; i++) {
      grid.near(this.x[i], this.y[i], (j) => {
        if (j <= i) return;
        const dx = this.x[i] - this.x[j], dy = this.y[i] - this.y[j];
        if (dx * dx + dy * dy <= most) found.push(i, j);
      });
    }
    return found;
  }

  get linked() { return this.moves || this.columns.from.length > 0; }

  // The name of a node, as its user knows it.
  name(row) { return this.names ? this.names[row] : String(row); }

  title(row) {
    const name = this.name(row);
    return /^\d+$/.test(name) ? `node ${name}` : name;
  }

  // The rows whose name contains a text: the name itself first, then names that begin with it.
  search(text) {
    const wanted = text.trim().toLowerCase().replace(/^node\s+(?=\d+$)/, "");
    if (!wanted) return [];
    const ranked = [];
    for (let row = 0; row < this.n; row++) {
      const at = this.name(row).toLowerCase().indexOf(wanted);
      if (at < 0) continue;
      const rank = this.name(row).length === wanted.length ? 0 : at === 0 ? 1 : 2;
      ranked.push([rank, row]);
    }
    return ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, row]) => row);
  }

  gridOf(side) {
    if (!this.grid || this.grid.side !== side) this.grid = new Grid(this, side);
    return this.grid;
  }

  // The row nearest to a point within a distance; -1 if there is none.
  nearest(x, y, within) {
    let best = -1, least = within * within;
    this.gridOf(Math.max(within, this.typical())).near(x, y, (j) => {
      const dx = x - this.x[j], dy = y - this.y[j];
      if (dx * dx + dy * dy < least) [best, least] = [j, dx * dx + dy * dy];
    });
    return best;
  }

  // The side of a square that holds a few nodes.
  typical() {
    return Math.sqrt((this.wide * this.high * 3) / this.n) + 1;
  }
}

class Grid {
  constructor(world, side) {
    this.side = side;
    this.across = Math.max(1, Math.ceil((world.wide + 1) / side));
    this.down = Math.max(1, Math.ceil((world.high + 1) / side));
    this.first = new Int32Array(this.across * this.down + 1);
    const cell = new Int32Array(world.n);
    for (let i = 0; i < world.n; i++) {
      cell[i] = this.cellOf(world.x[i], world.y[i]);
      this.first[cell[i] + 1]++;
    }
    for (let c = 0; c < this.across * this.down; c++) this.first[c + 1] += this.first[c];
    this.rows = new Int32Array(world.n);
    const next = this.first.slice();
    for (let i = 0; i < world.n; i++) this.rows[next[cell[i]]++] = i;
  }

  cellOf(x, y) {
    const column = Math.min(this.across - 1, Math.max(0, Math.floor(x / this.side)));
    const row = Math.min(this.down - 1, Math.max(0, Math.floor(y / this.side)));
    return row * this.across + column;
  }

  // Every row in the cell of a point and in the cells around it.
  near(x, y, visit) {
    const column = Math.floor(x / this.side), row = Math.floor(y / this.side);
    for (let r = Math.max(0, row - 1); r <= Math.min(this.down - 1, row + 1); r++) {
      for (let c = Math.max(0, column - 1); c <= Math.min(this.across - 1, column + 1); c++) {
        const cell = r * this.across + c;
        for (let k = this.first[cell]; k < this.first[cell + 1]; k++) visit(this.rows[k]);
      }
    }
  }
}
