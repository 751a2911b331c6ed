// The run of one system as a function of time: faults, links, regions, deliveries, spreads.
class SystemRun {
  constructor(about, columns, world) {
    Object.assign(this, { about, world, labels: about.labels, until: about.until });
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
    // Transmissions of the run per row of the table.
    const [kept, all] = about.left_out.sent || [1, 1];
    this.sentFactor = all / kept;
    this.brokers = [...new Set(this.belongs.broker)].sort((a, b) => a - b);
    this.brokerPlace = new Map(this.brokers.map((row, place) => [row, place]));
    this.counted = null; // times of expected deliveries
    this.walked = [...new Set(this.steps.label)]; // labels of walks that took a step
    this.styles = this.labels.map((_, k) => k); // of the labels; the player sets them
    // Whether there are transmissions of a role to all neighbours, and to one.
    this.sends = ROLES.map(() => [false, false]);
    const { to, role } = this.sent;
    for (let k = 0; k < role.length; k++) this.sends[role[k]][to[k] < 0 ? 0 : 1] = true;
    this.rewind();
  }

  rewind() {
    this.t = -1;
    this.at = { changes: 0, links: 0, belongs: 0 };
    this.down = new Uint8Array(this.world.n);
    this.cut = new Map();
    this.tree = new Map();
    this.broker = new Int32Array(this.world.n).fill(-1);
    this.faults = (this.faults || 0) + 1; // incremented by each fault
    this.shifts = (this.shifts || 0) + 1; // incremented when a node changes its region
  }

  // Apply all changes up to time t; an earlier time starts again from the beginning.
  seek(t) {
    if (t < this.t) this.rewind();
    this.t = t;
    const { changes, links, belongs, at } = this;
    const pair = (a, b) => (a < b ? a * this.world.n + b : b * this.world.n + a);
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
    return this.cut.size > 0 && this.cut.has(a < b ? a * this.world.n + b : b * this.world.n + a);
  }

  // Times of expected deliveries, each pair of event and node once.
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

  // Whether a subscriber never receives an event.
  misses(place) {
    const { got } = this.spreadOf(place);
    return this.expected[place].some((row) => !got.has(row));
  }

  // The transmissions of each row up to time t; estimated where the page holds only some of them.
  sentBy(t) {
    if (this.sums?.t === t) return this.sums.counts;
    const counts = new Float64Array(this.world.n), until = upTo(this.sent.t, t);
    for (let k = 0; k < until; k++) counts[this.sent.source[k]] += this.sentFactor;
    this.sums = { t, counts };
    return counts;
  }

  placeOf(event) {
    if (!this.places) {
      this.places = new Map();
      this.world.columns.event.forEach((id, place) => this.places.set(id, place));
    }
    return this.places.has(event) ? this.places.get(event) : -1;
  }

  // The counts at time t.
  figures(t) {
    const due = upTo(this.world.published, t);
    let expected = 0;
    for (let k = 0; k < due; k++) expected += this.due[k];
    return {
      sent: Math.round(upTo(this.sent.t, t) * this.sentFactor),
      delivered: upTo(this.deliveries(), t),
      expected,
    };
  }

  // The spread of an event: first receptions and their senders, deliveries, and paths.
  spreadOf(place) {
    this.spreads ??= new Map();
    if (this.spreads.has(place)) return this.spreads.get(place);
    const event = this.world.columns.event[place], publisher = this.world.columns.publisher[place];
    const from = new Map(), when = new Map(), hops = [];
    const { reached, delivered } = this;
    for (let k = upTo(reached.t, this.world.published[place] - 1e-3); k < reached.t.length; k++) {
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
      while (row !== publisher && from.has(row) && rows.length <= this.world.n) {
        rows.push((row = from.get(row)));
      }
      return row === publisher ? rows.reverse() : null;
    };
    const used = new Set(); // rows on a path to a receiver
    for (const row of got.keys()) for (const one of path(row) || []) used.add(one);
    const last = Math.max(this.world.published[place], ...got.values(),
      hops.length ? reached.t[hops[hops.length - 1]] : 0);
    const spread = { event, publisher, place, from, when, hops, got, path, used, last };
    this.spreads.set(place, spread);
    return spread;
  }
}
