package services

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/value"
)

// What a kube-apiserver creates for itself: the ServiceCIDR, the Service and the endpoints that are called kubernetes.

const (
	kubernetes = "kubernetes"
	// usualPort is the port of an API server that does not say where it is reached.
	usualPort = 6443
)

// KeepInterval is the time between looks for what a kube-apiserver creates for itself.
const KeepInterval = 10 * time.Second

// rangesPath is the path of ServiceCIDRs.
const rangesPath = "/apis/networking.k8s.io/v1/servicecidrs"

// KeepRange creates the ServiceCIDR kubernetes unless it exists, and marks it as ready unless it says whether it is. One that an earlier
// server created gets a second range that this server has beside the first. Services get addresses of the stored ranges, so an Event says
// where others are configured. Another Event says that the condition Ready is False.
//
// It is to be called from one goroutine at a time.
func (a *Allocator) KeepRange(ctx context.Context) error {
	stored, err := a.storedRange(ctx)
	if err != nil {
		return err
	}
	var cidrs []value.Value
	for _, r := range a.Ranges {
		cidrs = append(cidrs, value.String(r.Masked().String()))
	}
	configured := value.List(cidrs...)
	spec := value.Object(value.Member{Name: "cidrs", Value: configured})
	if stored.IsAbsent() {
		body := parsed(`{"apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR","metadata":{"name":"kubernetes"},"spec":{}}`)
		err := a.Client.Send(ctx, http.MethodPost, rangesPath, body.With("spec", spec))
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		if stored, err = a.storedRange(ctx); err != nil {
			return err
		}
	}
	is, ready := stored.Get("spec", "cidrs"), readiness(stored)
	switch status := ready.Get("status").Str(); {
	case is.Len() == 1 && configured.Len() == 2 && is.Item(0).Equal(configured.Item(0)):
		return a.Client.Send(ctx, http.MethodPut, rangesPath+"/"+kubernetes, stored.With("spec", spec))
	case stored.IsAbsent() || registry.IsTerminating(stored): // a client deletes it
		return nil
	case !is.Equal(configured):
		return a.warnOfRange(ctx, stored, "KubernetesDefaultServiceCIDRInconsistent",
			fmt.Sprintf("The default ServiceCIDR %s does not match the controller flag configurations %s", listed(is), listed(configured)))
	case status == "False":
		return a.warnOfRange(ctx, stored, ready.Get("reason").Str(), "Configuration matches, but "+ready.Get("message").Str())
	case status == "True":
		return nil
	}
	return a.markRange(ctx)
}

// storedRange returns the ServiceCIDR kubernetes, absent if there is none.
func (a *Allocator) storedRange(ctx context.Context) (value.Value, error) {
	return registry.Object(ctx, a.Store, a.Catalog().Lookup("networking.k8s.io", "servicecidrs").Key("", kubernetes))
}

// markRange marks the ServiceCIDR kubernetes as ready.
func (a *Allocator) markRange(ctx context.Context) error {
	ready := parsed(`{"type":"Ready","status":"True","message":"Kubernetes default Service CIDR is ready"}`)
	status := parsed(`{"apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR","metadata":{"name":"kubernetes"}}`)
	status = status.With("status", value.Object(value.Member{
		Name: "conditions", Value: value.List(ready.With("lastTransitionTime", value.String(api.Timestamp(a.Now())))),
	}))
	return a.Client.Apply(ctx, rangesPath+"/"+kubernetes+"/status", rangesController, status)
}

// rangesController is the name of what creates the ServiceCIDR, as its field manager and in Events.
const rangesController = "kubernetes-service-cidr-controller"

// warnOfRange records an Event about the ServiceCIDR kubernetes, unless an equal one was recorded for this revision.
func (a *Allocator) warnOfRange(ctx context.Context, stored value.Value, reason, message string) error {
	return a.warn(ctx, rangesPath+"/"+kubernetes, loopback.Warning{
		Component: rangesController, About: referenceTo(stored, "networking.k8s.io/v1", "ServiceCIDR"), Reason: reason, Message: message,
	})
}

// listed returns texts in brackets.
func listed(texts value.Value) string {
	var all []string
	for text := range texts.Items() {
		all = append(all, text.Str())
	}
	return fmt.Sprint(all)
}

// KeepService creates the Service kubernetes in the namespace default, unless it exists. If at is where clients of the network reach the
// server, it creates the endpoints of the service, too. Endpoints have no loopback addresses. Those that an earlier server with another
// address left are replaced if replaces is set.
func (a *Allocator) KeepService(ctx context.Context, at netip.AddrPort, replaces bool) error {
	exists, err := registry.Object(ctx, a.Store, a.Catalog().Lookup("", resource.Resource).Key("default", kubernetes))
	if err != nil {
		return err
	}
	port := value.Int(usualPort)
	if at.Port() != 0 {
		port = value.Int(int64(at.Port()))
	}
	if exists.IsAbsent() {
		if err := a.Client.Send(ctx, http.MethodPost, "/api/v1/namespaces/default/services", a.service(port)); err != nil {
			return err
		}
	}
	if !at.Addr().IsValid() || at.Addr().IsLoopback() || at.Addr().IsUnspecified() {
		return nil
	}
	return a.keepEndpoints(ctx, familyOf(at.Addr()), value.String(at.Addr().String()), port, replaces)
}

// service returns the Service kubernetes, at the first address of the range.
func (a *Allocator) service(port value.Value) value.Value {
	s := parsed(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"kubernetes","namespace":"default",
		"labels":{"component":"apiserver","provider":"kubernetes"}},"spec":{"sessionAffinity":"None","type":"ClusterIP","ipFamilyPolicy":"SingleStack"}}`)
	p := parsed(`{"name":"https","port":443,"protocol":"TCP"}`).With("targetPort", port)
	spec := s.Get("spec").With("ports", value.List(p)).With("clusterIP", value.String(newAddressRange(a.Ranges[0]).at(1).String()))
	return s.With("spec", spec)
}

// keepEndpoints creates the Endpoints and the EndpointSlice kubernetes unless they exist, or replaces them.
func (a *Allocator) keepEndpoints(ctx context.Context, family string, address, port value.Value, replaces bool) error {
	endpoints := parsed(`{"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"kubernetes","labels":{"endpointslice.kubernetes.io/skip-mirror":"true"}}}`)
	ports := value.List(parsed(`{"name":"https","protocol":"TCP"}`).With("port", port))
	endpoints = endpoints.With("subsets", value.List(value.Object(
		value.Member{Name: "addresses", Value: value.List(value.Object(value.Member{Name: "ip", Value: address}))},
		value.Member{Name: "ports", Value: ports},
	)))
	slice := parsed(`{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"kubernetes",
		"labels":{"kubernetes.io/service-name":"kubernetes"}}}`).With("addressType", value.String(family))
	slice = slice.With("ports", ports).With("endpoints", value.List(parsed(`{"conditions":{"ready":true}}`).With("addresses", value.List(address))))
	for _, of := range []struct {
		group, plural, path string
		object              value.Value
	}{
		{"", "endpoints", "/api/v1/namespaces/default/endpoints", endpoints},
		{"discovery.k8s.io", "endpointslices", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", slice},
	} {
		exists, err := registry.Object(ctx, a.Store, a.Catalog().Lookup(of.group, of.plural).Key("default", kubernetes))
		switch {
		case err != nil:
		case exists.IsAbsent():
			err = a.Client.Send(ctx, http.MethodPost, of.path, of.object)
		case replaces:
			err = a.Client.Send(ctx, http.MethodPut, of.path+"/"+kubernetes, of.object)
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
