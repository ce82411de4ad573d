package kinds

import (
	"net/netip"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/value"
)

// validateIngressStatus validates the status of an Ingress.
func validateIngressStatus(r *report, object place, live value.Value) {
	r.balancer(object.at("status").at("loadBalancer").at("ingress"), live, false)
}

// validateServiceStatus validates the status of a Service, which has addresses only behind a load balancer.
func validateServiceStatus(r *report, object place, live value.Value) {
	ingress := object.at("status").at("loadBalancer").at("ingress")
	if ingress.Len() > 0 && object.Get("spec", "type").Str() != "LoadBalancer" {
		r.forbidden(ingress, "may only be used when `spec.type` is 'LoadBalancer'")
	} else {
		r.balancer(ingress, live, true)
	}
}

// balancer validates the addresses of a load balancer. Wrong addresses that the live object has may stay.
func (r *report) balancer(p place, live value.Value, modes bool) {
	var had names
	for ingress := range live.Get("status", "loadBalancer", "ingress").Items() {
		had.add(ingress.Get("ip").Str())
	}
	for i := range p.indexes() {
		ip, mode, host := p.item(i).at("ip"), p.item(i).at("ipMode"), p.item(i).at("hostname")
		if ip.Str() != "" {
			r.address(ip, &had)
		}
		switch {
		case !modes || !mode.is() && ip.Str() == "":
		case !mode.is():
			r.required(mode, "must be specified when `ip` is set")
		case ip.Str() == "":
			r.forbidden(mode, "may not be specified when `ip` is not set")
		default:
			r.onlyAmong(mode, "Proxy", "VIP")
		}
		if host.Str() != "" {
			r.invalid(host, validation.IsDNS1123Subdomain(host.Str())...)
			if _, err := netip.ParseAddr(host.Str()); err == nil {
				r.invalid(host, "must be a DNS name, not an IP address")
			}
		}
	}
}
