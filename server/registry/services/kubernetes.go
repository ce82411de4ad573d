package services

import (
	"context"
	"net/http"
	"net/netip"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/value"
)

// What a kube-apiserver creates for itself: the ServiceCIDR, the Service and the endpoints that are called kubernetes.

const (
	kubernetes = "kubernetes"
	// usualPort is the port of an API server that does not say where it is reached.
	usualPort = 6443
)

// CreateRange creates the ServiceCIDR kubernetes, and marks it as ready.
func (a *Allocator) CreateRange(ctx context.Context, now string) error {
	const path = "/apis/networking.k8s.io/v1/servicecidrs"
	body := parsed(`{"apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR","metadata":{"name":"kubernetes"},"spec":{"cidrs":[]}}`)
	var cidrs []value.Value
	for _, r := range a.Ranges {
		cidrs = append(cidrs, value.String(r.Masked().String()))
	}
	body = body.With("spec", value.Object(value.Member{Name: "cidrs", Value: value.List(cidrs...)}))
	err := a.Client.Send(ctx, http.MethodPost, path+fieldManager, body)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil {
		return err
	}
	ready := parsed(`{"type":"Ready","status":"True","message":"Kubernetes default Service CIDR is ready"}`)
	status := parsed(`{"apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR","metadata":{"name":"kubernetes"}}`)
	status = status.With("status", value.Object(value.Member{
		Name: "conditions", Value: value.List(ready.With("lastTransitionTime", value.String(now))),
	}))
	return a.Client.Apply(ctx, path+"/"+kubernetes+"/status", "kubernetes-service-cidr-controller", status)
}

// CreateService creates the Service kubernetes in the namespace default. If at is where clients of the network reach the server, it creates
// the endpoints of the service, too. Endpoints have no loopback addresses.
func (a *Allocator) CreateService(ctx context.Context, at netip.AddrPort) error {
	exists, err := registry.Object(ctx, a.Store, a.Catalog().Lookup("", resource.Resource).Key("default", kubernetes))
	if err != nil {
		return err
	}
	port := value.Int(usualPort)
	if at.Port() != 0 {
		port = value.Int(int64(at.Port()))
	}
	if exists.IsAbsent() {
		if err := a.Client.Send(ctx, http.MethodPost, "/api/v1/namespaces/default/services"+fieldManager, a.service(port)); err != nil {
			return err
		}
	}
	if !at.Addr().IsValid() || at.Addr().IsLoopback() || at.Addr().IsUnspecified() {
		return nil
	}
	return a.createEndpoints(ctx, familyOf(at.Addr()), value.String(at.Addr().String()), port)
}

// service returns the Service kubernetes, at the first address of the range.
func (a *Allocator) service(port value.Value) value.Value {
	s := parsed(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"kubernetes","namespace":"default",
		"labels":{"component":"apiserver","provider":"kubernetes"}},"spec":{"sessionAffinity":"None","type":"ClusterIP","ipFamilyPolicy":"SingleStack"}}`)
	p := parsed(`{"name":"https","port":443,"protocol":"TCP"}`).With("targetPort", port)
	spec := s.Get("spec").With("ports", value.List(p)).With("clusterIP", value.String(newAddressRange(a.Ranges[0]).at(1).String()))
	return s.With("spec", spec)
}

// createEndpoints creates the Endpoints and the EndpointSlice kubernetes, or replaces what an earlier server with another address left.
func (a *Allocator) createEndpoints(ctx context.Context, family string, address, port value.Value) error {
	endpoints := parsed(`{"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"kubernetes","labels":{"endpointslice.kubernetes.io/skip-mirror":"true"}}}`)
	ports := value.List(parsed(`{"name":"https","protocol":"TCP"}`).With("port", port))
	endpoints = endpoints.With("subsets", value.List(value.Object(
		value.Member{Name: "addresses", Value: value.List(value.Object(value.Member{Name: "ip", Value: address}))},
		value.Member{Name: "ports", Value: ports},
	)))
	slice := parsed(`{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"kubernetes",
		"labels":{"kubernetes.io/service-name":"kubernetes"}}}`).With("addressType", value.String(family))
	slice = slice.With("ports", ports).With("endpoints", value.List(parsed(`{"conditions":{"ready":true}}`).With("addresses", value.List(address))))
	for path, object := range map[string]value.Value{
		"/api/v1/namespaces/default/endpoints": endpoints, "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices": slice,
	} {
		err := a.Client.Send(ctx, http.MethodPost, path+fieldManager, object)
		if apierrors.IsAlreadyExists(err) {
			err = a.Client.Send(ctx, http.MethodPut, path+"/"+api.Meta(object, "name")+fieldManager, object)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// parsed returns a constant document.
func parsed(text string) value.Value {
	v, err := value.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return v
}
