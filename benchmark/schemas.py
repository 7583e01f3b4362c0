"""The peers in Python of benchmark/schemas.rb: python3 benchmark/schemas.py FOLDER, with orjson, msgspec, pydantic."""

import gc
import sys
import time
from typing import Annotated

import msgspec
import orjson
import pydantic

ROWS = [
    {"id": i, "name": f"Name {i}", "email": f"user{i}@example.com", "active": i % 2 == 1, "score": i * 0.5,
     "age": 20 + i % 60, "city": "Tokyo", "zip": f"100-{i}", "country": "JP", "created": 1_700_000_000 + i,
     "tags": ["a", "b"]} for i in range(1_000)
]
PLAIN = {"id": int, "name": str, "email": str, "active": bool, "score": float, "age": int, "city": str, "zip": str,
         "country": str, "created": int, "tags": list[str]}
LENGTHS = {"name": (1, 30), "email": (3, 100), "city": (0, 40), "zip": (1, 10), "country": (2, 2)}
BOUNDS = {"id": {"ge": 0}, "score": {"ge": 0.0, "le": 1e6}, "age": {"ge": 0, "le": 150}, "created": {"ge": 0}}


def ruled(rule):
    """The constraints, as msgspec.Meta or pydantic.Field say them."""
    def text(least, most):
        return Annotated[str, rule(min_length=least, max_length=most)]

    return {**PLAIN, **{name: text(*length) for name, length in LENGTHS.items()},
            **{name: Annotated[PLAIN[name], rule(**bounds)] for name, bounds in BOUNDS.items()},
            "tags": Annotated[list[text(1, 10)], rule(max_length=3)]}


def measure(task, peer, times, work):
    rounds = []
    for _ in range(9):
        gc.collect()
        start = time.process_time()
        for _ in range(times):
            work()
        rounds.append((time.process_time() - start) / times * 1e6)
    print(f"{task:27} {peer:22} {min(rounds):9.2f}")


print(f"Python {sys.version.split()[0]}, orjson {orjson.__version__}, msgspec {msgspec.__version__}, "
      f"pydantic {pydantic.VERSION}")
texts = {name: open(f"{sys.argv[1]}/{name}.json", "rb").read() for name in ("twitter", "citm_catalog", "canada")}
for name, text in {**texts, "rows": orjson.dumps(ROWS), "small": b'{"id":1,"name":"Ada"}'}.items():
    objects, times = orjson.loads(text), max(2_000_000 // len(text), 4)
    for peer, loads, dumps in (("orjson", orjson.loads, orjson.dumps),
                               ("msgspec", msgspec.json.Decoder().decode, msgspec.json.Encoder().encode)):
        measure(f"{name} from JSON", peer, times, lambda: loads(text))
        measure(f"{name} to JSON", peer, times, lambda: dumps(objects))
for kind, struct, model in (("plain", PLAIN, PLAIN), ("ruled", ruled(msgspec.Meta), ruled(pydantic.Field))):
    rows = list[msgspec.defstruct("Row", struct.items())]
    members = {name: (of, ...) for name, of in model.items()}
    adapter = pydantic.TypeAdapter(list[pydantic.create_model("Row", **members)])
    objects, text, packed = msgspec.convert(ROWS, rows), orjson.dumps(ROWS), msgspec.msgpack.encode(ROWS)
    for task, peer, work in (("from JSON", "msgspec", lambda: msgspec.json.decode(text, type=rows)),
                             ("from JSON", "pydantic", lambda: adapter.validate_json(text)),
                             ("from MessagePack", "msgspec", lambda: msgspec.msgpack.decode(packed, type=rows)),
                             ("to JSON", "msgspec", lambda: msgspec.json.encode(objects)),
                             ("to MessagePack", "msgspec", lambda: msgspec.msgpack.encode(objects)),
                             ("from Hashes", "msgspec", lambda: msgspec.convert(ROWS, rows)),
                             ("from Hashes", "pydantic", lambda: adapter.validate_python(ROWS))):
        measure(f"{kind} rows {task}", peer, 20, work)
