// What pointer, wheel and keyboard do to the map: point, drag, pinch, draw around rows, step from mark to mark.
import { clamp } from "./marks.js";

const STEPS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

/** Listen to the box of a map. */
export function listen(map) {
  const { box } = map, pointers = new Map();
  let start = null, moved = false;
  const at = (event) => {
    const area = box.getBoundingClientRect();
    return [event.clientX - area.left - box.clientLeft, event.clientY - area.top - box.clientTop];
  };
  const hover = (event) => {
    const i = map.nearest(...at(event));
    if (i === map.hovered) {
      if (i >= 0 && map.tip.hidden) map.showTip(i);
      return;
    }
    map.hovered = i;
    if (i < 0) map.tip.hidden = true;
    else {
      map.showTip(i);
      map.on.point?.(i);
    }
  };
  box.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.target.closest("button")) return;
    pointers.set(event.pointerId, at(event));
    map.pointerType = event.pointerType;
    moved = pointers.size > 1;
    start = at(event);
    if (map.lassoing || event.shiftKey) map.polygon = [start];
  });
  box.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId), now = at(event);
    if (!before) return hover(event);
    if (!moved && Math.hypot(now[0] - start[0], now[1] - start[1]) < 4) return undefined;
    if (!moved) box.setPointerCapture?.(event.pointerId);
    moved = true;
    map.tip.hidden = true;
    pointers.set(event.pointerId, now);
    if (map.polygon) {
      map.polygon.push(now);
      map.draw();
    } else if (pointers.size === 2) {
      const [a, b] = [...pointers.values()], other = a === now ? b : a;
      const ratio = Math.hypot(now[0] - other[0], now[1] - other[1]) / Math.max(1, Math.hypot(before[0] - other[0], before[1] - other[1]));
      map.zoomBy(ratio, (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    } else map.panBy(now[0] - before[0], now[1] - before[1]);
    return undefined;
  });
  const release = (event) => {
    if (!pointers.delete(event.pointerId) || !map.polygon) return;
    const { polygon } = map;
    map.polygon = null;
    if (event.type === "pointerup" && polygon.length > 2) map.on.lasso?.(map.inside(polygon));
    map.draw();
  };
  box.addEventListener("pointerup", release);
  box.addEventListener("pointercancel", release);
  box.addEventListener("pointerleave", () => {
    map.tip.hidden = true;
    map.hovered = -1;
  });
  box.addEventListener("click", (event) => {
    if (moved || event.target.closest("button")) return;
    map.on.click?.(map.nearest(...at(event)), event, map.pointerType);
  });
  box.addEventListener("wheel", (event) => {
    if (!map.wheel && !event.ctrlKey) return;
    event.preventDefault();
    map.zoomBy(Math.exp(-clamp(event.deltaY, -200, 200) / 300), ...at(event));
  }, { passive: false });
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== box) return;
    if (event.key in STEPS) {
      const next = map.current < 0 ? map.firstShown() : map.neighbour(map.current, STEPS[event.key]);
      if (next >= 0) {
        map.reveal(next);
        map.on.step?.(next);
      }
    } else if ((event.key === "Enter" || event.key === " ") && map.current >= 0) map.on.click?.(map.current, event, "keyboard");
    else if (event.key === "Escape") map.on.escape?.();
    else if (event.key === "+" || event.key === "=") map.zoomBy(1.5);
    else if (event.key === "-") map.zoomBy(1 / 1.5);
    else if (event.key === "0") map.home();
    else return;
    event.preventDefault();
  });
}
