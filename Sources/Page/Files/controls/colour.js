// SPDX-License-Identifier: BSD-3-Clause

// A colour: a swatch that opens a picker, and a hexadecimal field.

import { freshID, make, setText } from "../dom.js";
import { fromHSB, hexText, parseHex, toHSB } from "../colours.js";
import { shown } from "../names.js";
import { currentValue } from "../tweaks.js";
import { openPopover } from "../popups.js";
import { followSlider } from "./sliding.js";

const opaqueBlack = { red: 0, green: 0, blue: 0, alpha: 255 };

export function colourControl({ tweak, editing, isOpen = false }) {
  const fill = make("span", { class: "swatch-fill" });
  const swatch = make("button", {
    class: "swatch",
    "aria-label": `${tweak.label}, open the picker`,
    "aria-haspopup": "dialog",
    "aria-expanded": "false"
  }, fill);
  const hex = makeHexField(tweak, editing, tweak.label);
  let picker;
  swatch.addEventListener("click", () => {
    picker = makePicker(tweak, editing);
    picker.update();
    openPopover(swatch, picker.element, {
      label: tweak.label,
      className: "colour-popover",
      onclose: () => {
        picker = undefined;
      }
    });
  });
  const inline = isOpen ? makePicker(tweak, editing) : undefined;
  return {
    element: inline ? inline.element : make("div", { class: "colour-control" }, swatch, hex.element),
    update() {
      fill.style.backgroundColor = hexText(parseHex(currentValue(tweak)) ?? opaqueBlack);
      hex.update();
      picker?.update();
      inline?.update();
    },
    focus: () => swatch.focus(),
    isBusy: () => hex.isBusy() || editing.isDragged(tweak)
  };
}

function makeHexField(tweak, editing, label) {
  const input = make("input", {
    type: "text",
    class: "hex-field",
    "aria-label": label,
    autocomplete: "off",
    spellcheck: "false",
    autocapitalize: "off",
    enterkeyhint: "done"
  });
  const outside = make("span", { class: "outside", role: "status" });
  let isDirty = false;
  function show() {
    const text = shown(currentValue(tweak) ?? "");
    if (isDirty) {
      setText(outside, "");
      return;
    }
    if (input.value !== text) input.value = text;
  }
  function commit() {
    if (!isDirty) return;
    const colour = parseHex(input.value);
    input.setAttribute("aria-invalid", String(!colour));
    setText(outside, colour ? "" : "use #36c or #3366cc80");
    if (!colour) return;
    isDirty = false;
    editing.set(tweak, hexText(colour));
  }
  input.addEventListener("input", () => {
    isDirty = true;
  });
  input.addEventListener("focus", () => input.select());
  input.addEventListener("blur", commit);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") commit();
    if (event.key === "Escape" && isDirty) {
      event.stopPropagation();
      isDirty = false;
      input.setAttribute("aria-invalid", "false");
      setText(outside, "");
      show();
    }
  });
  return { element: make("span", { class: "field" }, input, outside), update: show, isBusy: () => isDirty };
}

function makePicker(tweak, editing) {
  const thumb = make("span", { class: "area-thumb" });
  const area = make("div", {
    class: "colour-area",
    role: "slider",
    tabindex: "0",
    "aria-label": "Saturation and brightness",
    "aria-valuemin": 0,
    "aria-valuemax": 100
  }, thumb);
  const hue = range("hue", "Hue", 360);
  const alpha = range("alpha", "Alpha", 255);
  const numbers = {};
  /** @type {[string, [string, string, number][]][]} */
  const kinds = [
    ["RGB", [["red", "Red", 255], ["green", "Green", 255], ["blue", "Blue", 255]]],
    ["HSB", [["hue", "Hue, degrees", 360], ["saturation", "Saturation, percent", 100], [
      "brightness",
      "Brightness, percent",
      100
    ]]]
  ];
  const rows = kinds.map(([title, fields]) =>
    make(
      "div",
      { class: "colour-row", role: "group", "aria-label": title },
      make("span", { class: "colour-row-title", text: title, "aria-hidden": "true" }),
      fields.map(([name, label, most]) => {
        numbers[name] = numberField(label, most, () => takeNumbers(title));
        return numbers[name];
      })
    )
  );
  numbers.alpha = numberField("Alpha, percent", 100, () => {
    const { alpha: percent } = numbers;
    set({ ...model, alpha: Math.round((Number(percent.value) / 100) * 255) });
  });
  const hex = makeHexField(tweak, editing, "Hex");
  const reset = make("button", {
    class: "swatch",
    "aria-label": "Reset to the default",
    onclick: () => editing.reset([tweak])
  }, make("span", { class: "swatch-fill" }));
  reset.firstChild.style.backgroundColor = hexText(parseHex(tweak.default) ?? opaqueBlack);
  const dropper = "EyeDropper" in window
    ? make("button", {
      class: "button",
      text: "Pick from the screen",
      onclick: async () => {
        try {
          const { sRGBHex } = await new /** @type {any} */ (window).EyeDropper().open();
          editing.set(tweak, hexText({ ...(parseHex(sRGBHex) ?? opaqueBlack), alpha: model.alpha }));
        } catch {
          // Cancelled.
        }
      }
    })
    : undefined;
  const element = make(
    "div",
    { class: "colour-picker" },
    area,
    hue,
    alpha,
    rows,
    make(
      "div",
      { class: "colour-row" },
      make("span", { class: "colour-row-title", text: "Hex", "aria-hidden": "true" }),
      hex.element
    ),
    make(
      "div",
      { class: "colour-row" },
      make("span", { class: "colour-row-title", text: "Default", "aria-hidden": "true" }),
      reset,
      make("span", { class: "unit", translate: "no", text: shown(tweak.default) })
    ),
    make(
      "div",
      { class: "colour-row" },
      make("span", { class: "colour-row-title", text: "Alpha", "aria-hidden": "true" }),
      numbers.alpha,
      make("span", { class: "unit", text: "%" })
    ),
    dropper
  );

  // Keeps hue and saturation, because a grey has none.
  let model = { hue: 0, saturation: 0, brightness: 0, alpha: 255 };
  let written;

  function set(next, { isMoving = false } = {}) {
    model = next;
    const text = hexText({ ...fromHSB(model), alpha: model.alpha });
    written = text;
    if (isMoving) editing.move(tweak, text);
    else editing.set(tweak, text, { merging: true });
    draw();
  }

  function takeNumbers(title) {
    const value = (name, most) => Math.min(most, Math.max(0, Number(numbers[name].value) || 0));
    if (title === "RGB") {
      const colour = {
        red: value("red", 255),
        green: value("green", 255),
        blue: value("blue", 255),
        alpha: model.alpha
      };
      set({ ...keepHue(toHSB(colour)), alpha: model.alpha });
    } else {
      set({
        hue: value("hue", 360),
        saturation: value("saturation", 100),
        brightness: value("brightness", 100),
        alpha: model.alpha
      });
    }
  }

  function keepHue(hsb) {
    if (hsb.saturation > 0 && hsb.brightness > 0) return hsb;
    return { ...hsb, hue: model.hue, saturation: hsb.brightness > 0 ? hsb.saturation : model.saturation };
  }

  function draw() {
    const colour = { ...fromHSB(model), alpha: model.alpha };
    const pure = hexText(fromHSB({ hue: model.hue, saturation: 100, brightness: 100 }));
    area.style.setProperty("--pure", pure);
    thumb.style.left = `${model.saturation}%`;
    thumb.style.top = `${100 - model.brightness}%`;
    thumb.style.backgroundColor = hexText({ ...colour, alpha: 255 });
    alpha.style.setProperty("--opaque", hexText({ ...colour, alpha: 255 }));
    alpha.style.setProperty("--clear", hexText({ ...colour, alpha: 0 }));
    area.setAttribute("aria-valuenow", Math.round(model.saturation));
    area.setAttribute(
      "aria-valuetext",
      `saturation ${Math.round(model.saturation)} %, brightness ${Math.round(model.brightness)} %`
    );
    put(hue, Math.round(model.hue));
    put(alpha, model.alpha);
    put(numbers.red, colour.red);
    put(numbers.green, colour.green);
    put(numbers.blue, colour.blue);
    put(numbers.hue, Math.round(model.hue));
    put(numbers.saturation, Math.round(model.saturation));
    put(numbers.brightness, Math.round(model.brightness));
    put(numbers.alpha, Math.round((model.alpha / 255) * 100));
  }

  function put(input, value) {
    if (document.activeElement === input && input.type === "number") return;
    if (input.value !== String(value)) input.value = value;
  }

  const release = () => editing.end(tweak);
  const cancel = () => editing.cancel(tweak);
  followSlider(hue, { move: () => set({ ...model, hue: Number(hue.value) }, { isMoving: true }), release, cancel });
  followSlider(alpha, {
    move: () => set({ ...model, alpha: Number(alpha.value) }, { isMoving: true }),
    release,
    cancel
  });

  const pick = (event) => {
    const box = area.getBoundingClientRect();
    const share = (at, from, size) => Math.min(1, Math.max(0, (at - from) / size)) * 100;
    set({
      ...model,
      saturation: share(event.clientX, box.left, box.width),
      brightness: 100 - share(event.clientY, box.top, box.height)
    }, { isMoving: true });
  };
  area.addEventListener("pointerdown", (event) => {
    area.setPointerCapture(event.pointerId);
    pick(event);
  });
  area.addEventListener("pointermove", (event) => area.hasPointerCapture(event.pointerId) && pick(event));
  area.addEventListener("pointerup", release);
  area.addEventListener("pointercancel", cancel);
  area.addEventListener("keydown", (event) => {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [];
    if (dx === undefined) return;
    event.preventDefault();
    const width = event.shiftKey ? 10 : 1;
    const limit = (number) => Math.min(100, Math.max(0, number));
    set({
      ...model,
      saturation: limit(model.saturation + dx * width),
      brightness: limit(model.brightness + dy * width)
    });
  });

  return {
    element,
    update() {
      const text = currentValue(tweak);
      hex.update();
      if (text === written) return;
      written = text;
      const colour = parseHex(text) ?? opaqueBlack;
      model = { ...keepHue(toHSB(colour)), alpha: colour.alpha };
      draw();
    }
  };
}

const range = (name, label, most) =>
  make("input", {
    type: "range",
    class: `slider ${name}-slider`,
    min: 0,
    max: most,
    step: 1,
    "aria-label": label
  });

function numberField(label, most, take) {
  return make("input", {
    type: "number",
    id: freshID("colour"),
    min: 0,
    max: most,
    step: 1,
    "aria-label": label,
    title: label,
    oninput: (event) => event.target.value !== "" && take()
  });
}
