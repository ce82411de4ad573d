package crd

import (
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/value"
)

// The status of a definition: which names it was granted, and whether it is served. Names are unique in a group, and first come, first
// served:
//
//	definition a   wants plural widgets, kind Widget    Accepted: widgets, Widget    NamesAccepted, Established
//	definition b   wants plural gadgets, kind Widget    Accepted: gadgets            NamesAccepted is False: KindConflict
//
// Established stays True once it was: a definition keeps the names that it was granted, even if it asks for others and does not get them.
// All functions are pure: they return a new status, or the same one if nothing changes.

// Name is a name in a group, either of a resource or of a kind.
//
// Resources and kinds have separate names, so a kind may be called like a short name.
type Name struct {
	Kind bool
	Text string
}

// NamesOf returns all names in the names of a spec or a status: plural, singular, short names, kind and list kind.
func NamesOf(names value.Value) []Name {
	out := []Name{
		{false, names.Get("plural").Str()}, {false, names.Get("singular").Str()},
		{true, names.Get("kind").Str()}, {true, names.Get("listKind").Str()},
	}
	for short := range names.Get("shortNames").Items() {
		out = append(out, Name{false, short.Str()})
	}
	return slices.DeleteFunc(out, func(name Name) bool { return name.Text == "" })
}

// Names counts, for each name in a group, the definitions that have it. Several definitions may have the same name.
//
// It is kept for each group, so that a new definition is compared with counts rather than with all other definitions.
type Names map[Name]int

// Take adds the accepted names of a definition. The cost grows with their number.
func (n Names) Take(crd value.Value) {
	for _, name := range NamesOf(crd.Get("status", "acceptedNames")) {
		n[name]++
	}
}

// Release removes the accepted names of a definition. Its status must be the same as in the call of Take.
func (n Names) Release(crd value.Value) {
	for _, name := range NamesOf(crd.Get("status", "acceptedNames")) {
		if n[name]--; n[name] == 0 {
			delete(n, name)
		}
	}
}

// Accept returns the status of crd: its accepted names and its conditions. others are the names of the other definitions of the group. A
// name is accepted if no other definition has it. Without a change, Accept returns the status of crd itself.
func Accept(crd value.Value, others Names, now time.Time) value.Value {
	status := crd.Get("status")
	names, reason, problem := accepted(crd.Get("spec", "names"), status.Get("acceptedNames"), others)
	naming := condition{"NamesAccepted", "True", "NoConflicts", "no conflicts found"}
	if reason != "" {
		naming = condition{"NamesAccepted", "False", reason, problem}
	}
	out := naming.in(status, now)
	switch {
	// Once established, always established.
	case isTrue(status, "Established"):
	case reason == "" && !hasUsableBundle(crd):
		out = condition{"Established", "False", "InvalidCABundle", "The conversion webhook CABundle is invalid"}.in(out, now)
	case reason == "":
		out = condition{"Established", "True", "InitialNamesAccepted", "the initial names have been accepted"}.in(out, now)
	default:
		out = condition{"Established", "False", "NotAccepted", "not all names are accepted"}.in(out, now)
	}
	if approval, ok := approvalOf(crd); ok {
		out = approval.in(out, now)
	}
	if !crd.Get("metadata", "deletionTimestamp").IsAbsent() && isHeld(crd) {
		out = condition{"Terminating", "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"}.in(out, now)
	}
	if !names.Equal(out.Get("acceptedNames")) {
		out = out.With("acceptedNames", names)
	}
	return out
}

// NamesAccepted reports whether status, a result of [Accept], accepts all names that the definition wants. Later definitions cannot take
// them away.
func NamesAccepted(status value.Value) bool { return isTrue(status, "NamesAccepted") }

// Served reports whether the resource of a definition is served: its names were accepted once, and its conversion webhook can be reached.
//
// It does not wait for the condition Established.
func Served(crd value.Value) bool {
	return isTrue(crd.Get("status"), "Established") || isTrue(crd.Get("status"), "NamesAccepted") && hasUsableBundle(crd)
}

// ServedVersions returns the group versions that a definition says are served, whether or not its names are accepted.
func ServedVersions(crd value.Value) (out []schema.GroupVersion) {
	for v := range crd.Get("spec", "versions").Items() {
		if v.Get("served").Bool() {
			out = append(out, schema.GroupVersion{Group: crd.Get("spec", "group").Str(), Version: v.Get("name").Str()})
		}
	}
	return out
}

// Broken reports whether the names of a definition are accepted, and its resource is not served because its conversion webhook cannot be
// reached.
func Broken(crd value.Value) bool {
	return isTrue(crd.Get("status"), "NamesAccepted") && !Served(crd)
}

// hasUsableBundle reports whether the CA bundle of the conversion webhook has a certificate, if there is a bundle.
//
// With a bundle that has none, no certificate of the webhook would be trusted.
func hasUsableBundle(crd value.Value) bool {
	text := crd.Get("spec", "conversion", "webhook", "clientConfig", "caBundle").Str()
	bundle, err := base64.StdEncoding.DecodeString(text)
	return text == "" || err == nil && x509.NewCertPool().AppendCertsFromPEM(bundle)
}

// approvalOf returns the condition of a definition in a group that belongs to Kubernetes, and whether it is in one.
func approvalOf(crd value.Value) (condition, bool) {
	if !apihelpers.IsProtectedCommunityGroup(crd.Get("spec", "group").Str()) {
		return condition{}, false
	}
	const name = apiextensionsv1.KubeAPIApprovedAnnotation
	state, message := apihelpers.GetAPIApprovalState(map[string]string{name: crd.Get("metadata", "annotations", name).Str()})
	c := condition{"KubernetesAPIApprovalPolicyConformant", "False", "", message}
	switch state {
	case apihelpers.APIApproved:
		c.status, c.reason = "True", "ApprovedAnnotation"
	case apihelpers.APIApprovalBypassed:
		c.reason = "UnapprovedAnnotation"
	case apihelpers.APIApprovalMissing:
		c.reason = "MissingAnnotation"
	default:
		c.reason = "InvalidAnnotation"
	}
	return c, true
}

// Overlaps reports whether the objects of a definition would be stored where those of a built-in kind are.
//
// The objects there are not those of the definition. So they must stay when the definition goes.
func Overlaps(crd value.Value) bool {
	group, plural := crd.Get("spec", "group").Str(), crd.Get("spec", "names", "plural").Str()
	return group == "apiextensions.k8s.io" && plural == "customresourcedefinitions" ||
		group == "apiregistration.k8s.io" && plural == "apiservices"
}

// Finished returns crd without the finalizer, and whether it had the finalizer. The new condition states that the objects are gone, or that
// there could be none.
func Finished(crd value.Value, now time.Time) (value.Value, bool) {
	if !isHeld(crd) {
		return crd, false
	}
	left := slices.DeleteFunc(slices.Collect(crd.Get("metadata", "finalizers").Items()), value.String(finalizer).Equal)
	done := condition{"Terminating", "False", "InstanceDeletionCompleted", "removed all instances"}
	switch {
	case Overlaps(crd):
		done.reason, done.message = "OverlappingBuiltInResource", "instances overlap with built-in resources in storage"
	case !isTrue(crd.Get("status"), "Established"):
		done.reason, done.message = "NeverEstablished", "resource was never established"
	}
	return crd.With("metadata", crd.Get("metadata").With("finalizers", value.List(left...))).With("status", done.in(crd.Get("status"), now)), true
}

// isHeld reports whether a definition has the finalizer, so that its deletion waits for its objects.
func isHeld(crd value.Value) bool {
	for f := range crd.Get("metadata", "finalizers").Items() {
		if f.Str() == finalizer {
			return true
		}
	}
	return false
}

// accepted returns the accepted names, given the wanted names and the names accepted before. reason and problem describe the last conflict,
// in the order plural, singular, short names, kind, list kind.
//
// A name with a conflict stays as it was granted before, and the others are granted. Categories are no names, and always granted.
func accepted(wanted, had value.Value, others Names) (names value.Value, reason, problem string) {
	names = had
	for _, n := range []struct {
		name, reason string
		kind         bool
	}{
		{"plural", "PluralConflict", false}, {"singular", "SingularConflict", false}, {"shortNames", "ShortNamesConflict", false},
		{"kind", "KindConflict", true}, {"listKind", "ListKindConflict", true},
	} {
		taken := func(name string) bool { return others[Name{n.kind, name}] > 0 }
		if problems := conflicts(wanted.Get(n.name), had.Get(n.name), taken); len(problems) > 0 {
			reason, problem = n.reason, aggregate(problems)
			continue
		}
		names = names.With(n.name, wanted.Get(n.name))
	}
	return names.With("categories", wanted.Get("categories")), reason, problem
}

// conflicts returns texts about the names in wanted, a name or a list of names, that are taken and were not accepted before.
//
// A name that the definition has already is its own, even if another definition has it as well.
func conflicts(wanted, had value.Value, taken func(string) bool) []string {
	if wanted.Kind() == value.KindString {
		wanted, had = value.List(wanted), value.List(had)
	}
	before := slices.Collect(had.Items())
	var out []string
	for name := range wanted.Items() {
		if taken(name.Str()) && !slices.ContainsFunc(before, name.Equal) {
			out = append(out, fmt.Sprintf("%q is already in use", name.Str()))
		}
	}
	return out
}

// aggregate joins problems in the format of an aggregate error.
func aggregate(problems []string) string {
	if len(problems) == 1 {
		return problems[0]
	}
	return "[" + strings.Join(problems, ", ") + "]"
}

// condition is an entry of status.conditions.
type condition struct{ typ, status, reason, message string }

// isTrue reports whether a status has a condition that is True.
func isTrue(status value.Value, typ string) bool {
	for c := range status.Get("conditions").Items() {
		if c.Get("type").Str() == typ {
			return c.Get("status").Str() == "True"
		}
	}
	return false
}

// in returns status with the condition. An equal condition stays unchanged. lastTransitionTime is the time of the last change of the
// condition's status.
//
// A condition keeps its place in the list, and a new one is the last.
func (c condition) in(status value.Value, now time.Time) value.Value {
	conditions := slices.Collect(status.Get("conditions").Items())
	changed := value.String(now.UTC().Format(time.RFC3339))
	at := slices.IndexFunc(conditions, func(v value.Value) bool { return v.Get("type").Str() == c.typ })
	if at >= 0 {
		was := conditions[at]
		if was.Get("status").Str() == c.status {
			changed = was.Get("lastTransitionTime")
		}
		if was.Get("status").Str() == c.status && was.Get("reason").Str() == c.reason && was.Get("message").Str() == c.message {
			return status
		}
	}
	entry := value.Object(
		value.Member{Name: "lastTransitionTime", Value: changed},
		value.Member{Name: "message", Value: value.String(c.message)},
		value.Member{Name: "reason", Value: value.String(c.reason)},
		value.Member{Name: "status", Value: value.String(c.status)},
		value.Member{Name: "type", Value: value.String(c.typ)},
	)
	if at < 0 {
		conditions = append(conditions, entry)
	} else {
		conditions[at] = entry
	}
	return status.With("conditions", value.List(conditions...))
}
