// Package conformance_test runs the laws of stores on etcd. It is a module of its own, because a
// server of etcd is made of some hundred packages more than its client.
package conformance_test

import (
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/etcd"
	"github.com/deed-project/deed/server/store/storetest"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
)

// start starts a server of etcd, which ends with the test.
func start(t testing.TB) *embed.Etcd {
	loopback := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config := embed.NewConfig()
	config.Dir, config.LogLevel, config.UnsafeNoFsync = t.TempDir(), "fatal", true
	config.ListenClientUrls, config.AdvertiseClientUrls = loopback, loopback
	config.ListenPeerUrls, config.AdvertisePeerUrls = loopback, loopback
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	server, err := embed.StartEtcd(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	select {
	case <-server.Server.ReadyNotify():
	case <-time.After(time.Minute):
		t.Fatal("etcd does not start")
	}
	return server
}

func TestLaws(t *testing.T) {
	for name, keys := range map[string]etcd.Keys{"keys as they are": {}, "keys under a prefix": {There: "/deed/"}} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, storetest.Config{Open: func(t testing.TB) store.Store {
				return etcd.New(v3client.New(start(t).Server), keys, time.Now)
			}})
		})
	}
}

// Keys of an API server are called in etcd as the prefix wants it; others there are not.
func TestKeys(t *testing.T) {
	client := v3client.New(start(t).Server)
	for prefix, want := range map[string]string{"/registry": "/registry/a/b", "x": "/x/a/b", "/": "/a/b", "/x/y/": "/x/y/a/b"} {
		s := etcd.New(client, etcd.Registry(prefix), time.Now)
		if _, err := s.Put(t.Context(), "/registry/a/b", []byte(prefix), 0); err != nil {
			t.Fatal(err)
		}
		if found, err := client.Get(t.Context(), want); err != nil || len(found.Kvs) != 1 || string(found.Kvs[0].Value) != prefix {
			t.Errorf("under %s etcd has no %s: %v", prefix, want, err)
		}
		if r, err := s.Get(t.Context(), "/registry/a/b", 0); err != nil || r.Key != "/registry/a/b" {
			t.Errorf("%v, %v", r, err)
		}
		page, err := s.Range(t.Context(), store.Range{Prefix: "/registry/a/", After: "/registry/a/a"})
		if err != nil || len(page.Records) != 1 || page.Records[0].Key != "/registry/a/b" {
			t.Errorf("under %s: %v, %v", prefix, page, err)
		}
		if _, err := s.Put(t.Context(), "/other", nil, 0); err == nil {
			t.Error("a key is written that the store does not have")
		}
		if _, err := s.Get(t.Context(), "/other", 0); !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
		if _, err := s.Delete(t.Context(), "/other", 0); !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
		if page, err := s.Range(t.Context(), store.Range{Prefix: "/other"}); err != nil || len(page.Records) != 0 || page.Revision == 0 {
			t.Errorf("%v, %v", page, err)
		}
	}
}

// A record with a time goes by itself, and shares its lease with others of about the same time.
func TestLeases(t *testing.T) {
	client := v3client.New(start(t).Server)
	s := etcd.New(client, etcd.Keys{}, time.Now)
	defer s.Close()
	until := time.Now().Add(time.Hour)
	for i := range 10 {
		if _, err := s.PutUntil(t.Context(), fmt.Sprint("/", i), nil, 0, until.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	leases, err := client.Leases(t.Context())
	if err != nil || len(leases.Leases) != 1 {
		t.Fatalf("%v leases, %v", leases, err)
	}
	left, err := client.TimeToLive(t.Context(), leases.Leases[0].ID)
	if err != nil || left.GrantedTTL < 3600 || left.GrantedTTL > 3661 {
		t.Errorf("the lease is for %d s, %v", left.GrantedTTL, err)
	}
	if _, err := client.Revoke(t.Context(), leases.Leases[0].ID); err != nil {
		t.Fatal(err)
	}
	if page, err := s.Range(t.Context(), store.Range{}); err != nil || len(page.Records) != 0 {
		t.Errorf("when the time is over there are %d records, %v", len(page.Records), err)
	}
}

// Two servers on one etcd are one store: what one writes the other reads and watches, and they
// conflict.
func TestTwoServers(t *testing.T) {
	server := start(t)
	one, two := etcd.New(v3client.New(server.Server), etcd.Keys{}, time.Now), etcd.New(v3client.New(server.Server), etcd.Keys{}, time.Now)
	defer one.Close()
	defer two.Close()
	ctx := t.Context()
	events, err := two.Watch(ctx, "/a", 1)
	if err != nil {
		t.Fatal(err)
	}
	first, err := one.Put(ctx, "/a", []byte("1"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := two.Put(ctx, "/a", []byte("2"), 0); !errors.Is(err, store.ErrConflict) {
		t.Errorf("both make a record: %v", err)
	}
	if _, err := two.Put(ctx, "/a", []byte("2"), first); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for batch, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch.Events {
			if seen++; string(e.Text) != fmt.Sprint(seen) {
				t.Errorf("event %d is %s", seen, e.Text)
			}
		}
		if seen == 2 {
			break
		}
	}
}
