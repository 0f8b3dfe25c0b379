// Numbers and norms in words. What is proven is rounded down, so that no shown radius says more than its certificate.

const LANGUAGE = "en";

export function whole(value) {
  return value.toLocaleString(LANGUAGE);
}

export function roundedDown(value, digits = 4) {
  const scale = 10 ** digits;
  const text = (Math.floor(value * scale) / scale).toFixed(digits);
  return Number(text) > value ? ((Math.floor(value * scale) - 1) / scale).toFixed(digits) : text;
}

export function radiusUnit(norm) {
  return norm === "l0" ? "coordinates that may change (l0)" : `pixel units of [0, 1] images (${norm})`;
}

export function noiseInWords(noise) {
  const { name, ...parameters } = noise;
  const told = Object.entries(parameters).map(([key, value]) => `${key} ${value}`);
  return [name, ...told].join(", ");
}
