# A Python contender in a process of its own: python3 child.py NAME. Speaks as support/contender_process.rb does, of
# documents/*.msgpack:
#   ["check", case, operation]      packs into packed/ what was unpacked, or what a look found, for the other side to compare;
#                                   null for what it cannot do
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
AGAIN = "four [] again"  # a look into a document that is unpacked once for all


def load_msgspec():
    import msgspec

    return msgspec.__version__, msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder().decode


def typed_msgspec():
    """Decoders into Structs for the cases that are read into objects, by their names."""
    from typing import Optional

    from msgspec import defstruct
    from msgspec.msgpack import Decoder

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
    types = {"twitter, 11 fields": defstruct("Page", [("statuses", list[defstruct("Tweet", tweet.items())])]),
             "citm_catalog": catalog, "1,000 rows": list[defstruct("Row", row.items())]}
    return {name: Decoder(type).decode for name, type in types.items()}


def looks_msgspec():
    """Looks by their tasks, as Payloads::Look has them: decoders of what is wanted, which skip the rest or leave it Raw."""
    from msgspec import Raw, defstruct
    from msgspec.msgpack import Decoder, Encoder

    def only(**fields):
        return defstruct("Only", fields.items())

    def decoder(**fields):
        return Decoder(only(**fields)).decode

    unpack, pack = Decoder().decode, Encoder().encode
    times = decoder(statuses=list[only(created_at=str)])
    page = decoder(search_metadata=only(count=int))
    three = decoder(statuses=list[only(id=int, user=only(name=str))], search_metadata=only(count=int))
    users = decoder(statuses=list[only(user=only(screen_name=str))])
    statuses, language = decoder(statuses=list[Raw]), decoder(lang=str)
    parts = Decoder(dict[str, Raw]).decode
    canada = decoder(features=list[only(geometry=only(coordinates=list[Raw]))])
    ring = Decoder(list[tuple[float, float]]).decode
    catalog = decoder(performances=list[only(prices=list[only(amount=int)])])

    def three_scalars(data):
        found = three(data)
        return [found.statuses[50].id, found.statuses[99].user.name, found.search_metadata.count]

    def names(data):
        return [status.user.screen_name for status in users(data).statuses]

    def names_by_index(data):
        found = users(data).statuses
        return [found[i].user.screen_name for i in range(len(found))]

    def filter_and_pass_on(data):
        return pack([status for status in statuses(data).statuses if language(status).lang == "ja"])

    def change_one_field(data):
        found = parts(data)
        return pack({**found, "search_metadata": {**unpack(found["search_metadata"]), "count": 1}})

    return {
        "a scalar near the start": lambda data: times(data).statuses[0].created_at,
        "a scalar near the end": lambda data: page(data).search_metadata.count,
        "three scalars": three_scalars,
        "100 names by path": names,
        "100 names by each and dig": names,
        "100 names by index": names_by_index,
        AGAIN: lambda page: page["statuses"][50]["user"]["screen_name"],
        "filter and pass on": filter_and_pass_on,
        "change one field": change_one_field,
        "check all of it": lambda data: len(unpack(data)),
        "a coordinate near the end": lambda data: ring(canada(data).features[0].geometry.coordinates[-1])[-1][0],
        "all prices": lambda data: [price.amount for one in catalog(data).performances for price in one.prices],
    }


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
        self.looks = globals().get(f"looks_{name}", dict)()
        self.current = None

    def check(self, case, operation):
        self.turn_to(case)
        if self.functions.get(operation) is None:
            return None
        packed = self.found() if operation == "look" else self.functions["pack"](self.object)
        path = os.path.join("packed", f"{self.name}-{os.path.basename(case)}")
        with open(path, "wb") as file:
            file.write(packed)
        return {"bytes": len(self.bytes if operation == "look" else packed), "file": path}

    def found(self):
        answer = self.functions["look"](self.argument("look"))
        return answer if isinstance(answer, bytes) else self.functions["pack"](answer)

    def argument(self, operation):
        from_bytes = operation in ("unpack", "to objects") or self.object is None  # as it is for most looks
        return self.bytes if from_bytes else self.object

    def time(self, case, operation, seconds):
        self.turn_to(case)
        function = self.functions[operation]
        argument = self.argument(operation)
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
            group, name = case.split("/")
            self.functions["to objects"] = self.typed.get(name) if group == "records" else None
            self.functions["look"] = self.looks.get(name) if group == "looks" else None
            unpack = self.functions["to objects"] or self.functions["unpack"]
            self.object = None if self.functions["look"] and name != AGAIN else unpack(self.bytes)


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
