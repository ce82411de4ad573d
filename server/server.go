package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/expressions"
	"github.com/deed-project/deed/server/admission/policy"
	"github.com/deed-project/deed/server/admission/webhook"
	"github.com/deed-project/deed/server/aggregation"
	"github.com/deed-project/deed/server/audit"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/auth/accounts"
	"github.com/deed-project/deed/server/auth/rbac"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/builtin"
	"github.com/deed-project/deed/server/catalog/crd"
	"github.com/deed-project/deed/server/controllers"
	"github.com/deed-project/deed/server/controllers/certificates"
	"github.com/deed-project/deed/server/controllers/serviceaccounts"
	"github.com/deed-project/deed/server/conversion"
	"github.com/deed-project/deed/server/discovery"
	"github.com/deed-project/deed/server/filters"
	"github.com/deed-project/deed/server/flowcontrol"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/metrics"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/registry/namespaces"
	"github.com/deed-project/deed/server/registry/pods"
	"github.com/deed-project/deed/server/registry/policies"
	"github.com/deed-project/deed/server/registry/services"
	"github.com/deed-project/deed/server/registry/unenforced"
	"github.com/deed-project/deed/server/registry/webhooks"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/response"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/rest/watch"
	"github.com/deed-project/deed/server/rest/write"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

// Server is an API server: an http.Handler. It is safe for concurrent use.
//
// A request passes the filters (handler.go), and is routed (route.go) to a resource (resources.go) or to package discovery.
type Server struct {
	handler  http.HandlerFunc // the filters, and route behind them
	limits   filters.Limits
	access   *auth.Access
	recorder *audit.Recorder // of the audit log; nil if there is none
	out      response.Writer
	panics   filters.Panics
	flight   metrics.InFlight
	metrics  *metrics.Metrics
	log      logs.Logger
	now      func() time.Time
	runs     map[string]bool // controllers by name

	reader    *read.Reader
	discovery *discovery.Handler
	resources *resources

	client       *loopback.Client
	background   *controllers.Background
	definitions  *controllers.Definitions
	deletions    *controllers.Deletions
	webhooks     *controllers.Webhooks
	policies     *controllers.Policies
	pluginConfig pluginConfig
	unenforced   unenforced.Kinds
	allocator    *services.Allocator // nil if services get nothing
	accounts     *accounts.Authority
	rootCA       []byte // in PEM
	release      emulation
	authority    certificates.Authority
	rbac         *rbac.Authorizer         // nil unless it is configured
	aggregation  *controllers.Aggregation // likewise
	flows        *flowcontrol.Controller  // nil without priority and fairness
	maintainer   *flowcontrol.Maintainer  // likewise
	aggregator   *aggregation.Aggregator
}

// New returns a server. The error is about the store, or an object that cannot be created.
//
// When it returns, the stored definitions are served and the given objects exist. The controllers run until Close.
func New(c Config) (*Server, error) {
	s := &Server{now: c.Now, rootCA: c.RootCA, authority: c.ClusterSigning}
	if s.now == nil {
		s.now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Store == nil {
		c.Store = memory.New()
	}
	if c.EventTTL == 0 {
		c.EventTTL = eventTTL
	}
	s.log = logs.New(c.Log)
	s.background = controllers.NewBackground(s.log)
	s.limits, s.metrics = c.Limits.WithDefaults(), metrics.New(&s.flight, s.catalog)
	s.recorder = c.AuditLog
	s.access = &auth.Access{Authenticator: c.Authenticate, Hosts: c.Hosts, Now: s.now, Log: s.log}
	if err := s.access.UseCertificates(c.Certificates); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.out = response.Writer{Log: s.log, CBOR: c.CBOR}
	s.panics = filters.Panics{Metrics: s.metrics, Log: s.log}
	s.client = &loopback.Client{Handler: http.HandlerFunc(s.route), Timeout: s.limits.Write}
	var err error
	if s.runs, err = chosenControllers(c.Controllers); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := errors.Join(c.ServiceAccounts.Check(), builtin.RuntimeConfig(c.RuntimeConfig).Check(), s.release.emulate(c.EmulatedVersion)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.access.Minor = s.release.minor()
	if err := s.assemble(c); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.handler = s.filtered(s.route)
	if err := s.start(c); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// assemble makes the parts of the server that work on the store.
//
// The parts refer to each other through small interfaces and functions, so the order matters little. No controller runs yet.
func (s *Server) assemble(c Config) error {
	objects := s.metrics.Store(c.Store)
	always, err := s.builtinResources(c)
	if err != nil {
		return err
	}
	s.definitions = &controllers.Definitions{
		Store: objects, Always: always, Prefix: always[definitionsAt].Prefix, Client: s.client, Now: s.now, Log: s.log,
		Transient: c.Transient,
	}
	s.deletions = &controllers.Deletions{
		Store: objects, Definitions: s.definitions, Namespaces: always[namespacesAt], Client: s.client, Now: s.now, Report: s.background.Report,
		LeavesNamespaces: !s.runs[namespaceController],
	}
	s.deletions.Start(s.background.Context())
	resolver := services.Resolver{Context: s.background.Context(), Store: objects, Catalog: s.catalog, Fixed: c.Webhooks.Resolve}
	if s.definitions.Conversions, err = conversion.NewClient(s.background.Context(), resolver); err != nil {
		return err
	}
	if a := c.Aggregation; len(a.ProxyCertificate) > 0 || len(a.ProxyKey) > 0 {
		if _, err := tls.X509KeyPair(a.ProxyCertificate, a.ProxyKey); err != nil {
			return fmt.Errorf("the client certificate for other API servers: %w", err)
		}
	}
	s.aggregator = &aggregation.Aggregator{
		Store: objects, Catalog: s.catalog, Definitions: s.definitions, Client: s.client, Resolver: resolver,
		Certificate: c.Aggregation.ProxyCertificate, Key: c.Aggregation.ProxyKey, Now: s.now, Go: s.background.Go, Report: s.background.Report, Shared: c.Shared,
		Lost: s.metrics.LoseAPIService,
	}
	s.metrics.APIServices = s.aggregator.Available
	s.definitions.Changed, s.deletions.Remote = s.aggregator.Changed, s.remoteCollections
	hooks, err := s.newHooks(c.Webhooks, objects, resolver)
	if err != nil {
		return err
	}
	s.policies = s.newPolicies(objects)
	chain, err := s.chain(c, objects, hooks)
	if err != nil {
		return err
	}
	s.webhooks = &controllers.Webhooks{Store: objects, Catalog: s.catalog, Hooks: hooks}
	s.authorizeAsConfigured(c, objects, always)
	if c.PriorityAndFairness {
		s.limitByFlows(objects, always)
	}
	s.accounts = &accounts.Authority{Config: c.ServiceAccounts, Now: s.now, Object: s.coreObject(objects)}
	s.access.Accounts = s.accounts
	s.reader = &read.Reader{Store: objects, Now: s.now}
	watches := &watch.Handler{
		Hub: &watch.Hub{Reader: s.reader}, Response: s.out, Log: s.log, Now: s.now, Ended: s.background.Context(), Minor: s.release.minor(),
		Panicked: s.panics.Report, Counter: s.metrics.EventCounter,
	}
	s.resources = &resources{
		reader: s.reader, watches: watches, cbor: c.CBOR, access: s.access, accounts: s.accounts, audit: audit.Log{Sink: c.Audit, Log: s.log}, metrics: s.metrics,
		answers: answers{out: s.out, now: s.now, log: s.log},
		writer: &write.Writer{
			Reader: s.reader, EventTTL: c.EventTTL, MaxObject: c.MaxObject,
			Host:      &host{s.definitions, s.deletions, s.webhooks, s.policies, s.aggregator, s.rbac, s.flows, s.background, s.release, s.access},
			Permit:    s.permit(objects),
			Admission: slices.Concat(chain, s.escalation()), Observe: s.metrics.Admit,
		},
	}
	if err := s.allocate(c.Services); err != nil {
		return err
	}
	s.definitions.Forget = func(r *catalog.Resource) {
		s.reader.Forget(r)
		watches.Hub.Forget(r)
	}
	checker, _ := c.Store.(store.Checker)
	checks := metrics.NewHealthChecks()
	s.discovery = &discovery.Handler{
		Catalog: s.catalog, Metrics: s.metrics.Handler, Response: s.out, Now: s.now, Started: s.now(), Flags: c.Flags, Issuer: s.accounts,
		Aggregator: s.aggregator, Minor: s.release.minor(),
		Health: discovery.Health{
			Store: objects, Checker: checker, Ended: s.background.Context().Err, Log: s.log, Minor: s.release.minor(),
			Fair: c.PriorityAndFairness, RBAC: c.RBAC, Observe: checks.Observe,
		},
		HealthChecks: checks,
	}
	return nil
}

// allocate lets services get addresses and ports, if the configuration has a range.
func (s *Server) allocate(c Services) error {
	ranges := c.ranges()
	if len(ranges) == 0 {
		return nil
	}
	for _, r := range ranges {
		if free := r.Addr().BitLen() - r.Bits(); free < 2 || r.Addr().Is6() && free > 64 {
			return fmt.Errorf("services get addresses from a range of at least four, and of version 6 from a /64 at most: %v is none", r)
		}
	}
	if len(ranges) == 2 && ranges[0].Addr().Is4() == ranges[1].Addr().Is4() {
		return fmt.Errorf("the two ranges of addresses of services must have different families: %v and %v have one", ranges[0], ranges[1])
	}
	if c.NodePorts == (services.PortRange{}) {
		c.NodePorts = services.DefaultPorts
	}
	s.allocator = &services.Allocator{
		Store: s.reader.Store, Catalog: s.catalog, Client: s.client, Ranges: ranges, Ports: c.NodePorts, Now: s.now,
		Report: s.background.Report,
	}
	s.resources.writer.Allocator = s.allocator
	return nil
}

// newHooks returns the admission plugin that calls webhooks.
func (s *Server) newHooks(c Webhooks, objects store.Store, resolver services.Resolver) (*webhook.Hooks, error) {
	return webhook.New(webhook.Config{
		Namespace: func(ctx context.Context, name string) (value.Value, error) {
			return registry.Object(ctx, objects, s.deletions.Namespaces.Key("", name))
		},
		Services: resolver, Credentials: c.Credentials, Log: s.log, Authorize: s.authorize, Called: s.countCalls,
	})
}

// countCalls counts concurrent calls of webhooks. The request waited for the longest one. Requests of the server itself have no Info.
func (s *Server) countCalls(ctx context.Context, calls ...webhook.Call) {
	var longest time.Duration
	for _, c := range calls {
		s.metrics.CallWebhook(c)
		longest = max(longest, c.Took)
	}
	if r := request.From(ctx); r != nil && r.Info != nil {
		r.Waited.Add(int64(longest))
	}
}

// newPolicies returns the controller of admission policies, with the plugin that enforces them.
func (s *Server) newPolicies(objects store.Store) *controllers.Policies {
	params := policies.Params{Store: objects, Catalog: s.catalog}
	return &controllers.Policies{Store: objects, Catalog: s.catalog, Plugin: policy.New(policy.Config{
		Namespace: func(ctx context.Context, name string) (value.Value, error) {
			return params.Of(kschema.GroupVersionKind{Version: "v1", Kind: "Namespace"}).Get(ctx, "", name)
		},
		Params: params.Of, Authorize: s.authorize,
	})}
}

// authorize answers expressions that check permissions.
//
// The authorizer is asked with a context of the user that the expression names.
func (s *Server) authorize(ctx context.Context, u admission.User, a expressions.Action) (bool, string) {
	return s.access.Allows(request.As(ctx, auth.User(u)), auth.User(u), auth.Action(a))
}

// catalog returns the resources that are served at the moment.
func (s *Server) catalog() *catalog.Catalog { return s.definitions.Catalog() }

// Indexes of resources in builtinResources.
const (
	namespacesAt  = 0
	definitionsAt = 1
)

// builtinResources returns the resources that every server serves.
//
// The first two have fixed places: see the indexes above.
func (s *Server) builtinResources(c Config) ([]*catalog.Resource, error) {
	of, err := builtin.Namespaces(s.now)
	if err != nil {
		return nil, err
	}
	namespace := func(ctx context.Context, name string) (value.Value, error) {
		return registry.Object(ctx, s.reader.Store, of.Key("", name))
	}
	kinds, err := builtin.Kinds(builtin.Cluster{
		Release: s.release.Release, Now: s.now, Namespace: namespace,
		Families: c.Services.families(), Unprivileged: c.Unprivileged,
		RuntimeConfig: c.RuntimeConfig,
	})
	if err != nil {
		return nil, err
	}
	webhooks.Install(kinds)
	return slices.Concat([]*catalog.Resource{of, crd.Definitions(s.now), builtin.Bindings(s.now)}, builtin.Reviews(s.now), kinds), nil
}

// start creates the objects that the server starts with, and starts the controllers.
//
// The order matters. Definitions come first, since objects may be of their kinds. Webhooks and policies are started after the objects, which
// they must not refuse. Deletions that an earlier server left are resumed when all resources are served.
func (s *Server) start(c Config) error {
	ctx := s.background.Context()
	if err := s.definitions.Sync(ctx); err != nil {
		return err
	}
	if err := s.webhooks.Fix(c.Webhooks.Fixed, s.versionOf); err != nil {
		return err
	}
	if err := s.aggregator.Start(ctx); err != nil {
		return err
	}
	if err := s.createSystemObjects(ctx); err != nil {
		return err
	}
	if c.RBAC {
		if err := s.startRoles(ctx); err != nil {
			return err
		}
	}
	if s.flows != nil {
		if err := s.startFlows(ctx); err != nil {
			return err
		}
	}
	if s.allocator != nil {
		if err := errors.Join(s.allocator.KeepRange(ctx), s.allocator.KeepService(ctx, c.Services.Advertise, true)); err != nil {
			return err
		}
	}
	if err := s.publishAuthentication(ctx, c.Certificates); err != nil {
		return err
	}
	for i, object := range c.Objects {
		if err := s.createFirst(ctx, object); err != nil {
			return &ObjectError{i, object, err}
		}
	}
	if s.allocator != nil {
		if err := s.allocator.Repair(ctx); err != nil {
			return err
		}
	}
	s.aggregator.Started()
	if err := s.webhooks.Start(ctx); err != nil {
		return err
	}
	if err := s.policies.Start(ctx); err != nil {
		return err
	}
	if err := s.deletions.Resume(ctx); err != nil {
		return err
	}
	s.unenforced.Report(ctx, s.reader.Store, s.catalog(), s.log)
	s.background.Go(s.deletions.Run)
	if err := s.startControllers(ctx); err != nil {
		return err
	}
	if !c.Transient {
		if err := s.keepSystemObjects(ctx, c.Services.Advertise); err != nil {
			return err
		}
		s.keepAuthentication(c.Certificates)
	}
	if c.Shared {
		s.followOthers()
	}
	if past := c.Past; past != nil || !c.Shared {
		if past == nil {
			past = &DefaultPast
		}
		s.background.Go(controllers.Compaction{Store: s.reader.Store, Window: *past, Now: s.now, Log: s.log}.Run)
	}
	return nil
}

// createSystemObjects creates the namespaces and priority classes that every server has.
func (s *Server) createSystemObjects(ctx context.Context) error {
	for _, name := range namespaces.System {
		if err := s.Create(ctx, namespaces.New(name)); err != nil {
			return err
		}
	}
	for _, class := range pods.SystemPriorityClasses {
		if err := s.Create(ctx, class); err != nil {
			return err
		}
	}
	return nil
}

// namespacesInterval is the time between looks for the namespaces of the system, as in kube-apiserver.
const namespacesInterval = time.Minute

// keepSystemObjects creates again what a client deletes of the objects that every server has, after a while: namespaces, the ConfigMap about
// tokens of Secrets, and what services are given addresses by. at is where clients of the network reach the server.
//
// Everything else that exists from the start stays deleted until the server starts again, as in kube-apiserver.
func (s *Server) keepSystemObjects(ctx context.Context, at netip.AddrPort) error {
	tracking := &serviceaccounts.Tracking{Host: s.accountsHost(), Now: s.now}
	if err := tracking.Start(ctx); err != nil {
		if _, isRefused := errors.AsType[*apierrors.StatusError](err); !isRefused {
			return err
		}
		s.background.Report("the ConfigMap about tokens of Secrets is refused", err)
	}
	s.background.Go(tracking.Run)
	s.background.Every(namespacesInterval, func(ctx context.Context) {
		for _, name := range namespaces.System {
			// The store is looked at first, since admission would be asked about a create that finds the namespace there.
			stored, err := registry.Object(ctx, s.reader.Store, s.deletions.Namespaces.Key("", name))
			if err == nil && stored.IsAbsent() {
				err = s.Create(ctx, namespaces.New(name))
			}
			s.background.Report("a namespace of the system is not created again", err)
		}
	})
	if s.allocator == nil {
		return nil
	}
	s.background.Every(services.KeepInterval, func(ctx context.Context) {
		s.background.Report("the service kubernetes and its range are not kept", errors.Join(s.allocator.KeepRange(ctx), s.allocator.KeepService(ctx, at, false)))
	})
	s.background.Go(s.allocator.KeepAddresses)
	return nil
}

// followOthers keeps up with the servers that share the store: with definitions, configurations of webhooks, policies, and deletions. Namespaces are
// read from the store whenever an object is created.
//
// Deletions are looked for from time to time, as the server that began them may have ended.
func (s *Server) followOthers() {
	follow := func(prefix string, sync func(context.Context) error) {
		s.background.Go(func(ctx context.Context) {
			controllers.Follow(ctx, s.reader.Store, prefix, sync, func(err error) { s.background.Report("the store cannot be followed", err) })
		})
	}
	follow(s.definitions.Prefix, func(ctx context.Context) error {
		return errors.Join(s.definitions.Sync(ctx), s.aggregator.Settle(ctx))
	})
	follow(s.catalog().Lookup(aggregation.Group, aggregation.Plural).Prefix, s.aggregator.Sync)
	for _, name := range webhooks.Resources {
		follow(s.catalog().Lookup(webhooks.Group, name).Prefix, s.webhooks.Sync)
	}
	for _, name := range policies.Resources {
		if r := s.catalog().Lookup(policies.Group, name); r != nil { // the emulated release has the kind
			follow(r.Prefix, s.policies.Sync)
		}
	}
	if s.rbac != nil {
		for _, name := range rbac.Resources {
			follow(s.catalog().Lookup(rbac.Group, name).Prefix, func(context.Context) error {
				s.rbac.Changed()
				return nil
			})
		}
	}
	s.background.Every(controllers.ResumeInterval, func(ctx context.Context) {
		s.background.Report("deletions are not resumed", s.deletions.Resume(ctx))
	})
}

// ObjectError is the error of a server that cannot start with one of its [Config.Objects].
type ObjectError struct {
	Index  int // of the object in them
	Object value.Value
	Err    error
}

// Error names the object, and says why.
func (e *ObjectError) Error() string {
	return fmt.Sprintf("%s %s: %v", e.Object.Get("kind").Str(), e.Object.Get("metadata", "name").Str(), e.Err)
}

// Unwrap returns why.
func (e *ObjectError) Unwrap() error { return e.Err }

// createFirst creates an object that the server starts with. Its kind may be defined by another server that starts at the same time.
//
// A kind that is not served may have been defined by now, so it looks once more.
func (s *Server) createFirst(ctx context.Context, object value.Value) error {
	if _, err := s.versionOf(object); err != nil {
		if err := s.definitions.Sync(ctx); err != nil {
			return err
		}
	}
	return s.begins(ctx, object)
}

// Close stops the controllers and waits for them. Later requests fail.
func (s *Server) Close() error {
	s.background.Stop()
	return nil
}

// maxNamed is how many custom resources a summary names.
const maxNamed = 5

// Summary names the resources that the server serves, in a few words.
func (s *Server) Summary() string {
	served, more := []string{"built-in kinds", "CustomResourceDefinitions"}, 0
	for r := range s.catalog().All() {
		switch {
		case !r.Custom:
		case len(served) < 2+maxNamed:
			served = append(served, r.GroupResource().String())
		default:
			more++
		}
	}
	if more > 0 {
		served = append(served, fmt.Sprintf("%d more", more))
	}
	last := len(served) - 1
	return strings.Join(served[:last], ", ") + " and " + served[last]
}
