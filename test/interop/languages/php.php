<?php
// Echoes messages by the msgpack extension of PHP. An array of PHP is an array if its keys count from 0, and else a map.

if (($argv[1] ?? "") === "--version") {
    exit("msgpack " . phpversion("msgpack") . " PHP " . PHP_VERSION . "\n");
}

set_error_handler(function ($number, $text) {
    throw new ErrorException($text);
});

function say($value): string
{
    if ($value === null || is_bool($value) || is_int($value)) {
        return json_encode($value);
    }
    if (is_float($value)) {
        return '{"f64":"' . bin2hex(pack("E", $value)) . '"}';
    }
    if (is_string($value)) {
        return '{"str":"' . bin2hex($value) . '"}';
    }
    if (is_object($value)) {
        return say((array) $value) === "[]" ? '{"map":[]}' : throw new ErrorException("an object"); // an empty map
    }
    if (array_is_list($value)) {
        return "[" . implode(",", array_map("say", $value)) . "]";
    }
    $pairs = [];
    foreach ($value as $key => $element) {
        $pairs[] = "[" . say($key) . "," . say($element) . "]";
    }
    return '{"map":[' . implode(",", $pairs) . "]}";
}

function frame(string $data): void
{
    fwrite(STDOUT, pack("N", strlen($data)) . $data);
}

ini_set("memory_limit", "1G");
$input = stream_get_contents(STDIN);
for ($at = 0; $at < strlen($input); $at += 4 + $size) {
    $size = unpack("N", $input, $at)[1];
    try {
        $value = msgpack_unpack(substr($input, $at + 4, $size));
        $answer = [msgpack_pack($value), say($value)];
    } catch (Throwable $error) {
        $answer = ["", $error->getMessage()];
    }
    array_map("frame", $answer);
}
