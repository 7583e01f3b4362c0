"""Echoes messages by msgpack for Python."""
import platform
import struct
import sys

import msgpack


def say(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return '{"f64":"%s"}' % struct.pack(">d", value).hex()
    if isinstance(value, str):
        return '{"str":"%s"}' % value.encode("utf-8").hex()
    if isinstance(value, bytes):
        return '{"bin":"%s"}' % value.hex()
    if isinstance(value, dict):
        return '{"map":[%s]}' % ",".join("[%s,%s]" % (say(k), say(v)) for k, v in value.items())
    if isinstance(value, list):
        return "[%s]" % ",".join(map(say, value))
    if isinstance(value, msgpack.Timestamp):
        return '{"time":[%d,%d]}' % (value.seconds, value.nanoseconds)
    return '{"ext":[%d,"%s"]}' % (value.code, value.data.hex())


def frame(data):
    sys.stdout.buffer.write(struct.pack(">I", len(data)) + data)


if sys.argv[1:] == ["--version"]:
    print("msgpack", ".".join(map(str, msgpack.version)), "Python", platform.python_version())
    sys.exit()

while size := sys.stdin.buffer.read(4):
    message = sys.stdin.buffer.read(struct.unpack(">I", size)[0])
    try:
        value = msgpack.unpackb(message, strict_map_key=False)
        answer = msgpack.packb(value), say(value).encode()
    except Exception as error:
        answer = b"", ("%s: %s" % (type(error).__name__, error)).encode("utf-8", "replace")
    frame(answer[0])
    frame(answer[1])
