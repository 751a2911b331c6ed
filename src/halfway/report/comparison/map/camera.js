// The part of the field that the panels show: all panels show the same part.
const MOST_ZOOM = 60;
const SETTLED_MS = 160; // a gesture is over after a pause of this length

class Camera {
  constructor(changed) {
    this.changed = changed;
    this.moving = false; // during a gesture, pictures that take long are shifted, not drawn again
    this.place(1, 0.5, 0.5);
  }

  get whole() { return this.zoom === 1; }

  // zoom: 1 shows the whole field; x, y: the centre, as parts of the field's width and height.
  place(zoom, x, y) {
    const bounded = (value, low, high) => Math.min(high, Math.max(low, value));
    this.zoom = bounded(zoom, 1, MOST_ZOOM);
    const margin = 0.5 / this.zoom;
    this.x = bounded(x, margin, 1 - margin);
    this.y = bounded(y, margin, 1 - margin);
  }

  set(zoom, x = this.x, y = this.y) {
    this.place(zoom, x, y);
    this.changed();
  }

  // Zoom by a factor; the point (x, y) of a view's canvas stays where it is.
  zoomAt(view, x, y, factor) {
    const across = (x - view.left) / (view.scale * view.world.wide);
    const along = (y - view.top) / (view.scale * view.world.high);
    const zoom = Math.min(MOST_ZOOM, Math.max(1, this.zoom * factor));
    const scale = (view.scale / this.zoom) * zoom;
    this.move(zoom, across - (x - view.wide / 2) / (scale * view.world.wide),
      along - (y - view.high / 2) / (scale * view.world.high));
  }

  // Move the field by pixels of a view's canvas.
  panBy(view, dx, dy) {
    this.move(this.zoom, this.x - dx / (view.scale * view.world.wide),
      this.y - dy / (view.scale * view.world.high));
  }

  // Show a point of the field, in units of the world; `zoom` at least.
  showPoint(world, x, y, zoom = this.zoom) {
    this.set(Math.max(zoom, this.zoom), x / world.wide, y / world.high);
  }

  move(zoom, x, y) {
    this.moving = true;
    clearTimeout(this.settling);
    this.settling = setTimeout(() => { this.moving = false; this.changed(); }, SETTLED_MS);
    this.set(zoom, x, y);
  }
}
