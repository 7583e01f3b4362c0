// Echoes messages by nlohmann/json. An ext is a binary with a subtype.
#include "frames.h"
#include <nlohmann/json.hpp>

using nlohmann::json;

static void say_json(text_t *text, const json &value);

static void
say_array(text_t *text, const json &value)
{
    say(text, "[");
    for (size_t i = 0; i < value.size(); i++) {
        if (i) say(text, ",");
        say_json(text, value[i]);
    }
    say(text, "]");
}

static void
say_object(text_t *text, const json &value)
{
    const char *separator = "";
    say(text, "{\"map\":[");
    for (const auto &pair : value.items()) {
        say(text, separator);
        say(text, "[");
        say_bytes(text, "str", pair.key().data(), pair.key().size());
        say(text, ",");
        say_json(text, pair.value());
        say(text, "]");
        separator = ",";
    }
    say(text, "]}");
}

static void
say_binary(text_t *text, const json::binary_t &value)
{
    if (value.has_subtype()) say_ext(text, static_cast<int8_t>(value.subtype()), value.data(), value.size());
    else say_bytes(text, "bin", value.data(), value.size());
}

static void
say_json(text_t *text, const json &value)
{
    switch (value.type()) {
      case json::value_t::boolean: say(text, value.get<bool>() ? "true" : "false"); break;
      case json::value_t::number_integer: say_signed(text, value.get<int64_t>()); break;
      case json::value_t::number_unsigned: say_unsigned(text, value.get<uint64_t>()); break;
      case json::value_t::number_float: say_f64(text, value.get<double>()); break;
      case json::value_t::string: {
        const auto &string = value.get_ref<const std::string &>();
        say_bytes(text, "str", string.data(), string.size());
        break;
      }
      case json::value_t::binary: say_binary(text, value.get_binary()); break;
      case json::value_t::array: say_array(text, value); break;
      case json::value_t::object: say_object(text, value); break;
      default: say(text, "null");
    }
}

static void
echo(const text_t &message)
{
    text_t said = {};
    try {
        json value = json::from_msgpack(message.bytes, message.bytes + message.size);
        std::vector<uint8_t> packed = json::to_msgpack(value);
        say_json(&said, value);
        frame(packed.data(), packed.size());
        frame(said.bytes, said.size);
    }
    catch (const std::exception &error) {
        frame("", 0);
        frame(error.what(), strlen(error.what()));
    }
    free(said.bytes);
}

int
main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--version")) {
        printf("nlohmann/json %d.%d.%d C++\n", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
               NLOHMANN_JSON_VERSION_PATCH);
        return 0;
    }
    text_t message = {};
    while (next_message(&message)) echo(message);
    return 0;
}
