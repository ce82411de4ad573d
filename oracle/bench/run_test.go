package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the program of the tests be the command, which starts itself for each of several rows.
func TestMain(m *testing.M) {
	if os.Getenv("DEED_BENCH") != "" {
		os.Exit(Run(os.Args[1:], os.Stdout, os.Stderr))
	}
	if err := os.Setenv("DEED_BENCH", "1"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// bench runs the command and returns its outputs. Its samples are too short to compare a row with its bar.
func bench(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err strings.Builder
	status = Run(append([]string{"-sample", "1ns", "-pairs", "1"}, args...), &out, &err)
	return status, out.String(), err.String()
}

func TestRowsAreListedOnce(t *testing.T) {
	status, out, _ := bench(t, "-list")
	seen := map[string]bool{}
	for name := range strings.Lines(out) {
		if seen[name] || strings.Contains(name, " ") {
			t.Errorf("row %q is there twice, or has a space in it", name)
		}
		seen[name] = true
	}
	if status != 0 || len(seen) < 100 {
		t.Errorf("status %d, %d rows", status, len(seen))
	}
	if _, quick, _ := bench(t, "-list", "-quick"); strings.Contains(quick, "/100,000") || !strings.Contains(out, "/100,000") {
		t.Error("the largest objects are not those that quick runs leave out")
	}
}

func TestTables(t *testing.T) {
	status, out, _ := bench(t, "-row", "^(update-versions/custom-100/5|memory-text/pod)$")
	for _, want := range []string{
		"Machine: ", "## Apply, unstructured\n", "| update-versions/custom-100/5 |", "## Memory\n", "| memory-text/pod |",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if status != 0 || strings.Contains(out, "## Engine") {
		t.Errorf("status %d, output\n%s", status, out)
	}
}

func TestLinesOfJSON(t *testing.T) {
	_, out, _ := bench(t, "-row", "^set-(union|minus)/pod$", "-json")
	var names []string
	for line := range strings.Lines(out) {
		var got struct {
			Row     string
			AtLeast float64
			Deed    struct{ NS float64 }
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		if got.AtLeast == 0 || got.Deed.NS <= 0 {
			t.Errorf("no bar or no time in %s", line)
		}
		names = append(names, got.Row)
	}
	if got := strings.Join(names, " "); got != "set-union/pod set-minus/pod" {
		t.Errorf("rows %s", got)
	}
}

func TestOneSideUnderProfiles(t *testing.T) {
	dir := t.TempDir()
	cpu, mem := filepath.Join(dir, "cpu"), filepath.Join(dir, "mem")
	status, out, _ := bench(t, "-row", "^apply/pod/2$", "-only", "deed", "-cpuprofile", cpu, "-memprofile", mem, "-clock", "cpu")
	if status != 0 || !strings.HasPrefix(out, "apply/pod/2\tdeed\t") {
		t.Errorf("status %d, output %q", status, out)
	}
	for _, file := range []string{cpu, mem} {
		if info, err := os.Stat(file); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestTablesReplaceTables(t *testing.T) {
	file := filepath.Join(t.TempDir(), "doc.md")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	read := func() string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	write("prose\n" + marker + "old tables\n")
	status, out, _ := bench(t, "-into", file, "-row", "^memory-text/pod$")
	got, begin := read(), "prose\n"+marker+"Machine: "
	if status != 0 || out != "" || !strings.HasPrefix(got, begin) || strings.Contains(got, "old") {
		t.Errorf("status %d, output %q, file\n%s", status, out, got)
	}
	write("prose without a marker\n")
	status, _, _ = bench(t, "-into", file, "-row", "^memory-text/pod$")
	if got := read(); status != exitFailed || got != "prose without a marker\n" {
		t.Errorf("status %d, file\n%s", status, got)
	}
}

func TestWhatIsRefused(t *testing.T) {
	for _, args := range [][]string{
		{"-row", "no such row"}, {"-row", "("}, {"-only", "both"}, {"-clock", "sun"}, {"-into", "file", "-json"},
		{"-cpuprofile", t.TempDir()}, {"-unknown"},
		{"-row", "^set-print", "-cpuprofile", filepath.Join(t.TempDir(), "cpu")},
	} {
		if status, _, stderr := bench(t, args...); status != exitFailed || stderr == "" {
			t.Errorf("%q: status %d, message %q", args, status, stderr)
		}
	}
	if status, _, _ := bench(t, "-help"); status != 0 {
		t.Errorf("-help: status %d", status)
	}
}
