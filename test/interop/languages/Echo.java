// Echoes messages by msgpack-java, as its Values.
import java.io.ByteArrayOutputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.Value;

class Echo {
    static void hex(StringBuilder text, byte[] bytes) {
        for (byte one : bytes) {
            text.append(Character.forDigit(one >> 4 & 15, 16)).append(Character.forDigit(one & 15, 16));
        }
    }

    static void say(StringBuilder text, Value value) {
        switch (value.getValueType()) {
            case NIL: text.append("null"); break;
            case BOOLEAN: text.append(value.asBooleanValue().getBoolean()); break;
            case INTEGER: text.append(value.asIntegerValue().asBigInteger()); break;
            case FLOAT: text.append(String.format("{\"f64\":\"%016x\"}", Double.doubleToRawLongBits(value.asFloatValue().toDouble()))); break;
            case STRING: sayBytes(text, "str", value.asStringValue().asByteArray()); break;
            case BINARY: sayBytes(text, "bin", value.asBinaryValue().asByteArray()); break;
            case ARRAY: sayArray(text, value); break;
            case MAP: sayMap(text, value); break;
            case EXTENSION: sayExtension(text, value); break;
        }
    }

    static void sayBytes(StringBuilder text, String type, byte[] bytes) {
        text.append("{\"").append(type).append("\":\"");
        hex(text, bytes);
        text.append("\"}");
    }

    static void sayArray(StringBuilder text, Value array) {
        String separator = "";
        text.append("[");
        for (Value element : array.asArrayValue()) {
            text.append(separator);
            say(text, element);
            separator = ",";
        }
        text.append("]");
    }

    static void sayMap(StringBuilder text, Value map) {
        String separator = "";
        text.append("{\"map\":[");
        for (Map.Entry<Value, Value> pair : map.asMapValue().entrySet()) {
            text.append(separator).append("[");
            say(text, pair.getKey());
            text.append(",");
            say(text, pair.getValue());
            text.append("]");
            separator = ",";
        }
        text.append("]}");
    }

    static void sayExtension(StringBuilder text, Value value) {
        if (value.isTimestampValue()) {
            text.append("{\"time\":[").append(value.asTimestampValue().getEpochSecond()).append(",");
            text.append(value.asTimestampValue().getNano()).append("]}");
            return;
        }
        text.append("{\"ext\":[").append(value.asExtensionValue().getType()).append(",\"");
        hex(text, value.asExtensionValue().getData());
        text.append("\"]}");
    }

    static byte[][] echo(byte[] message) {
        try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(message);
             MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
            Value value = unpacker.unpackValue();
            packer.packValue(value);
            StringBuilder text = new StringBuilder();
            say(text, value);
            return new byte[][] {packer.toByteArray(), text.toString().getBytes(StandardCharsets.UTF_8)};
        } catch (IOException | RuntimeException error) {
            return new byte[][] {new byte[0], error.toString().getBytes(StandardCharsets.UTF_8)};
        }
    }

    public static void main(String[] arguments) throws IOException {
        if (arguments.length > 0 && arguments[0].equals("--version")) {
            System.out.println("msgpack-core " + System.getProperty("msgpack.version") + " Java " + System.getProperty("java.version"));
            return;
        }
        DataInputStream input = new DataInputStream(new java.io.BufferedInputStream(System.in));
        DataOutputStream output = new DataOutputStream(new BufferedOutputStream(System.out));
        while (true) {
            byte[] message;
            try {
                message = new byte[input.readInt()];
            } catch (EOFException end) {
                break;
            }
            input.readFully(message);
            for (byte[] frame : echo(message)) {
                output.writeInt(frame.length);
                output.write(frame);
            }
        }
        output.flush();
    }
}
