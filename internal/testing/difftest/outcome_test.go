package difftest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// outcome is the answer of an engine to one write.
type outcome struct {
	err       string // "error" for an error that is not a conflict, "panic: …" for a panic
	message   string // text of the error, which is not compared
	conflicts string // in kube-apiserver's words; empty for none
	object    string // the object after the write, as JSON
	managers  map[string]string
}

// String returns the part of the outcome that must be equal in both engines.
func (o outcome) String() string {
	var b strings.Builder
	switch {
	case o.err != "":
		fmt.Fprintf(&b, "%s\n", o.err)
	case o.conflicts != "":
		fmt.Fprintf(&b, "%s\n", o.conflicts)
	}
	fmt.Fprintf(&b, "object %s\n", o.object)
	for _, key := range slices.Sorted(maps.Keys(o.managers)) {
		fmt.Fprintf(&b, "%s %s\n", key, o.managers[key])
	}
	return b.String()
}
