package quota

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/admission/plugins"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

// TestUsage counts what objects use. The transcript of quotas has counts of kube-apiserver.
func TestUsage(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	classes := deviceClasses{"gpu": "example.com/gpu", "nic": ""}
	for _, test := range []struct {
		name, object, want string
		of                 kschema.GroupResource
		pod                plugins.Amounts // what the pod of a resource claim uses
	}{
		{name: "a resource that is only counted", of: kschema.GroupResource{Group: "apps", Resource: "deployments"}, object: `{}`, want: "count/deployments.apps=1"},
		{name: "one with a plain name", of: kschema.GroupResource{Resource: "secrets"}, object: `{}`, want: "count/secrets=1,secrets=1"},
		{name: "containers of pods", of: pods, object: `{"spec":{"initContainers":[{"name":"i","resources":{"requests":{"cpu":"2"}}}],
			"containers":[{"name":"a","resources":{"requests":{"cpu":"500m","memory":"1Gi"},"limits":{"cpu":"1"}}},
				{"name":"b","resources":{"requests":{"cpu":"250m","hugepages-2Mi":"4Mi","example.com/gpu":"2","example.com/x":"1"}}}]}}`,
			want: "count/pods=1,cpu=2,hugepages-2Mi=4Mi,limits.cpu=1,memory=1Gi,pods=1,requests.cpu=2,requests.example.com/gpu=2," +
				"requests.example.com/x=1,requests.hugepages-2Mi=4Mi,requests.memory=1Gi"},
		{name: "the overhead of a pod", of: pods, object: `{"spec":{"overhead":{"cpu":"100m"},"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}}`,
			want: "count/pods=1,cpu=1100m,pods=1,requests.cpu=1100m"},
		{name: "a pod that has ended", of: pods, object: `{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":"Failed"}}`,
			want: "count/pods=1"},
		{name: "a pod whose time to end is over", of: pods, object: `{"metadata":{"deletionTimestamp":"2026-11-29T11:59:00Z","deletionGracePeriodSeconds":30},
			"spec":{"containers":[]}}`, want: "count/pods=1"},
		{name: "a pod that ends", of: pods, object: `{"metadata":{"deletionTimestamp":"2026-11-29T11:59:45Z","deletionGracePeriodSeconds":30},
			"spec":{"containers":[]}}`, want: "count/pods=1,pods=1"},
		{name: "a claim of a class, which was made larger", of: claims, object: `{"spec":{"storageClassName":"fast","resources":{"requests":{"storage":"1Gi"}}},
			"status":{"allocatedResources":{"storage":"2Gi"}}}`,
			want: "count/persistentvolumeclaims=1,fast.storageclass.storage.k8s.io/persistentvolumeclaims=1," +
				"fast.storageclass.storage.k8s.io/requests.storage=2Gi,persistentvolumeclaims=1,requests.storage=2Gi"},
		{name: "a load balancer without ports on nodes", of: services, object: `{"spec":{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,
			"ports":[{"port":80},{"port":81,"nodePort":30000}]}}`, want: "count/services=1,services=1,services.loadbalancers=1,services.nodeports=1"},
		{name: "devices of a class with an extended resource", of: deviceClaims,
			object: `{"spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":3}}]}}}`,
			want: "count/resourceclaims.resource.k8s.io=1,gpu.deviceclass.resource.k8s.io/devices=3," +
				"requests.deviceclass.resource.kubernetes.io/gpu=3,requests.example.com/gpu=3"},
		{name: "the most of alternatives, and all devices", of: deviceClaims, object: `{"spec":{"devices":{"requests":[
			{"name":"a","firstAvailable":[{"deviceClassName":"nic","allocationMode":"ExactCount","count":2},{"deviceClassName":"nic","allocationMode":"ExactCount","count":1}]},
			{"name":"b","exactly":{"deviceClassName":"nic","allocationMode":"All"}}]}}}`,
			want: "count/resourceclaims.resource.k8s.io=1,nic.deviceclass.resource.k8s.io/devices=34,requests.deviceclass.resource.kubernetes.io/nic=34"},
		{name: "a claim of a pod that uses a part of it", of: deviceClaims, pod: plugins.Amounts{"requests.example.com/gpu": resource.MustParse("2")},
			object: `{"spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":3}}]}}}`,
			want: "count/resourceclaims.resource.k8s.io=1,gpu.deviceclass.resource.k8s.io/devices=3," +
				"requests.deviceclass.resource.kubernetes.io/gpu=3,requests.example.com/gpu=1"},
	} {
		object, err := value.Parse([]byte(test.object))
		if err != nil {
			t.Fatal(err)
		}
		used, err := usageOf(test.of, object, beside{now: now, classes: classes, podOf: func(value.Value) (plugins.Amounts, error) { return test.pod, nil }})
		if got := printed(used); err != nil || got != test.want {
			t.Errorf("%s: %s, %v\nwant %s", test.name, got, err, test.want)
		}
	}
}

// broken is a store that cannot read pods.
type broken struct{ store.Store }

var errBroken = errors.New("the disk is gone")

func (b broken) Range(ctx context.Context, of store.Range) (store.Page, error) {
	if strings.HasPrefix(of.Prefix, "/registry/pods/") {
		return store.Page{}, errBroken
	}
	return b.Store.Range(ctx, of)
}

// TestFailingStore counts resource claims beside a store that fails. Without the pods, a claim of a pod would count in full.
func TestFailingStore(t *testing.T) {
	s := broken{memory.New()}
	b, err := besides(t.Context(), s, time.Now(), deviceClaims, "default")
	if err != nil {
		t.Fatal(err)
	}
	for object, want := range map[string]error{
		`{"metadata":{"name":"c"}}`: nil,
		`{"metadata":{"annotations":{"resource.kubernetes.io/extended-resource-claim":"true"},
			"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","controller":true}]}}`: errBroken,
	} {
		claim, err := value.Parse([]byte(object))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := usageOf(deviceClaims, claim, b); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", object, err, want)
		}
	}
}
