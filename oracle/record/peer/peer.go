// Package peer starts a real API server for custom resources, k8s.io/apiextensions-apiserver on an embedded etcd, in this process.
package peer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	servertesting "k8s.io/apiextensions-apiserver/pkg/cmd/server/testing"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// Server is a running API server.
type Server struct {
	Client *http.Client // carries the credentials of a member of system:masters
	Base   string       // its address, such as https://127.0.0.1:6443
	Config *rest.Config // the same for clients of client-go
	Etcd   string       // where its etcd is, in which its keys begin with Prefix
	stops  []func()
}

// Prefix is what the keys of a Server begin with in etcd.
const Prefix = "record"

// Stop ends the server and its etcd, and removes what they stored.
func (s *Server) Stop() {
	for i := range s.stops {
		s.stops[len(s.stops)-1-i]()
	}
}

// Start starts etcd and an API server on top of it, and waits until they answer.
func Start(ctx context.Context, log io.Writer) (_ *Server, err error) {
	s := &Server{}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	if err := quiet(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		return nil, err
	}
	s.stops = append(s.stops, func() { os.RemoveAll(dir) })
	etcd, err := s.startEtcd(ctx, filepath.Join(dir, "etcd"))
	if err != nil {
		return nil, err
	}
	s.Etcd = etcd
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(nobody), 0o600); err != nil {
		return nil, err
	}
	api, err := servertesting.StartTestServer(logger{log}, nil, []string{
		"--etcd-servers", etcd, "--etcd-prefix", Prefix,
		"--authentication-skip-lookup", "--authentication-kubeconfig", kubeconfig, "--authorization-kubeconfig", kubeconfig,
		"--kubeconfig", kubeconfig, "--enable-priority-and-fairness=false",
		"--disable-admission-plugins",
		"NamespaceLifecycle,MutatingAdmissionWebhook,ValidatingAdmissionWebhook,ValidatingAdmissionPolicy,MutatingAdmissionPolicy",
	}, nil)
	if err != nil {
		return nil, err
	}
	s.stops = append(s.stops, api.TearDownFn)
	s.Base, s.Config = api.ClientConfig.Host, api.ClientConfig
	if s.Client, err = rest.HTTPClientFor(api.ClientConfig); err != nil {
		return nil, err
	}
	return s, nil
}

// startEtcd starts an etcd that keeps its data in dir and returns its address.
func (s *Server) startEtcd(ctx context.Context, dir string) (string, error) {
	var urls []url.URL
	for range 2 {
		address, err := freeAddress()
		if err != nil {
			return "", err
		}
		urls = append(urls, url.URL{Scheme: "http", Host: address})
	}
	c := embed.NewConfig()
	c.Dir, c.UnsafeNoFsync = dir, true
	c.LogLevel, c.LogOutputs = "error", []string{filepath.Join(filepath.Dir(dir), "etcd.log")}
	c.ListenClientUrls, c.AdvertiseClientUrls = urls[:1], urls[:1]
	c.ListenPeerUrls, c.AdvertisePeerUrls = urls[1:], urls[1:]
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	etcd, err := embed.StartEtcd(c)
	if err != nil {
		return "", err
	}
	s.stops = append(s.stops, etcd.Close)
	select {
	case <-etcd.Server.ReadyNotify():
		return urls[0].String(), nil
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(time.Minute):
		return "", errors.New("etcd does not get ready")
	}
}

// freeAddress returns an address of the loopback interface that nobody listens on.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), listener.Close()
}

// nobody is a kubeconfig for servers that are never asked, without which an API server does not start.
const nobody = `{"apiVersion": "v1", "kind": "Config", "current-context": "none",
"clusters": [{"name": "none", "cluster": {"server": "http://127.0.0.1:1"}}],
"contexts": [{"name": "none", "context": {"cluster": "none", "user": "none"}}],
"users": [{"name": "none", "user": {}}]}`

// quiet lets the server log nothing but what ends it.
func quiet() error {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	klog.SetOutput(io.Discard)
	return errors.Join(flags.Set("logtostderr", "false"), flags.Set("stderrthreshold", "FATAL"))
}

// logger prints what the starting server fails with.
type logger struct{ out io.Writer }

// Errorf prints an error.
func (l logger) Errorf(format string, args ...any) { fmt.Fprintf(l.out, format+"\n", args...) }

// Fatalf prints an error; the caller gets it as a return value too.
func (l logger) Fatalf(format string, args ...any) { fmt.Fprintf(l.out, format+"\n", args...) }

// Logf prints nothing.
func (l logger) Logf(string, ...any) {}
