// Zoom and pan on a panel: wheel, drag, and two fingers.
const DRAG_PX = 4; // a press that moves farther is a drag, not a click

class Gestures {
  constructor(player, view, canvas) {
    Object.assign(this, { player, view, canvas, camera: player.camera });
    this.fingers = new Map();
    this.dragged = false;
    const on = (name, act) => canvas.addEventListener(name, (event) => act.call(this, event));
    on("pointerdown", this.press);
    on("pointermove", this.drag);
    for (const name of ["pointerup", "pointercancel"]) on(name, this.release);
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  // The wheel zooms with Ctrl, or while the map has the focus; otherwise the page scrolls.
  wheel(event) {
    const { player, camera } = this, pinched = event.ctrlKey;
    if (!pinched && document.activeElement !== player.board) {
      if (!this.hinted) player.say("Ctrl + wheel zooms the map. After a click on the map, the wheel alone zooms it.");
      this.hinted = true;
      return;
    }
    if (camera.whole && event.deltaY > 0 && !pinched) return; // the page scrolls on
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 20 : event.deltaMode === 2 ? 400 : 1;
    const turn = Math.max(-200, Math.min(200, event.deltaY * lines));
    camera.zoomAt(this.view, ...this.at(event), Math.exp(-turn * (pinched ? 0.008 : 0.002)));
  }

  press(event) {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    if (!this.fingers.size) this.dragged = false;
    this.fingers.set(event.pointerId, { first: this.at(event), last: this.at(event) });
  }

  drag(event) {
    const finger = this.fingers.get(event.pointerId);
    if (!finger) return;
    const now = this.at(event);
    if (!this.dragged && Math.hypot(now[0] - finger.first[0], now[1] - finger.first[1]) < DRAG_PX) {
      return;
    }
    if (!this.dragged) this.canvas.setPointerCapture(event.pointerId);
    this.dragged = true;
    const [dx, dy] = [now[0] - finger.last[0], now[1] - finger.last[1]];
    const other = [...this.fingers.values()].find((one) => one !== finger);
    if (other) {
      const apart = (point) => Math.hypot(point[0] - other.last[0], point[1] - other.last[1]);
      const middle = [(now[0] + other.last[0]) / 2, (now[1] + other.last[1]) / 2];
      const factor = Math.max(apart(now), 1) / Math.max(apart(finger.last), 1);
      this.camera.zoomAt(this.view, ...middle, factor);
      this.camera.panBy(this.view, dx / 2, dy / 2);
    } else if (!this.camera.whole) this.camera.panBy(this.view, dx, dy);
    finger.last = now;
  }

  release(event) { this.fingers.delete(event.pointerId); }
}
