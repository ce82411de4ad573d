// Package services resolves services to the addresses at which webhooks and other API servers are reached. Its [Allocator] gives services
// cluster IPs and ports.
package services

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Resolver resolves services by their ports and EndpointSlices.
type Resolver struct {
	Context context.Context // ends with the server
	Store   store.Store
	Catalog func() *catalog.Catalog
	// Fixed has addresses of the form host:port by name.namespace. Services in it are not looked up.
	Fixed map[string]string
}

// IsFixed reports whether a service has a fixed address.
func (s Resolver) IsFixed(namespace, name string) bool { return s.Fixed[name+"."+namespace] != "" }

const resolveTimeout = 5 * time.Second

// ResolveEndpoint returns the URL of a port of a service: a fixed address, an external name, or a ready endpoint.
//
// It implements the resolver of the library for webhooks. A service may have several ports, which EndpointSlices name.
func (s Resolver) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	if address := s.Fixed[name+"."+namespace]; address != "" {
		return &url.URL{Scheme: "https", Host: address}, nil
	}
	ctx, cancel := context.WithTimeout(s.Context, resolveTimeout)
	defer cancel()
	service, err := registry.Object(ctx, s.Store, "/registry/services/specs/"+namespace+"/"+name)
	if err != nil {
		return nil, err
	}
	if service.IsAbsent() {
		return nil, fmt.Errorf("service %q not found", name)
	}
	if service.Get("spec", "type").Str() == "ExternalName" {
		return at(service.Get("spec", "externalName").Str(), int64(port)), nil
	}
	for p := range service.Get("spec", "ports").Items() {
		if p.Get("port").Int() != int64(port) {
			continue
		}
		return s.endpointOf(ctx, namespace, name, p.Get("name").Str())
	}
	return nil, fmt.Errorf("no service port %d found for service %q", port, name)
}

// endpointOf returns the URL of the first ready endpoint of a service.
//
// It is the first one by key, always the same: webhooks are not balanced over endpoints.
func (s Resolver) endpointOf(ctx context.Context, namespace, service, port string) (*url.URL, error) {
	resource := s.Catalog().Lookup("discovery.k8s.io", "endpointslices")
	slices, err := registry.Objects(ctx, s.Store, resource)
	if err != nil {
		return nil, err
	}
	for _, slice := range slices {
		if slice.Get("metadata", "namespace").Str() != namespace ||
			slice.Get("metadata", "labels").Get("kubernetes.io/service-name").Str() != service {
			continue
		}
		for p := range slice.Get("ports").Items() {
			if address := readyAddress(slice); p.Get("name").Str() == port && address != "" {
				return at(address, p.Get("port").Int()), nil
			}
		}
	}
	return nil, fmt.Errorf("no endpoints available for service %q", service)
}

// readyAddress returns the address of the first ready endpoint of an EndpointSlice, "" if there is none.
//
// An endpoint that does not say whether it is ready counts as ready.
func readyAddress(slice value.Value) string {
	for e := range slice.Get("endpoints").Items() {
		ready := e.Get("conditions", "ready")
		if (ready.IsAbsent() || ready.IsNull() || ready.Bool()) && e.Get("addresses").Len() > 0 {
			return e.Get("addresses").Item(0).Str()
		}
	}
	return ""
}

// at returns the URL of a port of a host.
func at(host string, port int64) *url.URL {
	return &url.URL{Scheme: "https", Host: net.JoinHostPort(host, strconv.FormatInt(port, 10))}
}
