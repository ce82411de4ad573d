package kinds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/value"
)

// validateLease validates a Lease.
func validateLease(r *report, object place, _ value.Value) {
	spec := object.at("spec")
	if seconds := spec.at("leaseDurationSeconds"); seconds.is() && seconds.Int() <= 0 {
		r.invalid(seconds, "must be greater than 0")
	}
	r.natural(spec.at("leaseTransitions"))
}

// validateMigration validates a StorageVersionMigration.
func validateMigration(r *report, object place, live value.Value) {
	resource := object.at("spec").at("resource")
	if name := resource.at("resource"); name.Str() == "" {
		r.required(name, "resource is required to be set")
	}
	if spec := object.at("spec"); isSet(live) && !same(spec.Value, live.Get("spec")) {
		r.invalid(spec, "field is immutable")
	}
}

// policyBindingCells returns the cells of bindings of admission policies.
func policyBindingCells() []cell {
	return []cell{name, text("spec", "policyName"), shown(paramRef), age}
}

func requestedDuration(s source) string {
	if seconds := s.Get("spec", "expirationSeconds"); seconds.Kind() == value.KindInt {
		return duration.HumanDuration(time.Duration(seconds.Int()) * time.Second)
	}
	return none
}

// signingStatus shows what became of a request for a certificate.
func signingStatus(s source) string {
	has := conditionTypes(s)
	status := "Pending"
	switch {
	case has["Denied"]:
		status = "Denied"
	case has["Approved"]:
		status = "Approved"
	}
	if has["Failed"] {
		status += ",Failed"
	}
	if s.Get("status", "certificate").Str() != "" {
		status += ",Issued"
	}
	return status
}

// conditionTypes returns the types of the conditions that an object has, whatever these say.
func conditionTypes(s source) map[string]bool {
	out := map[string]bool{}
	for c := range s.Get("status", "conditions").Items() {
		out[c.Get("type").Str()] = true
	}
	return out
}

// certificateState shows the last condition that ends a request of a pod.
func certificateState(s source) string {
	state := "Pending"
	for c := range s.Get("status", "conditions").Items() {
		if typ := c.Get("type").Str(); typ == "Issued" || typ == "Denied" || typ == "Failed" {
			state = typ
		}
	}
	return state
}

// dangling shows whether the priority level of a flow schema is missing.
func dangling(s source) string {
	for c := range s.Get("status", "conditions").Items() {
		if c.Get("type").Str() == "Dangling" {
			return c.Get("status").Str()
		}
	}
	return "?"
}

// limited shows a number of a priority level, which levels without limits do not have.
func limited(path ...string) cell {
	return func(s source) value.Value {
		holder := s.Get("spec", "limited").Get(path[:len(path)-1]...)
		if holder.Kind() != value.KindObject {
			return value.String(none)
		}
		return value.Int(holder.Get(path[len(path)-1]).Int())
	}
}

func paramKind(s source) string {
	kind := s.Get("spec", "paramKind")
	if kind.Kind() != value.KindObject {
		return unset
	}
	return kind.Get("apiVersion").Str() + "/" + kind.Get("kind").Str()
}

// paramRef shows which parameters a binding names: by name, or by a selector.
func paramRef(s source) string {
	ref := s.Get("spec", "paramRef")
	if name := ref.Get("name").Str(); name != "" {
		return orElse(ref.Get("namespace").Str(), "*") + "/" + name
	}
	if selector := labelSelector(ref.Get("selector")); selector != nil {
		return selector.String()
	}
	return unset
}

// servedVersions shows the versions of a definition that are served, and which of them is stored.
func servedVersions(s source) string {
	var out []string
	for v := range s.Get("spec", "versions").Items() {
		if !v.Get("served").Bool() {
			continue
		}
		label := v.Get("name").Str()
		if v.Get("storage").Bool() {
			label += "(storage)"
		}
		out = append(out, label)
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

// migrated shows which resource is written anew.
func migrated(s source) string {
	resource := s.Get("spec", "resource")
	if group := resource.Get("group").Str(); group != "" {
		return resource.Get("resource").Str() + "." + group
	}
	return resource.Get("resource").Str()
}

// migration shows the last condition of a migration that is true.
func migration(s source) string {
	status := "Unknown"
	for c := range s.Get("status", "conditions").Items() {
		typ := c.Get("type").Str()
		if c.Get("status").Str() == "True" && (typ == "Running" || typ == "Failed" || typ == "Succeeded") {
			status = typ
		}
	}
	return status
}

func definitionCells() []cell {
	return []cell{
		name, text("spec", "scope"), shown(servedVersions), created, text("spec", "group"), text("spec", "names", "kind"),
		joined("", "spec", "names", "shortNames"), func(s source) value.Value { return value.Bool(hasCondition(s.Value, "Established")) },
	}
}

// componentCells shows the health of a component.
func componentCells() []cell {
	health := func(s source) value.Value {
		for c := range s.Get("conditions").Items() {
			if c.Get("type").Str() == "Healthy" {
				return c
			}
		}
		return value.Value{}
	}
	of := func(name string) cell {
		return shown(func(s source) string { return health(s).Get(name).Str() })
	}
	status := shown(func(s source) string {
		switch health(s).Get("status").Str() {
		case "":
			return "Unknown"
		case "True":
			return "Healthy"
		}
		return "Unhealthy"
	})
	return []cell{name, status, of("message"), of("error")}
}

func signingCells() []cell {
	return []cell{
		name, age, textOr(none, "spec", "signerName"), text("spec", "username"), shown(requestedDuration), shown(signingStatus),
	}
}

func podCertificateCells() []cell {
	return []cell{
		name, text("spec", "podName"), text("spec", "serviceAccountName"), text("spec", "nodeName"), text("spec", "signerName"),
		shown(certificateState), labelsOf("spec", "unverifiedUserAnnotations"),
	}
}

func flowCells() []cell {
	return []cell{
		name, text("spec", "priorityLevelConfiguration", "name"), number("spec", "matchingPrecedence"),
		textOr(none, "spec", "distinguisherMethod", "type"), age, shown(dangling),
	}
}

func levelCells() []cell {
	return []cell{
		name, text("spec", "type"), limited("nominalConcurrencyShares"), limited("limitResponse", "queuing", "queues"),
		limited("limitResponse", "queuing", "handSize"), limited("limitResponse", "queuing", "queueLengthLimit"), age,
	}
}

// unreserved is the name rule of admission policies and webhook configurations: names of configurations in files are reserved.
func unreserved(name string, prefix bool) []string {
	const suffix = ".static.k8s.io"
	errs := apivalidation.NameIsDNSSubdomain(name, prefix)
	if strings.HasSuffix(name, suffix) {
		errs = append(errs, fmt.Sprintf(
			"names ending with %q are reserved for static manifest-based configurations and cannot be managed via the API", suffix))
	}
	return errs
}

// bundleName returns the name rule of a trust bundle: the name of one with a signer begins with the name of the signer.
func bundleName(bundle value.Value) apivalidation.ValidateNameFunc {
	signer := bundle.Get("spec", "signerName").Str()
	return trustBundleNameFor(signer)
}

// validateRuntimeClass validates a RuntimeClass.
func validateRuntimeClass(r *report, object place, live value.Value) {
	handler, scheduling := object.at("handler"), object.at("scheduling")
	if overhead := object.at("overhead"); overhead.is() {
		w := podWalk{report: r}
		w.requirements(overhead.with(value.Object(value.Member{Name: "limits", Value: overhead.Get("podFixed")})), w.resource)
	}
	r.labels(scheduling.at("nodeSelector"))
	tolerations := scheduling.at("tolerations")
	r.tolerations(tolerations)
	r.tolerationsOnce(tolerations)
	switch wrong := validation.IsDNS1123Label(handler.Str()); {
	case handler.Str() == "":
		r.later(handler, "")
	case len(wrong) > 0:
		for _, detail := range wrong {
			r.laterInvalid(handler, handler.Str(), detail)
		}
	}
	if isSet(live) {
		r.unchangedLater(handler, live.Get("handler"))
	}
}

// tolerationsOnce refuses tolerations that differ at most in how long they hold.
func (r *report) tolerationsOnce(p place) {
	var met names
	for i := range p.indexes() {
		t := p.item(i)
		if !met.add(strings.Join([]string{t.text("key"), t.text("operator"), t.text("value"), t.text("effect")}, "\n")) {
			r.duplicate(t)
		}
	}
}

// addressName is the name rule of an IPAddress.
func addressName(name string, _ bool) []string {
	var out []string
	for _, err := range validation.IsValidIP(nil, name) {
		out = append(out, err.Detail)
	}
	return out
}

// validateAddress validates an IPAddress.
func validateAddress(r *report, object place, live value.Value) {
	spec := object.at("spec")
	ref := spec.at("parentRef")
	if !ref.is() {
		r.later(ref, "")
	} else {
		group := ref.at("group")
		r.optionalSubdomain(group)
		for _, name := range [...]string{"resource", "name", "namespace"} {
			if p := ref.at(name); p.Str() != "" {
				r.invalid(p, content.IsPathSegmentName(p.Str())...)
			} else if name != "namespace" {
				r.later(p, "")
			}
		}
	}
	if isSet(live) {
		r.unchangedLater(ref, live.Get("spec", "parentRef"))
	}
}
