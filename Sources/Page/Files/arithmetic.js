// What a person types into a number field: 2*pi, 1/60, +=10%, 0xff, max/2. Pure, and without eval.
//
// An expression of whole numbers is calculated with BigInt, so that 64 bits stay exact.

const constants = { pi: Math.PI, π: Math.PI, tau: 2 * Math.PI, e: Math.E, inf: Infinity, infinity: Infinity };
const functions = {
  sqrt: Math.sqrt, abs: Math.abs, round: Math.round, floor: Math.floor, ceil: Math.ceil, exp: Math.exp,
  ln: Math.log, log: Math.log10, log2: Math.log2, sin: Math.sin, cos: Math.cos, tan: Math.tan,
  rad: (degrees) => (degrees * Math.PI) / 180, deg: (radians) => (radians * 180) / Math.PI, db: (gain) => 10 ** (gain / 20),
};
const deepest = 50;
const longest = 500;

/**
 * Calculates what was typed.
 *
 * - names: numbers by name: x is the current value.
 * - Returns a Number or a BigInt, or throws an Error for a person.
 */
export function calculate(text, names = {}) {
  const trimmed = text.trim();
  if (trimmed === "") throw new Error("nothing was typed");
  if (trimmed.length > longest) throw new Error("this is too long");
  const relative = /^([-+*/])=(.*)$/s.exec(trimmed);
  if (!relative) return finished(new Parser(trimmed, names).all());
  const [, operator, rest] = relative;
  if (names.x === undefined) throw new Error("there is no value to begin with");
  const operand = new Parser(rest, names).all();
  if (operand.isPercent && (operator === "+" || operator === "-")) {
    const part = Number(names.x) * operand.value;
    return finished(combine(operator, { value: names.x }, { value: part }));
  }
  return finished(combine(operator, { value: names.x }, operand));
}

function finished({ value }) {
  if (typeof value === "number" && Number.isNaN(value)) throw new Error("that is not a number");
  return value;
}

class Parser {
  constructor(text, names) {
    this.text = text;
    this.names = names;
    this.at = 0;
    this.depth = 0;
  }

  all() {
    const result = this.sum();
    this.skipSpace();
    if (this.at < this.text.length) throw new Error(`"${this.text.slice(this.at)}" is not understood`);
    return result;
  }

  skipSpace() {
    while (/\s/.test(this.text[this.at] ?? "")) this.at += 1;
  }

  take(characters) {
    this.skipSpace();
    const next = this.text[this.at];
    if (next === undefined || !characters.includes(next)) return null;
    this.at += 1;
    return next;
  }

  sum() {
    let left = this.product();
    for (;;) {
      const operator = this.take("+-−");
      if (!operator) return left;
      left = combine(operator === "−" ? "-" : operator, left, this.product());
    }
  }

  product() {
    let left = this.signed();
    for (;;) {
      const operator = this.take("*/×÷·");
      if (!operator) return left;
      const meant = { "×": "*", "·": "*", "÷": "/" }[operator] ?? operator;
      // 2**3 is what Python and JavaScript write.
      if (meant === "*" && this.text[this.at] === "*") {
        this.at += 1;
        left = power(left, this.signed());
        continue;
      }
      left = combine(meant, left, this.signed());
    }
  }

  signed() {
    const sign = this.take("+-−");
    if (!sign) return this.raised();
    this.deeper();
    const { value } = this.signed();
    this.depth -= 1;
    return { value: sign === "+" ? value : -value };
  }

  raised() {
    const base = this.operand();
    if (!this.take("^")) return base;
    this.deeper();
    const exponent = this.signed();
    this.depth -= 1;
    return power(base, exponent);
  }

  deeper() {
    this.depth += 1;
    if (this.depth > deepest) throw new Error("there is too much inside each other");
  }

  operand() {
    const result = this.plainOperand();
    if (this.take("%")) return { value: Number(result.value) / 100, isPercent: true };
    return result;
  }

  plainOperand() {
    this.skipSpace();
    if (this.take("(")) {
      this.deeper();
      const inner = this.sum();
      this.depth -= 1;
      if (!this.take(")")) throw new Error("a ) is missing");
      return { value: inner.value };
    }
    const rest = this.text.slice(this.at);
    const number = /^(0x[0-9a-f_]+|0b[01_]+|0o[0-7_]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9]+)(?:e[-+]?[0-9]+)?)/i.exec(rest);
    if (number) {
      this.at += number[0].length;
      const comma = /^,([0-9]+)/.exec(rest.slice(number[0].length));
      if (comma) throw new Error(`write ${number[0]}.${comma[1]}`);
      const digits = number[0].replaceAll("_", "");
      if (/^(0[xbo][0-9a-f]+|[0-9]+)$/i.test(digits)) return { value: BigInt(digits) };
      return { value: Number(digits) };
    }
    const word = /^[\p{L}_][\p{L}0-9_]*/u.exec(rest);
    if (!word) throw new Error(rest === "" ? "something is missing at the end" : `"${rest}" is not understood`);
    this.at += word[0].length;
    return this.named(word[0]);
  }

  named(word) {
    const name = word.toLowerCase();
    if (Object.hasOwn(functions, name)) {
      if (!this.take("(")) throw new Error(`${name} is written ${name}(…)`);
      this.deeper();
      const { value } = this.sum();
      this.depth -= 1;
      if (!this.take(")")) throw new Error("a ) is missing");
      return { value: functions[name](Number(value)) };
    }
    if (Object.hasOwn(this.names, name) && this.names[name] !== undefined) return { value: this.names[name] };
    if (Object.hasOwn(constants, name)) return { value: constants[name] };
    throw new Error(`"${word}" is not a number`);
  }
}

function combine(operator, left, right) {
  let [a, b] = [left.value, right.value];
  const isExact = typeof a === "bigint" && typeof b === "bigint" && (operator !== "/" || (b !== 0n && a % b === 0n));
  if (!isExact) [a, b] = [Number(a), Number(b)];
  switch (operator) {
    case "+": return { value: a + b };
    case "-": return { value: a - b };
    case "*": return { value: a * b };
    default:
      if (Number(b) === 0) throw new Error("it divides by 0");
      return { value: a / b };
  }
}

function power(base, exponent) {
  const isExact = typeof base.value === "bigint" && typeof exponent.value === "bigint"
    && exponent.value >= 0n && exponent.value <= 64n;
  return { value: isExact ? base.value ** exponent.value : Number(base.value) ** Number(exponent.value) };
}
