// SPDX-License-Identifier: BSD-3-Clause

// Colours as pure functions: hex, RGB from 0 to 255, HSB (hue in degrees, the others from 0 to 100), alpha from 0 to
// 255.

/** Reads `#rgb`, `#rgba`, `#rrggbb` and `#rrggbbaa`, with or without the `#`; `undefined` for anything else. */
export function parseHex(text) {
  const match = /^\s*#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\s*$/i.exec(text ?? "");
  if (!match) return undefined;
  let digits = match[1];
  if (digits.length < 5) digits = [...digits].map((digit) => digit + digit).join("");
  const byte = (at) => Number.parseInt(digits.slice(at, at + 2), 16);
  return { red: byte(0), green: byte(2), blue: byte(4), alpha: digits.length === 8 ? byte(6) : 255 };
}

/** A colour as programs write it, with alpha only if it is not opaque. */
export function hexText({ red, green, blue, alpha = 255 }) {
  const byte = (number) => Math.round(Math.min(255, Math.max(0, number))).toString(16).padStart(2, "0");
  return `#${byte(red)}${byte(green)}${byte(blue)}${alpha >= 255 ? "" : byte(alpha)}`;
}

export function toHSB({ red, green, blue }) {
  const [r, g, b] = [red / 255, green / 255, blue / 255];
  const most = Math.max(r, g, b);
  const spread = most - Math.min(r, g, b);
  let hue = 0;
  if (spread > 0) {
    if (most === r) hue = ((g - b) / spread) % 6;
    else if (most === g) hue = (b - r) / spread + 2;
    else hue = (r - g) / spread + 4;
  }
  return {
    hue: (hue * 60 + 360) % 360,
    saturation: most === 0 ? 0 : (spread / most) * 100,
    brightness: most * 100
  };
}

export function fromHSB({ hue, saturation, brightness }) {
  const [s, v] = [saturation / 100, brightness / 100];
  const channel = (n) => {
    const k = (n + hue / 60) % 6;
    return Math.round(255 * (v - v * s * Math.max(0, Math.min(k, 4 - k, 1))));
  };
  return { red: channel(5), green: channel(3), blue: channel(1) };
}
