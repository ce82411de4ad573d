package kinds_test

import (
	"context"
	"encoding/base64"
	"strconv"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/race"
	"github.com/deed-project/deed/server/kinds"
	"github.com/deed-project/deed/value"
)

// What is refused, and in which words, is in the transcripts of package server, which a kube-apiserver answered.

// plainPod is a pod with its defaults.
const plainPod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"d"},"spec":{"containers":[{"name":"c","image":"i",` +
	`"env":[{"name":"A","value":"b"}],"ports":[{"containerPort":80,"name":"http","protocol":"TCP"}],"imagePullPolicy":"Always",` +
	`"livenessProbe":{"failureThreshold":3,"httpGet":{"path":"/","port":"http","scheme":"HTTP"},"periodSeconds":10,"successThreshold":1,` +
	`"timeoutSeconds":1},"resources":{"limits":{"cpu":"1"},"requests":{"cpu":"500m"}},"terminationMessagePath":"/dev/termination-log",` +
	`"terminationMessagePolicy":"File","volumeMounts":[{"name":"v","mountPath":"/v"}]}],"dnsPolicy":"ClusterFirst",` +
	`"restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30,` +
	`"volumes":[{"name":"v","emptyDir":{}}]}}`

// kindOf returns a kind of the core group.
func kindOf(t testing.TB, name string) kinds.Kind { return of(t, "v1", name) }

func parsed(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestManyContainers looks at a pod of many containers, of which two have one name: each is looked up, and not compared with all others.
func TestManyContainers(t *testing.T) {
	pod := parsed(t, plainPod)
	one := pod.Get("spec", "containers").Item(0)
	var containers []value.Value
	for i := range 50000 {
		containers = append(containers, one.With("name", value.String("c"+strconv.Itoa(i%49999))))
	}
	pod = pod.With("spec", pod.Get("spec").With("containers", value.List(containers...)))
	errs := kindOf(t, "Pod").ValidateUpdate(t.Context(), pod, value.Value{}, "")
	if len(errs) != 1 || errs[0].Field != "spec.containers[49999].name" {
		t.Errorf("names that come twice are found: %v", errs)
	}
}

// TestManyConstraints has two of many constraints be about the same, and many addresses of a service be as they were: none is compared with
// all others.
func TestManyConstraints(t *testing.T) {
	const n = 50000
	constraints, ips := make([]value.Value, n), make([]value.Value, n)
	for i := range n {
		constraints[i] = value.Object(value.Member{Name: "maxSkew", Value: value.Int(1)},
			value.Member{Name: "topologyKey", Value: value.String("k" + strconv.Itoa(i%(n-1)))},
			value.Member{Name: "whenUnsatisfiable", Value: value.String("DoNotSchedule")})
		ips[i] = value.String("10.0." + strconv.Itoa(i/256) + "." + strconv.Itoa(i%256))
	}
	pod := parsed(t, plainPod)
	pod = pod.With("spec", pod.Get("spec").With("topologySpreadConstraints", value.List(constraints...)))
	errs := kindOf(t, "Pod").ValidateUpdate(t.Context(), pod, value.Value{}, "")
	if len(errs) != 1 || errs[0].Field != "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}" {
		t.Errorf("constraints that come twice are found: %v", errs)
	}
	service := parsed(t, `{"spec":{"type":"ClusterIP","sessionAffinity":"None","externalTrafficPolicy":"Cluster",`+
		`"ports":[{"port":1,"protocol":"TCP","targetPort":1}]}}`)
	service = service.With("spec", service.Get("spec").With("externalIPs", value.List(ips...)))
	for _, err := range kindOf(t, "Service").ValidateUpdate(t.Context(), service, service, "") {
		t.Errorf("addresses that were there: %v", err)
	}
}

// TestAllocations holds that a pod with which nothing is wrong costs next to nothing to look at.
func TestAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates by itself")
	}
	pod, rules := parsed(t, plainPod), kindOf(t, "Pod")
	if errs := rules.ValidateUpdate(t.Context(), pod, value.Value{}, ""); len(errs) > 0 {
		t.Fatal(errs)
	}
	if n := testing.AllocsPerRun(100, func() { rules.ValidateUpdate(t.Context(), pod, value.Value{}, "") }); n > 2 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPod(b *testing.B) {
	pod, rules := parsed(b, plainPod), kindOf(b, "Pod")
	b.ReportAllocs()
	for b.Loop() {
		rules.ValidateUpdate(b.Context(), pod, value.Value{}, "")
	}
}

// TestDataSize refuses what holds more than a MiB, in the words of kube-apiserver, and counts bytes and not base64.
func TestDataSize(t *testing.T) {
	const mib = 1 << 20
	texts, bytes := strings.Repeat("x", mib-3), base64.StdEncoding.EncodeToString(make([]byte, mib))
	for _, c := range []struct{ kind, object, want string }{
		{"ConfigMap", `{"data":{"a":"` + texts + `"},"binaryData":{"b":"AAAA"}}`, ""},
		{"ConfigMap", `{"data":{"a":"` + texts + `"},"binaryData":{"b":"AAAAAA=="}}`, "[]: Too long: may not be more than 1048576 bytes"},
		{"Secret", `{"data":{"a":"` + bytes + `"}}`, ""},
		{"Secret", `{"data":{"a":"` + bytes + `","b":"AA=="}}`, "data: Too long: may not be more than 1048576 bytes"},
	} {
		got := ""
		for _, e := range kindOf(t, c.kind).ValidateUpdate(t.Context(), parsed(t, c.object), value.Value{}, "") {
			got += e.Error()
		}
		if got != c.want {
			t.Errorf("a %s of %d bytes: %q, want %q", c.kind, len(c.object), got, c.want)
		}
	}
}

// A walk through many items ends soon after the request has.
func TestEnded(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	pod := parsed(t, `{"spec":{"containers":[`+strings.Repeat(`{},`, 100_000)+`{}]}}`)
	whole := len(kindOf(t, "Pod").ValidateUpdate(ctx, pod, value.Value{}, ""))
	end()
	if n := len(kindOf(t, "Pod").ValidateUpdate(ctx, pod, value.Value{}, "")); n > 10_000 || whole < 100_000 {
		t.Errorf("%d errors are found once the request has ended, and %d before", n, whole)
	}
}
