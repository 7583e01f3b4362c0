# A Python contender in a process of its own: python3 child.py NAME. Speaks as support/child.rb does, of documents/*.msgpack:
#   ["check", case, operation]      packs again what was unpacked into packed/, for the other side to compare; null for what
#                                   it cannot do
#   ["time", case, operation, sec]  nanoseconds of one operation: by the clock on the wall and of the CPU; 0 for the collector,
#                                   which Python does not measure
import gc
import json
import os
import platform
import sys
import time
from itertools import repeat

WARM_UP_NS = 30_000_000


def load_msgspec():
    import msgspec

    return msgspec.__version__, msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder().decode


def typed_msgspec():
    """Structs for the cases that are read into objects, by their names."""
    from typing import Optional

    from msgspec import defstruct

    tweet = {"created_at": str, "id": int, "id_str": str, "text": str, "source": str, "truncated": bool, "retweet_count": int,
             "favorite_count": int, "favorited": bool, "retweeted": bool, "lang": str}
    row = dict.fromkeys("id name street city zip country phone email company title note".split(), str)
    text, names, ids = Optional[str], dict[str, str], list[int]
    price = defstruct("Price", dict.fromkeys(["amount", "audienceSubCategoryId", "seatCategoryId"], int).items())
    area = defstruct("Area", [("areaId", int), ("blockIds", ids)])
    category = defstruct("SeatCategory", [("areas", list[area]), ("seatCategoryId", int)])
    performance = defstruct("Performance", [("eventId", int), ("id", int), ("logo", text), ("name", text), ("prices", list[price]),
                                            ("seatCategories", list[category]), ("seatMapImage", text), ("start", int),
                                            ("venueCode", str)])
    event = defstruct("Event", [("description", text), ("id", int), ("logo", text), ("name", text), ("subTopicIds", ids),
                                ("subjectCode", text), ("subtitle", text), ("topicIds", ids)])
    catalog = defstruct("Catalog", [("areaNames", names), ("audienceSubCategoryNames", names), ("blockNames", names),
                                    ("events", dict[str, event]), ("performances", list[performance]), ("seatCategoryNames", names),
                                    ("subTopicNames", names), ("subjectNames", names), ("topicNames", names),
                                    ("topicSubTopics", dict[str, ids]), ("venueNames", names)])
    return {"twitter, 11 fields": defstruct("Page", [("statuses", list[defstruct("Tweet", tweet.items())])]),
            "citm_catalog": catalog, "1,000 rows": list[defstruct("Row", row.items())]}


def load_msgpack():
    import msgpack

    return ".".join(map(str, msgpack.version)), msgpack.packb, msgpack.unpackb


def load_ormsgpack():
    import ormsgpack

    return ormsgpack.__version__, ormsgpack.packb, ormsgpack.unpackb


class Child:
    def __init__(self, name, pack, unpack):
        self.name = name
        self.functions = {"pack": pack, "unpack": unpack, "from objects": pack}
        self.typed = globals().get(f"typed_{name}", dict)()
        self.current = None

    def check(self, case, operation):
        self.turn_to(case)
        if operation not in self.functions:
            return None
        packed = self.functions["pack"](self.object)
        path = os.path.join("packed", f"{self.name}-{os.path.basename(case)}")
        with open(path, "wb") as file:
            file.write(packed)
        return {"bytes": len(packed), "file": path}

    def time(self, case, operation, seconds):
        self.turn_to(case)
        function = self.functions[operation]
        argument = self.bytes if operation in ("unpack", "to objects") else self.object
        if operation not in self.expected:
            once = max(self.measure(1, function, argument)[0], 1)
            self.expected[operation] = self.per_call(max(int(WARM_UP_NS / once), 1), function, argument)[0]
        gc.collect()
        times = self.per_call(max(int(seconds * 1e9 / self.expected[operation]), 1), function, argument)
        self.expected[operation] = times[0]
        return times + [0]

    def per_call(self, times, function, argument):
        return [ns / times for ns in self.measure(times, function, argument)]

    def measure(self, times, function, argument):
        wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
        for _ in repeat(None, times):
            function(argument)
        return [time.perf_counter_ns() - wall, time.thread_time_ns() - cpu]

    def turn_to(self, case):
        if case != self.current:
            self.current = case
            self.expected = {}
            with open(os.path.join("documents", f"{os.path.basename(case)}.msgpack"), "rb") as file:
                self.bytes = file.read()
            unpack = self.functions["unpack"]
            if case.startswith("records/"):
                import msgspec

                unpack = self.functions["to objects"] = msgspec.msgpack.Decoder(self.typed[os.path.basename(case)]).decode
            self.object = unpack(self.bytes)


def say(answer):
    print(json.dumps(answer), flush=True)


def main():
    name = sys.argv[1]
    try:
        version, pack, unpack = globals()[f"load_{name}"]()
    except ImportError as error:
        say({"missing": str(error)})
        return
    child = Child(name, pack, unpack)
    say({"version": version, "on": f"Python {platform.python_version()}"})
    for line in sys.stdin:
        request, *arguments = json.loads(line)
        say([getattr(child, request)(*arguments)])


main()
