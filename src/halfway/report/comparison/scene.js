// One system's run as a function of time: what stands, what has happened, an event's way.
class Scene {
  constructor(about, columns, stage) {
    Object.assign(this, { about, stage, labels: about.labels, until: about.until });
    const table = (name, ...parts) => {
      const found = { t: inSeconds(columns[`${name}.t`], about.tick) };
      for (const part of parts) found[part] = columns[`${name}.${part}`];
      return found;
    };
    this.sent = table("sent", "source", "to", "role", "event");
    this.reached = table("reached", "row", "source", "event");
    this.delivered = table("delivered", "row", "event");
    this.steps = table("steps", "source", "row", "label", "topic");
    this.met = table("met", "row", "topic");
    this.links = table("links", "a", "b", "made");
    this.belongs = table("belongs", "row", "broker");
    this.homes = table("homes", "row", "topic");
    this.changes = table("changes", "what", "a", "b");
    this.expected = [];
    let place = 0;
    for (const count of columns["expected.count"]) {
      this.expected.push(columns["expected.row"].subarray(place, place + count));
      place += count;
    }
    this.due = this.expected.map((rows) => rows.length);
    this.totalDue = this.due.reduce((sum, one) => sum + one, 0);
    // What a run sent for every row that is told of it.
    const [told, all] = about.left.sent || [1, 1];
    this.sentFactor = all / told;
    this.brokers = [...new Set(this.belongs.broker)].sort((a, b) => a - b);
    this.brokerPlace = new Map(this.brokers.map((row, place) => [row, place]));
    this.counted = null; // deliveries that were expected, by time
    this.rewind();
  }

  rewind() {
    this.t = -1;
    this.at = { changes: 0, links: 0, belongs: 0 };
    this.down = new Uint8Array(this.stage.n);
    this.cut = new Map();
    this.tree = new Map();
    this.broker = new Int32Array(this.stage.n).fill(-1);
    this.faults = (this.faults || 0) + 1; // one more at each change of what stands
    this.shifts = (this.shifts || 0) + 1; // one more whenever a node changes its region
  }

  // Bring what stands to time t; backwards it is told again from the beginning.
  seek(t) {
    if (t < this.t) this.rewind();
    this.t = t;
    const { changes, links, belongs, at } = this;
    const pair = (a, b) => (a < b ? a * this.stage.n + b : b * this.stage.n + a);
    for (; at.changes < changes.t.length && changes.t[at.changes] <= t; at.changes++) {
      const k = at.changes, a = changes.a[k], b = changes.b[k];
      if (changes.what[k] < 2) this.down[a] = 1 - changes.what[k];
      else if (changes.what[k] === 2) this.cut.set(pair(a, b), [a, b]);
      else this.cut.delete(pair(a, b));
      this.faults++;
    }
    for (; at.links < links.t.length && links.t[at.links] <= t; at.links++) {
      const k = at.links, a = links.a[k], b = links.b[k];
      if (links.made[k]) this.tree.set(pair(a, b), [a, b]);
      else this.tree.delete(pair(a, b));
    }
    for (; at.belongs < belongs.t.length && belongs.t[at.belongs] <= t; at.belongs++) {
      this.broker[belongs.row[at.belongs]] = belongs.broker[at.belongs];
      this.shifts++;
    }
  }

  isCut(a, b) {
    return this.cut.size > 0 && this.cut.has(a < b ? a * this.stage.n + b : b * this.stage.n + a);
  }

  // Times of the deliveries that were asked for, each pair of event and node once.
  deliveries() {
    if (this.counted) return this.counted;
    const waiting = this.expected.map((rows) => new Set(rows));
    const times = [];
    for (let k = 0; k < this.delivered.t.length; k++) {
      const place = this.placeOf(this.delivered.event[k]);
      const due = place >= 0 && waiting[place].delete(this.delivered.row[k]);
      if (due) times.push(this.delivered.t[k]);
    }
    return (this.counted = Float64Array.from(times));
  }

  placeOf(event) {
    if (!this.places) {
      this.places = new Map();
      this.stage.columns.event.forEach((id, place) => this.places.set(id, place));
    }
    return this.places.has(event) ? this.places.get(event) : -1;
  }

  // What stands at t, in numbers.
  figures(t) {
    const due = upTo(this.stage.published, t);
    let expected = 0;
    for (let k = 0; k < due; k++) expected += this.due[k];
    return {
      sent: Math.round(upTo(this.sent.t, t) * this.sentFactor),
      delivered: upTo(this.deliveries(), t),
      expected,
    };
  }

  // The way of an event: who heard first of it from whom, who it was for, and who was told when.
  way(place) {
    this.ways ??= new Map();
    if (this.ways.has(place)) return this.ways.get(place);
    const event = this.stage.columns.event[place], publisher = this.stage.columns.publisher[place];
    const from = new Map(), when = new Map(), hops = [];
    const { reached, delivered } = this;
    for (let k = upTo(reached.t, this.stage.published[place] - 1e-3); k < reached.t.length; k++) {
      const row = reached.row[k];
      if (reached.event[k] !== event || row === publisher || from.has(row)) continue;
      from.set(row, reached.source[k]);
      when.set(row, reached.t[k]);
      hops.push(k);
    }
    const got = new Map();
    for (let k = 0; k < delivered.t.length; k++) {
      const row = delivered.row[k];
      if (delivered.event[k] === event && !got.has(row)) got.set(row, delivered.t[k]);
    }
    const path = (row) => {
      const rows = [row];
      while (row !== publisher && from.has(row) && rows.length <= this.stage.n) {
        rows.push((row = from.get(row)));
      }
      return row === publisher ? rows.reverse() : null;
    };
    const used = new Set(); // rows on the way to somebody who was told
    for (const row of got.keys()) for (const one of path(row) || []) used.add(one);
    const last = Math.max(this.stage.published[place], ...got.values(),
      hops.length ? reached.t[hops[hops.length - 1]] : 0);
    const way = { event, publisher, place, from, when, hops, got, path, used, last };
    this.ways.set(place, way);
    return way;
  }
}
