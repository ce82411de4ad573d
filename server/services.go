package server

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/deed-project/deed/value"
)

// services finds the services that webhooks are behind.
type services struct{ *Server }

const resolveTimeout = 5 * time.Second

// ResolveEndpoint returns the address of a port of a service: the one that the server was told, or that of a ready endpoint.
func (s services) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	if address := s.resolve[name+"."+namespace]; address != "" {
		return &url.URL{Scheme: "https", Host: address}, nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, resolveTimeout)
	defer cancel()
	service, err := s.storedObject(ctx, "/registry/services/specs/"+namespace+"/"+name)
	if err != nil {
		return nil, err
	}
	if service.IsAbsent() {
		return nil, fmt.Errorf("service %q not found", name)
	}
	for p := range service.Get("spec", "ports").Items() {
		if p.Get("port").Int() != int64(port) {
			continue
		}
		if service.Get("spec", "type").Str() == "ExternalName" {
			return at(service.Get("spec", "externalName").Str(), int64(port)), nil
		}
		return s.endpointOf(ctx, namespace, name, p.Get("name").Str())
	}
	return nil, fmt.Errorf("no service port %d found for service %q", port, name)
}

// endpointOf returns the address of the first endpoint of a service that is ready.
func (s services) endpointOf(ctx context.Context, namespace, service, port string) (*url.URL, error) {
	resource := s.catalog.Load().Lookup("discovery.k8s.io", "endpointslices")
	slices, err := s.allOf(ctx, resource)
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

// readyAddress returns the first address of an EndpointSlice that is ready, "" if there is none.
func readyAddress(slice value.Value) string {
	for e := range slice.Get("endpoints").Items() {
		ready := e.Get("conditions", "ready")
		if (ready.IsAbsent() || ready.IsNull() || ready.Bool()) && e.Get("addresses").Len() > 0 {
			return e.Get("addresses").Item(0).Str()
		}
	}
	return ""
}

func at(host string, port int64) *url.URL {
	return &url.URL{Scheme: "https", Host: net.JoinHostPort(host, strconv.FormatInt(port, 10))}
}
