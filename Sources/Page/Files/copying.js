// SPDX-License-Identifier: BSD-3-Clause

// Formats tweaks and values as C, Swift, JSON, shell commands and CSV. Pure.

import { exactText, isReal, none } from "./numbers.js";
import { parseHex } from "./colours.js";

/** A C string literal, with characters outside printable ASCII escaped as bytes. */
export function literalInC(text) {
  let literal = "";
  for (const byte of new TextEncoder().encode(text)) {
    if (byte === 0x22 || byte === 0x5c) literal += `\\${String.fromCharCode(byte)}`;
    else if (byte === 0x0a) literal += "\\n";
    else if (byte === 0x09) literal += "\\t";
    // Always three digits, because a digit may follow.
    else if (byte < 0x20 || byte > 0x7e || byte === 0x3f)
      literal += byte === 0x3f ? "?" : `\\${byte.toString(8).padStart(3, "0")}`;
    else literal += String.fromCharCode(byte);
  }
  return `"${literal}"`;
}

export function literalInSwift(text) {
  const escaped = text.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll(
    "\t",
    "\\t"
  )
    .replaceAll(
      /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f]/g,
      (character) => `\\u{${character.codePointAt(0).toString(16)}}`
    );
  return `"${escaped}"`;
}

/** A text quoted as one word for the shell. */
export function shellWord(text) {
  if (text !== "" && /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) && !text.startsWith("-")) return text;
  if (/[\u0000-\u001f\u007f]/.test(text)) {
    const escaped = text.replaceAll(/['\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\t", "\\t")
      .replaceAll(
        /[\u0000-\u001f\u007f]/g,
        (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`
      );
    return `$'${escaped}'`;
  }
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function realText(value, suffix) {
  if (!Number.isFinite(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  const text = String(value).replace("e+", "e");
  return (/[.e]/.test(text) ? text : `${text}.0`) + suffix;
}

function valueInC(tweak, value) {
  const { type } = tweak;
  if (type === "bool") return value ? "true" : "false";
  if (type === "string") return literalInC(value);
  if (type === "double") return realText(value, "");
  if (type === "float") return Number.isFinite(value) ? realText(value, "f") : realText(value, "");
  if (type === "color") {
    const { red, green, blue, alpha } = parseHex(value) ?? { red: 0, green: 0, blue: 0, alpha: 255 };
    return alpha === 255 ? `FBTweakRGB(${red}, ${green}, ${blue})` : `FBTweakRGBA(${red}, ${green}, ${blue}, ${alpha})`;
  }
  const text = String(value);
  if (type === "int32") return value === -(2 ** 31) ? "(-2147483647 - 1)" : text;
  if (type === "int64") return value === -(2n ** 63n) ? "INT64_MIN" : `INT64_C(${text})`;
  if (type === "uint64") return `UINT64_C(${text})`;
  return `(${type}_t)${text}`;
}

function limitInC(tweak, value) {
  return ["int8", "int16", "uint8", "uint16", "uint32"].includes(tweak.type) ? String(value) : valueInC(tweak, value);
}

/** The scale to declare. A logarithmic scale can be declared only with a minimum and a maximum. */
function declaredScale({ scale, choices, minimum, maximum }) {
  return scale === "log" && (choices || minimum === undefined || maximum === undefined) ? undefined : scale;
}

/** The options that macros do not take under the same name. */
const unlikeArguments = new Set(["minimum", "maximum", "choices", "element", "optional", "title", "group", "location"]);

/** The options of a tweak in the order of a macro's arguments, where the unit follows the pair. */
function macroOptions(tweak, options) {
  const unit = options.find(({ name }) => name === "unit");
  const ordered = options.flatMap((option) =>
    option.name === "pair" ? [option, unit] : option === unit ? [] : [option]
  );
  return ordered.filter(({ name }) =>
    !unlikeArguments.has(name) && tweak[name] !== undefined && (name !== "scale" || declaredScale(tweak))
  );
}

function optionInC(tweak, { name, form }) {
  const macro = `FBTweak${name[0].toUpperCase()}${name.slice(1)}`;
  if (form === "flag") return macro;
  return `${macro}(${
    form === "text" ? literalInC(tweak[name]) : form === "field" ? limitInC(tweak, tweak[name]) : tweak[name]
  })`;
}

function optionInSwift(tweak, { name, form }) {
  if (name === "scale") return `.${tweak.scale}`;
  return form === "text"
    ? literalInSwift(tweak[name])
    : form === "field"
    ? limitInSwift(tweak, tweak[name])
    : String(tweak[name]);
}

/** The declaration in C, with the value as its default and the options listed by the server. */
export function declarationInC(tweak, value, options) {
  const names = [tweak.category, tweak.collection, tweak.name].map(literalInC).join(", ");
  if (tweak.type === "action") return `FBTweakAction(${names}, function);`;
  if (tweak.monitor) return `FBTweakMonitor(${names}, value);`;
  if (tweak.optional) return `// ${literalInC(tweak.key)} is optional, which only Swift can declare.`;
  const parts = [names, valueInC(tweak, value)];
  if (tweak.choices) {
    const choices = tweak.choices.map((choice) =>
      choice.label ? `(${limitInC(tweak, choice.value)}, ${literalInC(choice.label)})` : limitInC(tweak, choice.value)
    );
    parts.push(`FBTweakChoices(${choices.join(", ")})`);
  } else if (tweak.minimum !== undefined && tweak.maximum !== undefined) {
    parts.push(limitInC(tweak, tweak.minimum), limitInC(tweak, tweak.maximum));
  }
  for (const option of macroOptions(tweak, options)) parts.push(optionInC(tweak, option));
  return `FBTweakValue(${parts.join(", ")})`;
}

function valueInSwift(tweak, value) {
  const { type } = tweak;
  if (tweak.element) return arrayInSwift(tweak, value);
  if (tweak.optional && value === none) return "nil";
  if (tweak.optional && /^\\+none$/.test(value)) return literalInSwift(value.slice(1));
  if (type === "bool") return value ? "true" : "false";
  if (type === "string") return literalInSwift(value);
  if (isReal(type)) return Number.isFinite(value) ? realText(value, "") : value < 0 ? "-.infinity" : ".infinity";
  if (type === "color") {
    const { red, green, blue, alpha } = parseHex(value) ?? { red: 0, green: 0, blue: 0, alpha: 255 };
    return `TweakColor(red: ${red}, green: ${green}, blue: ${blue}${alpha === 255 ? "" : `, alpha: ${alpha}`})`;
  }
  return String(value);
}

/** An array literal. Numbers in JSON are those of Swift. */
function arrayInSwift({ element }, text) {
  if (!element.startsWith("string")) return text;
  try {
    return `[${JSON.parse(text).map(literalInSwift).join(", ")}]`;
  } catch {
    return literalInSwift(text);
  }
}

const swiftTypes = {
  int8: "Int8",
  int16: "Int16",
  int32: "Int32",
  uint8: "UInt8",
  uint16: "UInt16",
  uint32: "UInt32",
  uint64: "UInt64",
  float: "Float"
};

/** The types that can be optional. */
const wrappedTypes = { bool: "Bool", int64: "Int", float: "Float", double: "Double", string: "String" };

/** The declaration in Swift, with the value as its default and the options listed by the server. */
export function declarationInSwift(tweak, value, options) {
  const names = [tweak.category, tweak.collection, tweak.name].map(literalInSwift).join(", ");
  if (tweak.type === "action") return `#tweakAction(${names}) { }`;
  if (tweak.monitor) return `#tweakMonitor(${names}, value)`;
  const type = tweak.optional ? undefined : swiftTypes[tweak.type];
  const text = valueInSwift(tweak, value);
  const called = tweak.optional && value !== none ? ".some" : type;
  const parts = [names, `default: ${called ? `${called}(${text})` : text}`];
  if (tweak.choices) {
    const hasLabels = tweak.choices.some(({ label }) => label);
    const choices = tweak.choices.map((choice) =>
      hasLabels
        ? `${valueInSwift(tweak, choice.value)}: ${literalInSwift(choice.label ?? String(choice.value))}`
        : valueInSwift(tweak, choice.value)
    );
    parts.push(`choices: [${choices.join(", ")}]`);
  } else if (tweak.minimum !== undefined && tweak.maximum !== undefined) {
    parts.push(`in: ${limitInSwift(tweak, tweak.minimum)}...${limitInSwift(tweak, tweak.maximum)}`);
  }
  const limits = / min=(\S+) max=(\S+)$/.exec(tweak.element ?? "");
  if (limits) parts.push(`in: ${limits[1]}...${limits[2]}`);
  for (const option of macroOptions(tweak, options)) parts.push(`${option.name}: ${optionInSwift(tweak, option)}`);
  return `#tweak(${parts.join(", ")})${tweak.optional ? ` as ${wrappedTypes[tweak.type]}?` : ""}`;
}

function limitInSwift(tweak, value) {
  return isReal(tweak.type) && Number.isFinite(value) ? String(value).replace("e+", "e") : valueInSwift(tweak, value);
}

/** The shell command that sets the tweak to the value. */
export function shellCommand(program, tweak, value) {
  const name = program.description.name ?? program.id;
  if (tweak.type === "action") return `tweak run ${shellWord(name)} ${shellWord(tweak.key)}`;
  if (tweak.monitor || tweak.readOnly) return `tweak get ${shellWord(name)} ${shellWord(tweak.key)}`;
  const text = typeof value === "boolean" ? (value ? "on" : "off") : exactText(value);
  const word = shellWord(text);
  return `tweak set ${shellWord(name)} ${shellWord(tweak.key)} ${/^-/.test(text) ? `-- ${word}` : word}`;
}

/** Values as JSON, nested as in the overrides file and presets. */
export function nestedJSON(entries) {
  const values = {};
  const member = (object, name) => {
    if (!Object.hasOwn(object, name))
      Object.defineProperty(object, name, { value: {}, enumerable: true, configurable: true });
    return object[name];
  };
  for (const { tweak, value } of entries) {
    const collection = member(member(values, tweak.category), tweak.collection);
    Object.defineProperty(collection, tweak.name, { value, enumerable: true, configurable: true });
  }
  return writeJSON(values, 2);
}

/** JSON in which a BigInt keeps all its digits. */
export function writeJSON(value, indent = 0) {
  return write(value, indent, "\n");
}

function write(value, indent, newline) {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number" && !Number.isFinite(value)) return JSON.stringify(exactText(value));
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const inner = indent ? newline + " ".repeat(indent) : "";
  const end = indent ? newline : "";
  const members = Object.entries(value);
  if (members.length === 0) return "{}";
  const texts = members.map(([name, one]) =>
    `${JSON.stringify(name)}${indent ? ": " : ":"}${write(one, indent, inner)}`
  );
  return `{${inner}${texts.join(`,${inner}`)}${end}}`;
}

/** A CSV field, quoted if needed. A text that a spreadsheet would execute as a formula begins with an apostrophe. */
export function csvField(text) {
  let field = String(text);
  if (/^[=+\-@＝＋－＠\t\r\n]/.test(field) && Number.isNaN(Number(field)) && !/^-inf$/i.test(field))
    field = `'${field}`;
  return /[",;\s]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}

/** Copies a text, and says so with these words, or that it did not work. */
export async function copyText(text, notices, done) {
  if (await isCopied(text)) notices.say(done);
  else notices.problem("The browser blocked access to the clipboard");
}

/** Copies a text and returns whether that worked. Pages without TLS from another machine have no clipboard API. */
async function isCopied(text) {
  if (navigator.clipboard && window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Fall back to selecting the text.
    }
  }
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "off-screen";
  const host = document.querySelector("dialog[open]") ?? document.body;
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  host.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  focused?.focus();
  return isDone;
}
