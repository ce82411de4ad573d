// Command compare builds command bench twice, with structured-merge-diff and with deed in its place, runs both in turn, and prints what
// each row costs. It fails if a row allocates more than a fourth, or one with Go structs is not three times as fast. Run it in oracle/compat:
//
//	GOWORK=off go run ./compare -rounds 5
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// row is a line that command bench prints.
type row struct {
	Name                 string
	Nanos, Bytes, Allocs float64
}

func main() {
	rounds := flag.Int("rounds", 5, "how often to run both")
	flag.Parse()
	if err := run(*rounds); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(rounds int) (err error) {
	temp, err := os.MkdirTemp("", "deed-compat")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	text, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		return err
	}
	text = append(text, "\nreplace sigs.k8s.io/structured-merge-diff/v6 => ../../compat/structured-merge-diff\n"...)
	modfile := filepath.Join(temp, "go.mod")
	if err := errors.Join(os.WriteFile(modfile, text, 0o644), os.WriteFile(filepath.Join(temp, "go.sum"), sums, 0o644)); err != nil {
		return err
	}
	reference, deed := filepath.Join(temp, "reference"), filepath.Join(temp, "deed")
	if _, err := output("go", "build", "-o", reference, "./bench"); err != nil {
		return err
	}
	if _, err := output("go", "build", "-modfile", modfile, "-mod=mod", "-o", deed, "./bench"); err != nil {
		return err
	}
	var theirs, ours []row
	for range rounds {
		if theirs, err = best(theirs, reference); err != nil {
			return err
		}
		if ours, err = best(ours, deed); err != nil {
			return err
		}
	}
	return report(theirs, ours)
}

// best runs a program, and returns the smaller figures of its rows and of those before.
func best(before []row, program string) ([]row, error) {
	out, err := output(program)
	if err != nil {
		return nil, err
	}
	var rows []row
	for line := range bytes.Lines(out) {
		var r row
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, err
		}
		if i := len(rows); before != nil {
			r.Nanos, r.Bytes, r.Allocs = min(r.Nanos, before[i].Nanos), min(r.Bytes, before[i].Bytes), min(r.Allocs, before[i].Allocs)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// report prints the rows, and returns which miss their bar. Each group ends with what the copies cost that every call is given; they are
// taken off.
func report(theirs, ours []row) error {
	var missed []error
	fmt.Println("| | CPU of theirs | of deed | times as fast | allocations of theirs | of deed | a part of |")
	fmt.Println("|---|---|---|---|---|---|---|")
	const group = 4
	for i := range theirs {
		copies, ourCopies := theirs[i-i%group+group-1], ours[i-i%group+group-1]
		t, o := theirs[i], ours[i]
		if t.Name == copies.Name {
			continue
		}
		nanos, ourNanos := t.Nanos-copies.Nanos, o.Nanos-ourCopies.Nanos
		allocs, ourAllocs := t.Allocs-copies.Allocs, o.Allocs-ourCopies.Allocs
		fmt.Printf("| %s | %.0f µs | %.0f µs | %.1fx | %.0f | %.0f | 1/%.1f |\n",
			t.Name, nanos/1e3, ourNanos/1e3, nanos/ourNanos, allocs, ourAllocs, allocs/ourAllocs)
		if strings.Contains(t.Name, "/structs/") && nanos < 3*ourNanos || allocs < 4*ourAllocs {
			missed = append(missed, fmt.Errorf("%s is %.1fx as fast, with 1/%.1f of the allocations", t.Name, nanos/ourNanos, allocs/ourAllocs))
		}
	}
	return errors.Join(missed...)
}

func output(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return out, nil
}
