-- Echoes messages by lua-messagepack. A table is an array if its keys count from 1, and else a map.
local mp = require "MessagePack"

if arg[1] == "--version" then
  print("lua-messagepack " .. mp._VERSION .. " " .. _VERSION)
  os.exit()
end

local function hex(bytes)
  return (bytes:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end))
end

local say

local function say_array(value)
  local elements = {}
  for i, element in ipairs(value) do
    elements[i] = say(element)
  end
  return "[" .. table.concat(elements, ",") .. "]"
end

local function say_table(value)
  local count = 0
  for _ in pairs(value) do
    count = count + 1
  end
  if count == #value then return say_array(value) end
  local elements = {}
  for key, element in pairs(value) do
    elements[#elements + 1] = "[" .. say(key) .. "," .. say(element) .. "]"
  end
  return '{"map":[' .. table.concat(elements, ",") .. "]}"
end

function say(value)
  if value == nil then return "null" end
  if type(value) == "boolean" then return tostring(value) end
  if math.type(value) == "integer" then return ("%d"):format(value) end
  if type(value) == "number" then return '{"f64":"' .. hex((">d"):pack(value)) .. '"}' end
  if type(value) == "string" then return '{"str":"' .. hex(value) .. '"}' end
  return say_table(value)
end

local function frame(data)
  io.write((">s4"):pack(data))
end

local input = io.read("a")
local at = 1
while at <= #input do
  local message
  message, at = (">s4"):unpack(input, at)
  local done, packed, said = pcall(function()
    local value = mp.unpack(message)
    return mp.pack(value), say(value)
  end)
  frame(done and packed or "")
  frame(done and said or tostring(packed))
end
