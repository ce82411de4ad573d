package kinds

import (
	"strings"

	"github.com/deed-project/deed/value"
)

// claimState shows what a claim has and waits for.
func claimState(s source) string {
	deleted := !s.Get("metadata", "deletionTimestamp").IsAbsent()
	allocated := s.Get("status", "allocation").Kind() == value.KindObject
	var states []string
	if deleted {
		states = append(states, "deleted")
	}
	switch {
	case allocated && s.Get("status", "reservedFor").Len() > 0:
		states = append(states, "allocated", "reserved")
	case allocated:
		states = append(states, "allocated")
	case !deleted:
		states = append(states, "pending")
	}
	return strings.Join(states, ",")
}

func taintRuleCells() []cell {
	return []cell{
		name, text("spec", "taint", "key"), text("spec", "taint", "value"), text("spec", "taint", "effect"), shown(taintAdded), age,
	}
}

func taintAdded(s source) string {
	if added := s.Get("spec", "taint", "timeAdded"); added.Kind() == value.KindString {
		return s.since(added)
	}
	return ""
}

// deviceAdds is what differs for kinds with parameters of drivers.
var deviceAdds = []Allocated{{
	Paths:  []string{"metadata generation"},
	Reason: "parameters that the server keeps as text count as changed, and as owned, when a client writes them with other spaces",
	when:   func(value.Value) bool { return false }, // it is another number, and never added
}}
