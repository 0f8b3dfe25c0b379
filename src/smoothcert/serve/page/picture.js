// An image as the model takes it: bytes, channels first. What is shown is what is sent.

export class Picture {
  constructor(shape, values) {
    [this.channels, this.height, this.width] = shape;
    this.shape = shape;
    this.values = values ?? new Uint8ClampedArray(this.channels * this.height * this.width);
  }

  copy() {
    return new Picture(this.shape, this.values.slice());
  }

  // Nested lists of numbers in [0, 1], as the API takes them.
  nested() {
    const row = start => Array.from(this.values.subarray(start, start + this.width), value => value / 255);
    const area = this.height * this.width;
    return Array.from({ length: this.channels }, (_, channel) =>
      Array.from({ length: this.height }, (_, y) => row(channel * area + y * this.width)));
  }

  showOn(canvas) {
    const area = this.height * this.width, shown = new ImageData(this.width, this.height);
    for (let place = 0; place < area; place++) {
      for (let colour = 0; colour < 3; colour++) {
        shown.data[4 * place + colour] = this.values[Math.min(colour, this.channels - 1) * area + place];
      }
      shown.data[4 * place + 3] = 255;
    }
    if (canvas.width !== this.width) canvas.width = this.width;
    if (canvas.height !== this.height) canvas.height = this.height;
    canvas.getContext("2d").putImageData(shown, 0, 0);
  }
}

export function isPicture(shape) {
  return shape.length === 3 && (shape[0] === 1 || shape[0] === 3);
}

// Read a PNG or JPEG; returns the picture and what had to be changed for the model to take it.
export async function readPicture(blob, shape) {
  const [channels, height, width] = shape;
  const bitmap = await createImageBitmap(blob, { colorSpaceConversion: "none" });
  const scale = Math.min(width / bitmap.width, height / bitmap.height);
  const [w, h] = [Math.max(1, Math.round(bitmap.width * scale)), Math.max(1, Math.round(bitmap.height * scale))];
  const context = blackCanvas(width, height);
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, Math.floor((width - w) / 2), Math.floor((height - h) / 2), w, h);
  const read = context.getImageData(0, 0, width, height).data, picture = new Picture(shape);
  const changes = scale === 1 && w === width && h === height ? [] : [`scaled from ${bitmap.width} × ${bitmap.height}`];
  bitmap.close();
  if (take(picture, read, channels, height * width)) changes.push("made grey");
  return { picture, changes };
}

function blackCanvas(width, height) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.fillRect(0, 0, width, height);
  return context;
}

// Take pixels of a canvas; returns whether colours were lost.
function take(picture, read, channels, area) {
  let lost = false;
  for (let place = 0; place < area; place++) {
    const [red, green, blue] = read.subarray(4 * place, 4 * place + 3);
    if (channels === 3) {
      [red, green, blue].forEach((value, colour) => { picture.values[colour * area + place] = value; });
    } else if (red === green && green === blue) {
      picture.values[place] = red;
    } else {
      picture.values[place] = Math.round(0.299 * red + 0.587 * green + 0.114 * blue);
      lost = true;
    }
  }
  return lost;
}

// Some browsers change what a page reads from a canvas, so that it cannot be recognised.
export function readsFaithfully() {
  const context = blackCanvas(16, 16), pattern = new ImageData(16, 16);
  pattern.data.forEach((_, place) => { pattern.data[place] = place % 4 === 3 ? 255 : (37 * place) % 256; });
  context.putImageData(pattern, 0, 0);
  return context.getImageData(0, 0, 16, 16).data.every((value, place) => value === pattern.data[place]);
}
