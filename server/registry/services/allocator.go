package services

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

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
	Ranges  []netip.Prefix // of the ServiceCIDR kubernetes, at most one for each family, the default family first
	Ports   PortRange
	Now     func() time.Time
	Report  func(what string, err error)

	recorded events
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
//
// A service that a write of its status creates gets nothing. What it has is recorded once it is stored, as by the repair controllers of
// kube-apiserver.
func (a *Allocator) Allocate(ctx context.Context, q *rest.Request, object, live value.Value, dryRun bool) (value.Value, func(stored bool), error) {
	switch isNew := live.IsAbsent() && !dryRun; {
	case q.Version.GroupResource() != resource, q.Target.Subresource != "" && !isNew:
		return object, func(bool) {}, nil
	case q.Target.Subresource != "":
		return object, func(stored bool) {
			if stored {
				a.Report("what a service has is not recorded", a.adopt(context.WithoutCancel(ctx), object))
			}
		}, nil
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
		c.by.Report("an address of a service is not given back", c.by.giveBack(ctx, ip))
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

// address gives a service its addresses, one for each of its families, unless it has none or keeps those that it has.
//
//	live           object         what happens
//	-, or outside  inside         addresses: those that the object names, or any
//	inside         outside        the addresses of live are given back
//	one family     two families   the second address
//	two families   one family     the second address of live is given back
//	headless       -              nothing
//	-, or outside  headless       nothing
//
// So a service that becomes headless may get a second address. Validation then refuses it and shows that address.
//
// A service is inside unless it is an ExternalName. Validation has refused a service with families that the server does not have.
func (c *change) address(ctx context.Context, object, spec, was value.Value) (value.Value, error) {
	isInside := func(s value.Value) bool { return !s.IsAbsent() && s.Get("type").Str() != "ExternalName" }
	isHeadless := func(s value.Value) bool { return s.Get("clusterIP").Str() == "None" }
	families, had := spec.Get("ipFamilies"), was.Get("ipFamilies").Len()
	switch {
	case isInside(was) && !isInside(spec):
		c.left = addressesOf(was)
	case !isInside(spec) || isInside(was) && isHeadless(was) || !isInside(was) && isHeadless(spec):
	case !isInside(was):
		return c.addresses(ctx, object, spec, 0)
	case had == 1 && families.Len() == 2:
		return c.addresses(ctx, object, spec, 1)
	case had == 2 && families.Len() == 1:
		if all := addressesOf(was); len(all) == 2 {
			c.left = all[1:]
		}
	}
	return spec, nil
}

// addresses gives a service the addresses of its families, from one of them on.
func (c *change) addresses(ctx context.Context, object, spec value.Value, from int) (value.Value, error) {
	families := slices.Collect(spec.Get("ipFamilies").Items())
	ips := slices.Collect(spec.Get("clusterIPs").Items())
	for len(ips) < len(families) {
		ips = append(ips, value.String(""))
	}
	for i := from; i < len(families); i++ {
		ip, err := c.addressOf(ctx, object, families[i].Str(), ips[i].Str(), value.List(ips...))
		if err != nil {
			return spec, err
		}
		ips[i] = value.String(ip)
	}
	if len(ips) == 0 {
		return spec, nil
	}
	return spec.With("clusterIP", ips[0]).With("clusterIPs", value.List(ips...)), nil
}

// addressOf gives a service an address of a family: the one that is named, or any. shown are the addresses that a refusal shows.
func (c *change) addressOf(ctx context.Context, object value.Value, family, named string, shown value.Value) (string, error) {
	refused := func(detail string) error {
		return invalid(object, field.Invalid(field.NewPath("spec", "clusterIPs"), shown.ToAny(), detail))
	}
	if named != "" {
		ip, err := netip.ParseAddr(named)
		if err != nil {
			return named, nil // which validation refuses
		}
		if err = c.take(ctx, object, ip); err != nil {
			return "", refused(fmt.Sprintf("failed to allocate IP %v: %v", named, err))
		}
		return named, nil
	}
	ip, err := c.takeNext(ctx, object, family)
	switch {
	case errors.Is(err, errFull):
		return "", apierrors.NewInternalError(fmt.Errorf("failed to allocate a serviceIP for Service %q: %w", api.Meta(object, "name"), err))
	case err != nil:
		return "", refused(fmt.Sprintf("failed to allocate IP: %v", err))
	}
	return ip.String(), nil
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
	return a.adopt(ctx, all...)
}

// adopt records the addresses and ports of services.
func (a *Allocator) adopt(ctx context.Context, all ...value.Value) error {
	var ports []int
	for _, service := range all {
		if err := a.repairService(ctx, service); err != nil {
			return err
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
