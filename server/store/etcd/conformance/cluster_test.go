package conformance_test

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/deed-project/deed/server/store/etcd"
	"go.etcd.io/etcd/server/v3/embed"
)

// cluster is an etcd of one or several members in this process, on ports that stay the same when a member ends and starts again.
type cluster struct {
	configs []*embed.Config
	members []*embed.Etcd // nil while it is ended
}

// free returns different addresses of the loopback interface, on which there is no listener.
func free(t testing.TB, n int) []url.URL {
	t.Helper()
	var out []url.URL
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // once all are taken, so that no address comes twice
		out = append(out, url.URL{Scheme: "http", Host: l.Addr().String()})
	}
	return out
}

// startCluster starts an etcd, which ends with the test.
func startCluster(t testing.TB, members int) *cluster {
	t.Helper()
	c := &cluster{members: make([]*embed.Etcd, members)}
	addresses, initial := free(t, 2*members), ""
	for i := range members {
		config := embed.NewConfig()
		config.Name, config.Dir, config.LogLevel, config.UnsafeNoFsync = fmt.Sprint("m", i), t.TempDir(), "panic", true
		config.TickMs, config.ElectionMs = 50, 500
		client, peer := addresses[2*i:2*i+1], addresses[2*i+1:2*i+2]
		config.ListenClientUrls, config.AdvertiseClientUrls = client, client
		config.ListenPeerUrls, config.AdvertisePeerUrls = peer, peer
		initial += fmt.Sprintf(",%s=%s", config.Name, peer[0].String())
		c.configs = append(c.configs, config)
	}
	for i, config := range c.configs {
		config.InitialCluster = initial[1:]
		c.launch(t, i)
	}
	t.Cleanup(func() {
		for i := range c.members {
			c.end(i)
		}
	})
	for i := range c.members {
		c.await(t, i)
	}
	return c
}

func (c *cluster) launch(t testing.TB, i int) {
	t.Helper()
	member, err := embed.StartEtcd(c.configs[i])
	if err != nil {
		t.Fatal(err)
	}
	c.members[i] = member
}

func (c *cluster) await(t testing.TB, i int) {
	t.Helper()
	select {
	case <-c.members[i].Server.ReadyNotify():
	case <-time.After(time.Minute):
		t.Fatal("etcd does not get ready")
	}
}

// restart starts a member again that was ended.
func (c *cluster) restart(t testing.TB, i int) {
	t.Helper()
	c.launch(t, i)
	c.await(t, i)
}

// end ends a member at once.
func (c *cluster) end(i int) {
	if m := c.members[i]; m != nil {
		m.Close()
		c.members[i] = nil
	}
}

// leader returns which member leads, -1 if none does.
func (c *cluster) leader() int {
	for i, m := range c.members {
		if m != nil && m.Server.Leader() == m.Server.MemberID() {
			return i
		}
	}
	return -1
}

// endpoints returns where clients reach the members.
func (c *cluster) endpoints() []string {
	var out []string
	for _, config := range c.configs {
		out = append(out, config.ListenClientUrls[0].String())
	}
	return out
}

// someEtcd starts the program that DEED_ETCD names, or else an etcd in this process, and returns where it is.
func someEtcd(t testing.TB) []string {
	t.Helper()
	program := os.Getenv("DEED_ETCD")
	if program == "" {
		return startCluster(t, 1).endpoints()
	}
	addresses := free(t, 2)
	client, peer := addresses[0], addresses[1]
	p := exec.Command(program, "--data-dir", t.TempDir(), "--log-level", "panic",
		"--listen-client-urls", client.String(), "--advertise-client-urls", client.String(),
		"--listen-peer-urls", peer.String(), "--initial-advertise-peer-urls", peer.String(), "--initial-cluster", "default="+peer.String())
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Kill() // it may have ended by itself
		_ = p.Wait()
	})
	return []string{client.String()}
}

// open opens a store in an etcd, which ends with the test.
func open(t testing.TB, endpoints []string) *etcd.Store {
	t.Helper()
	s, err := etcd.Open(t.Context(), etcd.Config{Endpoints: endpoints, Keys: etcd.Registry("/deed"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
