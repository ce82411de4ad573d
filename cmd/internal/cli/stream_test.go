package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/cli"
)

// TestCommandsHoldLittle checks the memory of commands that have printed half of many objects. They may hold little more than the texts
// that they read and the texts that they are going to write.
func TestCommandsHoldLittle(t *testing.T) {
	const objects = 300
	dir := t.TempDir()
	config, live := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "live.yaml")
	for _, c := range []struct {
		args  string
		texts int // how many texts as large as the live one are held: files and outcomes
	}{
		{"apply -f CONFIG --live LIVE --write -o yaml --dry-run client", 3},
		{"update -f CONFIG --live LIVE --write -o yaml --dry-run client", 3},
		{"migrate -f CONFIG --live LIVE --write --dry-run client", 3},
		{"migrate --live LIVE -o kubectl", 1},
		{"transfer --live LIVE --from kubectl-client-side-apply --to flux -o yaml", 1},
		{"blame -f LIVE -o html", 1},
	} {
		args := strings.Fields(strings.NewReplacer("CONFIG", config, "LIVE", live).Replace(c.args))
		writeMany(t, config, objects/20, false)
		writeMany(t, live, objects/20, true)
		few := outputOf(t, args) // fills all caches
		writeMany(t, config, objects, false)
		size := writeMany(t, live, objects, true)
		out := &halfway{before: heapNow(), at: few * 10}
		if code := cli.Run(args, strings.NewReader(""), out, io.Discard); code > 1 {
			t.Errorf("%s exits with %d", c.args, code)
		}
		t.Logf("%s: %d kB more are held half way", c.args, out.more>>10)
		if limit := c.texts*size + 6<<20; out.more == 0 || out.more > limit {
			t.Errorf("%s: half way, %d kB more are held, of a text of %d kB", c.args, out.more>>10, size>>10)
		}
	}
}

// TestNothingIsHeldBetweenRuns checks that a run leaves no memory in use, such as its commands and flags.
func TestNothingIsHeldBetweenRuns(t *testing.T) {
	args := []string{"version"}
	outputOf(t, args) // fills all caches
	before := heapNow()
	const runs = 100
	for range runs {
		outputOf(t, args)
	}
	if more := heapNow() - before; more > runs*10<<10 {
		t.Errorf("each of %d runs leaves %d kB", runs, more/runs>>10)
	}
}

// halfway measures the growth of the memory in use once, when a given number of bytes was written to it.
type halfway struct{ before, at, written, more int }

func (h *halfway) Write(b []byte) (int, error) {
	if h.written += len(b); h.more == 0 && h.written > h.at {
		h.more = max(1, heapNow()-h.before)
	}
	return len(b), nil
}

func heapNow() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// outputOf returns how many bytes deed prints.
func outputOf(t *testing.T, args []string) int {
	t.Helper()
	var out, stderr bytes.Buffer
	if code := cli.Run(args, strings.NewReader(""), &out, &stderr); code > 1 || out.Len() == 0 {
		t.Fatalf("deed %s exits with %d: %s", strings.Join(args, " "), code, &stderr)
	}
	return out.Len()
}

// writeMany writes objects to a file and returns its size. The objects are as client-side apply left them, or are their configurations.
func writeMany(t *testing.T, file string, objects int, stored bool) int {
	t.Helper()
	var b bytes.Buffer
	for i := range objects {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c%d\n", i)
		if stored {
			fmt.Fprintf(&b, "  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '{}'\n"+
				"  managedFields:\n  - {manager: kubectl-client-side-apply, operation: Update, apiVersion: v1, fieldsType: FieldsV1, "+
				"fieldsV1: {\"f:data\": {\"f:key%d\": {}}, \"f:metadata\": {\"f:annotations\": "+
				"{\"f:kubectl.kubernetes.io/last-applied-configuration\": {}}}}}\n", i%40)
		}
		b.WriteString("data:\n")
		for k := range 40 {
			fmt.Fprintf(&b, "  key%d: value\n", k)
		}
	}
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}
