// Package apitest gives tests of controllers an API server in the test's process. [Start] takes milliseconds. Each server is isolated, runs
// beside other servers, and ends with its test.
//
//	s := apitest.Start(t, apitest.CRDs("config/crd"))
//	c, err := dynamic.NewForConfig(s.RESTConfig())
//
// Clients of RESTConfig reach the server without a network. For other programs, [Server.URL] and [Server.Kubeconfig] open a port.
package apitest

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/manifest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
)

// Server is the server of one test.
type Server struct {
	*server.Server
	tb       testing.TB
	store    store.Store
	requests *inProcess
	listener listener
}

// Option configures a server.
type Option func(*options) error

type options struct {
	objects []manifest.Object
	types   []types
	now     func() time.Time
	wrap    func(http.Handler) http.Handler
	log     *slog.Logger

	webhooks  []hooked
	converter http.Handler // nil for none
	converted []string     // names of definitions
	plugins   admission.Chain

	rbac          bool
	accounts      bool
	controllers   []string // nil for the default
	enable        []string // admission plugins
	disable       []string // admission plugins
	emulated      string
	configured    map[string][]byte // of admission plugins
	runtimeConfig map[string]bool
	services      server.Services
	resolve       map[string]string // addresses of services
}

// RBAC makes the roles and bindings of a server decide what a user may do. Without it, every request is allowed. Clients of RESTConfig are
// administrators, who may do everything. Configurations with Impersonate send requests as other users.
func RBAC() Option {
	return func(o *options) error {
		o.rbac = true
		return nil
	}
}

// ServiceAccounts lets a server treat service accounts as a cluster does. Each namespace gets the account default and the ConfigMap
// kube-root-ca.crt, Secrets get tokens, and pods need an account and mount its token. It switches on three controllers, beside the others,
// and the admission plugin ServiceAccount. Tokens of accounts authenticate without it: see [Server.Token].
func ServiceAccounts() Option {
	return func(o *options) error {
		o.accounts = true
		return nil
	}
}

// accountControllers are the controllers of ServiceAccounts.
var accountControllers = []string{"serviceaccount-controller", "root-ca-certificate-publisher-controller", "serviceaccount-token-controller"}

// Admission adds admission plugins to a server: functions of the test in place of webhooks.
func Admission(plugins ...admission.Plugin) Option {
	return func(o *options) error {
		o.plugins = append(o.plugins, plugins...)
		return nil
	}
}

// Controllers chooses the controllers that run, by the names of kube-controller-manager; see [server.Config]. Without it, only the namespace
// controller runs. With no names none runs, as in envtest: a namespace that is deleted keeps its objects, and stays.
//
//	apitest.Start(t, apitest.Controllers("garbage-collector-controller", "namespace-controller"))
func Controllers(names ...string) Option {
	return func(o *options) error {
		o.controllers = append([]string{}, names...)
		return nil
	}
}

// EnableAdmissionPlugins switches admission plugins of kube-apiserver on, by their names; see [server.AdmissionPlugins].
func EnableAdmissionPlugins(names ...string) Option {
	return func(o *options) error {
		o.enable = append(o.enable, names...)
		return nil
	}
}

// DisableAdmissionPlugins switches admission plugins of kube-apiserver off, by their names; see [server.DefaultAdmissionPlugins].
func DisableAdmissionPlugins(names ...string) Option {
	return func(o *options) error {
		o.disable = append(o.disable, names...)
		return nil
	}
}

// ConfigurePlugins configures the admission plugins PodSecurity and ResourceQuota, and switches them on: see
// [server.Config].PluginConfiguration.
func ConfigurePlugins(configurations map[string][]byte) Option {
	return func(o *options) error {
		o.configured = configurations
		return nil
	}
}

// RuntimeConfig switches versions of built-in kinds on and off, as kube-apiserver with the flag --runtime-config: see
// [server.Config].RuntimeConfig.
func RuntimeConfig(versions map[string]bool) Option {
	return func(o *options) error {
		o.runtimeConfig = versions
		return nil
	}
}

// EmulatedVersion makes a server behave as kube-apiserver with the flag --emulated-version: it has the capabilities of a minor release of
// Kubernetes such as 1.36; see [server.Config].
func EmulatedVersion(release string) Option {
	return func(o *options) error {
		o.emulated = release
		return nil
	}
}

// ClusterIPs gives services addresses of a range such as 10.0.0.0/24, and ports on nodes, and creates the service kubernetes. A second range
// after a comma, of the other family, is for services with two families.
func ClusterIPs(of string) Option {
	return func(o *options) (err error) {
		first, second, isDual := strings.Cut(of, ",")
		if o.services.ClusterIPRange, err = netip.ParsePrefix(first); err == nil && isDual {
			o.services.SecondClusterIPRange, err = netip.ParsePrefix(second)
		}
		return err
	}
}

// Resolve tells a server where a service is: at an address of the form host:port. Requests for a version that an APIService gives to the
// service go there, and need neither endpoints nor the service itself.
//
//	extension := httptest.NewTLSServer(handler)
//	apitest.Start(t, apitest.Resolve("default", "extension", extension.Listener.Addr().String()))
func Resolve(namespace, name, address string) Option {
	return func(o *options) error {
		if o.resolve == nil {
			o.resolve = map[string]string{}
		}
		o.resolve[name+"."+namespace] = address
		return nil
	}
}

// Clock sets the clock of a server: for timestamps of objects and managed fields, and for ages.
func Clock(now func() time.Time) Option {
	return func(o *options) error {
		o.now = now
		return nil
	}
}

// Wrap puts a handler of the test in front of the server, for example to count, delay or refuse requests.
func Wrap(wrap func(http.Handler) http.Handler) Option {
	return func(o *options) error {
		o.wrap = wrap
		return nil
	}
}

// Start starts a server that ends with the test. The server logs to the test's log. If the server cannot start, the test fails.
func Start(tb testing.TB, with ...Option) *Server {
	tb.Helper()
	o := options{log: slog.New(slog.NewTextHandler(testLog{tb}, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	for _, option := range with {
		if err := option(&o); err != nil {
			tb.Fatal(err)
		}
	}
	for _, t := range o.types {
		definitions, err := t.define(o.objects)
		if err != nil {
			tb.Fatal(err)
		}
		o.objects = append(definitions, o.objects...)
	}
	if err := o.serveWebhooks(tb); err != nil {
		tb.Fatal(err)
	}
	s := &Server{tb: tb, store: memory.New()}
	var err error
	if o.accounts {
		if err := s.listener.certify(); err != nil {
			tb.Fatal(err)
		}
		if o.controllers == nil {
			o.controllers = server.DefaultControllers
		}
		o.controllers = slices.Concat(o.controllers, accountControllers)
		o.enable = append(o.enable, "ServiceAccount")
	}
	config := server.Config{Store: s.store, Objects: manifest.Values(o.objects), Admission: o.plugins, RBAC: o.rbac, Now: o.now, Log: o.log, Controllers: o.controllers,
		RootCA: s.listener.trusted, EmulatedVersion: o.emulated, RuntimeConfig: o.runtimeConfig, EnableAdmissionPlugins: o.enable, DisableAdmissionPlugins: o.disable,
		PluginConfiguration: o.configured, Services: o.services, Webhooks: server.Webhooks{Resolve: o.resolve}}
	if s.Server, err = server.New(config); err != nil {
		tb.Fatal(located(err, o.objects))
	}
	var handler http.Handler = s.Server
	if o.wrap != nil {
		handler = o.wrap(handler)
	}
	s.requests = newInProcess(handler)
	tb.Cleanup(s.end)
	return s
}

// located adds to err the file of the object that it is about.
func located(err error, objects []manifest.Object) error {
	var of *server.ObjectError
	if errors.As(err, &of) && objects[of.Index].File != "" {
		return fmt.Errorf("%s: %w", objects[of.Index].Where(), err)
	}
	return err
}

// end stops the server: watches, the port and background work.
func (s *Server) end() {
	s.requests.close()
	s.listener.close(s.tb)
	if err := s.Close(); err != nil {
		s.tb.Error(err)
	}
	if err := s.store.Close(); err != nil {
		s.tb.Error(err)
	}
}

// RESTConfig returns the configuration of clients in the test's process. Their requests do not use the network and have no rate limit.
func (s *Server) RESTConfig() *rest.Config {
	return &rest.Config{Host: "http://deed.invalid", Transport: s.requests, QPS: -1}
}

// Transport returns the round tripper for requests to the server.
func (s *Server) Transport() http.RoundTripper { return s.requests }

// Expire makes every resource version before now too old: lists and watches from one of them get 410.
func (s *Server) Expire() {
	s.tb.Helper()
	page, err := s.store.Range(s.tb.Context(), store.Range{Prefix: "/registry/namespaces/", Limit: 1})
	if err == nil {
		err = s.store.Compact(s.tb.Context(), page.Revision)
	}
	if err != nil {
		s.tb.Fatal(err)
	}
}

// testLog writes to the log of a test.
type testLog struct{ tb testing.TB }

// Write logs a line.
func (l testLog) Write(line []byte) (int, error) {
	l.tb.Logf("deed-apiserver: %s", line)
	return len(line), nil
}
