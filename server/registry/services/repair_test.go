package services_test

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/history"
	"github.com/deed-project/deed/server/store/memory"
)

// TestEventsOfRepairs repairs each relation of services and addresses that a client can break, and one that it cannot. Each has an Event.
func TestEventsOfRepairs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servertest.Start(t, server.Config{Services: server.Services{ClusterIPRange: netip.MustParsePrefix("10.0.0.0/24")}})
		const addresses = "/apis/networking.k8s.io/v1/ipaddresses"
		address := func(name, parent string) {
			t.Helper()
			servertest.Create(t, s, addresses, `{"metadata":{"name":"`+name+`","labels":{"ipaddress.kubernetes.io/managed-by":"ipallocator.k8s.io"}},
				"spec":{"parentRef":`+parent+`}}`)
		}
		write := func(service, label string) {
			t.Helper()
			if code, v := servertest.Send(t, s, http.MethodPatch, servicesPath+"/"+service, `{"metadata":{"labels":{"a":"`+label+`"}}}`); code != http.StatusOK {
				t.Fatalf("%d %v", code, v)
			}
			time.Sleep(time.Second) // the names of Events have the time
		}
		servertest.Create(t, s, servicesPath, `{"metadata":{"name":"a"},"spec":{"clusterIP":"10.0.0.50","ports":[{"port":80}]}}`)
		servertest.Create(t, s, servicesPath, `{"metadata":{"name":"b"},"spec":{"clusterIP":"10.0.0.51","ports":[{"port":80}]}}`)
		time.Sleep(time.Minute)

		servertest.Send(t, s, http.MethodDelete, addresses+"/10.0.0.50", "")
		write("a", "missing")
		servertest.Send(t, s, http.MethodDelete, addresses+"/10.0.0.50", "")
		address("10.0.0.50", `{"resource":"services","namespace":"default","name":"none"}`)
		write("a", "of-another-service")
		servertest.Send(t, s, http.MethodDelete, addresses+"/10.0.0.50", "")
		// The service has the address before the repair of the address looks.
		address("10.0.0.50", `{"resource":"services","namespace":"default","name":"b"}`)
		time.Sleep(10 * time.Second)
		write("a", "of-b")
		address("10.0.0.77", `{"group":"g.io","resource":"things","name":"x"}`)
		address("10.0.0.78", `{"resource":"services","namespace":"default","name":"lost"}`)
		time.Sleep(2 * time.Minute)

		// The range goes, and the one that comes again is kept as it is.
		servertest.Send(t, s, http.MethodDelete, "/apis/networking.k8s.io/v1/servicecidrs/kubernetes", "")
		write("b", "without-a-range")
		time.Sleep(time.Minute)
		write("b", "with-a-range")

		var got []string
		_, events := servertest.Send(t, s, http.MethodGet, "/apis/events.k8s.io/v1/events", "")
		for e := range events.Get("items").Items() {
			got = append(got, e.Get("regarding", "name").Str()+": "+e.Get("reason").Str()+": "+e.Get("note").Str())
		}
		slices.Sort(got)
		want := []string{
			"10.0.0.50: IPAddressWrongReference: IPAddress: 10.0.0.50 for Service default/b has a wrong reference; cleaning up",
			"10.0.0.77: IPAddressNotAllocated: IPAddress 10.0.0.77 appears to have been modified, not referencing a Service " +
				"&ParentReference{Group:g.io,Resource:things,Namespace:,Name:x,}: cleaning up",
			"10.0.0.78: IPAddressNotAllocated: IPAddress: 10.0.0.78 for Service default/lost appears to have leaked: cleaning up",
			"a: ClusterIPNotAllocated: Cluster IP [IPv4]: 10.0.0.50 is not allocated; repairing",
			"a: ClusterIPNotAllocated: Cluster IP [IPv4]: 10.0.0.50 is not allocated; repairing",
			"a: ClusterIPNotAllocated: the ClusterIP [IPv4]: 10.0.0.50 for Service default/a has a wrong reference; repairing",
			"b: ClusterIPOutOfRange: Cluster IP [IPv4]: 10.0.0.51 is not within any configured Service CIDR; please recreate service",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%q\nwant\n%q", got, want)
		}
	})
}

// hooked is a store that calls before with the key of each record that is read alone.
type hooked struct {
	*history.Store
	before atomic.Pointer[func(key string)]
}

// Get implements store.Store.
func (h *hooked) Get(ctx context.Context, key string, at store.Revision) (store.Record, error) {
	if before := h.before.Load(); before != nil {
		(*before)(key)
	}
	return h.Store.Get(ctx, key, at)
}

// TestRepairOfDeletedServices deletes a service while it is repaired, between the two reads of the service and of its IPAddress. Its address is
// free then.
func TestRepairOfDeletedServices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		objects := &hooked{Store: memory.New()}
		defer objects.Close()
		s := servertest.Start(t, server.Config{Store: objects, Services: server.Services{ClusterIPRange: netip.MustParsePrefix("10.0.0.0/24")}})
		const service = `{"metadata":{"name":"a"},"spec":{"clusterIP":"10.0.0.50","ports":[{"port":80}]}}`
		servertest.Create(t, s, servicesPath, service)
		synctest.Wait()
		deleted := make(chan bool, 1)
		before := func(key string) {
			if strings.HasSuffix(key, "/ipaddresses/10.0.0.50") {
				objects.before.Store(nil)
				servertest.Send(t, s, http.MethodDelete, servicesPath+"/a", "")
				deleted <- true
			}
		}
		objects.before.Store(&before)
		servertest.Send(t, s, http.MethodPatch, servicesPath+"/a", `{"metadata":{"labels":{"a":"b"}}}`)
		<-deleted
		synctest.Wait()
		servertest.Create(t, s, servicesPath, service)
	})
}

// TestSystemNamespaces deletes the one namespace of the system that can be deleted. It comes again.
func TestSystemNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servertest.Start(t, server.Config{})
		const path = "/api/v1/namespaces/kube-node-lease"
		servertest.Send(t, s, http.MethodDelete, path, "")
		time.Sleep(10 * time.Second)
		if code, v := servertest.Send(t, s, http.MethodGet, path, ""); code != http.StatusNotFound {
			t.Errorf("the namespace is there: %d %v", code, v)
		}
		time.Sleep(time.Minute)
		if code, v := servertest.Send(t, s, http.MethodGet, path, ""); code != http.StatusOK || v.Get("status", "phase").Str() != "Active" {
			t.Errorf("the namespace is not created again: %d %v", code, v)
		}
	})
}
