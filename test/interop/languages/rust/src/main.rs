// Echoes messages by rmp-serde, through a type of its own that has all that MessagePack has.
use rmp_serde::MSGPACK_EXT_STRUCT_NAME;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use std::fmt;
use std::io::{self, Read, Write};

enum Value {
    Nil,
    Boolean(bool),
    Unsigned(u64),
    Signed(i64),
    Float32(f32),
    Float64(f64),
    Str(String),
    Bin(Vec<u8>),
    Array(Vec<Value>),
    Map(Vec<(Value, Value)>),
    Ext(i8, Vec<u8>),
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Serialize for Bytes<'a> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Nil => serializer.serialize_unit(),
            Value::Boolean(value) => serializer.serialize_bool(*value),
            Value::Unsigned(value) => serializer.serialize_u64(*value),
            Value::Signed(value) => serializer.serialize_i64(*value),
            Value::Float32(value) => serializer.serialize_f32(*value),
            Value::Float64(value) => serializer.serialize_f64(*value),
            Value::Str(value) => serializer.serialize_str(value),
            Value::Bin(value) => serializer.serialize_bytes(value),
            Value::Array(elements) => {
                let mut array = serializer.serialize_seq(Some(elements.len()))?;
                for element in elements {
                    array.serialize_element(element)?;
                }
                array.end()
            }
            Value::Map(pairs) => {
                let mut map = serializer.serialize_map(Some(pairs.len()))?;
                for (key, value) in pairs {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
            Value::Ext(kind, bytes) => serializer.serialize_newtype_struct(MSGPACK_EXT_STRUCT_NAME, &(*kind, Bytes(bytes))),
        }
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("anything")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Boolean(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Unsigned(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Signed(value))
    }
    fn visit_f32<E>(self, value: f32) -> Result<Value, E> {
        Ok(Value::Float32(value))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float64(value))
    }
    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Str(value.to_string()))
    }
    fn visit_bytes<E>(self, value: &[u8]) -> Result<Value, E> {
        Ok(Value::Bin(value.to_vec()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(element) = elements.next_element()? {
            array.push(element);
        }
        Ok(Value::Array(array))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some(pair) = pairs.next_entry()? {
            map.push(pair);
        }
        Ok(Value::Map(map))
    }
    // An ext comes as a pair of its type and its bytes.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_tuple(2, Ext)
    }
}

struct Ext;

impl<'de> Visitor<'de> for Ext {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("an ext")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Value, A::Error> {
        let kind: i8 = parts.next_element()?.unwrap_or(0);
        match parts.next_element()? {
            Some(Value::Bin(bytes)) => Ok(Value::Ext(kind, bytes)),
            _ => Err(serde::de::Error::custom("an ext without bytes")),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{:02x}", byte)).collect()
}

fn say(value: &Value) -> String {
    match value {
        Value::Nil => "null".to_string(),
        Value::Boolean(value) => value.to_string(),
        Value::Unsigned(value) => value.to_string(),
        Value::Signed(value) => value.to_string(),
        Value::Float32(value) => format!("{{\"f32\":\"{:08x}\"}}", value.to_bits()),
        Value::Float64(value) => format!("{{\"f64\":\"{:016x}\"}}", value.to_bits()),
        Value::Str(value) => format!("{{\"str\":\"{}\"}}", hex(value.as_bytes())),
        Value::Bin(value) => format!("{{\"bin\":\"{}\"}}", hex(value)),
        Value::Array(elements) => format!("[{}]", elements.iter().map(say).collect::<Vec<_>>().join(",")),
        Value::Map(pairs) => {
            let said: Vec<_> = pairs.iter().map(|(key, value)| format!("[{},{}]", say(key), say(value))).collect();
            format!("{{\"map\":[{}]}}", said.join(","))
        }
        Value::Ext(kind, bytes) => format!("{{\"ext\":[{},\"{}\"]}}", kind, hex(bytes)),
    }
}

fn echo(message: &[u8]) -> (Vec<u8>, String) {
    let unpacked: Result<Value, _> = rmp_serde::from_slice(message);
    match unpacked {
        Err(error) => (Vec::new(), error.to_string()),
        Ok(value) => match rmp_serde::to_vec(&value) {
            Err(error) => (Vec::new(), error.to_string()),
            Ok(packed) => (packed, say(&value)),
        },
    }
}

fn frame(output: &mut dyn Write, data: &[u8]) {
    output.write_all(&(data.len() as u32).to_be_bytes()).unwrap();
    output.write_all(data).unwrap();
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("--version") {
        println!("rmp-serde {} Rust {}", env!("LIBRARY_VERSION"), env!("RUST_VERSION"));
        return;
    }
    let mut input = Vec::new();
    io::stdin().read_to_end(&mut input).unwrap();
    let mut output = io::BufWriter::new(io::stdout());
    let mut at = 0;
    while at < input.len() {
        let size = u32::from_be_bytes(input[at..at + 4].try_into().unwrap()) as usize;
        let (packed, said) = echo(&input[at + 4..at + 4 + size]);
        frame(&mut output, &packed);
        frame(&mut output, said.as_bytes());
        at += 4 + size;
    }
}
