package quota

import (
	"cmp"
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/admission/plugins"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// What resource claims use of device classes. A class may be requested by extended resources of pods, too: by the name in its spec, and by an
// implicit one. Quotas bound the sum of both ways:
//
//	gpu.deviceclass.resource.k8s.io/devices           devices of the class gpu in claims
//	requests.deviceclass.resource.kubernetes.io/gpu   these, and what pods request by the implicit name
//	requests.example.com/gpu                          these, and what pods request by the name in the class

var deviceClaims = kschema.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaims"}

const (
	devicesSuffix  = ".deviceclass.resource.k8s.io/devices"
	implicitPrefix = "deviceclass.resource.kubernetes.io/" // of the extended resource of each class
	requests       = "requests."
	// maxDevices is how many devices a request for all of them counts for.
	maxDevices = 32
)

// deviceClasses are the names of extended resources by device class, empty for classes without one.
type deviceClasses map[string]string

// deviceClassesOf returns the stored device classes.
func deviceClassesOf(ctx context.Context, s store.Store) (deviceClasses, error) {
	all, err := plugins.Listed(ctx, s, "/registry/deviceclasses/")
	out := deviceClasses{}
	for _, class := range all {
		out[class.Get("metadata", "name").Str()] = class.Get("spec", "extendedResourceName").Str()
	}
	return out, err
}

// bounds reports whether a name of a quota bounds what resource claims use.
func (c deviceClasses) bounds(name string) bool {
	if strings.HasSuffix(name, devicesSuffix) {
		return true
	}
	extended, isRequest := strings.CutPrefix(name, requests)
	if class, isImplicit := strings.CutPrefix(extended, implicitPrefix); isImplicit {
		_, exists := c[class]
		return isRequest && exists
	}
	for _, of := range c {
		if isRequest && of != "" && of == extended {
			return true
		}
	}
	return false
}

// usage returns what a resource claim uses. pod has what the pod uses that the claim was made for, if it was made for extended resources: the
// claim uses only what is left of them.
func (c deviceClasses) usage(claim value.Value, pod plugins.Amounts) plugins.Amounts {
	devices := map[string]int64{}
	for request := range claim.Get("spec", "devices", "requests").Items() {
		most := map[string]int64{}
		if alternatives := request.Get("firstAvailable"); alternatives.Len() > 0 {
			for of := range alternatives.Items() {
				class := of.Get("deviceClassName").Str()
				most[class] = max(most[class], devicesIn(of))
			}
		} else {
			if exactly := request.Get("exactly"); !exactly.IsAbsent() { // else the request is of an early version
				request = exactly
			}
			most[request.Get("deviceClassName").Str()] = devicesIn(request)
		}
		for class, n := range most {
			devices[class] += n
		}
	}
	used := plugins.Amounts{}
	for class, n := range devices {
		used[class+devicesSuffix] = *resource.NewQuantity(n, resource.DecimalSI)
		names := []string{requests + implicitPrefix + class}
		if c[class] != "" {
			names = append(names, requests+c[class])
		}
		for _, name := range names {
			left := resource.NewQuantity(n, resource.DecimalSI)
			if left.Sub(pod[name]); left.Sign() > 0 && left.Cmp(used[name]) > 0 {
				used[name] = *left
			}
		}
	}
	return used
}

// devicesIn returns the number of devices of a request.
func devicesIn(request value.Value) int64 {
	switch request.Get("allocationMode").Str() {
	case "ExactCount":
		return request.Get("count").Int()
	case "All":
		return maxDevices
	}
	return 0
}

// owners are the pods of a namespace, and the first resource claim of each by age and name, by the UID of the pod.
type owners struct{ pods, first map[string]value.Value }

// ownersIn returns the owners in a namespace.
func ownersIn(ctx context.Context, s store.Store, namespace string) (owners, error) {
	o := owners{map[string]value.Value{}, map[string]value.Value{}}
	all, err := plugins.Listed(ctx, s, "/registry/pods/"+namespace+"/")
	if err != nil {
		return o, err
	}
	for _, pod := range all {
		o.pods[pod.Get("metadata", "uid").Str()] = pod
	}
	if all, err = plugins.Listed(ctx, s, "/registry/resourceclaims/"+namespace+"/"); err != nil {
		return o, err
	}
	for _, claim := range all {
		if owner := ownerOf(claim); !owner.IsAbsent() {
			uid := owner.Get("uid").Str()
			if first, has := o.first[uid]; !has || compareAge(claim, first) < 0 {
				o.first[uid] = claim
			}
		}
	}
	return o, nil
}

// usage returns what the pod uses that a resource claim was made for, nil if it was made for another claim. owner is the reference to the pod.
// The pod names its claim. Until then, it is the first one.
func (o owners) usage(owner, claim value.Value, now time.Time) (plugins.Amounts, error) {
	uid := owner.Get("uid").Str()
	pod := o.pods[uid]
	if pod.IsAbsent() || !pod.Get("metadata", "name").Equal(owner.Get("name")) {
		return nil, nil
	}
	if status := pod.Get("status", "extendedResourceClaimStatus"); status.Kind() == value.KindObject {
		if !status.Get("resourceClaimName").Equal(claim.Get("metadata", "name")) {
			return nil, nil
		}
	} else if first, has := o.first[uid]; has && compareAge(first, claim) < 0 {
		return nil, nil
	}
	return usageOf(pods, pod, beside{now: now})
}

// ownerOf returns the reference of a resource claim to the pod for whose extended resources it was made, absent for other claims.
func ownerOf(claim value.Value) value.Value {
	if claim.Get("metadata", "annotations", "resource.kubernetes.io/extended-resource-claim").Str() != "true" {
		return value.Value{}
	}
	for of := range claim.Get("metadata", "ownerReferences").Items() {
		if of.Get("controller").Kind() == value.KindBool && of.Get("controller").Bool() {
			if of.Get("kind").Str() != "Pod" || of.Get("apiVersion").Str() != "v1" {
				break
			}
			return of
		}
	}
	return value.Value{}
}

// compareAge compares two objects by their age and name. An object without a time is the oldest.
func compareAge(a, b value.Value) int {
	of := func(name string) int {
		return cmp.Compare(a.Get("metadata", name).Str(), b.Get("metadata", name).Str())
	}
	return cmp.Or(of("creationTimestamp"), of("name"))
}
