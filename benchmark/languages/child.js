// A contender on Node in a process of its own: node --expose-gc child.js NAME. Speaks as support/child.rb does, of
// documents/*.msgpack:
//   ["check", case, operation]      packs again what was unpacked into packed/, for the other side to compare
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

class Child {
  constructor(name, functions) {
    this.name = name;
    this.functions = functions;
  }

  check(id) {
    this.turnTo(id);
    const packed = this.functions.pack(this.functions.unpack(this.bytes));
    const file = path.join("packed", `${this.name}-${path.basename(id)}`);
    fs.writeFileSync(file, packed);
    return { bytes: packed.length, file };
  }

  time(id, operation, seconds) {
    this.turnTo(id);
    const work = this.functions[operation];
    const argument = operation === "unpack" ? this.bytes : this.object;
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
    this.object = this.functions.unpack(this.bytes);
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
