package services_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/registry/services"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

const servicesPath = "/api/v1/namespaces/default/services"

// TestServersShareRanges creates services on two servers of one store at once: each address and each port is given once, and all are given.
func TestServersShareRanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		objects := memory.New()
		defer objects.Close()
		c := server.Config{Store: objects, Shared: true, Services: server.Services{
			ClusterIPRange: netip.MustParsePrefix("10.0.0.0/26"), NodePorts: services.PortRange{First: 30000, Last: 30059},
		}}
		servers := []*server.Server{servertest.Start(t, c), servertest.Start(t, c)}
		const each = 30
		got := make([]value.Value, 2*each)
		var all sync.WaitGroup
		for i := range got {
			all.Go(func() {
				_, got[i] = servertest.Send(t, servers[i%2], http.MethodPost, servicesPath,
					fmt.Sprintf(`{"metadata":{"name":"s%d"},"spec":{"type":"NodePort","ports":[{"port":80}]}}`, i))
			})
		}
		all.Wait()
		had := map[string]int{}
		for i, s := range got {
			ip, port := s.Get("spec", "clusterIP").Str(), s.Get("spec", "ports").Item(0).Get("nodePort").String()
			if ip == "" || had[ip] != 0 || had[port] != 0 {
				t.Errorf("service %d has %s and port %s: %v", i, ip, port, s)
			}
			had[ip], had[port] = i+1, i+1
		}
		code, s := servertest.Send(t, servers[0], http.MethodPost, servicesPath, `{"metadata":{"name":"more"},"spec":{"type":"NodePort","ports":[{"port":80}]}}`)
		if want := "Internal error occurred: failed to allocate a nodePort: range is full"; code != http.StatusInternalServerError || s.Get("message").Str() != want {
			t.Errorf("one more service: %d %v, want %s", code, s, want)
		}
		for i := range got {
			servertest.Send(t, servers[(i+1)%2], http.MethodDelete, fmt.Sprintf("%s/s%d", servicesPath, i), "")
		}
		time.Sleep(2 * time.Minute) // a repair may create an address while its service goes; a later one removes it
		_, list := servertest.Send(t, servers[0], http.MethodGet, "/apis/networking.k8s.io/v1/ipaddresses", "")
		if n := list.Get("items").Len(); n != 1 {
			t.Errorf("%d addresses are left, want that of the service kubernetes", n)
		}
		servertest.Create(t, servers[0], servicesPath, `{"metadata":{"name":"last"},"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":30000}]}}`)
	})
}

// TestRepair starts a server on a store whose services were created by a server that gives nothing, with addresses that they name.
func TestRepair(t *testing.T) {
	objects := memory.New()
	defer objects.Close()
	servertest.Create(t, servertest.Start(t, server.Config{Store: objects}), servicesPath,
		`{"metadata":{"name":"old"},"spec":{"type":"NodePort","clusterIP":"10.0.0.20","ports":[{"port":80,"nodePort":30100}]}}`)
	s := servertest.Start(t, server.Config{Store: objects, Services: server.Services{
		ClusterIPRange: netip.MustParsePrefix("10.0.0.0/24"), Advertise: netip.MustParseAddrPort("192.0.2.1:6443"),
	}})
	for _, spec := range []string{`"clusterIP":"10.0.0.20"`, `"type":"NodePort"`} {
		code, v := servertest.Send(t, s, http.MethodPost, servicesPath, `{"metadata":{"name":"new"},"spec":{`+spec+`,"ports":[{"port":80,"nodePort":30100}]}}`)
		if code != http.StatusUnprocessableEntity {
			t.Errorf("a service with %s: %d %v", spec, code, v)
		}
	}
	_, slice := servertest.Send(t, s, http.MethodGet, "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes", "")
	if got := slice.Get("endpoints").Item(0).Get("addresses").Item(0).Str(); got != "192.0.2.1" {
		t.Errorf("the endpoint of the server is %q: %v", got, slice)
	}
	_, endpoints := servertest.Send(t, s, http.MethodGet, "/api/v1/namespaces/default/endpoints/kubernetes", "")
	if got := endpoints.Get("subsets").Item(0).Get("ports").Item(0).Get("port").Int(); got != 6443 {
		t.Errorf("the port of the server is %d: %v", got, endpoints)
	}
}

// TestTwoFamilies gives a service a second address and takes it back, and keeps a range of the other family for services that ask for it.
func TestTwoFamilies(t *testing.T) {
	s := servertest.Start(t, server.Config{Services: server.Services{
		ClusterIPRange: netip.MustParsePrefix("10.0.0.0/28"), SecondClusterIPRange: netip.MustParsePrefix("fd00:1::/64"),
	}})
	addresses := func(service value.Value) (all []string) {
		for ip := range service.Get("spec", "clusterIPs").Items() {
			all = append(all, ip.Str())
			_, address := servertest.Send(t, s, http.MethodGet, "/apis/networking.k8s.io/v1/ipaddresses/"+ip.Str(), "")
			if got := address.Get("spec", "parentRef", "name").Str(); got != "web" {
				t.Errorf("%s is of %q: %v", ip.Str(), got, address)
			}
		}
		return all
	}
	servertest.Create(t, s, servicesPath, `{"metadata":{"name":"web"},"spec":{"ports":[{"port":80}]}}`)
	patch := func(policy string) []string {
		t.Helper()
		code, service := servertest.Send(t, s, http.MethodPatch, servicesPath+"/web", `{"spec":{"ipFamilyPolicy":"`+policy+`"}}`)
		if code != http.StatusOK {
			t.Fatalf("%s: %d %v", policy, code, service)
		}
		return addresses(service)
	}
	two := patch("RequireDualStack")
	if len(two) != 2 || !netip.MustParsePrefix("fd00:1::/64").Contains(netip.MustParseAddr(two[1])) {
		t.Errorf("the service has %v", two)
	}
	if one := patch("SingleStack"); len(one) != 1 || one[0] != two[0] {
		t.Errorf("the service has %v, and had %v", one, two)
	}
	if code, left := servertest.Send(t, s, http.MethodGet, "/apis/networking.k8s.io/v1/ipaddresses/"+two[1], ""); code != http.StatusNotFound {
		t.Errorf("the second address is left: %v", left)
	}
	const headless = `{"spec":{"clusterIP":"None","clusterIPs":[],"ipFamilyPolicy":"PreferDualStack"}}` // gets a second address, and is refused
	code, refused := servertest.Send(t, s, http.MethodPatch, servicesPath+"/web?dryRun=All", headless)
	if want := `spec.clusterIPs: Invalid value: ["None","fd00:1::"]: 'None' must be the first and only value`; !strings.Contains(refused.Get("message").Str(), want) {
		t.Errorf("%d %v, want %s", code, refused, want)
	}
	_, before := servertest.Send(t, s, http.MethodGet, "/apis/networking.k8s.io/v1/ipaddresses", "")
	servertest.Send(t, s, http.MethodPatch, servicesPath+"/web", headless)
	if _, after := servertest.Send(t, s, http.MethodGet, "/apis/networking.k8s.io/v1/ipaddresses", ""); after.Get("items").Len() != before.Get("items").Len() {
		t.Errorf("the address of a refused service is left: %v", after)
	}
}

// TestRanges refuses ranges that a server cannot give from.
func TestRanges(t *testing.T) {
	for _, of := range [][2]string{{"10.0.0.0/31"}, {"fd00::/48"}, {"10.0.0.0/24", "10.0.1.0/24"}, {"10.0.0.0/24", "fd00::/127"}} {
		c := server.Services{ClusterIPRange: netip.MustParsePrefix(of[0])}
		if of[1] != "" {
			c.SecondClusterIPRange = netip.MustParsePrefix(of[1])
		}
		if _, err := server.New(server.Config{Services: c}); err == nil {
			t.Errorf("a server gives addresses of %v", of)
		}
	}
	for text, want := range map[string]string{
		"30000-32767": "30000-32767", "30000+10": "30000-30010", "80": "80-80", "": "error", "9-8": "error", "1-70000": "error", "a-b": "error", "0-5": "error",
	} {
		r, err := services.ParsePortRange(text)
		if got := r.String(); err == nil && got != want || (err != nil) != (want == "error") {
			t.Errorf("%q is %s (error %v), want %s", text, got, err, want)
		}
	}
}

// TestOtherRanges starts servers with other ranges on the store of an earlier one. Like a kube-apiserver, they take over a second range, and
// report everything else in an Event.
func TestOtherRanges(t *testing.T) {
	for _, test := range []struct{ before, after, want, event string }{
		{"10.0.0.0/24", "10.0.0.0/24", `["10.0.0.0/24"]`, ""},
		{"10.0.0.0/24", "10.0.0.0/24,fd00::/112", `["10.0.0.0/24","fd00::/112"]`, ""},
		{"10.0.0.0/24", "fd00::/112,10.0.0.0/24", `["10.0.0.0/24"]`, "[10.0.0.0/24] does not match the controller flag configurations [fd00::/112 10.0.0.0/24]"},
		{"10.0.0.0/24,fd00::/112", "10.1.0.0/24", `["10.0.0.0/24","fd00::/112"]`, "[10.0.0.0/24 fd00::/112] does not match the controller flag configurations [10.1.0.0/24]"},
	} {
		objects := memory.New()
		defer objects.Close()
		start := func(ranges string) *server.Server {
			first, second, isDual := strings.Cut(ranges, ",")
			c := server.Config{Store: objects}
			if c.Services.ClusterIPRange = netip.MustParsePrefix(first); isDual {
				c.Services.SecondClusterIPRange = netip.MustParsePrefix(second)
			}
			return servertest.Start(t, c)
		}
		before := start(test.before)
		if err := before.Close(); err != nil {
			t.Fatal(err)
		}
		s := start(test.after)
		_, of := servertest.Send(t, s, http.MethodGet, "/apis/networking.k8s.io/v1/servicecidrs/kubernetes", "")
		_, events := servertest.Send(t, s, http.MethodGet, "/api/v1/events", "")
		message := ""
		if events.Get("items").Len() > 0 {
			message = events.Get("items").Item(0).Get("message").Str()
		}
		want := test.event
		if want != "" {
			want = "The default ServiceCIDR " + want
		}
		if got := of.Get("spec", "cidrs").String(); got != test.want || message != want {
			t.Errorf("%s after %s: %s, want %s\nevent %q, want %q", test.after, test.before, got, test.want, message, want)
		}
		code, of := servertest.Send(t, s, http.MethodPost, servicesPath, `{"metadata":{"name":"s"},"spec":{"ipFamilies":["IPv4"],"ports":[{"port":80}]}}`)
		if ip := of.Get("spec", "clusterIP").Str(); code != http.StatusCreated || !strings.HasPrefix(ip, "10.0.0.") {
			t.Errorf("%s after %s: a service is answered %d and gets %s", test.after, test.before, code, ip)
		}
	}
}
