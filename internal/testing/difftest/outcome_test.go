package difftest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// outcome is what an engine answers to one write.
type outcome struct {
	err       string // "error" when there is one that is no conflict, "panic: …" when it panicked
	message   string // of err, for people only
	conflicts string // as kube-apiserver words it; empty when there is none
	object    string // JSON of the object after the write
	managers  map[string]string
}

// state prints what of the outcome must be the same in both engines.
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
