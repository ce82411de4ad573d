package services

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// PortRange is a range of ports, both of which are in it.
type PortRange struct{ First, Last int }

// DefaultPorts are the ports that services get on nodes unless a server is told otherwise.
var DefaultPorts = PortRange{30000, 32767}

// ParsePortRange reads a range as --service-node-port-range has it: 30000-32767, or 30000+100.
func ParsePortRange(text string) (PortRange, error) {
	first, last, isRange := strings.Cut(text, "-")
	isSum := false
	if !isRange {
		first, last, isSum = strings.Cut(text, "+")
	}
	if !isRange && !isSum {
		last = first
	}
	a, err := strconv.Atoi(first)
	b, err2 := strconv.Atoi(last)
	if isSum {
		b += a
	}
	if err != nil || err2 != nil || a < 1 || b > 65535 || a > b {
		return PortRange{}, fmt.Errorf("%q is no range of ports such as %v", text, DefaultPorts)
	}
	return PortRange{a, b}, nil
}

// String returns the range as errors show it.
func (r PortRange) String() string { return fmt.Sprintf("%d-%d", r.First, r.Last) }

// portsKey is the key of the RangeAllocation of node ports.
const portsKey = "/registry/ranges/servicenodeports"

// portSet is the ports of a range that are given.
type portSet struct {
	of   PortRange
	bits big.Int // by offset in the range
}

// has reports whether a port of the range is given.
func (p *portSet) has(port int) bool {
	return port >= p.of.First && port <= p.of.Last && p.bits.Bit(port-p.of.First) == 1
}

// set gives a port, or takes it back. Ports out of the range are ignored.
func (p *portSet) set(port int, given bool) {
	if port < p.of.First || port > p.of.Last {
		return
	}
	bit := uint(0)
	if given {
		bit = 1
	}
	p.bits.SetBit(&p.bits, port-p.of.First, bit)
}

// give gives a port.
func (p *portSet) give(port int) error {
	switch {
	case port < p.of.First || port > p.of.Last:
		return fmt.Errorf("provided port is not in the valid range. The range of valid ports is %s", p.of)
	case p.has(port):
		return errPortTaken
	}
	p.set(port, true)
	return nil
}

// giveNext gives any port: of the upper part of the range at first, as the lower one is for services that name their ports.
func (p *portSet) giveNext() (int, error) {
	size, lower := p.of.Last-p.of.First+1, 0
	if size > 16 {
		lower = min(max(16, size/32), 128)
	}
	for _, part := range [][2]int{{lower, size}, {0, lower}} {
		n := part[1] - part[0]
		if n == 0 {
			continue
		}
		from := rand.IntN(n)
		for i := range n {
			if port := p.of.First + part[0] + (from+i)%n; !p.has(port) {
				p.set(port, true)
				return port, nil
			}
		}
	}
	return 0, errFull
}

// load returns the given ports, and the revision of their record, 0 for none.
func (a *Allocator) load(ctx context.Context) (*portSet, store.Revision, error) {
	p := &portSet{of: a.Ports}
	record, err := a.Store.Get(ctx, portsKey, 0)
	if errors.Is(err, store.ErrNotFound) {
		return p, 0, nil
	}
	if err != nil {
		return p, 0, err
	}
	stored, err := value.Parse(record.Text)
	if err != nil {
		return p, 0, err
	}
	data, err := base64.StdEncoding.DecodeString(stored.Get("data").Str())
	if err != nil {
		return p, 0, err
	}
	former, err := ParsePortRange(stored.Get("range").Str())
	if err != nil {
		return p, 0, err
	}
	was := portSet{of: former}
	was.bits.SetBytes(data)
	for port := former.First; port <= former.Last; port++ {
		if was.has(port) {
			p.set(port, true) // the range may have changed since
		}
	}
	return p, record.Revision, nil
}

// update changes the given ports. It tries again if another server was faster, so change may be called several times.
func (a *Allocator) update(ctx context.Context, change func(*portSet) error) error {
	for {
		p, revision, err := a.load(ctx)
		if err == nil {
			err = change(p)
		}
		if err != nil {
			return err
		}
		text := value.Object(
			value.Member{Name: "apiVersion", Value: value.String("v1")}, value.Member{Name: "kind", Value: value.String("RangeAllocation")},
			value.Member{Name: "range", Value: value.String(p.of.String())},
			value.Member{Name: "data", Value: value.String(base64.StdEncoding.EncodeToString(p.bits.Bytes()))},
		).AppendJSON(nil)
		if _, err := a.Store.Put(ctx, portsKey, text, revision); !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}

// releasePorts takes ports back.
func (a *Allocator) releasePorts(ctx context.Context, ports ...int) error {
	return a.update(ctx, func(p *portSet) error {
		for _, port := range ports {
			p.set(port, false)
		}
		return nil
	})
}

// dryPort is the first port that a dry run shows for one that is to be given. Each further one is the port after the highest that the write
// asks for or gets.
const dryPort = 32769

// port gives a port: the one that is asked for, or any for 0. A dry run gives none.
func (c *change) port(ctx context.Context, asked int) (port int, err error) {
	give := func(p *portSet) error {
		if port = asked; asked != 0 {
			return p.give(asked)
		}
		port, err = p.giveNext()
		return err
	}
	switch {
	case !c.dryRun:
		err = c.by.update(ctx, give)
	case asked == 0 && len(c.takenPorts) == 0:
		port = dryPort
	case asked == 0:
		port = slices.Max(c.takenPorts) + 1
	default:
		var p *portSet
		p, _, err = c.by.load(ctx) // a port out of the range passes a dry run
		if err == nil && (p.has(asked) || slices.Contains(c.takenPorts, asked)) {
			err = errPortTaken
		}
		port = asked
	}
	if err == nil {
		c.takenPorts = append(c.takenPorts, port)
	}
	return port, err
}

// nodePorts gives the ports of a service ports on nodes, and leaves those that it no longer has.
func (c *change) nodePorts(ctx context.Context, object, spec, was value.Value) (value.Value, error) {
	if !onNodes(spec) {
		if onNodes(was) {
			c.leftPorts = portsOf(was)
		}
		return spec, nil
	}
	had, taken := portsOf(was), map[int]bool{}
	met := map[protocolPort]bool{}
	shared := sharedPorts(spec, was)
	var ports []value.Value
	for p := range spec.Get("ports").Items() {
		asked, number := int(p.Get("nodePort").Int()), p.Get("port").Int()
		if asked == 0 && !getsNodePorts(spec) {
			ports = append(ports, p)
			continue
		}
		of, isShared := shared[number]
		if asked == 0 && isShared {
			asked = of.port
		}
		isGiven := slices.Contains(had, asked) || taken[asked] && !was.IsAbsent() || isShared && of.isGiven && asked == of.port
		if asked == 0 || !isGiven {
			port, err := c.port(ctx, asked)
			if err != nil {
				return spec, refusedPort(object, len(ports), asked, err)
			}
			asked = port
		}
		taken[asked] = true
		port := protocolPort{p.Get("protocol").Str(), asked}
		if met[port] && !was.IsAbsent() { // validation refuses it in a new service
			return spec, fmt.Errorf("duplicate nodePort: %v", port)
		}
		met[port] = true
		if was.IsAbsent() && !of.isGiven {
			shared[number] = sharedPort{asked, true}
		}
		ports = append(ports, p.With("nodePort", value.Int(int64(asked))))
	}
	if len(ports) > 0 {
		spec = spec.With("ports", value.List(ports...))
	}
	for _, port := range had {
		if !slices.Contains(portsOf(spec), port) {
			c.leftPorts = append(c.leftPorts, port)
		}
	}
	return spec, nil
}

// protocolPort is a port on nodes of one protocol.
type protocolPort struct {
	protocol string
	port     int
}

// sharedPort is the port on nodes of all ports of a new service that have one number, for example for TCP and UDP.
type sharedPort struct {
	port    int
	isGiven bool
}

// sharedPorts returns, by number, what a new service asks for its ports: the first port on nodes that it names. For a service that exists
// there are none.
func sharedPorts(spec, was value.Value) map[int64]sharedPort {
	shared := map[int64]sharedPort{}
	for p := range spec.Get("ports").Items() {
		number, asked := p.Get("port").Int(), int(p.Get("nodePort").Int())
		if _, known := shared[number]; !known && asked != 0 && was.IsAbsent() {
			shared[number] = sharedPort{port: asked}
		}
	}
	return shared
}

// refusedPort returns the refusal of a service whose port cannot be given: a 422 if it asks for the port, and else a 500.
func refusedPort(object value.Value, i, asked int, err error) error {
	if asked == 0 {
		return apierrors.NewInternalError(fmt.Errorf("failed to allocate a nodePort: %w", err))
	}
	return invalid(object, field.Invalid(field.NewPath("spec", "ports").Index(i).Child("nodePort"), asked, err.Error()))
}

// healthPort gives a service the port of its health checks, or leaves it.
func (c *change) healthPort(ctx context.Context, spec, was value.Value) (value.Value, error) {
	const name = "healthCheckNodePort"
	switch {
	case hasHealthPort(spec) && !hasHealthPort(was):
		asked := int(spec.Get(name).Int())
		port, err := c.port(ctx, asked)
		if err != nil && asked != 0 {
			return spec, apierrors.NewInternalError(fmt.Errorf("failed to allocate requested HealthCheck NodePort %v: %v", asked, err))
		}
		if err != nil {
			return spec, apierrors.NewInternalError(fmt.Errorf("failed to allocate a HealthCheck NodePort %v: %v", asked, err))
		}
		return spec.With(name, value.Int(int64(port))), nil
	case !hasHealthPort(spec) && hasHealthPort(was):
		c.leftPorts = append(c.leftPorts, int(was.Get(name).Int()))
	}
	return spec, nil
}

// onNodes reports whether a service may have ports on nodes.
func onNodes(spec value.Value) bool {
	typ := spec.Get("type").Str()
	return typ == "NodePort" || typ == "LoadBalancer"
}

// getsNodePorts reports whether the ports of a service get ports on nodes.
func getsNodePorts(spec value.Value) bool {
	return spec.Get("type").Str() == "NodePort" || spec.Get("type").Str() == "LoadBalancer" && spec.Get("allocateLoadBalancerNodePorts").Bool()
}

// hasHealthPort reports whether a service has a port for health checks.
func hasHealthPort(spec value.Value) bool {
	return spec.Get("type").Str() == "LoadBalancer" && spec.Get("externalTrafficPolicy").Str() == "Local"
}

// portsOf returns the ports of a service on nodes.
func portsOf(spec value.Value) (out []int) {
	for p := range spec.Get("ports").Items() {
		if n := int(p.Get("nodePort").Int()); n != 0 && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
