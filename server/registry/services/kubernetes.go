package services

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"time"

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

// rangesPath is the path of ServiceCIDRs.
const rangesPath = "/apis/networking.k8s.io/v1/servicecidrs"

// CreateRange creates the ServiceCIDR kubernetes, and marks it as ready. One that an earlier server created gets a second range that this
// server has beside the first. Services get addresses of the stored ranges, so an Event says where others are configured.
func (a *Allocator) CreateRange(ctx context.Context, now time.Time) error {
	body := parsed(`{"apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR","metadata":{"name":"kubernetes"},"spec":{"cidrs":[]}}`)
	var cidrs []value.Value
	for _, r := range a.Ranges {
		cidrs = append(cidrs, value.String(r.Masked().String()))
	}
	body = body.With("spec", value.Object(value.Member{Name: "cidrs", Value: value.List(cidrs...)}))
	err := a.Client.Send(ctx, http.MethodPost, rangesPath+fieldManager, body)
	if apierrors.IsAlreadyExists(err) {
		return a.changeRange(ctx, body.Get("spec"), now)
	}
	if err != nil {
		return err
	}
	ready := parsed(`{"type":"Ready","status":"True","message":"Kubernetes default Service CIDR is ready"}`)
	status := parsed(`{"apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR","metadata":{"name":"kubernetes"}}`)
	status = status.With("status", value.Object(value.Member{
		Name: "conditions", Value: value.List(ready.With("lastTransitionTime", value.String(api.Timestamp(now)))),
	}))
	return a.Client.Apply(ctx, rangesPath+"/"+kubernetes+"/status", rangesController, status)
}

// rangesController is the name of what creates the ServiceCIDR, as its field manager and in Events.
const rangesController = "kubernetes-service-cidr-controller"

// changeRange compares the stored ServiceCIDR with the configured spec. It adds a second range, and reports every other difference.
func (a *Allocator) changeRange(ctx context.Context, spec value.Value, now time.Time) error {
	stored, err := registry.Object(ctx, a.Store, a.Catalog().Lookup("networking.k8s.io", "servicecidrs").Key("", kubernetes))
	if err != nil || stored.IsAbsent() {
		return err // another server has deleted it
	}
	is, configured := stored.Get("spec", "cidrs"), spec.Get("cidrs")
	switch {
	case is.Equal(configured):
		return nil
	case is.Len() == 1 && configured.Len() == 2 && is.Item(0).Equal(configured.Item(0)):
		return a.Client.Send(ctx, http.MethodPut, rangesPath+"/"+kubernetes+fieldManager, stored.With("spec", spec))
	}
	text := func(name, s string) value.Member { return value.Member{Name: name, Value: value.String(s)} }
	return a.Client.Send(ctx, http.MethodPost, "/api/v1/namespaces/default/events"+fieldManager, value.Object(
		text("apiVersion", "v1"), text("kind", "Event"),
		value.Member{Name: "metadata", Value: value.Object(text("name", fmt.Sprintf("%s.%x", kubernetes, now.UnixNano())), text("namespace", "default"))},
		value.Member{Name: "involvedObject", Value: value.Object(
			text("apiVersion", "networking.k8s.io/v1"), text("kind", "ServiceCIDR"), text("name", kubernetes), text("uid", api.Meta(stored, "uid")),
		)},
		text("reason", "KubernetesDefaultServiceCIDRInconsistent"),
		text("message", fmt.Sprintf("The default ServiceCIDR %s does not match the controller flag configurations %s", listed(is), listed(configured))),
		value.Member{Name: "source", Value: value.Object(text("component", rangesController))}, text("reportingComponent", rangesController),
		text("firstTimestamp", api.Timestamp(now)), text("lastTimestamp", api.Timestamp(now)),
		value.Member{Name: "count", Value: value.Int(1)}, text("type", "Warning"),
	))
}

// listed returns texts in brackets.
func listed(texts value.Value) string {
	var all []string
	for text := range texts.Items() {
		all = append(all, text.Str())
	}
	return fmt.Sprint(all)
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
