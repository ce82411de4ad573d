package builtin

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// docs/divergences.md has what only a server knows in one table, and what not every cluster sets in another.
func TestAllocatedPage(t *testing.T) {
	const page = "../../docs/divergences.md"
	for heading, optional := range map[string]bool{"## What only a server knows": false, "## What a cluster may add": true} {
		rows, err := recording.Rows(page, heading)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, row := range rows {
			for kind := range strings.SplitSeq(row[0], ",") {
				for _, path := range recording.Quoted(row[1]) {
					got = append(got, strings.TrimSpace(kind)+" "+path+": "+row[2])
				}
			}
		}
		var want []string
		for _, a := range EachAllocated() {
			if a.Optional != optional {
				continue
			}
			for _, path := range a.Paths {
				for _, kind := range append(slices.Clone(a.Kinds), schema.GVK{Kind: "any"})[:max(1, len(a.Kinds))] {
					want = append(want, kind.Kind+" "+path+": "+a.Reason)
				}
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q has\n%s\nwant\n%s", heading, strings.Join(got, "\n"), strings.Join(want, "\n"))
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
			live = mustParse(t, test.live)
		}
		k, ok := Lookup(schema.ParseGVK(test.apiVersion, test.kind))
		if !ok {
			t.Fatalf("no %s", test.kind)
		}
		var paths []string
		for _, a := range k.Allocates(live, mustParse(t, test.object)) {
			paths = append(paths, a.Paths...)
		}
		if got := fmt.Sprint(strings.Join(paths, ", ")); got != test.want {
			t.Errorf("%s %s: %q, want %q", test.kind, test.object, got, test.want)
		}
	}
}

func mustParse(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
