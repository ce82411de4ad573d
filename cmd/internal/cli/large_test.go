package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// TestLargeObject bounds the bytes that an apply of one large object allocates, in JSON and in YAML, by a multiple of the two texts. Two sizes
// have the same bound, so the cost is linear. They are not compared with each other: buffers that another test has left spare the smaller one
// more. DEED_KEYS sets the number of members of the larger object for measurements of time and memory, which are logged.
func TestLargeObject(t *testing.T) {
	keys := 20000
	if n, err := strconv.Atoi(os.Getenv("DEED_KEYS")); err == nil {
		keys = n
	}
	for _, format := range []string{"json", "yaml"} {
		for _, n := range []int{1, keys / 4, keys} {
			config, live := largeObject(t, format, n, true), largeObject(t, format, n, false)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var messages bytes.Buffer
			if code := Run([]string{"apply", "-f", config, "--live", live, "--schemaless"}, nil, io.Discard, &messages); code != 0 {
				t.Fatalf("exit code %d: %s", code, &messages)
			}
			runtime.ReadMemStats(&after)
			allocated, texts := after.TotalAlloc-before.TotalAlloc, size(t, config)+size(t, live)
			t.Logf("%s, %d members: %d MB allocated, %d bytes for each byte of the texts", format, n, allocated>>20, allocated/texts)
			if n > 1 && allocated > 30*texts { // the first apply reads the tables of built-in kinds
				t.Errorf("%s, %d members: %d bytes allocated for texts of %d", format, n, allocated, texts)
			}
		}
	}
}

// size returns the length of a file.
func size(t *testing.T, name string) uint64 {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return uint64(info.Size())
}

// largeObject writes a ConfigMap of n members to a file, or of one more for a configuration, and returns the name of the file.
func largeObject(t *testing.T, format string, n int, isConfig bool) string {
	t.Helper()
	head, member, tail := `{"apiVersion":"example.org/v1","kind":"Big","metadata":{"name":"big"},"data":{"a":"b"`, `,"key-%07d-abcdefgh":"value-%07d-0123456789"`, "}}\n"
	if format == "yaml" {
		head, member, tail = "apiVersion: example.org/v1\nkind: Big\nmetadata:\n  name: big\ndata:\n  a: b\n", "  key-%07d-abcdefgh: value-%07d-0123456789\n", ""
	}
	var b bytes.Buffer
	b.WriteString(head)
	for i := range n {
		fmt.Fprintf(&b, member, i, i)
	}
	if isConfig {
		fmt.Fprintf(&b, member, n, n)
	}
	b.WriteString(tail)
	name := filepath.Join(t.TempDir(), "object."+format)
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
