// A contender on Node in a process of its own: node --expose-gc child.js NAME. Speaks as support/contender_process.rb does,
// of documents/*.msgpack:
//   ["check", case, operation]      packs into packed/ what was unpacked, or what a look found, for the other side to compare;
//                                   null for what it cannot do
//   ["time", case, operation, sec]  nanoseconds of one operation: by the clock on the wall and of the CPU; 0 for the collector,
//                                   which Node does not measure. The threads that collect and compile beside it are free
"use strict";
const fs = require("fs");
const path = require("path");
const readline = require("readline");

const WARM_UP_NS = 100e6; // V8 compiles in steps, and later than others

const loaders = {
  // Records are msgpackr's own extension, which others do not read.
  msgpackr() {
    const { Packr, isNativeAccelerationEnabled } = require("msgpackr");
    const packr = new Packr({ useRecords: false, int64AsType: "auto" });
    return {
      version: JSON.parse(fs.readFileSync("node_modules/msgpackr/package.json")).version + (isNativeAccelerationEnabled ? "" : " without its C++"),
      pack: (object) => packr.pack(object),
      unpack: (bytes) => packr.unpack(bytes),
    };
  },
};

const AGAIN = "four [] again"; // a look into a document that is unpacked once for all
const PACKED = ["filter and pass on", "change one field"]; // looks whose answers are packed, to be sent

const names = (page) => page.statuses.map((status) => status.user.screen_name);

// Looks into unpacked documents, as Payloads::Look has them.
const TASKS = {
  "a scalar near the start": (page) => page.statuses[0].created_at,
  "a scalar near the end": (page) => page.search_metadata.count,
  "three scalars": (page) => [page.statuses[50].id, page.statuses[99].user.name, page.search_metadata.count],
  "100 names by path": names,
  "100 names by each and dig": names,
  "100 names by index": ({ statuses }) => Array.from(statuses.keys(), (i) => statuses[i].user.screen_name),
  [AGAIN]: (page) => page.statuses[50].user.screen_name,
  "filter and pass on": (page) => page.statuses.filter((status) => status.lang === "ja"),
  "change one field": (page) => ({ ...page, search_metadata: { ...page.search_metadata, count: 1 } }),
  "check all of it": (page) => Object.keys(page).length,
  "a coordinate near the end": (canada) => canada.features[0].geometry.coordinates.at(-1).at(-1)[0],
  "all prices": (citm) => citm.performances.flatMap((one) => one.prices.map((price) => price.amount)),
};

// What is timed: no library here looks without unpacking all of it.
function look(name, { pack, unpack }) {
  const task = TASKS[name];
  if (!task || name === AGAIN) return task;
  return PACKED.includes(name) ? (bytes) => pack(task(unpack(bytes))) : (bytes) => task(unpack(bytes));
}

class Child {
  constructor(name, functions) {
    this.name = name;
    this.functions = functions;
  }

  check(id, operation) {
    this.turnTo(id);
    if (!this.functions[operation]) return null;
    const packed = operation === "look" ? this.found() : this.functions.pack(this.object);
    const file = path.join("packed", `${this.name}-${path.basename(id)}`);
    fs.writeFileSync(file, packed);
    return { bytes: (operation === "look" ? this.bytes : packed).length, file };
  }

  found() {
    const answer = this.functions.look(this.argument("look"));
    return Buffer.isBuffer(answer) ? answer : this.functions.pack(answer);
  }

  argument(operation) {
    const fromBytes = operation === "unpack" || this.object === undefined; // as it is for most looks
    return fromBytes ? this.bytes : this.object;
  }

  time(id, operation, seconds) {
    this.turnTo(id);
    const work = this.functions[operation];
    const argument = this.argument(operation);
    if (!this.expected[operation]) {
      const once = Math.max(this.measure(1, work, argument)[0], 1);
      this.expected[operation] = this.perCall(Math.max(Math.floor(WARM_UP_NS / once), 1), work, argument)[0];
    }
    global.gc();
    const times = this.perCall(Math.max(Math.floor((seconds * 1e9) / this.expected[operation]), 1), work, argument);
    this.expected[operation] = times[0];
    return [...times, 0];
  }

  perCall(times, work, argument) {
    return this.measure(times, work, argument).map((ns) => ns / times);
  }

  measure(times, work, argument) {
    const cpu = this.cpu();
    const wall = process.hrtime.bigint();
    for (let i = 0; i < times; i++) {
      this.last = work(argument); // kept, so that V8 cannot leave the call out
    }
    return [Number(process.hrtime.bigint() - wall), this.cpu() - cpu];
  }

  // Linux has a thread's time by the tick, unless the whole process's, which is exact, was asked for just before.
  cpu() {
    process.cpuUsage();
    const used = process.threadCpuUsage();
    return (used.user + used.system) * 1000;
  }

  turnTo(id) {
    if (id === this.current) return;
    this.current = id;
    this.expected = {};
    this.bytes = fs.readFileSync(path.join("documents", `${path.basename(id)}.msgpack`));
    const [group, name] = id.split("/");
    this.functions.look = group === "looks" ? look(name, this.functions) : undefined;
    this.object = this.functions.look && name !== AGAIN ? undefined : this.functions.unpack(this.bytes);
  }
}

function say(answer) {
  fs.writeSync(1, JSON.stringify(answer) + "\n");
}

function main() {
  const name = process.argv[2];
  let functions;
  try {
    functions = loaders[name]();
  } catch (error) {
    say({ missing: error.message.split("\n")[0] });
    return;
  }
  const child = new Child(name, functions);
  say({ version: functions.version, on: `Node ${process.versions.node}` });
  readline.createInterface({ input: process.stdin }).on("line", (line) => {
    const [request, ...rest] = JSON.parse(line);
    say([child[request](...rest)]);
  });
}

main();
