package kinds

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/value"
)

// limitTypes are what the limits of a namespace without a domain are about.
var limitTypes = map[string]bool{"Pod": true, "Container": true, "PersistentVolumeClaim": true}

// validateLimitRange refuses a LimitRange.
func validateLimitRange(r *report, object place, _ value.Value) {
	spec := object.at("spec")
	limits := spec.at("limits")
	var met names
	for i := range limits.indexes() {
		limit := limits.item(i)
		typ := limit.at("type")
		name := typ.Str()
		if wrong := validation.IsQualifiedName(name); len(wrong) > 0 {
			r.invalidAs(typ, Enumeration(name), wrong...)
		} else if !strings.Contains(name, "/") && !limitTypes[name] {
			r.invalidAs(typ, Enumeration(name), "must be a standard limit type or fully qualified")
		}
		if !met.add(name) {
			r.duplicate(typ)
		}
		for _, member := range [...]string{"default", "defaultRequest"} {
			if p := limit.at(member); name == "Pod" && p.Len() > 0 {
				r.forbidden(p, "may not be specified when `type` is 'Pod'")
			}
		}
	}
}

// whole are the resources that are counted.
var whole = map[string]bool{
	"pods": true, "resourcequotas": true, "services": true, "replicationcontrollers": true, "secrets": true, "configmaps": true,
	"persistentvolumeclaims": true, "services.nodeports": true, "services.loadbalancers": true,
}

// validateQuota refuses amounts of a ResourceQuota.
func validateQuota(r *report, object place, live value.Value) {
	spec := object.at("spec")
	hard := spec.at("hard")
	for i := range hard.indexes() {
		limit := hard.entry(i)
		r.quotaName(limit)
		if strings.HasPrefix(limit.Str(), "-") {
			r.invalidAs(limit, limit.Str(), "must be greater than or equal to 0")
		}
		if q := quantity(limit.Value); whole[limit.name()] && q.MilliValue()%1000 != 0 {
			r.invalidAs(limit, limit.Str(), "must be an integer")
		}
	}
	if isSet(live) {
		r.unchanged(spec.at("scopes"), live.Get("spec", "scopes"))
	}
}

// counted are the resources that quotas of a namespace limit, beside those that are whole and huge pages.
var counted = map[string]bool{
	"cpu": true, "memory": true, "ephemeral-storage": true,
	"requests.cpu": true, "requests.memory": true, "requests.ephemeral-storage": true, "requests.storage": true,
	"limits.cpu": true, "limits.memory": true, "limits.ephemeral-storage": true,
}

// quotaName refuses the name of a resource that a quota limits.
func (r *report) quotaName(limit place) {
	name := limit.name()
	wrong := validation.IsQualifiedName(name)
	r.invalidAs(limit, name, wrong...)
	huge := strings.HasPrefix(name, "hugepages-") || strings.HasPrefix(name, "requests.hugepages-")
	if strings.Contains(name, "/") || huge || counted[name] || whole[name] {
		return
	}
	if len(wrong) == 0 && name != "storage" { // which is one, and has no quota
		r.invalidAs(limit, name, "must be a standard resource type or fully qualified")
	}
	r.invalidAs(limit, name, "must be a standard resource for quota")
}

// maxData is how many bytes a ConfigMap or a Secret may hold.
const maxData = 1 << 20

// validateConfigMap validates a ConfigMap, and validateSecret a Secret.
func validateConfigMap(r *report, object place, live value.Value) {
	r.sealed(object, live, "data", "binaryData", "immutable")
	n := decodedLen(object.Get("binaryData"))
	for _, text := range object.Get("data").Members() {
		n += len(text.Str())
	}
	if n > maxData {
		r.add(field.TooLong(field.NewPath(""), "", maxData)) // of the whole object
	}
}

func validateSecret(r *report, object place, live value.Value) {
	r.sealed(object, live, "data", "immutable")
	if isSet(live) {
		r.unchanged(object.at("type"), live.Get("type"))
	}
	if data := object.at("data"); decodedLen(data.Value) > maxData {
		r.add(field.TooLong(data.path(), "", maxData))
	}
}

// sealed refuses changes of the members of an object that says that it is immutable.
func (r *report) sealed(object place, live value.Value, members ...string) {
	if !live.Get("immutable").Bool() {
		return
	}
	for _, name := range members {
		if p := object.at(name); !same(p.Value, live.Get(name)) {
			r.forbidden(p, "field is immutable when `immutable` is set")
		}
	}
}

// validatePhase validates the status of a Namespace: it is active until the namespace is deleted.
func validatePhase(r *report, object place, _ value.Value) {
	want, detail := "Active", "may only be 'Active' if `deletionTimestamp` is empty"
	if !object.Get("metadata", "deletionTimestamp").IsAbsent() {
		want, detail = "Terminating", "may only be 'Terminating' if `deletionTimestamp` is not empty"
	}
	status := object.at("status")
	phase := status.below(status.Get("phase"), "Phase", isMember) // with the name that kube-apiserver has for it
	if phase.Str() != want {
		r.invalidAs(phase, phase.Str(), detail)
	}
}

// validateNode validates a Node.
func validateNode(r *report, object place, live value.Value) {
	metadata, spec := object.at("metadata"), object.at("spec")
	taints := metadata.below(spec.Get("taints"), "taints", isMember) // where kube-apiserver says that they are
	for i := range taints.indexes() {
		taint := taints.item(i)
		r.present(taint.at("effect"))
	}
	if id := spec.at("providerID"); id.Str() == "" && live.Get("spec", "providerID").Str() != "" {
		r.invalid(id, "field cannot be cleared once set")
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
	component := orElse(s.Get("source", "component").Str(), s.Get("reportingComponent").Str())
	instance := orElse(s.Get("source", "host").Str(), s.Get("reportingInstance").Str())
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
	return orElse(strings.Join(slices.Compact(roles), ","), none)
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
	kernel := orElse(info.Get("kernelVersion").Str(), unknown)
	if architecture := info.Get("architecture").Str(); architecture != "" {
		kernel += " (" + architecture + ")"
	}
	return kernel
}

// quotaCell shows how much of each resource is used: of limits, or of everything else.
func quotaCell(limits bool) cell {
	return shown(func(s source) string {
		var out []string
		for resource, hard := range s.Get("status", "hard").Members() {
			if strings.HasPrefix(resource, "limits.") == limits {
				used := orElse(s.Get("status", "used", resource).Str(), "0")
				out = append(out, fmt.Sprintf("%s: %s/%s", resource, used, hard.Str()))
			}
		}
		return strings.Join(out, ", ")
	})
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

// withName returns object with a UID as its name, unless it has a name.
func withName(object, live, _ value.Value) value.Value {
	if !live.IsAbsent() || api.Meta(object, "name") != "" {
		return object
	}
	return api.WithMetadata(object, "name", value.String(api.NewUID()))
}
