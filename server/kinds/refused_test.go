package kinds_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/kinds"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// TestStoredObjects refuses no object and no update that a kube-apiserver stored.
func TestStoredObjects(t *testing.T) {
	files, err := recording.ServerFiles("../../schema/builtin/testdata/recordings", "../../../shared/recordings/kube-apiserver", testing.Short())
	if err != nil {
		t.Fatal(err)
	}
	objects := 0
	for _, file := range files {
		histories, err := recording.ReadHistories(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, history := range histories {
			for i, step := range history.Steps {
				if step.Code >= 300 || strings.HasPrefix(step.Op, "scale") || step.Op == "delete" {
					continue
				}
				live := value.Value{}
				if step.Exists() {
					live = step.Live
				}
				kind, ok := builtin.Lookup(schema.ParseGVK(step.APIVersion, history.Kind))
				if !ok {
					t.Fatalf("%s is not known", history.Kind)
				}
				for _, err := range kinds.Of(kind).Refused(t.Context(), step.Response, live, subresourceOf(step.Path)) {
					t.Errorf("%s of %s, step %d: %v", history.Name, file, i, err)
				}
				objects++
			}
		}
	}
	if objects == 0 {
		t.Error("no objects")
	}
}

// subresourceOf returns the subresource that a path ends with; "" if it is none.
func subresourceOf(path string) string {
	for _, name := range []string{"status", "scale"} {
		if strings.HasSuffix(path, "/"+name) {
			return name
		}
	}
	return ""
}

// TestRefused refuses objects that no transcript has. metadata is left out.
func TestRefused(t *testing.T) {
	for _, test := range []struct{ apiVersion, kind, live, object, want string }{
		{"apps/v1", "ControllerRevision", ``, `{"revision":-1}`,
			"revision: Invalid value: -1: must be greater than or equal to 0\ndata: Required value: data is mandatory"},
		{"v1", "ConfigMap", `{"data":{"a":"b"}}`, `{"data":{"a":"c"}}`, ""},
		{"v1", "ConfigMap", `{"data":{"a":"b"},"immutable":true}`, `{"data":{"a":"c"},"immutable":true}`,
			"data: Forbidden: field is immutable when `immutable` is set"},
		{"storagemigration.k8s.io/v1", "StorageVersionMigration", ``, `{"spec":{"resource":{"group":"","resource":"pods"}}}`, ""},
		{"storage.k8s.io/v1", "CSIDriver", ``, `{"spec":{"tokenRequests":[{"audience":""}]}}`, ""},
		{"storage.k8s.io/v1", "VolumeAttributesClass", ``, `{"driverName":"","parameters":{"a":"b"}}`, "driverName: Required value"},
		{"storage.k8s.io/v1", "StorageClass", `{"provisioner":"a","reclaimPolicy":"Delete","volumeBindingMode":"Immediate"}`,
			`{"provisioner":"a","reclaimPolicy":"Retain","volumeBindingMode":"Immediate"}`,
			"reclaimPolicy: Invalid value: null: field is immutable"},
		{"scheduling.k8s.io/v1", "PriorityClass", ``, `{"preemptionPolicy":"Always"}`,
			`preemptionPolicy: Unsupported value: "Always": supported values: "PreemptLowerPriority", "Never"`},
		{"scheduling.k8s.io/v1", "PriorityClass", ``, `{"metadata":{"name":"system-mine"}}`,
			"metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: " +
				"system-mine is not a known system priority class"},
		{"scheduling.k8s.io/v1", "PriorityClass", ``, `{"metadata":{"name":"system-node-critical"},"value":2000001000}`, ""},
		{"scheduling.k8s.io/v1", "PriorityClass", ``, `{"value":1000000001}`,
			"value: Forbidden: maximum allowed value of a user defined priority is 1000000000"},
		{"policy/v1", "PodDisruptionBudget", ``, `{"spec":{"minAvailable":1,"maxUnavailable":"10%","selector":{"matchLabels":{"a":"b"}}}}`,
			`spec: Invalid value: {"MinAvailable":1,"Selector":{"matchLabels":{"a":"b"}},"MaxUnavailable":"10%","UnhealthyPodEvictionPolicy":null}: ` +
				"minAvailable and maxUnavailable cannot be both set"},
		{"coordination.k8s.io/v1", "Lease", ``, `{"spec":{"leaseDurationSeconds":0,"leaseTransitions":-1}}`,
			"spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0\n" +
				"spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"},
		{"resource.k8s.io/v1beta1", "ResourceClaimTemplate", `{"spec":{"spec":{"devices":{"requests":[{"name":"a","deviceClassName":"c","allocationMode":"All"}]}}}}`,
			`{"spec":{"spec":{"devices":{"requests":[{"name":"a","deviceClassName":"d","allocationMode":"All","selectors":[],"tolerations":[]}]}}}}`,
			`spec: Invalid value: {"Spec":{"Devices":{"Requests":[{"Name":"a","Exactly":{"DeviceClassName":"d","Selectors":[],"AllocationMode":"All","Count":0,` +
				`"AdminAccess":null,"Tolerations":null,"Capacity":null,"DerivedAttributes":null},"FirstAvailable":null}],"Constraints":null,"Config":null}}}: ` +
				"field is immutable"},
		{"flowcontrol.apiserver.k8s.io/v1", "FlowSchema", ``,
			`{"spec":{"priorityLevelConfiguration":{"name":"p"},"matchingPrecedence":1,"rules":[{"subjects":[{"kind":"User","user":{"name":"u"}}],` +
				`"resourceRules":[{"verbs":[],"apiGroups":[""],"resources":["*","a"],"clusterScope":true}]}]}}`,
			"spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1\n" +
				"spec.rules[0].resourceRules[0].verbs: Required value: verbs must contain at least one value\n" +
				`spec.rules[0].resourceRules[0].resources: Invalid value: ["*","a"]: if '*' is present, must not specify other resources`},
	} {
		live := value.Value{}
		if test.live != "" {
			live = parsed(t, test.live)
		}
		var got []string
		for _, err := range of(t, test.apiVersion, test.kind).ValidateUpdate(t.Context(), parsed(t, test.object), live, "") {
			got = append(got, err.Error())
		}
		if strings.Join(got, "\n") != test.want {
			t.Errorf("%s %s:\n%s\nwant\n%s", test.kind, test.object, strings.Join(got, "\n"), test.want)
		}
	}
}

// TestTooMuch refuses objects that are too large for transcripts. kube-apiserver answered the same.
func TestTooMuch(t *testing.T) {
	many := func(item string, n int) string { return "[" + strings.Repeat(item+",", n-1) + item + "]" }
	long := func(n int) string { return `"` + strings.Repeat("a", n) + `"` }
	const data = "Too long: may not be more than 10240 bytes"
	for _, test := range []struct{ apiVersion, kind, subresource, object, want string }{
		{"discovery.k8s.io/v1", "EndpointSlice", "", `{"addressType":"IPv4","endpoints":` + many(`{"addresses":["10.0.0.1"]}`, 1000) + `}`, ""},
		{"discovery.k8s.io/v1", "EndpointSlice", "", `{"addressType":"IPv4","endpoints":` + many(`{"addresses":["10.0.0.1"],"hostname":"!"}`, 1001) + `}`,
			"endpoints: Too many: 1001: must have at most 1000 items"},
		{"discovery.k8s.io/v1", "EndpointSlice", "", `{"addressType":"IPv4","endpoints":[{"addresses":[]},` + many(`{"addresses":["10.0.0.1"]}`, 1000)[1:] + `}`,
			"endpoints: Too many: 1001: must have at most 1000 items\nendpoints[0].addresses: Required value"},
		{"discovery.k8s.io/v1", "EndpointSlice", "", `{"addressType":"IPv4","ports":` + many(`{"name":"!"}`, 20001) + `}`,
			"ports: Too many: 20001: must have at most 20000 items"},
		{"storage.k8s.io/v1", "VolumeAttachment", "status", `{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"p"}},` +
			`"status":{"attachmentMetadata":{"a":` + long(256<<10) + `}}}`, "status.attachmentMetadata: Too long: may not be more than 262144 bytes"},
		{"resource.k8s.io/v1", "DeviceClass", "", `{"spec":{"config":[{"opaque":{"driver":"d","parameters":{"a":` + long(10232) + `}}}]}}`, ""},
		{"resource.k8s.io/v1", "DeviceClass", "", `{"spec":{"config":[{"opaque":{"driver":"d","parameters":{"a":` + long(10233) + `}}}]}}`,
			"spec.config[0].opaque.parameters: " + data},
		{"resource.k8s.io/v1", "ResourceClaim", "", `{"spec":{"devices":{"config":[{"opaque":{"driver":"d","parameters":[` + long(10240) + `]}}]}}}`,
			"spec.devices.config[0].opaque.parameters: " + data},
		{"resource.k8s.io/v1", "ResourceClaim", "status", `{"spec":{"devices":{"requests":[{"name":"r"}]}},"status":{` +
			`"allocation":{"devices":{"results":[{"request":"r","driver":"d","pool":"p","device":"e"}]}},` +
			`"devices":[{"driver":"d","pool":"p","device":"e","data":{"a":` + long(10240) + `}}]}}`, "status.devices[0].data: " + data},
	} {
		live := value.Value{}
		if test.subresource != "" {
			live = parsed(t, test.object).With("status", value.Value{})
		}
		var got []string
		for _, err := range of(t, test.apiVersion, test.kind).ValidateUpdate(t.Context(), parsed(t, test.object), live, test.subresource) {
			got = append(got, err.Error())
		}
		if strings.Join(got, "\n") != test.want {
			t.Errorf("%s:\n%.1000s\nwant\n%s", test.kind, strings.Join(got, "\n"), test.want)
		}
	}
	// What is stored may be longer.
	class := parsed(t, `{"spec":{"config":[{"opaque":{"driver":"d","parameters":{"a":`+long(10240)+`}}}]}}`)
	if errs := of(t, "resource.k8s.io/v1", "DeviceClass").ValidateUpdate(t.Context(), class, class, ""); len(errs) > 0 {
		t.Error(errs)
	}
}

// of returns a built-in kind.
func of(t testing.TB, apiVersion, name string) kinds.Kind {
	t.Helper()
	k, ok := builtin.Lookup(schema.ParseGVK(apiVersion, name))
	if !ok {
		t.Fatalf("%s is not known", name)
	}
	return kinds.Of(k)
}

func TestPathIn(t *testing.T) {
	object := parsed(t, `{"metadata":{"annotations":{"a.b/c":"x","a.b":"y"}},"data":{"a.b]c":"x","a.b":"y"},"spec":{"list":[{"name":1}]}}`)
	annotation := fieldpath.Path{fieldpath.Field("metadata"), fieldpath.Field("annotations"), fieldpath.Field("a.b/c")}
	for text, want := range map[string]fieldpath.Path{
		"":                           nil,
		"[]":                         nil,
		"spec.list[0].name":          {fieldpath.Field("spec"), fieldpath.Field("list"), fieldpath.Index(0), fieldpath.Field("name")},
		"spec.list[1].name":          {fieldpath.Field("spec"), fieldpath.Field("list"), fieldpath.Field("1"), fieldpath.Field("name")},
		"data[a.b]c]":                {fieldpath.Field("data"), fieldpath.Field("a.b]c")},
		"data[a.b]":                  {fieldpath.Field("data"), fieldpath.Field("a.b")},
		"data[x]":                    {fieldpath.Field("data"), fieldpath.Field("x")},
		"data[x":                     {fieldpath.Field("data"), fieldpath.Field("")},
		"metadata.annotations.a.b/c": annotation,
		"annotations[a.b/c]":         annotation,
		"annotations.a.b/c[0].d":     append(slices.Clone(annotation), fieldpath.Field("0"), fieldpath.Field("d")),
		"spec.{a, b}":                {fieldpath.Field("spec"), fieldpath.Field("{a, b}")},
		"spec.attachedRequest":       {fieldpath.Field("spec"), fieldpath.Field("attachedRequest")},
	} {
		if got := walk.PathIn(object, text); !slices.Equal(got, want) {
			t.Errorf("%q leads to %v, want %v", text, got, want)
		}
	}
}

func TestAllocates(t *testing.T) {
	for _, test := range []struct{ apiVersion, kind, live, object, want string }{
		{"v1", "Service", ``, `{"spec":{"type":"ClusterIP","ports":[{"port":1}]}}`,
			"spec clusterIP, spec clusterIPs, spec ipFamilies, spec ipFamilyPolicy"},
		{"v1", "Service", ``, `{"spec":{"type":"ExternalName"}}`, ""},
		{"v1", "Service", `{"spec":{"type":"ClusterIP"}}`, `{"spec":{"type":"NodePort","ports":[{"port":1},{"port":2,"nodePort":30000}]}}`,
			"spec ports * nodePort"},
		{"v1", "Service", `{"spec":{"type":"ClusterIP"}}`, `{"spec":{"type":"NodePort","ports":[{"port":2,"nodePort":30000}]}}`, ""},
		{"v1", "PersistentVolume", ``, `{"metadata":{"finalizers":["kubernetes.io/pv-protection"]}}`, ""},
		{"batch/v1", "Job", ``, `{"spec":{"manualSelector":true}}`, ""},
		{"resource.k8s.io/v1", "DeviceClass", ``, `{}`, ""},
		{"v1", "ConfigMap", ``, `{}`, ""},
		{"v1", "Service", ``, `{"spec":{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"externalTrafficPolicy":"Local","clusterIP":"None",` +
			`"clusterIPs":["None"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack","ports":[{"port":1}]}}`, "spec healthCheckNodePort"},
		{"v1", "Pod", ``, `{"spec":{"priority":1,"serviceAccountName":"a","tolerations":[{"key":"a"},{"key":"node.kubernetes.io/not-ready"}]}}`,
			"spec tolerations key=node.kubernetes.io/unreachable, spec preemptionPolicy"},
		{"v1", "Pod", ``, `{"spec":{"priority":1,"preemptionPolicy":"Never","volumes":[],"tolerations":[{"key":"node.kubernetes.io/unreachable"},{"key":"node.kubernetes.io/not-ready"}],` +
			`"containers":[{"volumeMounts":[]},{}]}}`, "spec serviceAccountName, spec containers * volumeMounts"},
		{"v1", "Pod", `{"spec":{}}`, `{"spec":{}}`, ""},
		{"v1", "PersistentVolumeClaim", ``, `{"metadata":{"finalizers":["a.b/c"]},"spec":{"storageClassName":"s"}}`, "metadata finalizers kubernetes.io/pvc-protection"},
	} {
		live := value.Value{}
		if test.live != "" {
			live = parsed(t, test.live)
		}
		var paths []string
		for _, a := range of(t, test.apiVersion, test.kind).Allocates(live, parsed(t, test.object)) {
			paths = append(paths, a.Paths...)
		}
		if got := fmt.Sprint(strings.Join(paths, ", ")); got != test.want {
			t.Errorf("%s %s: %q, want %q", test.kind, test.object, got, test.want)
		}
	}
}
