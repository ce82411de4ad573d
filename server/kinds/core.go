package kinds

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/kinds/pods"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// limitTypes are what the limits of a namespace without a domain are about.
var limitTypes = map[string]bool{"Pod": true, "Container": true, "PersistentVolumeClaim": true}

// counted are the resources that quotas of a namespace limit, beside those that are whole and huge pages.
var counted = map[string]bool{
	"cpu": true, "memory": true, "ephemeral-storage": true,
	"requests.cpu": true, "requests.memory": true, "requests.ephemeral-storage": true, "requests.storage": true,
	"limits.cpu": true, "limits.memory": true, "limits.ephemeral-storage": true,
}

// maxData is how many bytes a ConfigMap or a Secret may hold.
const maxData = 1 << 20

// validateConfigMap validates a ConfigMap, and validateSecret a Secret.
func validateConfigMap(r *walk.Report, object walk.Place, live value.Value) {
	validateSealed(r, object, live, sealedMember{"immutable", walk.Same}, sealedMember{"data", walk.Same}, sealedMember{"binaryData", walk.Identical}) // data has a default
	for _, name := range [...]string{"data", "binaryData"} {
		list := object.At(name)
		for i := range list.Indexes() {
			entry := list.Entry(i)
			r.InvalidAs(entry, entry.Name(), validation.IsConfigMapKey(entry.Name())...)
			if name == "data" && !object.Get("binaryData", entry.Name()).IsAbsent() {
				r.InvalidAs(entry, entry.Name(), "duplicate of key present in binaryData")
			}
		}
	}
	n := decodedLen(object.Get("binaryData"))
	for _, text := range object.Get("data").Members() {
		n += len(text.Str())
	}
	if n > maxData {
		r.Add(field.TooLong(field.NewPath(""), "", maxData)) // of the whole object
	}
}

func validateSecret(r *walk.Report, object walk.Place, live value.Value) {
	if walk.IsSet(live) {
		r.Unchanged(object.At("type"), live.Get("type"))
	}
	validateSealed(r, object, live, sealedMember{"immutable", walk.Same}, sealedMember{"data", walk.Identical})
	data := object.At("data")
	for i := range data.Indexes() {
		entry := data.Entry(i)
		r.InvalidAs(entry, entry.Name(), validation.IsConfigMapKey(entry.Name())...)
	}
	if decodedLen(data.Value) > maxData {
		r.Add(field.TooLong(data.Path(), "", maxData))
	}
	validateSecretType(r, object, data)
}

// validateSecretType validates the keys that a type of secrets has.
func validateSecretType(r *walk.Report, object, data walk.Place) {
	key := func(name string) walk.Place { return data.Below(data.Get(name), name, walk.IsKey) }
	need := func(names ...string) {
		for _, name := range names {
			if k := key(name); k.IsAbsent() {
				r.Required(k, "")
			}
		}
	}
	switch object.Text("type") {
	case "kubernetes.io/service-account-token":
		metadata := object.At("metadata")
		annotations := metadata.At("annotations")
		const name = "kubernetes.io/service-account.name"
		if account := annotations.Below(annotations.Get(name), name, walk.IsKey); account.Str() == "" {
			r.Required(account, "")
		}
	case "kubernetes.io/dockercfg":
		validateSecretJSON(r, key(".dockercfg"))
	case "kubernetes.io/dockerconfigjson":
		validateSecretJSON(r, key(".dockerconfigjson"))
	case "kubernetes.io/basic-auth":
		if key("username").IsAbsent() && key("password").IsAbsent() {
			need("username", "password")
		}
	case "kubernetes.io/ssh-auth":
		if private := key("ssh-privatekey"); private.Str() == "" {
			r.Required(private, "")
		}
	case "kubernetes.io/tls":
		need("tls.crt", "tls.key")
	}
}

// validateSecretJSON validates a key whose content is a JSON object.
func validateSecretJSON(r *walk.Report, p walk.Place) {
	if p.IsAbsent() {
		r.Required(p, "")
		return
	}
	text, _ := base64.StdEncoding.DecodeString(p.Str()) // it was decoded before
	if err := json.Unmarshal(text, &map[string]any{}); err != nil {
		r.InvalidAs(p, "<secret contents redacted>", err.Error())
	}
}

// validateSealed refuses changes of the members of an object that says that it is immutable, each with the way in which it is compared.
// These errors, and those before them, precede what is wrong with the prefix of generated names.
func validateSealed(r *walk.Report, object walk.Place, live value.Value, members ...sealedMember) {
	for _, m := range members {
		if p := object.At(m.name); live.Get("immutable").Bool() && !m.equal(p.Value, live.Get(m.name)) {
			r.Forbidden(p, "field is immutable when `immutable` is set")
		}
	}
	r.Named = len(r.Errs)
}

type sealedMember struct {
	name  string
	equal func(a, b value.Value) bool
}

// quotaScopes are what a quota may be about.
var quotaScopes = map[string]quotaScope{
	"BestEffort":                {alone: true, counts: map[string]bool{"pods": true}},
	"NotBestEffort":             {alone: true, counts: podAmounts},
	"Terminating":               {alone: true, counts: podAmounts},
	"NotTerminating":            {alone: true, counts: podAmounts},
	"CrossNamespacePodAffinity": {alone: true, counts: podAmounts},
	"PriorityClass":             {counts: podAmounts},
	"VolumeAttributesClass":     {counts: map[string]bool{"persistentvolumeclaims": true, "requests.storage": true}},
}

type quotaScope struct {
	alone  bool            // a selector says no more than that objects have the scope
	counts map[string]bool // the standard resources that a quota may limit in the scope
}

var podAmounts = map[string]bool{
	"pods": true, "cpu": true, "memory": true, "limits.cpu": true, "limits.memory": true, "requests.cpu": true, "requests.memory": true,
}

// validateEvent validates an Event of the core group.
func validateEvent(r *walk.Report, object walk.Place, _ value.Value) {
	validateEventFields(r, object, "reportingComponent", object.Get("involvedObject", "namespace").Str(), object.At("message"))
}

// validateNewEvent validates an Event of the group events.k8s.io, whose errors have the names of the core group.
func validateNewEvent(r *walk.Report, object walk.Place, live value.Value) {
	told := func(name, as string) walk.Place { return object.Below(object.Get(name), as, walk.IsMember) }
	validateEventFields(r, object, "reportingController", object.Get("regarding", "namespace").Str(), told("note", "message"))
	r.First, r.Errs = r.Errs, nil
	series := object.At("series")
	if series.IsSet() && !(walk.IsSet(live) && series.Value.Equal(live.Get("series"))) {
		if series.Get("count").Int() < 2 {
			r.InvalidAs(series.At("count"), "", "should be at least 2")
		}
		if seen := series.At("lastObservedTime"); !seen.IsSet() {
			r.Required(seen, "")
		}
	}
	old := [...][2]string{{"deprecatedFirstTimestamp", "firstTimestamp"}, {"deprecatedLastTimestamp", "lastTimestamp"}, {"deprecatedCount", "count"}, {"deprecatedSource", "source"}}
	if walk.IsSet(live) {
		for _, name := range [...][2]string{
			{"regarding", "involvedObject"}, {"reason", "reason"}, {"note", "message"}, old[3], old[0], old[1], old[2], {"reason", "reason"},
			{"type", "type"}, {"eventTime", "eventTime"}, {"action", "action"}, {"related", "related"},
		} {
			r.Unchanged(told(name[0], name[1]), live.Get(name[0]))
		}
		// The type has another name for the controller, so a missing one is shown here.
		if controller := object.At("reportingController"); controller.Str() != live.Get("reportingController").Str() {
			r.InvalidAs(controller, controller.Str(), "field is immutable")
		}
		r.Unchanged(object.At("reportingInstance"), live.Get("reportingInstance"))
		return
	}
	if at := object.At("eventTime"); !at.IsSet() {
		r.Required(at, "")
	}
	if typ := object.At("type"); typ.Str() != "Normal" && typ.Str() != "Warning" {
		r.InvalidAs(typ, "", "has invalid value: "+typ.Str())
	}
	for _, name := range old {
		p := told(name[0], name[1])
		if said := p.Int() != 0 || p.Kind() == value.KindString || p.Text("component") != "" || p.Text("host") != ""; said {
			r.InvalidAs(p, "", "needs to be unset")
		}
	}
}

// validateEventFields validates what Events of both groups have.
func validateEventFields(r *walk.Report, object walk.Place, controllerName, about string, message walk.Place) {
	involved := object.At("involvedObject")
	namespace, own := involved.At("namespace"), object.Get("metadata", "namespace").Str()
	const other = "does not match event.namespace"
	if !walk.IsSet(object.Get("eventTime")) {
		if about == "" && own != "" && own != "default" || about != "" && own != about {
			r.InvalidAs(namespace, about, other)
		}
		return
	}
	if about == "" && own != "default" && own != "kube-system" {
		r.InvalidAs(namespace, about, other)
	}
	controller, instance, action, reason := object.At(controllerName), object.At("reportingInstance"), object.At("action"), object.At("reason")
	r.Present(controller)
	r.LabelKey(controller)
	for _, p := range [...]walk.Place{instance, action, reason} {
		r.Present(p)
		r.AtMost(p, 128)
	}
	r.AtMost(message, 1024)
}

// validateFinalizerName refuses the name of a finalizer of the content of a namespace.
func validateFinalizerName(r *walk.Report, p walk.Place, name string) {
	r.InvalidString(p, name, validation.IsQualifiedName(name)...)
	if !strings.Contains(name, "/") && !slices.Contains([]string{"kubernetes", metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}, name) {
		r.InvalidString(p, name, "name is neither a standard finalizer name nor is it fully qualified")
	}
}

// validateNamespace validates the finalizers of a new Namespace. Errors are about their list.
func validateNamespace(r *walk.Report, object walk.Place, live value.Value) {
	if list := object.At("spec").At("finalizers"); !walk.IsSet(live) {
		for i := range list.Indexes() {
			validateFinalizerName(r, list, list.Item(i).Str())
		}
	}
}

// validateFinalize validates the finalizers of a Namespace at the subresource finalize.
func validateFinalize(r *walk.Report, object walk.Place, _ value.Value) {
	list := object.At("spec").At("finalizers")
	for i := range list.Indexes() {
		validateFinalizerName(r, list.Index(i), list.Item(i).Str())
	}
}

// validatePhase validates the status of a Namespace: it is active until the namespace is deleted.
func validatePhase(r *walk.Report, object walk.Place, _ value.Value) {
	want, detail := "Active", "may only be 'Active' if `deletionTimestamp` is empty"
	if walk.IsSet(object.Get("metadata", "deletionTimestamp")) {
		want, detail = "Terminating", "may only be 'Terminating' if `deletionTimestamp` is not empty"
	}
	status := object.At("status")
	phase := status.Below(status.Get("phase"), "Phase", walk.IsMember) // with the name that kube-apiserver has for it
	if phase.Str() != want {
		r.Invalid(phase, detail)
	}
}

var featureName = walk.LazyRegexp(`^[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*$`)

// validateNodeStatus validates the status of a Node. Addresses may not come twice.
func validateNodeStatus(r *walk.Report, object walk.Place, _ value.Value) {
	validateNodeAnnotations(r, object.At("metadata").At("annotations"))
	status := object.At("status")
	validateNodeAmounts(r, status)
	validateNodeFeatures(r, status.At("declaredFeatures"))
	var met walk.Names
	addresses := status.At("addresses")
	for i := range addresses.Indexes() {
		if a := addresses.Index(i); !met.Add(a.Text("type") + " " + a.Text("address")) {
			r.Duplicate(a)
		}
	}
}

// validateNodeAmounts validates the resources of a Node.
func validateNodeAmounts(r *walk.Report, status walk.Place) {
	for _, member := range [...]string{"capacity", "allocatable"} {
		amounts := status.At(member)
		for name, amount := range amounts.Members() {
			p := amounts.Below(amount, name, walk.IsMember) // where kube-apiserver says that they are
			if strings.HasPrefix(amount.Str(), "-") {
				r.InvalidAs(p, amount.Str(), "must be greater than or equal to 0")
			}
			if q := walk.Quantity(amount); (walk.IsWhole(name) || walk.IsExtended(name)) && q.MilliValue()%1000 != 0 {
				r.InvalidAs(p, amount.Str(), "must be an integer")
			}
		}
	}
}

// validateNodeFeatures validates the features that a Node declares, which are in alphabetical order.
func validateNodeFeatures(r *walk.Report, features walk.Place) {
	for i := range features.Indexes() {
		feature := features.Index(i)
		switch name, most := feature.Str(), validation.DNS1123SubdomainMaxLength; {
		case len(name) > most:
			r.Invalid(feature, fmt.Sprintf("invalid feature name %q: must be no more than %d characters", name, most))
		case !featureName().MatchString(name):
			r.Invalid(feature, fmt.Sprintf("invalid feature name %q: must start with an UpperCamelCase segment, with subsequent segments separated by '/' "+
				"(e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes", name))
		}
		if i+1 == features.Len() {
			break
		}
		if next := features.Index(i + 1); next.Str() == feature.Str() {
			r.Duplicate(next)
		} else if next.Str() < feature.Str() {
			r.Invalid(next, "list must be sorted alphabetically")
		}
	}
}

// validateNodeAnnotations refuses annotations of a Node that were fields before there were fields for them, and mean nothing.
//
// A kube-apiserver has no answer to a controller of pods that does not say whether it is one. Here it is refused as none.
func validateNodeAnnotations(r *walk.Report, p walk.Place) {
	const taints, avoided = "scheduler.alpha.kubernetes.io/taints", "scheduler.alpha.kubernetes.io/preferAvoidPods"
	if text := p.Text(taints); text != "" {
		if list, err := pods.AnnotatedTaints(text); err != nil {
			r.InvalidAs(p, taints, err.Error())
		} else {
			validateTaints(r, p.Below(list, taints, walk.IsMember))
		}
	}
	text := p.Text(avoided)
	if text == "" {
		return
	}
	controllers, err := pods.AvoidedControllers(text)
	if err != nil {
		r.InvalidAs(p.At("AvoidPods"), avoided, err.Error())
		return
	}
	for i, of := range controllers {
		signature := p.At(avoided).Index(i).At("PodSignature")
		switch {
		case of == nil:
			r.Required(signature, "")
		case of.Controller == nil || !*of.Controller:
			r.InvalidAs(signature.At("PodController").At("Controller"), false, "must point to a controller")
		}
	}
}

// validateTaints refuses taints that are wrong, or there twice.
func validateTaints(r *walk.Report, taints walk.Place) {
	var met walk.Names
	for i := range taints.Indexes() {
		taint := taints.Index(i)
		key, text, effect := taint.At("key"), taint.At("value"), taint.At("effect")
		r.LabelKey(key)
		if wrong := validation.IsValidLabelValue(text.Str()); len(wrong) > 0 {
			r.InvalidAs(text, text.Str(), strings.Join(wrong, ";"))
		}
		r.Among(effect, "NoSchedule", "PreferNoSchedule", "NoExecute")
		if !met.Add(key.Str() + " " + effect.Str()) {
			e := field.Duplicate(taint.Path(), r.Inside(fmt.Sprintf("spec.taints[%d]", i), taint.Value))
			e.Detail = "taints must be unique by key and effect pair"
			r.Add(e)
		}
	}
}

// validateNode validates a Node.
func validateNode(r *walk.Report, object walk.Place, live value.Value) {
	metadata, spec := object.At("metadata"), object.At("spec")
	validateNodeAnnotations(r, metadata.At("annotations"))
	validateTaints(r, metadata.Below(spec.Get("taints"), "taints", walk.IsMember)) // where kube-apiserver says that they are
	if status := object.At("status"); !walk.IsSet(live) {
		validateNodeAmounts(r, status)
		if swap := status.At("nodeInfo").At("swap").At("capacity"); swap.IsSet() && swap.Int() <= 0 {
			where := field.NewPath("metadata", "nodeSwapStatus", "capacity") // as kube-apiserver has it
			r.Add(field.Invalid(where, swap.Int(), "must be greater than zero"))
		}
		validateNodeFeatures(r, status.At("declaredFeatures"))
	}
	cidrs, had := spec.At("podCIDRs"), live.Get("spec", "podCIDRs")
	var texts []string
	for i := range cidrs.Indexes() {
		c := cidrs.Index(i)
		r.Network(c, c.Str())
		texts = append(texts, c.Str())
	}
	if len(texts) > 1 {
		dual, err := netutils.IsDualStackCIDRStrings(texts)
		if err != nil {
			r.Add(field.InternalError(cidrs.Path(), fmt.Errorf("invalid PodCIDRs. failed to check with dual stack with error:%v", err)))
		}
		if !dual || len(texts) > 2 {
			r.Invalid(cidrs, "may specify no more than one CIDR for each IP family")
		}
	}
	if had.Len() > 0 && !walk.Same(cidrs.Value, had) {
		r.Forbidden(cidrs, "node updates may not change podCIDR except from \"\" to valid")
	}
	switch id, was := spec.At("providerID"), live.Get("spec", "providerID").Str(); {
	case was == "":
	case id.Str() == "":
		r.InvalidAs(id, nil, "field cannot be cleared once set")
	case id.Str() != was:
		r.InvalidAs(id, nil, "field cannot be modified once set")
	}
	if id := spec.At("externalID"); walk.IsSet(live) && id.Str() != live.Get("spec", "externalID").Str() {
		r.Forbidden(id, "may not be updated")
	}
}

// decodedLen returns how many bytes the members of an object have together, which are in base64.
func decodedLen(of value.Value) (n int) {
	for _, text := range of.Members() {
		n += len(strings.TrimRight(text.Str(), "=")) * 3 / 4
	}
	return n
}

// firstSeen shows when an event happened first: events of today have only the time of that.
func firstSeen(s source) string {
	if _, known := instant(s.Get("firstTimestamp")); known {
		return s.since(s.Get("firstTimestamp"))
	}
	return s.since(s.Get("eventTime"))
}

// lastSeen shows when an event happened last.
func lastSeen(s source) string {
	if series := s.Get("series"); series.Kind() == value.KindObject {
		return s.since(series.Get("lastObservedTime"))
	}
	if _, known := instant(s.Get("lastTimestamp")); known {
		return s.since(s.Get("lastTimestamp"))
	}
	return firstSeen(s)
}

// timesSeen shows how often an event happened.
func timesSeen(s source) value.Value {
	if series := s.Get("series"); series.Kind() == value.KindObject {
		return value.Int(series.Get("count").Int())
	}
	return value.Int(cmp.Or(s.Get("count").Int(), 1))
}

// involved shows what an event is about.
func involved(s source) string {
	kind := strings.ToLower(s.Get("involvedObject", "kind").Str())
	if name := s.Get("involvedObject", "name").Str(); name != "" {
		return kind + "/" + name
	}
	return kind
}

// eventSource shows who tells of an event.
func eventSource(s source) string {
	component := cmp.Or(s.Get("source", "component").Str(), s.Get("reportingComponent").Str())
	instance := cmp.Or(s.Get("source", "host").Str(), s.Get("reportingInstance").Str())
	if instance == "" {
		return component
	}
	return component + ", " + instance
}

// nodeStatus shows whether a node is ready, and whether it takes pods. The last condition of a type counts.
func nodeStatus(s source) string {
	status := "Unknown"
	for c := range s.Get("status", "conditions").Items() {
		switch {
		case c.Get("type").Str() != "Ready":
		case c.Get("status").Str() == "True":
			status = "Ready"
		default:
			status = "NotReady"
		}
	}
	if s.Get("spec", "unschedulable").Bool() {
		status += ",SchedulingDisabled"
	}
	return status
}

// nodeRoles shows the roles that the labels of a node give it.
func nodeRoles(s source) string {
	var roles []string
	for label, v := range s.Get("metadata", "labels").Members() {
		role, ofPrefix := strings.CutPrefix(label, "node-role.kubernetes.io/")
		if !ofPrefix && label == "kubernetes.io/role" {
			role, ofPrefix = v.Str(), true
		}
		if ofPrefix && role != "" {
			roles = append(roles, role)
		}
	}
	slices.Sort(roles)
	return cmp.Or(strings.Join(slices.Compact(roles), ","), none)
}

// nodeAddress shows the first address of a type.
func nodeAddress(typ string) cell {
	return shown(func(s source) string {
		for a := range s.Get("status", "addresses").Items() {
			if a.Get("type").Str() == typ {
				return a.Get("address").Str()
			}
		}
		return none
	})
}

// nodeKernel shows the kernel of a node, with its architecture.
func nodeKernel(s source) string {
	info := s.Get("status", "nodeInfo")
	kernel := cmp.Or(info.Get("kernelVersion").Str(), unknown)
	if architecture := info.Get("architecture").Str(); architecture != "" {
		kernel += " (" + architecture + ")"
	}
	return kernel
}

// configSize shows the number of keys of a ConfigMap.
func configSize(s source) value.Value {
	return value.Int(int64(s.Get("data").Len() + s.Get("binaryData").Len()))
}

func eventCells() []cell {
	return []cell{
		shown(lastSeen), text("type"), text("reason"), shown(involved), text("involvedObject", "fieldPath"), shown(eventSource),
		shown(func(s source) string { return strings.TrimSpace(s.Get("message").Str()) }), shown(firstSeen), timesSeen, name,
	}
}

// eventComponent returns the text of the field selector source.
func eventComponent(event value.Value) string {
	return cmp.Or(event.Get("source", "component").Str(), event.Get("reportingComponent").Str())
}

func nodeCells() []cell {
	return []cell{
		name, shown(nodeStatus), shown(nodeRoles), age, text("status", "nodeInfo", "kubeletVersion"), nodeAddress("InternalIP"),
		nodeAddress("ExternalIP"), textOr(unknown, "status", "nodeInfo", "osImage"), shown(nodeKernel),
		textOr(unknown, "status", "nodeInfo", "containerRuntimeVersion"),
	}
}

// labelledByName returns a namespace with the label that has its name. A generated name comes too late for the default.
func labelledByName(namespace, _, _ value.Value) value.Value {
	labels := namespace.Get("metadata", "labels")
	if labels.Kind() != value.KindObject {
		labels = value.Object()
	}
	return api.WithMetadata(namespace, "labels", labels.With("kubernetes.io/metadata.name", namespace.Get("metadata", "name")))
}

// withName returns object with a UID as its name, unless it has a name.
func withName(object, live, _ value.Value) value.Value {
	if !live.IsAbsent() || api.Meta(object, "name") != "" {
		return object
	}
	return api.WithMetadata(object, "name", value.String(api.NewUID()))
}
