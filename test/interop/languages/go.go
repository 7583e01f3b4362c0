// Echoes messages by vmihailenco/msgpack, with maps whose keys are of any type, and integers in their shortest form.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"time"

	"github.com/vmihailenco/msgpack/v5"
)

func say(w *bytes.Buffer, value interface{}) {
	switch v := value.(type) {
	case nil:
		w.WriteString("null")
	case bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, int, uint:
		fmt.Fprintf(w, "%v", v)
	case float32:
		fmt.Fprintf(w, `{"f32":"%08x"}`, math.Float32bits(v))
	case float64:
		fmt.Fprintf(w, `{"f64":"%016x"}`, math.Float64bits(v))
	case string:
		fmt.Fprintf(w, `{"str":"%s"}`, hex.EncodeToString([]byte(v)))
	case []byte:
		fmt.Fprintf(w, `{"bin":"%s"}`, hex.EncodeToString(v))
	case time.Time:
		fmt.Fprintf(w, `{"time":[%d,%d]}`, v.Unix(), v.Nanosecond())
	case []interface{}:
		w.WriteString("[")
		for i, element := range v {
			if i > 0 {
				w.WriteString(",")
			}
			say(w, element)
		}
		w.WriteString("]")
	case map[interface{}]interface{}:
		sayMap(w, v)
	default:
		panic(fmt.Sprintf("a %T", v))
	}
}

func sayMap(w *bytes.Buffer, value map[interface{}]interface{}) {
	separator := ""
	w.WriteString(`{"map":[`)
	for key, element := range value {
		w.WriteString(separator + "[")
		say(w, key)
		w.WriteString(",")
		say(w, element)
		w.WriteString("]")
		separator = ","
	}
	w.WriteString("]}")
}

func echo(message []byte) (packed []byte, said []byte) {
	defer func() {
		if problem := recover(); problem != nil {
			packed, said = nil, []byte(fmt.Sprint(problem))
		}
	}()
	decoder := msgpack.NewDecoder(bytes.NewReader(message))
	decoder.SetMapDecoder(func(d *msgpack.Decoder) (interface{}, error) { return d.DecodeUntypedMap() })
	value, err := decoder.DecodeInterface()
	if err != nil {
		panic(err)
	}
	var output, text bytes.Buffer
	encoder := msgpack.NewEncoder(&output)
	encoder.UseCompactInts(true)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	say(&text, value)
	return output.Bytes(), text.Bytes()
}

func frame(w io.Writer, data []byte) {
	binary.Write(w, binary.BigEndian, uint32(len(data)))
	w.Write(data)
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println("vmihailenco/msgpack", msgpack.Version(), "Go", runtime.Version()[2:])
		return
	}
	input, output := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	defer output.Flush()
	var size uint32
	for binary.Read(input, binary.BigEndian, &size) == nil {
		message := make([]byte, size)
		io.ReadFull(input, message)
		packed, said := echo(message)
		frame(output, packed)
		frame(output, said)
	}
}
