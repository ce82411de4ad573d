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

// TestLargeObject measures the bytes that an apply of one large object allocates, in JSON and in YAML. Four times the members may take at
// most 6 times the bytes, because slices grow in steps. DEED_KEYS sets the number of members of the larger object for measurements of time
// and memory, which are logged.
func TestLargeObject(t *testing.T) {
	keys := 20000
	if n, err := strconv.Atoi(os.Getenv("DEED_KEYS")); err == nil {
		keys = n
	}
	for _, format := range []string{"json", "yaml"} {
		var bytesOf [2]uint64
		for i, n := range []int{keys / 4, keys} {
			config, live := largeObject(t, format, n, true), largeObject(t, format, n, false)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var messages bytes.Buffer
			if code := Run([]string{"apply", "-f", config, "--live", live}, nil, io.Discard, &messages); code != 0 {
				t.Fatalf("exit code %d: %s", code, &messages)
			}
			runtime.ReadMemStats(&after)
			bytesOf[i] = after.TotalAlloc - before.TotalAlloc
			t.Logf("%s, %d members: %d MB allocated", format, n, bytesOf[i]>>20)
		}
		if bytesOf[1] > 6*bytesOf[0] {
			t.Errorf("%s: four times the members take %d bytes, not %d", format, bytesOf[1], bytesOf[0])
		}
	}
}

// largeObject writes a ConfigMap of n members to a file, or of one more for a configuration, and returns the name of the file.
func largeObject(t *testing.T, format string, n int, isConfig bool) string {
	t.Helper()
	head, member, tail := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"big"},"data":{"a":"b"`, `,"key-%07d-abcdefgh":"value-%07d-0123456789"`, "}}\n"
	if format == "yaml" {
		head, member, tail = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: big\ndata:\n  a: b\n", "  key-%07d-abcdefgh: value-%07d-0123456789\n", ""
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
