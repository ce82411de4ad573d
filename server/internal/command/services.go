package command

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/registry/services"
)

// services returns which addresses and ports services get. listens is the address that the server listens on.
func (o *options) services(listens string) (c server.Services, err error) {
	if o.clusterIPs == "" {
		return c, nil
	}
	first, second, isDual := strings.Cut(o.clusterIPs, ",")
	if c.ClusterIPRange, err = netip.ParsePrefix(first); err == nil && isDual {
		c.SecondClusterIPRange, err = netip.ParsePrefix(second)
	}
	if err != nil {
		return c, fmt.Errorf("--service-cluster-ip-range: %w", err)
	}
	if c.NodePorts, err = services.ParsePortRange(o.nodePorts); err != nil {
		return c, fmt.Errorf("--service-node-port-range: %w", err)
	}
	if c.Advertise, err = netip.ParseAddrPort(listens); err != nil {
		return c, err
	}
	if o.advertise == "" {
		return c, nil
	}
	at, err := netip.ParseAddr(o.advertise)
	if err != nil {
		return c, fmt.Errorf("--advertise-address: %w", err)
	}
	c.Advertise = netip.AddrPortFrom(at, c.Advertise.Port())
	return c, nil
}
