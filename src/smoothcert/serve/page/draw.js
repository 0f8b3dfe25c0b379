// A pen on the canvas: by pointer, or pixel by pixel from the keyboard.

const LEAST_PEN = 0.6; // radius in pixels of the image
const PEN_SHARE = 1 / 24; // of its width
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// `picture()` is what is drawn on; `erases()` says which end of the pen; `changed(done)` is called as it changes.
export function makeDrawable(canvas, cursor, tell, { picture, erases, changed }) {
  let last = null, place = [0, 0];

  const where = event => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width * canvas.width, (event.clientY - box.top) / box.height * canvas.height];
  };

  const stroke = to => {
    const [x0, y0] = last ?? to, [x1, y1] = to, pen = Math.max(LEAST_PEN, canvas.width * PEN_SHARE);
    const steps = Math.ceil(Math.hypot(x1 - x0, y1 - y0) * 4) || 1;
    for (let step = 0; step <= steps; step++) {
      dab(picture(), x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps, pen, erases());
    }
    last = to;
    changed(false);
  };

  const drawable = () => canvas.classList.contains("drawable") && picture() !== null;

  const showCursor = () => {
    const [x, y] = place, { width, height } = canvas;
    Object.assign(cursor.style, { left: `${100 * x / width}%`, top: `${100 * y / height}%`, width: `${100 / width}%`, height: `${100 / height}%` });
    const value = picture().values[y * width + x];
    tell(`row ${y + 1}, column ${x + 1}: brightness ${value} of 255`);
  };

  canvas.addEventListener("pointerdown", event => {
    if (!drawable() || event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    stroke(where(event));
  });
  canvas.addEventListener("pointermove", event => { if (last) stroke(where(event)); });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, () => { if (last) { last = null; changed(true); } });
  }
  canvas.addEventListener("focus", () => {
    cursor.hidden = !drawable() || !canvas.matches(":focus-visible");
    place = place.map((value, axis) => Math.min(value, (axis ? canvas.height : canvas.width) - 1));
    if (!cursor.hidden) showCursor();
  });
  canvas.addEventListener("blur", () => { cursor.hidden = true; tell(""); });
  canvas.addEventListener("keydown", event => {
    if (!drawable() || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[event.key], [width, height] = [canvas.width, canvas.height];
    if (step) place = [Math.min(Math.max(place[0] + step[0], 0), width - 1), Math.min(Math.max(place[1] + step[1], 0), height - 1)];
    else if (event.key === " ") { picture().values[place[1] * width + place[0]] = erases() ? 0 : 255; changed(true); }
    else return;
    event.preventDefault();
    cursor.hidden = false;
    showCursor();
  });
}

// One touch of a round pen: full in the middle, soft over one pixel at its rim.
function dab(picture, x, y, pen, erase) {
  const { width, height, values } = picture, far = pen + 1;
  for (let row = Math.max(0, Math.floor(y - far)); row <= Math.min(height - 1, y + far); row++) {
    for (let column = Math.max(0, Math.floor(x - far)); column <= Math.min(width - 1, x + far); column++) {
      const covered = Math.min(1, Math.max(0, pen + 0.5 - Math.hypot(column + 0.5 - x, row + 0.5 - y)));
      const at = row * width + column;
      values[at] = erase ? Math.min(values[at], 255 * (1 - covered)) : Math.max(values[at], 255 * covered);
    }
  }
}
