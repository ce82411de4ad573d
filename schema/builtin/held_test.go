package builtin

import (
	"fmt"
	"slices"
	"testing"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// TestHeld reads objects that the random ones of testdata/answers.jsonl.gz are unlike.
func TestHeld(t *testing.T) {
	for _, c := range []struct{ apiVersion, kind, sent, path, want string }{
		// A load balancer answers at its addresses, unless it says how it does.
		{"v1", "Service", `{"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"},{"hostname":"h"},{"ip":"1.2.3.5","ipMode":"Proxy"}]}}}`,
			"status.loadBalancer.ingress", `[{"ip":"1.2.3.4","ipMode":"VIP"},{"hostname":"h"},{"ip":"1.2.3.5","ipMode":"Proxy"}]`},
		{"v1", "Service", `{"spec":{"type":"NodePort"},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}}`, "status.loadBalancer.ingress", `[{"ip":"1.2.3.4"}]`},

		// The limits of containers follow from each other: at most max, which is also the default; requests are as limits, or at least min.
		{"v1", "LimitRange", `{"spec":{"limits":[{"type":"Container","max":{"cpu":"2","memory":"2Gi"},"min":{"cpu":"1","pods":"1"},"default":{"memory":"1Gi"}}]}}`, "spec.limits.0.default", `{"cpu":"2","memory":"1Gi"}`},
		{"v1", "LimitRange", `{"spec":{"limits":[{"type":"Container","max":{"cpu":"2"},"min":{"cpu":"1","pods":"1"},"defaultRequest":{"memory":"1Gi"}}]}}`, "spec.limits.0.defaultRequest", `{"cpu":"2","memory":"1Gi","pods":"1"}`},
		{"v1", "LimitRange", `{"spec":{"limits":[{"type":"Pod","max":{"cpu":"2"},"min":{"cpu":"1"}}]}}`, "spec.limits.0", `{"max":{"cpu":"2"},"min":{"cpu":"1"},"type":"Pod"}`},

		// A definition stores objects in the version that it says, and remembers those that it said before.
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition", `{"spec":{"versions":[{"name":"v1"},{"name":"v2","storage":true}]}}`, "status.storedVersions", `["v2"]`},
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition", `{"spec":{"versions":[{"storage":true}]}}`, "status.storedVersions", `[""]`},
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition", `{"spec":{"versions":[{"name":"v2","storage":true}]},"status":{"storedVersions":["v1"]}}`, "status.storedVersions", `["v1"]`},
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition", `{"spec":{"names":{"kind":"Thing"}}}`, "spec.names", `{"kind":"Thing","listKind":"ThingList","plural":"","singular":"thing"}`},
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition", `{"spec":{"names":{"kind":"Thing","listKind":"A","singular":"b"}}}`, "spec.names", `{"kind":"Thing","listKind":"A","plural":"","singular":"b"}`},

		// Images are pulled always if they may be others tomorrow.
		{"v1", "Pod", `{"spec":{"containers":[{"image":"a"}]}}`, "spec.containers.0.imagePullPolicy", `"Always"`},
		{"v1", "Pod", `{"spec":{"containers":[{"image":"a:latest"}]}}`, "spec.containers.0.imagePullPolicy", `"Always"`},
		{"v1", "Pod", `{"spec":{"containers":[{"image":"a:1"}]}}`, "spec.containers.0.imagePullPolicy", `"IfNotPresent"`},
		{"v1", "Pod", `{"spec":{"containers":[{"image":"localhost:5000/A/b"}]}}`, "spec.containers.0.imagePullPolicy", `"IfNotPresent"`},
		{"v1", "Pod", `{"spec":{"containers":[{"image":"localhost/b"}]}}`, "spec.containers.0.imagePullPolicy", `"Always"`},
		{"v1", "Pod", `{"spec":{"containers":[{"image":"Upper/b"}]}}`, "spec.containers.0.imagePullPolicy", `"Always"`},
		{"v1", "Pod", `{"spec":{"containers":[{"image":"h.io:80/b"}]}}`, "spec.containers.0.imagePullPolicy", `"Always"`},
		{"v1", "Pod", `{"spec":{"containers":[{"image":"a@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}]}}`, "spec.containers.0.imagePullPolicy", `"IfNotPresent"`},
		{"v1", "Pod", `{"spec":{"containers":[{"image":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}]}}`, "spec.containers.0.imagePullPolicy", `"IfNotPresent"`},

		// The sessions of a service last three hours, and ports lead to themselves.
		{"v1", "Service", `{"spec":{"sessionAffinity":"ClientIP"}}`, "spec.sessionAffinityConfig", `{"clientIP":{"timeoutSeconds":10800}}`},
		{"v1", "Service", `{"spec":{"sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":5}}}}`, "spec.sessionAffinityConfig", `{"clientIP":{"timeoutSeconds":5}}`},
		{"v1", "Service", `{"spec":{"sessionAffinity":"None","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":5}}}}`, "spec.sessionAffinityConfig", `-`},
		{"v1", "Service", `{"spec":{"ports":[{"port":1},{"port":2,"targetPort":"a"},{"port":3,"targetPort":4},{"port":5,"targetPort":0}]}}`, "spec.ports",
			`[{"port":1,"protocol":"TCP","targetPort":1},{"port":2,"protocol":"TCP","targetPort":"a"},{"port":3,"protocol":"TCP","targetPort":4},{"port":5,"protocol":"TCP","targetPort":5}]`},

		// Of two names of one thing, the newer counts, or the one that is there; a pod has at least a second to end.
		{"v1", "Pod", `{"spec":{"serviceAccount":"a","serviceAccountName":"b"}}`, "spec.serviceAccount", `"b"`},
		{"v1", "Pod", `{"spec":{"terminationGracePeriodSeconds":-3}}`, "spec.terminationGracePeriodSeconds", `1`},
		{"v1", "Pod", `{"status":{"podIPs":[{"ip":"1.2.3.4"},{"ip":"1.2.3.5"}]}}`, "status.podIP", `"1.2.3.4"`},
		{"v1", "Pod", `{"status":{"podIP":"1.2.3.4","podIPs":[{"ip":"1.2.3.5"}]}}`, "status.podIPs", `[{"ip":"1.2.3.4"}]`},
		{"v1", "Pod", `{"spec":{"hostNetwork":true,"containers":[{"ports":[{"containerPort":1},{"containerPort":2,"hostPort":3}]}]}}`, "spec.containers.0.ports",
			`[{"containerPort":1,"hostPort":1,"protocol":"TCP"},{"containerPort":2,"hostPort":3,"protocol":"TCP"}]`},
		{"v1", "Pod", `{"spec":{"containers":[{"resources":{"limits":{"cpu":"0.0001","memory":1.5},"requests":{"memory":"1"}}}]}}`, "spec.containers.0.resources",
			`{"limits":{"cpu":"1m","memory":"1500m"},"requests":{"cpu":"1m","memory":"1"}}`},
	} {
		k, ok := Lookup(schema.ParseGVK(c.apiVersion, c.kind))
		if !ok {
			t.Fatalf("no %s", c.kind)
		}
		held, err := k.Held(mustParse(t, c.sent))
		if got := shownAt(held, c.path); err != nil || got != c.want {
			t.Errorf("%s %s: %s is %s: %v\nwant %s", c.kind, c.sent, c.path, got, err, c.want)
		}
	}
}

// TestSpelled compares atomic lists as they were sent where the server does: at the top of an object, and in the items of a list that has
// keys. Everything else is as it is held.
func TestSpelled(t *testing.T) {
	for _, c := range []struct{ apiVersion, kind, sent, path, want string }{
		{"v1", "LimitRange", `{"spec":{"limits":[{"type":"Pod","max":{}}]}}`, "spec.limits.0", `{"max":{},"type":"Pod"}`},
		{"v1", "LimitRange", `{"spec":{"limits":[{"type":"Pod","max":{"cpu":"1000m"}}]}}`, "spec.limits.0", `{"max":{"cpu":"1000m"},"type":"Pod"}`},
		{"v1", "LimitRange", `{"spec":{"limits":[{"type":"Pod","max":{"cpu":1}}]}}`, "spec.limits.0", `{"max":{"cpu":"1"},"type":"Pod"}`},
		{"v1", "Pod", `{"spec":{"volumes":[{"name":"v","projected":{"sources":[{"configMap":{"name":"c","items":[]}}]}}]}}`,
			"spec.volumes.0.projected.sources", `[{"configMap":{"items":[],"name":"c"}}]`},
		{"v1", "Pod", `{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1000m"}},"env":[]}]}}`,
			"spec.containers.0.resources.limits", `{"cpu":"1"}`},
	} {
		k, ok := Lookup(schema.ParseGVK(c.apiVersion, c.kind))
		if !ok {
			t.Fatalf("%s is unknown", c.kind)
		}
		sent := mustParse(t, c.sent)
		held, err := k.Held(sent)
		if err != nil {
			t.Fatal(err)
		}
		if got := shownAt(k.Spelled(sent, held), c.path); got != c.want {
			t.Errorf("%s %s: %s is compared as %s, want %s", c.kind, c.sent, c.path, got, c.want)
		}
	}
}

// TestEmptyInOtherVersions writes an empty list to an item of an atomic list, which belongs to a manager in another version.
// To a server, that changes the list in an apply, and not in an update.
func TestEmptyInOtherVersions(t *testing.T) {
	first := schema.GVK{Group: "resource.k8s.io", Version: "v1beta1", Kind: "ResourceClaimTemplate"}
	last := schema.GVK{Group: first.Group, Version: "v1", Kind: first.Kind}
	manager := func(gvk schema.GVK) *managedfields.FieldManager {
		config, err := Config(gvk)
		if err != nil {
			t.Fatal(err)
		}
		m, err := managedfields.New(config)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	template := func(gvk schema.GVK, request string) managedfields.Object {
		return managedfields.Object{Content: mustParse(t, fmt.Sprintf(
			`{"apiVersion":%q,"kind":%q,"metadata":{"name":"t","uid":"u"},"spec":{"spec":{"devices":{"requests":[%s]}}}}`,
			gvk.APIVersion(), gvk.Kind, request))}
	}
	config := template(last, `{"name":"a","exactly":{"deviceClassName":"c"}}`)
	live, err := manager(last).Apply(managedfields.Object{}, config, "alice", false)
	if err != nil {
		t.Fatal(err)
	}
	from, _ := Lookup(last)
	to, _ := Lookup(first)
	if live.Content, err = from.Convert(live.Content, to); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		empty     string
		conflicts int
	}{
		{``, 0},
		{`,"firstAvailable":[]`, 1},
		{`,"selectors":[]`, 1}, // becomes a member of exactly
	} {
		sent := template(first, `{"name":"a","deviceClassName":"c","allocationMode":"ExactCount","count":1`+c.empty+`}`)
		plan, err := manager(first).Plan(live, sent, "carol")
		if err != nil {
			t.Fatal(err)
		}
		if got := len(plan.Conflicts()); got != c.conflicts {
			t.Errorf("an apply with %q has %d conflicts, want %d", c.empty, got, c.conflicts)
		}
		updated, err := manager(first).Update(live, sent, "dora")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(updated.Entries, func(e managedfields.Entry) bool { return e.Manager == "alice" }) {
			t.Errorf("an update with %q takes the list from its owner", c.empty)
		}
	}
}

// TestScalers converts a scaler to the first version of its kind, which has most of it in annotations, and back.
func TestScalers(t *testing.T) {
	first, _ := Lookup(schema.GVK{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler"})
	second, _ := Lookup(schema.GVK{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"})
	scaler := mustParse(t, `{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"annotations":{"a":"b"},"name":"s"},
		"spec":{"maxReplicas":5,"scaleTargetRef":{"kind":"K","name":"n"},
			"metrics":[{"pods":{"metric":{"name":"m"},"target":{"averageValue":"2","type":"AverageValue"}},"type":"Pods"},
				{"resource":{"name":"cpu","target":{"averageUtilization":70,"type":"Utilization"}},"type":"Resource"}],
			"behavior":{"scaleDown":{"policies":[{"periodSeconds":3,"type":"Pods","value":2}],"selectPolicy":"Min","stabilizationWindowSeconds":4}}},
		"status":{"currentReplicas":2,"desiredReplicas":3,"conditions":[{"lastTransitionTime":"2026-01-02T03:04:05Z","message":"m","reason":"r","status":"True","type":"AbleToScale"}],
			"currentMetrics":[{"resource":{"current":{"averageUtilization":60,"averageValue":"1"},"name":"cpu"},"type":"Resource"}]}}`)
	old, err := second.Convert(scaler, first)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"spec.targetCPUUtilizationPercentage": "70", "spec.metrics": "-", "spec.behavior": "-", "status.currentCPUUtilizationPercentage": "60", "status.conditions": "-",
		"status.currentMetrics": "-", "apiVersion": `"autoscaling/v1"`,
		"metadata.annotations": `{"a":"b",` +
			`"autoscaling.alpha.kubernetes.io/behavior":"{\"ScaleUp\":null,\"ScaleDown\":{\"StabilizationWindowSeconds\":4,\"SelectPolicy\":\"Min\",\"Policies\":[{\"Type\":\"Pods\",\"Value\":2,\"PeriodSeconds\":3}],\"Tolerance\":null}}",` +
			`"autoscaling.alpha.kubernetes.io/conditions":"[{\"type\":\"AbleToScale\",\"status\":\"True\",\"lastTransitionTime\":\"2026-01-02T03:04:05Z\",\"reason\":\"r\",\"message\":\"m\"}]",` +
			`"autoscaling.alpha.kubernetes.io/current-metrics":"[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"currentAverageUtilization\":60,\"currentAverageValue\":\"1\"}}]",` +
			`"autoscaling.alpha.kubernetes.io/metrics":"[{\"type\":\"Pods\",\"pods\":{\"metricName\":\"m\",\"targetAverageValue\":\"2\"}}]"}`,
	} {
		if got := shownAt(old, path); got != want {
			t.Errorf("in the first version %s is %s, want %s", path, got, want)
		}
	}
	again, err := first.Convert(old, second)
	if err != nil || !again.Equal(scaler) {
		t.Errorf("there and back it is %v: %v\nwant %v", again, err, scaler)
	}
	plain := mustParse(t, `{"metadata":{"annotations":{"autoscaling.alpha.kubernetes.io/metrics":"no JSON","autoscaling.alpha.kubernetes.io/behavior":"{"}},"spec":{"maxReplicas":3},"status":{"currentCPUUtilizationPercentage":4}}`)
	read, err := first.Convert(plain, second)
	if got := shownAt(read, "spec.metrics") + shownAt(read, "spec.behavior") + shownAt(read, "status.currentMetrics") + shownAt(read, "metadata.annotations"); err != nil ||
		got != `[{"resource":{"name":"cpu","target":{"averageUtilization":80,"type":"Utilization"}},"type":"Resource"}]`+`-`+
			`[{"resource":{"current":{"averageUtilization":4,"averageValue":"0"},"name":"cpu"},"type":"Resource"}]-` {
		t.Errorf("without a target, and with annotations that are none, it has %s: %v", got, err)
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
