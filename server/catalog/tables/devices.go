package tables

import (
	"strings"

	"github.com/deed-project/deed/value"
)

var devices = map[string][]cell{
	"deviceclasses.resource.k8s.io": {name, age},
	"devicetaintrules.resource.k8s.io": {
		name, text("spec", "taint", "key"), text("spec", "taint", "value"), text("spec", "taint", "effect"), shown(taintAdded), age,
	},
	"resourceclaims.resource.k8s.io":         {name, shown(claimState), age},
	"resourceclaimtemplates.resource.k8s.io": {name, age},
	"resourceslices.resource.k8s.io": {
		name, text("spec", "nodeName"), text("spec", "driver"), text("spec", "pool", "name"), age,
	},
}

func taintAdded(s source) string {
	if added := s.Get("spec", "taint", "timeAdded"); added.Kind() == value.KindString {
		return s.since(added)
	}
	return ""
}

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
