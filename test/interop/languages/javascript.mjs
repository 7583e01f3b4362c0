// Echoes messages by a library of JavaScript: @msgpack/msgpack or msgpackr, the first argument. "useBigInt64"
// after it asks the former for integers that do not lose digits.
import fs from "node:fs";
import { createRequire } from "node:module";

const [name, ...options] = process.argv.slice(2);
const require = createRequire(process.cwd() + "/");
const library = require(name);
const useBigInt64 = options.includes("useBigInt64");
const [unpack, pack] = library.Decoder && !library.Packr
  ? [(data) => library.decode(data, { useBigInt64 }), (value) => library.encode(value, { useBigInt64 })]
  : [library.unpack, library.pack];

const hex = (bytes) => Buffer.from(bytes).toString("hex");

function float(value) {
  const bits = Buffer.alloc(8);
  bits.writeDoubleBE(value);
  return `{"f64":"${hex(bits)}"}`;
}

function pairs(entries) {
  return `{"map":[${entries.map(([key, element]) => `[${say(key)},${say(element)}]`).join(",")}]}`;
}

// A number of JavaScript has no type beside it: it is an integer if it has no fraction.
function say(value) {
  if (value === null || value === undefined || typeof value === "boolean") return String(value ?? null);
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") return Number.isInteger(value) && !Object.is(value, -0) ? String(BigInt(value)) : float(value);
  if (typeof value === "string") return `{"str":"${hex(value)}"}`;
  if (Array.isArray(value)) return `[${value.map(say).join(",")}]`;
  if (value instanceof Uint8Array) return `{"bin":"${hex(value)}"}`;
  if (value instanceof Date) {
    const ms = value.getTime();
    const seconds = Math.floor(ms / 1000);
    return `{"time":[${seconds},${Math.round((ms - seconds * 1000) * 1e6)}]}`;
  }
  if (value instanceof Map) return pairs([...value]);
  if (value.type !== undefined && value.data instanceof Uint8Array) return `{"ext":[${value.type},"${hex(value.data)}"]}`;
  if (value.constructor?.name === "ExtData") return `{"ext":[${value.type},"${hex(value.data)}"]}`;
  return pairs(Object.entries(value));
}

function version() {
  let folder = require.resolve(name);
  while (!fs.existsSync(folder + "/package.json") || JSON.parse(fs.readFileSync(folder + "/package.json")).name !== name) {
    folder = folder.replace(/\/[^/]*$/, "");
  }
  return JSON.parse(fs.readFileSync(folder + "/package.json")).version;
}

if (options.includes("--version")) {
  console.log(`${name} ${version()} Node ${process.version.slice(1)}`);
  process.exit();
}

const frames = [];
function frame(data) {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.length);
  frames.push(size, Buffer.from(data));
}

const input = fs.readFileSync(0);
for (let at = 0; at < input.length; ) {
  const size = input.readUInt32BE(at);
  const message = Uint8Array.prototype.slice.call(input, at + 4, at + 4 + size);
  at += 4 + size;
  let answer;
  try {
    const value = unpack(message);
    answer = [Buffer.from(pack(value)), Buffer.from(say(value))];
  } catch (error) {
    answer = [Buffer.alloc(0), Buffer.from(String(error).slice(0, 200))];
  }
  answer.forEach(frame);
}
process.stdout.write(Buffer.concat(frames));
