package services

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/value"
)

// Refusals of addresses and ports, in the words of kube-apiserver.
var (
	errFull      = errors.New("range is full")
	errTaken     = errors.New("provided IP is already allocated")
	errForeign   = errors.New("the provided network does not match the current range")
	errPortTaken = errors.New("provided port is already allocated")
)

// maxTries is how many addresses are tried at random before all are tried in order.
const maxTries = 16

// addressRange is a range of addresses of version 4. The first and the last address of its prefix are given to no service.
//
//	10.0.0.0/24   10.0.0.1 ... 10.0.0.16   10.0.0.17 ... 10.0.0.254
//	              for services that name   for the others, until
//	              their address            they are all given
type addressRange struct {
	prefix      netip.Prefix
	base        uint32 // the address of the prefix
	size, upper uint32 // number of addresses with the first and the last one, and where the upper part begins
}

func newAddressRange(prefix netip.Prefix) addressRange {
	first := prefix.Masked().Addr().As4()
	r := addressRange{prefix: prefix, base: binary.BigEndian.Uint32(first[:]), size: 1 << min(31, 32-prefix.Bits()), upper: 1}
	if r.size > 16 {
		r.upper = 1 + min(max(16, r.size/16), 256)
	}
	return r
}

// at returns an address of the range.
func (r addressRange) at(i uint32) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], r.base+i)
	return netip.AddrFrom4(b)
}

// has reports whether the range gives an address.
func (r addressRange) has(ip netip.Addr) bool {
	return r.prefix.Contains(ip) && ip != r.at(0) && ip != r.at(r.size-1)
}

// next yields the addresses of the range in the order in which they are tried: some at random, then all from a random one on, then the lower
// part.
func (r addressRange) next(yield func(netip.Addr) bool) {
	if r.size < 3 {
		return
	}
	n := r.size - 1 - r.upper
	for range maxTries {
		if !yield(r.at(r.upper + rand.Uint32N(n))) {
			return
		}
	}
	from := rand.Uint32N(n)
	for i := range n {
		if !yield(r.at(r.upper + (from+i)%n)) {
			return
		}
	}
	for i := uint32(1); i < r.upper; i++ {
		if !yield(r.at(i)) {
			return
		}
	}
}

// ranges returns the ranges of all ServiceCIDRs that are not being deleted.
func (a *Allocator) ranges(ctx context.Context) ([]addressRange, error) {
	all, err := registry.Objects(ctx, a.Store, a.Catalog().Lookup("networking.k8s.io", "servicecidrs"))
	var out []addressRange
	for _, of := range all {
		if registry.IsTerminating(of) {
			continue
		}
		for text := range of.Get("spec", "cidrs").Items() {
			if prefix, err := netip.ParsePrefix(text.Str()); err == nil && prefix.Addr().Is4() {
				out = append(out, newAddressRange(prefix))
			}
		}
	}
	return out, err
}

// take gives a service an address that it names.
func (c *change) take(ctx context.Context, service value.Value, ip netip.Addr) error {
	ranges, err := c.by.ranges(ctx)
	if err != nil {
		return err
	}
	for _, r := range ranges {
		switch {
		case !r.has(ip) && c.dryRun && r.prefix.Contains(ip) && ip != r.at(0):
			return fmt.Errorf("the provided IP (%s) is not in the valid range. The range of valid IPs is %s", ip, r.prefix)
		case !r.has(ip):
			continue
		case c.dryRun: // which does not look whether the address is taken
			return nil
		}
		if err := c.by.record(ctx, service, ip); err != nil {
			return err
		}
		c.taken = append(c.taken, ip)
		return nil
	}
	return errForeign
}

// takeNext gives a service any address. A dry run shows the address of the range itself.
func (c *change) takeNext(ctx context.Context, service value.Value) (netip.Addr, error) {
	if c.dryRun {
		return c.by.Range.Masked().Addr(), nil
	}
	ranges, err := c.by.ranges(ctx)
	if err != nil {
		return netip.Addr{}, err
	}
	for _, r := range ranges {
		for ip := range r.next {
			_, err := c.by.Store.Get(ctx, c.by.addressKey(ip), 0)
			if err == nil {
				continue
			}
			if err = c.by.record(ctx, service, ip); err == nil {
				c.taken = append(c.taken, ip)
				return ip, nil
			}
			if !errors.Is(err, errTaken) {
				return ip, err
			}
		}
	}
	return netip.Addr{}, errFull
}

// addressKey returns the key of an IPAddress.
func (a *Allocator) addressKey(ip netip.Addr) string {
	return a.Catalog().Lookup("networking.k8s.io", "ipaddresses").Key("", ip.String())
}

// addressPath is the path of IPAddresses.
const addressPath = "/apis/networking.k8s.io/v1/ipaddresses"

// record creates the IPAddress of a service. The error is errTaken if it exists.
func (a *Allocator) record(ctx context.Context, service value.Value, ip netip.Addr) error {
	text := func(name, s string) value.Member { return value.Member{Name: name, Value: value.String(s)} }
	object := func(name string, members ...value.Member) value.Member {
		return value.Member{Name: name, Value: value.Object(members...)}
	}
	family := "IPv4"
	if ip.Is6() {
		family = "IPv6"
	}
	err := a.Client.Send(ctx, http.MethodPost, addressPath+fieldManager, value.Object(
		text("apiVersion", "networking.k8s.io/v1"), text("kind", "IPAddress"),
		object("metadata", text("name", ip.String()), object("labels",
			text("ipaddress.kubernetes.io/ip-family", family), text("ipaddress.kubernetes.io/managed-by", "ipallocator.k8s.io"))),
		object("spec", object("parentRef", text("resource", "services"),
			text("namespace", api.Meta(service, "namespace")), text("name", api.Meta(service, "name")))),
	))
	if apierrors.IsAlreadyExists(err) {
		return errTaken
	}
	return err
}

// releaseAddress deletes the IPAddress of an address.
func (a *Allocator) releaseAddress(ctx context.Context, ip netip.Addr) error {
	return loopback.IgnoreNotFound(a.Client.Send(ctx, http.MethodDelete, addressPath+"/"+ip.String(), value.Value{}))
}

// fieldManager is the field manager of what a kube-apiserver creates.
const fieldManager = "?fieldManager=kube-apiserver"
