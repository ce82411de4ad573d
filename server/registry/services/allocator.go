package services

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Allocator gives services addresses of the ranges of ServiceCIDRs (addresses.go), and ports of nodes (ports.go). Both are recorded in the
// store, so that servers that share it give nothing twice:
//
//	address   an IPAddress with its name, created by the server that gives it
//	port      a bit of the RangeAllocation of node ports, set by a conditional write
//
// Its fields are set before use.
type Allocator struct {
	Store   store.Store
	Catalog func() *catalog.Catalog
	Client  *loopback.Client
	Range   netip.Prefix // of the ServiceCIDR kubernetes
	Ports   PortRange
	Report  func(what string, err error)
}

var resource = kschema.GroupResource{Resource: "services"}

// change is what a write takes, and what it gives back once it is stored.
type change struct {
	by          *Allocator
	taken, left []netip.Addr
	takenPorts  []int
	leftPorts   []int
	dryRun      bool
}

// Allocate completes a service that is to be stored in place of live, or as a new one. done says whether it was stored: then what the service
// no longer has is given back, and else what it was to get.
func (a *Allocator) Allocate(ctx context.Context, q *rest.Request, object, live value.Value, dryRun bool) (value.Value, func(stored bool), error) {
	if q.Version.GroupResource() != resource || q.Target.Subresource != "" {
		return object, func(bool) {}, nil
	}
	c := &change{by: a, dryRun: dryRun}
	done := func(stored bool) { c.done(context.WithoutCancel(ctx), stored) }
	object, err := c.allocate(ctx, object, live)
	if err != nil {
		done(false)
		return object, func(bool) {}, err
	}
	return object, done, nil
}

// allocate returns a service with its addresses and ports.
func (c *change) allocate(ctx context.Context, object, live value.Value) (value.Value, error) {
	spec, was := object.Get("spec"), live.Get("spec")
	spec, err := c.address(ctx, object, spec, was)
	if err != nil {
		return object, err
	}
	if spec, err = c.nodePorts(ctx, object, spec, was); err != nil {
		return object, err
	}
	if spec, err = c.healthPort(ctx, spec, was); err != nil {
		return object, err
	}
	return object.With("spec", spec), nil
}

// done gives back what the write left if it was stored, and else what it took.
func (c *change) done(ctx context.Context, stored bool) {
	addresses, ports := c.taken, c.takenPorts
	if stored {
		addresses, ports = c.left, c.leftPorts
	}
	if c.dryRun {
		return
	}
	for _, ip := range addresses {
		c.by.Report("an address of a service is not given back", c.by.releaseAddress(ctx, ip))
	}
	if len(ports) > 0 {
		c.by.Report("ports of a service are not given back", c.by.releasePorts(ctx, ports...))
	}
}

// Release gives back what a removed service had.
func (a *Allocator) Release(ctx context.Context, q *rest.Request, object value.Value) {
	if q.Version.GroupResource() != resource {
		return
	}
	c, spec := change{by: a}, object.Get("spec")
	c.left = addressesOf(spec)
	if c.leftPorts = portsOf(spec); hasHealthPort(spec) {
		c.leftPorts = append(c.leftPorts, int(spec.Get("healthCheckNodePort").Int()))
	}
	c.done(context.WithoutCancel(ctx), true)
}

// address gives a service its address, unless it has none or keeps the one that it has.
//
//	live           object         what happens
//	-, or outside  inside         an address: the one that the object names, or any
//	inside         outside        the address of live is given back
//	headless       -              nothing
//
// A service is inside unless it is an ExternalName. A text that is no address is left to validation.
func (c *change) address(ctx context.Context, object, spec, was value.Value) (value.Value, error) {
	isInside := func(s value.Value) bool { return !s.IsAbsent() && s.Get("type").Str() != "ExternalName" }
	named := spec.Get("clusterIP").Str()
	switch {
	case isInside(was) && !isInside(spec):
		c.left = addressesOf(was)
		return spec, nil
	case isInside(was) || !isInside(spec) || named == "None" || !isSingle(spec):
		return spec, nil
	}
	if named != "" {
		ip, err := netip.ParseAddr(named)
		if err != nil || !ip.Is4() {
			return spec, nil
		}
		if err = c.take(ctx, object, ip); err != nil {
			return spec, invalid(object, field.Invalid(field.NewPath("spec", "clusterIPs"), spec.Get("clusterIPs").ToAny(),
				fmt.Sprintf("failed to allocate IP %v: %v", ip, err)))
		}
		return spec, nil
	}
	ip, err := c.takeNext(ctx, object)
	switch {
	case errors.Is(err, errFull):
		return spec, apierrors.NewInternalError(fmt.Errorf("failed to allocate a serviceIP for Service %q: %w", api.Meta(object, "name"), err))
	case err != nil:
		return spec, invalid(object, field.Invalid(field.NewPath("spec", "clusterIPs"), []any{""}, fmt.Sprintf("failed to allocate IP: %v", err)))
	}
	text := value.String(ip.String())
	return spec.With("clusterIP", text).With("clusterIPs", value.List(text)), nil
}

// isSingle reports whether a service has the one family that the server has. Validation refuses the others.
func isSingle(spec value.Value) bool {
	families := spec.Get("ipFamilies")
	return families.Len() == 1 && families.Item(0).Str() == "IPv4" && spec.Get("ipFamilyPolicy").Str() != "RequireDualStack" &&
		spec.Get("clusterIPs").Len() < 2
}

// addressesOf returns the addresses of a service.
func addressesOf(spec value.Value) (out []netip.Addr) {
	for text := range spec.Get("clusterIPs").Items() {
		if ip, err := netip.ParseAddr(text.Str()); err == nil && spec.Get("type").Str() != "ExternalName" {
			out = append(out, ip)
		}
	}
	return out
}

// invalid returns the 422 of a service.
func invalid(object value.Value, err *field.Error) error {
	return apierrors.NewInvalid(kschema.GroupKind{Kind: "Service"}, api.Meta(object, "name"), field.ErrorList{err})
}

// Repair records the addresses and ports of stored services, which may come from a server that recorded none.
func (a *Allocator) Repair(ctx context.Context) error {
	all, err := registry.Objects(ctx, a.Store, a.Catalog().Lookup("", resource.Resource))
	if err != nil {
		return err
	}
	var ports []int
	for _, service := range all {
		for _, ip := range addressesOf(service.Get("spec")) {
			if err := a.record(ctx, service, ip); err != nil && !errors.Is(err, errTaken) {
				return err
			}
		}
		ports = append(ports, portsOf(service.Get("spec"))...)
		if health := service.Get("spec", "healthCheckNodePort").Int(); health != 0 {
			ports = append(ports, int(health))
		}
	}
	if len(ports) == 0 {
		return nil
	}
	return a.update(ctx, func(p *portSet) error {
		for _, port := range ports {
			p.set(port, true)
		}
		return nil
	})
}
