package services

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"slices"

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

// addressRange is a range of addresses. The first address of its prefix is given to no service, and of version 4 not the last one either.
//
//	10.0.0.0/24   10.0.0.1 ... 10.0.0.16   10.0.0.17 ... 10.0.0.254
//	              for services that name   for the others, until
//	              their address            they are all given
type addressRange struct {
	prefix      netip.Prefix
	size, upper uint64 // the number of addresses with those that are not given, and where the upper part begins
	end         uint64 // after the last address that is given
}

// maxSize bounds the number of addresses of a range.
const maxSize = 1 << 62

func newAddressRange(prefix netip.Prefix) addressRange {
	free := prefix.Addr().BitLen() - prefix.Bits()
	r := addressRange{prefix: prefix.Masked(), size: maxSize, upper: 1}
	if free < 62 {
		r.size = 1 << free
	}
	if r.size > 16 {
		r.upper = 1 + min(max(16, r.size/16), 256)
	}
	if r.end = r.size; prefix.Addr().Is4() {
		r.end--
	}
	return r
}

// at returns an address of the range.
func (r addressRange) at(i uint64) netip.Addr {
	b := r.prefix.Addr().As16()
	low := binary.BigEndian.Uint64(b[8:])
	if low+i < low { // a carry
		binary.BigEndian.PutUint64(b[:], binary.BigEndian.Uint64(b[:])+1)
	}
	binary.BigEndian.PutUint64(b[8:], low+i)
	if r.prefix.Addr().Is4() {
		return netip.AddrFrom16(b).Unmap()
	}
	return netip.AddrFrom16(b)
}

// has reports whether the range gives an address.
func (r addressRange) has(ip netip.Addr) bool {
	return r.prefix.Contains(ip) && ip != r.at(0) && (r.end == r.size || ip != r.at(r.size-1))
}

// next yields the addresses of the range in the order in which they are tried: some at random, then all from a random one on, then the lower
// part.
func (r addressRange) next(yield func(netip.Addr) bool) {
	if r.end <= r.upper {
		return
	}
	n := r.end - r.upper
	for range maxTries {
		if !yield(r.at(r.upper + rand.Uint64N(n))) {
			return
		}
	}
	from := rand.Uint64N(n)
	for i := range n {
		if !yield(r.at(r.upper + (from+i)%n)) {
			return
		}
	}
	for i := uint64(1); i < r.upper; i++ {
		if !yield(r.at(i)) {
			return
		}
	}
}

// ranges returns the ranges of one family, of version 4 or 6, of all ServiceCIDRs that are ready and not being deleted.
func (a *Allocator) ranges(ctx context.Context, is4 bool) ([]addressRange, error) {
	all, err := registry.Objects(ctx, a.Store, a.Catalog().Lookup("networking.k8s.io", "servicecidrs"))
	var out []addressRange
	for _, of := range all {
		if registry.IsTerminating(of) || !isReady(of) {
			continue
		}
		for text := range of.Get("spec", "cidrs").Items() {
			if prefix, err := netip.ParsePrefix(text.Str()); err == nil && prefix.Addr().Is4() == is4 {
				out = append(out, newAddressRange(prefix))
			}
		}
	}
	return out, err
}

// isReady reports whether a ServiceCIDR is ready. One that does not say so counts as ready.
func isReady(of value.Value) bool {
	ready := readiness(of)
	return ready.IsAbsent() || ready.Get("status").Str() == "True"
}

// readiness returns the condition Ready of a ServiceCIDR, absent if it has none.
func readiness(of value.Value) value.Value {
	for condition := range of.Get("status", "conditions").Items() {
		if condition.Get("type").Str() == "Ready" {
			return condition
		}
	}
	return value.Value{}
}

// take gives a service an address that it names.
//
// A dry run does not look whether the address is taken. There, it asks one range, at random if there are several. Here, an address of any
// range is right, and a refusal names the first.
func (c *change) take(ctx context.Context, service value.Value, ip netip.Addr) error {
	ranges, err := c.by.ranges(ctx, ip.Is4())
	if err != nil {
		return err
	}
	for _, r := range ranges {
		switch {
		case !r.has(ip):
			continue
		case c.dryRun:
			return nil
		}
		if err := c.by.record(ctx, service, ip); err != nil {
			return err
		}
		c.taken = append(c.taken, ip)
		return nil
	}
	if c.dryRun && len(ranges) > 0 {
		return fmt.Errorf("the provided IP (%s) is not in the valid range. The range of valid IPs is %s", ip, ranges[0].prefix)
	}
	return errForeign
}

// takeNext gives a service any address of a family. A dry run shows the address of the range itself.
func (c *change) takeNext(ctx context.Context, service value.Value, family string) (netip.Addr, error) {
	if c.dryRun {
		i := slices.IndexFunc(c.by.Ranges, func(p netip.Prefix) bool { return familyOf(p.Addr()) == family })
		return c.by.Ranges[max(i, 0)].Masked().Addr(), nil
	}
	ranges, err := c.by.ranges(ctx, family == "IPv4")
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

// familyOf returns the family of an address, as services name it.
func familyOf(ip netip.Addr) string {
	if ip.Is4() {
		return "IPv4"
	}
	return "IPv6"
}

// Families returns the families of ranges, as services name them.
func Families(ranges []netip.Prefix) (all []string) {
	for _, r := range ranges {
		all = append(all, familyOf(r.Addr()))
	}
	return all
}

// record creates the IPAddress of a service. The error is errTaken if it exists.
func (a *Allocator) record(ctx context.Context, service value.Value, ip netip.Addr) error {
	text := func(name, s string) value.Member { return value.Member{Name: name, Value: value.String(s)} }
	object := func(name string, members ...value.Member) value.Member {
		return value.Member{Name: name, Value: value.Object(members...)}
	}
	err := a.Client.Send(ctx, http.MethodPost, addressPath, value.Object(
		text("apiVersion", "networking.k8s.io/v1"), text("kind", "IPAddress"),
		object("metadata", text("name", ip.String()), object("labels",
			text(familyLabel, familyOf(ip)), text(managerLabel, managerName))),
		object("spec", object("parentRef", text("resource", "services"),
			text("namespace", api.Meta(service, "namespace")), text("name", api.Meta(service, "name")))),
	))
	if apierrors.IsAlreadyExists(err) {
		return errTaken
	}
	return err
}

// giveBack deletes the IPAddress of an address that a service left. One that no ServiceCIDR has any more stays until it is repaired, as in
// kube-apiserver.
func (a *Allocator) giveBack(ctx context.Context, ip netip.Addr) error {
	isServed := slices.ContainsFunc(a.Ranges, func(p netip.Prefix) bool { return familyOf(p.Addr()) == familyOf(ip) })
	if inside, err := a.isInside(ctx, ip); err != nil || !inside || !isServed {
		return err
	}
	return a.releaseName(ctx, ip.String())
}

// releaseName deletes the IPAddress with a name.
func (a *Allocator) releaseName(ctx context.Context, name string) error {
	return loopback.IgnoreNotFound(a.Client.Send(ctx, http.MethodDelete, addressPath+"/"+name, value.Value{}))
}
