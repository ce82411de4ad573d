package gitops_test

import (
	"testing"

	"github.com/deed-project/deed/kube"
	"github.com/deed-project/deed/kube/gitops"
)

// BenchmarkDiff compares a deployment of some 3 kB that two managers wrote, as objects and as maps: the same, one that lacks a default value in an
// atomic object, so that only the stored forms are equal, and one with a change.
func BenchmarkDiff(b *testing.B) {
	r := registry(b)
	live, err := kube.ObjectOf(applied(b, r, "me", large, "other", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web",
		"annotations":{"a":"1","b":"2"}}}`))
	if err != nil {
		b.Fatal(err)
	}
	liveMap, err := live.Value()
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{
		"same": large, "spelled": with(large, `"apiVersion":"v1","fieldPath"`, `"fieldPath"`), "changed": with(large, "web:1", "web:2"),
	} {
		desired, err := kube.ObjectOf([]byte(text))
		if err != nil {
			b.Fatal(err)
		}
		run := func(form string, live, desired any) {
			b.Run(name+"/"+form, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := gitops.Diff(live, desired, r, gitops.Options{Manager: "me"}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("objects", live, desired)
		run("maps", liveMap.ToAny(), desired.Content.ToAny())
	}
}

const large = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop","labels":{"app":"web","tier":"front"}},
"spec":{"replicas":2,"revisionHistoryLimit":5,"selector":{"matchLabels":{"app":"web"}},"strategy":{"type":"RollingUpdate"},
"template":{"metadata":{"labels":{"app":"web","tier":"front"}},"spec":{"serviceAccountName":"web","containers":[
{"name":"web","image":"web:1","args":["--port=80","--log=info"],"env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}},
{"name":"C","valueFrom":{"secretKeyRef":{"name":"web","key":"c"}}}],"ports":[{"containerPort":80,"name":"http"},{"containerPort":9090,"name":"metrics"}],
"readinessProbe":{"httpGet":{"path":"/ready","port":"http"},"periodSeconds":5},"livenessProbe":{"httpGet":{"path":"/live","port":"http"}},
"resources":{"requests":{"cpu":"100m","memory":"128Mi"},"limits":{"memory":"256Mi"}},"securityContext":{"runAsNonRoot":true,"readOnlyRootFilesystem":true},
"volumeMounts":[{"name":"config","mountPath":"/etc/web"},{"name":"tmp","mountPath":"/tmp"}]},
{"name":"proxy","image":"proxy:3","ports":[{"containerPort":15000,"name":"admin"}],"resources":{"requests":{"cpu":"50m"}}}],
"volumes":[{"name":"config","configMap":{"name":"web"}},{"name":"tmp","emptyDir":{}}],
"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":{"topologyKey":"zone",
"labelSelector":{"matchLabels":{"app":"web"}}}}]}}}}}}`
