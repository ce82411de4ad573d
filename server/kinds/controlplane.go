package kinds

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/server/kinds/pods"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// validateLease validates a Lease.
func validateLease(r *walk.Report, object walk.Place, _ value.Value) {
	spec := object.At("spec")
	if seconds := spec.At("leaseDurationSeconds"); seconds.IsSet() && seconds.Int() <= 0 {
		r.Invalid(seconds, "must be greater than 0")
	}
	r.Natural(spec.At("leaseTransitions"))
}

// validateMigration validates a StorageVersionMigration.
func validateMigration(r *walk.Report, object walk.Place, live value.Value) {
	resource := object.At("spec").At("resource")
	if name := resource.At("resource"); name.Str() == "" {
		r.Required(name, "resource is required to be set")
	} else if wrong := validation.IsDNS1035Label(name.Str()); len(wrong) > 0 {
		r.Invalid(name, strings.Join(wrong, ","))
	}
	if group := resource.At("group"); group.Str() != "" {
		if wrong := validation.IsDNS1123Subdomain(group.Str()); len(wrong) > 0 {
			r.Invalid(group, strings.Join(wrong, ","))
		}
	}
	if spec := object.At("spec"); walk.IsSet(live) && !r.Same(spec, live.Get("spec")) {
		r.Invalid(spec, "field is immutable")
	}
}

// validateMigrationStatus validates the status of a StorageVersionMigration: its resource version never changes, and it ends once.
func validateMigrationStatus(r *walk.Report, object walk.Place, live value.Value) {
	status := object.At("status")
	version, was := status.At("resourceVersion"), live.Get("status", "resourceVersion").Str()
	if text := version.Str(); text != "" {
		if _, err := resourceversion.CompareResourceVersion(text, text); err != nil {
			r.Invalid(version, err.Error())
		}
	}
	walk.ValidateConditions(r, object, live)
	if was != "" && was != version.Str() {
		r.InvalidAs(version, version.Str(), "field is immutable")
	}
	conditions := status.At("conditions")
	isTrue := func(object value.Value, typ string) bool {
		for c := range object.Get("status", "conditions").Items() {
			if c.Get("type").Str() == typ {
				return c.Get("status").Str() == "True"
			}
		}
		return false
	}
	if isTrue(object.Value, "Succeeded") && isTrue(object.Value, "Failed") {
		r.Invalid(conditions, "Both success and failed conditions cannot be true at the same time")
	}
	if isTrue(live, "Succeeded") && !isTrue(object.Value, "Succeeded") {
		r.Invalid(conditions, "Success condition cannot be set to false once it is true")
	}
	if isTrue(live, "Failed") && !isTrue(object.Value, "Failed") {
		r.Invalid(conditions, "Failed condition cannot be set to false once it is true")
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
		return cmp.Or(ref.Get("namespace").Str(), "*") + "/" + name
	}
	if selector := walk.LabelSelector(ref.Get("selector")); selector != nil {
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
	return walk.TrustBundleNameFor(signer)
}

// validateRuntimeClass validates a RuntimeClass.
//
// Before walk.TaggedSince, the handler is validated first, and its change is refused last.
func validateRuntimeClass(r *walk.Report, object walk.Place, live value.Value) {
	handler, scheduling := object.At("handler"), object.At("scheduling")
	wrong := validation.IsDNS1123Label(handler.Str())
	isReplaced := walk.IsSet(live) && !r.Same(handler, live.Get("handler")) // whose syntax the tags of the type do not look at
	isTagged := !r.Before(walk.TaggedSince)
	switch {
	case handler.Str() == "" && !isTagged:
		r.Required(handler, "")
	case handler.Str() != "" && (isReplaced || !isTagged):
		r.Invalid(handler, wrong...)
	}
	if overhead := object.At("overhead"); overhead.IsSet() {
		r.Requirements(overhead.WithValue(value.Object(value.Member{Name: "limits", Value: overhead.Get("podFixed")})), (*walk.Report).ContainerResource)
	}
	r.Labels(scheduling.At("nodeSelector"))
	tolerations := scheduling.At("tolerations")
	pods.ValidateTolerations(r, tolerations, false)
	validateTolerationsOnce(r, tolerations)
	switch {
	case isReplaced:
		r.UnchangedLater(handler, live.Get("handler"))
	case handler.Str() != "" && isTagged:
		for _, detail := range wrong {
			r.InvalidLater(handler, handler.Str(), detail)
		}
	}
	if handler.Str() == "" && isTagged {
		r.RequiredLater(handler, "")
	}
}

// validateTolerationsOnce refuses tolerations that differ at most in how long they hold.
func validateTolerationsOnce(r *walk.Report, p walk.Place) {
	var met walk.Names
	for i := range p.Indexes() {
		t := p.Index(i)
		if !met.Add(strings.Join([]string{t.Text("key"), t.Text("operator"), t.Text("value"), t.Text("effect")}, "\n")) {
			r.Duplicate(t)
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
func validateAddress(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	ref := spec.At("parentRef")
	if !ref.IsSet() {
		r.RequiredLater(ref, "")
	} else {
		group := ref.At("group")
		r.OptionalSubdomain(group)
		for _, name := range [...]string{"resource", "name", "namespace"} {
			if p := ref.At(name); p.Str() != "" {
				r.Invalid(p, content.IsPathSegmentName(p.Str())...)
			} else if name != "namespace" && walk.IsSet(live) {
				r.Required(p, "")
			} else if name != "namespace" {
				r.RequiredLater(p, "")
			}
		}
	}
	if walk.IsSet(live) {
		r.UnchangedLater(ref, live.Get("spec", "parentRef"))
	}
}

// Priority and fairness. This server stores the configurations, and limits requests in its own way.

// Names and values of priority classes that are not for users.
const (
	systemPriority = "system-"
	mostOfUsers    = 1_000_000_000
)

// validatePriority validates a PriorityClass.
func validatePriority(r *walk.Report, object walk.Place, live value.Value) {
	v, policy := object.At("value"), object.At("preemptionPolicy")
	if walk.IsSet(live) {
		if v.Int() != live.Get("value").Int() {
			r.Forbidden(v, "may not be changed in an update.")
		}
		r.Unchanged(policy, live.Get("preemptionPolicy"))
		return
	}
	metadata := object.At("metadata")
	name := metadata.At("name")
	if !strings.HasPrefix(name.Str(), systemPriority) {
		if v.Int() > mostOfUsers {
			r.Forbidden(v, fmt.Sprintf("maximum allowed value of a user defined priority is %d", mostOfUsers))
		}
	} else if wrong := systemClass(name.Str(), object); wrong != "" {
		r.Forbidden(name, fmt.Sprintf("priority class names with '%s' prefix are reserved for system use only. error: %s", systemPriority, wrong))
	}
	if policy.IsSet() {
		r.Among(policy, "PreemptLowerPriority", "Never")
	}
}

// systemClasses has the values of the classes of the system, by name.
var systemClasses = map[string]int64{"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}

// keptPriority returns why a class cannot be deleted by its name: it is one of the system.
func keptPriority(name string) string {
	if _, is := systemClasses[name]; is {
		return "this is a system priority class and cannot be deleted"
	}
	return ""
}

// systemClass returns what differs between a class and the class of the system with the same name.
func systemClass(name string, class walk.Place) string {
	want, known := systemClasses[name]
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

// apiServiceName demands that an APIService is named after its version and group, such as v1.apps.
func apiServiceName(object value.Value) apivalidation.ValidateNameFunc {
	spec := object.Get("spec")
	want := spec.Get("version").Str() + "." + spec.Get("group").Str()
	return func(name string, _ bool) []string {
		if wrong := content.IsPathSegmentName(name); len(wrong) > 0 {
			return wrong
		}
		if name != want {
			return []string{fmt.Sprintf("must be `spec.version+\".\"+spec.group`: %q", want)}
		}
		return nil
	}
}

// validateAPIService refuses an APIService. One without a service is local, and has nothing to say about TLS.
//
// An update is validated like a new object, its name included.
func validateAPIService(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	group, version, service := spec.At("group"), spec.At("version"), spec.At("service")
	if !live.IsAbsent() {
		validateAPIServiceName(r, object)
	}
	if group.Str() == "" && version.Str() != "v1" {
		r.Required(group, "only v1 may have an empty group and it better be legacy kube")
	}
	if group.Str() != "" {
		r.Invalid(group, validation.IsDNS1123Subdomain(group.Str())...)
	}
	r.InvalidAs(version, version.Str(), validation.IsDNS1035Label(version.Str())...)
	validateGroupPriority(r, spec.At("groupPriorityMinimum"), 20000)
	validateGroupPriority(r, spec.At("versionPriority"), 1000)
	bundle, insecure := spec.At("caBundle"), spec.At("insecureSkipTLSVerify")
	if !service.IsSet() {
		if bundle.Str() != "" {
			r.InvalidAs(bundle, fmt.Sprintf("%d bytes", bytesIn(bundle)), "local APIServices may not have a caBundle")
		}
		if insecure.Bool() {
			r.Invalid(insecure, "local APIServices may not have insecureSkipTLSVerify")
		}
		return
	}
	r.Present(service.At("namespace"))
	r.Present(service.At("name"))
	if port := service.At("port"); len(validation.IsValidPortNum(int(port.Int()))) > 0 {
		r.InvalidAs(port, port.Int(), "port is not valid: "+strings.Join(validation.IsValidPortNum(int(port.Int())), ", "))
	}
	if insecure.Bool() && bundle.Str() != "" {
		r.Invalid(insecure, "may not be true if caBundle is present")
	}
}

// validateAPIServiceName refuses the name of an APIService whose version or group changed.
func validateAPIServiceName(r *walk.Report, object walk.Place) {
	name := object.At("metadata").At("name")
	r.InvalidAs(name, name.Str(), apiServiceName(object.Value)(name.Str(), false)...)
}

// validateGroupPriority refuses a number that is not between 1 and most.
func validateGroupPriority(r *walk.Report, p walk.Place, most int64) {
	if n := p.Int(); n <= 0 || n > most {
		r.InvalidAs(p, n, fmt.Sprintf("must be positive and less than %d", most))
	}
}

// bytesIn returns the number of bytes in a text in base64.
func bytesIn(p walk.Place) int {
	decoded, err := base64.StdEncoding.DecodeString(p.Str())
	if err != nil {
		return len(p.Str()) // cannot be: the object was decoded
	}
	return len(decoded)
}

// validateAPIServiceStatus refuses conditions that are neither true, false nor unknown.
func validateAPIServiceStatus(r *walk.Report, object walk.Place, _ value.Value) {
	conditions := object.At("status").At("conditions")
	for i := range conditions.Indexes() {
		r.OnlyAmong(conditions.Index(i).At("status"), "True", "False", "Unknown")
	}
}

// apiServiceBackend shows the service that serves a version.
func apiServiceBackend(s source) string {
	service := s.Get("spec", "service")
	if !walk.IsSet(service) {
		return "Local"
	}
	return service.Get("namespace").Str() + "/" + service.Get("name").Str()
}

// availability shows whether a version is served, and why not.
func availability(s source) string {
	for c := range s.Get("status", "conditions").Items() {
		if c.Get("type").Str() != "Available" {
			continue
		}
		status, reason := c.Get("status").Str(), c.Get("reason").Str()
		if status != "True" && reason != "" {
			return status + " (" + reason + ")"
		}
		return status
	}
	return "Unknown"
}
