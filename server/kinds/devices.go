package kinds

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/value"
)

// validateTaintRule validates a DeviceTaintRule.
func validateTaintRule(r *report, object place, live value.Value) {
	taint := object.at("spec").at("taint")
	key, text, effect := taint.at("key"), taint.at("value"), taint.at("effect")
	r.invalidAs(key, key.Str(), validation.IsQualifiedName(key.Str())...)
	if text.Str() != "" {
		r.invalid(text, validation.IsValidLabelValue(text.Str())...)
	}
	if effect.Str() == "" && (!isSet(live) || live.Get("spec", "taint", "effect").Str() != "") {
		r.later(effect, "")
	}
}

// Names and values of priority classes that are not for users.
const (
	systemPriority = "system-"
	mostOfUsers    = 1_000_000_000
)

// validatePriority validates a PriorityClass.
func validatePriority(r *report, object place, live value.Value) {
	v, policy := object.at("value"), object.at("preemptionPolicy")
	if isSet(live) {
		if v.Int() != live.Get("value").Int() {
			r.forbidden(v, "may not be changed in an update.")
		}
		r.unchanged(policy, live.Get("preemptionPolicy"))
		return
	}
	metadata := object.at("metadata")
	name := metadata.at("name")
	if !strings.HasPrefix(name.Str(), systemPriority) {
		if v.Int() > mostOfUsers {
			r.forbidden(v, fmt.Sprintf("maximum allowed value of a user defined priority is %d", mostOfUsers))
		}
	} else if wrong := systemClass(name.Str(), object); wrong != "" {
		r.forbidden(name, fmt.Sprintf("priority class names with '%s' prefix are reserved for system use only. error: %s", systemPriority, wrong))
	}
	if policy.is() {
		r.among(policy, "PreemptLowerPriority", "Never")
	}
}

// systemClass returns what differs between a class and the class of the system with the same name.
func systemClass(name string, class place) string {
	want, known := map[string]int64{"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}[name]
	switch {
	case !known:
		return name + " is not a known system priority class"
	case class.Get("value").Int() != want:
		return fmt.Sprintf("value of %s PriorityClass must be %d", name, want)
	case class.Get("globalDefault").Bool():
		return fmt.Sprintf("globalDefault of %s PriorityClass must be false", name)
	}
	return ""
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

func taintRuleCells() []cell {
	return []cell{
		name, text("spec", "taint", "key"), text("spec", "taint", "value"), text("spec", "taint", "effect"), shown(taintAdded), age,
	}
}

// deviceAdds is what differs for kinds with parameters of drivers.
var deviceAdds = []Allocated{{
	Paths:  []string{"metadata generation"},
	Reason: "parameters that the server keeps as text count as changed, and as owned, when a client writes them with other spaces",
	when:   func(value.Value) bool { return false }, // it is another number, and never added
}}
