package builtin

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// selectable describes the field selectors of a kind, in addition to name and namespace.
type selectable struct {
	fields  []string                                   // fields that are paths
	derived map[string]func(object value.Value) string // see catalog.Version.Derived
	refusal string                                     // see catalog.Version.FieldRefusal; VERSION stands for the version
}

// groupKind identifies a kind in all its versions.
type groupKind struct{ group, kind string }

// selectables holds the field selectors by kind.
var selectables = map[groupKind]selectable{
	{"", "Pod"}: {
		fields: []string{
			"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.phase",
			"status.nominatedNodeName",
		},
		derived: map[string]func(value.Value) string{
			"spec.host":        func(pod value.Value) string { return pod.Get("spec", "nodeName").Str() },
			"spec.hostNetwork": boolAt("spec", "hostNetwork"),
			"status.podIP":     podIP,
			"status.podIPs":    func(value.Value) string { return "" }, // a valid label whose text is always empty
		},
	},
	{"", "Secret"}:    {fields: []string{"type"}},
	{"", "Service"}:   {fields: []string{"spec.clusterIP", "spec.type"}},
	{"", "Namespace"}: {fields: []string{"status.phase"}},
	{"", "Node"}: {
		derived: map[string]func(value.Value) string{"spec.unschedulable": boolAt("spec", "unschedulable")},
	},
	{"", "ReplicationController"}: {
		derived: map[string]func(value.Value) string{"status.replicas": intAt("status", "replicas")},
	},
	{"", "Event"}: {
		fields: []string{
			"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
			"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason", "reportingComponent",
			"type",
		},
		derived: map[string]func(value.Value) string{"source": func(event value.Value) string {
			return cmp.Or(event.Get("source", "component").Str(), event.Get("reportingComponent").Str())
		}},
	},
	{"events.k8s.io", "Event"}: {fields: []string{
		"regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid", "regarding.apiVersion", "regarding.resourceVersion",
		"regarding.fieldPath", "reason", "reportingController", "type",
	}},
	{"batch", "Job"}: {
		derived: map[string]func(value.Value) string{"status.successful": intAt("status", "succeeded")},
		refusal: "field label %q not supported for Job",
	},
	{"certificates.k8s.io", "CertificateSigningRequest"}: {fields: []string{"spec.signerName"}},
	{"certificates.k8s.io", "ClusterTrustBundle"}:        {fields: []string{"spec.signerName"}},
	{"certificates.k8s.io", "PodCertificateRequest"}:     {fields: []string{"spec.signerName", "spec.podName", "spec.nodeName"}},
	{"resource.k8s.io", "ResourceSlice"}: {
		fields:  []string{"spec.nodeName", "spec.driver", "spec.pool.name"},
		refusal: "field label not supported for resource.k8s.io/VERSION, Kind=ResourceSlice: %s",
	},
}

// addSelectable sets the field selectors of v.
func addSelectable(v *catalog.Version) {
	s := selectables[groupKind{v.Group, v.Kind}]
	v.Derived, v.FieldRefusal = s.derived, strings.Replace(s.refusal, "VERSION", v.Name, 1)
	v.Fields = slices.AppendSeq(slices.Clip(s.fields), maps.Keys(s.derived))
}

// podIP returns the first address of a pod.
func podIP(pod value.Value) string {
	status := pod.Get("status")
	for ip := range status.Get("podIPs").Items() {
		return cmp.Or(status.Get("podIP").Str(), ip.Get("ip").Str())
	}
	return status.Get("podIP").Str()
}

// boolAt returns the text of a bool. An absent bool is false.
func boolAt(path ...string) func(value.Value) string {
	return func(object value.Value) string { return strconv.FormatBool(object.Get(path...).Bool()) }
}

// intAt returns the text of a number. An absent number is 0.
func intAt(path ...string) func(value.Value) string {
	return func(object value.Value) string { return strconv.FormatInt(object.Get(path...).Int(), 10) }
}
