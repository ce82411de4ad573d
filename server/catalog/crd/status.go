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
// Conditions that a client writes stay as they are, unless a rule of [Accept] has a reason to change them.
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

// Seen is what the server has done to the conditions of a definition since it started. It does these things once, so that a client may take
// them back. The zero Seen is that of a new definition.
type Seen struct {
	structural int64  // the generation that lost the condition NonStructuralSchema
	approval   string // the annotation that the condition of the approval was set for
	approved   bool   // approval is set
}

// Accept returns the status of crd: its accepted names and its conditions. names are the accepted names of all definitions of the group,
// crd among them. Accept returns the status of crd itself if nothing changes. Otherwise names may lead to another status, and Accept has to
// be called again. The Seen that it returns holds once the status is stored.
//
// Each rule is that of a controller of kube-apiserver, and leaves alone what it does not have to change.
func Accept(crd value.Value, names Names, seen Seen, now time.Time) (value.Value, Seen) {
	out := established(crd, named(crd, names, now), now)
	if n := crd.Get("metadata", "generation").Int(); find(out, "NonStructuralSchema") >= 0 && n > seen.structural {
		out, seen.structural = without(out, "NonStructuralSchema"), n
	}
	out, seen = approved(crd, out, seen, now)
	if !crd.Get("metadata", "deletionTimestamp").IsAbsent() && isHeld(crd) {
		out = condition{"Terminating", "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"}.in(out, now)
	}
	return out, seen
}

// named returns the status of crd with the names that it is granted, and the conditions that say so. Conditions stay if the names are those
// that it wants: also a conflict, after the definition has given up the name in question.
func named(crd value.Value, names Names, now time.Time) value.Value {
	status, wanted := crd.Get("status"), crd.Get("spec", "names")
	had := status.Get("acceptedNames")
	if wanted.Equal(had) {
		return status
	}
	granted, reason, problem := accepted(wanted, had, names)
	naming := condition{"NamesAccepted", "True", "NoConflicts", "no conflicts found"}
	if reason != "" {
		naming = condition{"NamesAccepted", "False", reason, problem}
	}
	out := naming.in(status, now)
	if out.Same(status) && granted.Equal(had) {
		return status
	}
	establishing := condition{"Established", "False", "NotAccepted", "not all names are accepted"}
	if at := find(status, "Established"); at >= 0 { // it gets a time at most
		was := status.Get("conditions").Item(at)
		establishing.status, establishing.reason, establishing.message = was.Get("status").Str(), was.Get("reason").Str(), was.Get("message").Str()
	}
	// Once established, always established.
	if establishing.status != "True" && reason == "" {
		establishing = condition{"Established", "False", "Installing", "the initial names have been accepted"}
	}
	return establishing.in(out, now).With("acceptedNames", granted)
}

// established returns status, that of crd, with the condition that its resource is established, if its names are accepted.
func established(crd, status value.Value, now time.Time) value.Value {
	switch {
	case !isTrue(status, "NamesAccepted") || isTrue(status, "Established"):
		return status
	case !hasUsableBundle(crd):
		return condition{"Established", "False", "InvalidCABundle", "The conversion webhook CABundle is invalid"}.in(status, now)
	}
	return condition{"Established", "True", "InitialNamesAccepted", "the initial names have been accepted"}.in(status, now)
}

// approved returns status, that of crd, with the condition of the approval. It sets the condition once for each annotation.
func approved(crd, status value.Value, seen Seen, now time.Time) (value.Value, Seen) {
	approval, ok := approvalOf(crd)
	annotation := approvalAnnotation(crd)
	if !ok || seen.approved && seen.approval == annotation {
		return status, seen
	}
	out := approval.in(status, now)
	if !out.Same(status) {
		seen.approved, seen.approval = true, annotation
	}
	return out, seen
}

// HasNames reports whether a definition has all names that it wants. Later definitions cannot take them away.
func HasNames(crd value.Value) bool {
	return crd.Get("spec", "names").Equal(crd.Get("status", "acceptedNames"))
}

// Ending is how far the deletion of a definition is.
type Ending struct {
	Begun bool // no objects can be created
	Shown bool // discovery does not show the verbs that create
}

// EndingOf returns how far the deletion of a definition is. The condition Terminating counts whoever set it, and may be False while another
// finalizer holds the definition.
func EndingOf(crd value.Value) Ending {
	shown := isTrue(crd.Get("status"), "Terminating")
	return Ending{shown || !crd.Get("metadata", "deletionTimestamp").IsAbsent(), shown}
}

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
	state, message := apihelpers.GetAPIApprovalState(map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: approvalAnnotation(crd)})
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

// approvalAnnotation returns the annotation that says whether an API is approved.
func approvalAnnotation(crd value.Value) string {
	return crd.Get("metadata", "annotations", apiextensionsv1.KubeAPIApprovedAnnotation).Str()
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
// A name with a conflict stays as it was granted before, and the others are granted. The definition is in its own way, if it wants a name as
// its singular that it has as a short name, say. Categories are no names, and always granted.
func accepted(wanted, had value.Value, taken Names) (names value.Value, reason, problem string) {
	names = had
	for _, n := range []struct {
		name, reason string
		kind         bool
	}{
		{"plural", "PluralConflict", false}, {"singular", "SingularConflict", false}, {"shortNames", "ShortNamesConflict", false},
		{"kind", "KindConflict", true}, {"listKind", "ListKindConflict", true},
	} {
		isTaken := func(name string) bool { return taken[Name{n.kind, name}] > 0 }
		if problems := conflicts(wanted.Get(n.name), had.Get(n.name), isTaken); len(problems) > 0 {
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

// find returns the index of the first condition of a type in a status, -1 if there is none.
func find(status value.Value, typ string) int {
	i := 0
	for c := range status.Get("conditions").Items() {
		if c.Get("type").Str() == typ {
			return i
		}
		i++
	}
	return -1
}

// isTrue reports whether a status has a condition that is True.
func isTrue(status value.Value, typ string) bool {
	at := find(status, typ)
	return at >= 0 && status.Get("conditions").Item(at).Get("status").Str() == "True"
}

// without returns status without the conditions of a type.
func without(status value.Value, typ string) value.Value {
	left := slices.DeleteFunc(slices.Collect(status.Get("conditions").Items()), func(c value.Value) bool { return c.Get("type").Str() == typ })
	return status.With("conditions", value.List(left...))
}

// in returns status with the condition. An equal condition stays unchanged. lastTransitionTime is the time of the last change of the
// condition's status.
//
// A condition keeps its place in the list and its other members, and a new one is the last.
func (c condition) in(status value.Value, now time.Time) value.Value {
	conditions := slices.Collect(status.Get("conditions").Items())
	at := find(status, c.typ)
	if at < 0 {
		at, conditions = len(conditions), append(conditions, value.Object())
	}
	was := conditions[at]
	entry := was.With("message", value.String(c.message)).With("reason", value.String(c.reason)).
		With("status", value.String(c.status)).With("type", value.String(c.typ))
	if changed := was.Get("lastTransitionTime"); was.Get("status").Str() != c.status || changed.Kind() != value.KindString {
		entry = entry.With("lastTransitionTime", value.String(now.UTC().Format(time.RFC3339)))
	}
	if entry.Equal(was) {
		return status
	}
	conditions[at] = entry
	return status.With("conditions", value.List(conditions...))
}
