package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/webhook"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/builtin"
	"github.com/deed-project/deed/server/catalog/crd"
	"github.com/deed-project/deed/server/conversion"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

// Config says what a server is to be. The zero Config is a server in memory that serves namespaces and
// CustomResourceDefinitions, to everybody.
type Config struct {
	// Store holds the objects; nil is memory. The server does not close it.
	Store store.Store
	// Shared tells that other servers use the Store as well. The server follows what they write, so that all of them serve the same
	// definitions and ask the same webhooks.
	Shared bool
	// Objects are created when the server starts, in this order, unless they exist: definitions, and whatever they define. Those with
	// a resource version come from another server, and are kept as they were there, with their status and managed fields.
	Objects []value.Value
	// Now is the clock; nil is that of the system.
	Now func() time.Time
	// Authenticate tells who sends a request; nil takes everybody for a member of system:masters.
	Authenticate Authenticator
	// Hosts are the names by which clients reach the server over HTTP without TLS, beside localhost and addresses. A request without
	// credentials that names another host is refused: it may come from a web page of that host.
	Hosts []string
	// Authorize tells whether a user may do something; nil allows everything.
	Authorize Authorizer
	// Admission are plugins that are asked about writes, in this order: after those of the server itself, for the life of namespaces
	// and for what pods get, and before webhooks.
	Admission admission.Chain
	// Webhooks says how webhooks are asked.
	Webhooks Webhooks
	// Past is how much of its past the server keeps in the store; nil is [DefaultPast], and in a Store that is shared everything:
	// forgetting is the business of whoever owns it.
	Past *store.Window
	// MaxObject is how large an object may be that is stored, in bytes; 0 is [DefaultMaxObject].
	MaxObject int
	// EventTTL is how long Events are kept after they were last written; 0 is an hour, as in kube-apiserver.
	EventTTL time.Duration
	// Limits are how much the server does at once, and how long a request may take; the zero Limits are [DefaultLimits].
	Limits Limits
	// CBOR tells that bodies and answers may be CBOR, as with the feature gate CBORServingAndStorage of kube-apiserver, which is
	// off unless somebody turns it on.
	CBOR bool
	// Audit is told what admission noted about a request, once that is answered; nil is told nothing. It is called by many
	// goroutines at once.
	Audit func(AuditEvent)
	// Log is told of failures of the server itself; nil is slog.Default. No object, credential or answer of a webhook is in its lines at any
	// level, see package logs.
	Log *slog.Logger
}

// Server is an API server: an http.Handler. It is safe for concurrent use.
type Server struct {
	backend      *rest.Backend
	authenticate Authenticator
	hosts        []string      // Config.Hosts
	checker      store.Checker // the store, if it is one
	authorize    Authorizer
	audit        func(AuditEvent)
	log          logs.Logger
	now          func() time.Time
	limits       Limits
	flight       inFlight
	metrics      *metrics
	deadlines    deadlines

	base     []*catalog.Resource // those that are always served
	catalog  atomic.Pointer[catalog.Catalog]
	openAPIs atomic.Pointer[openAPIDocuments]

	settle      sync.Mutex  // held by whoever makes the catalog anew
	definitions definitions // guarded by settle
	writing     sync.Mutex  // held by whoever writes the status of definitions
	unsettled   atomic.Bool // some definition may have another status by now

	conversions   *conversion.Client
	hooks         *webhook.Hooks
	fixed         []value.Value     // configurations of hooks that are no objects
	resolve       map[string]string // addresses of services, by name.namespace
	settlingHooks sync.Mutex        // held by whoever compiles the hooks anew
	asking        bool              // hooks are asked; guarded by settlingHooks

	closing sync.RWMutex    // held while something begins in the background, and while the server ends
	ctx     context.Context // ends with the server
	cancel  context.CancelFunc
	wait    sync.WaitGroup // of what goes on in the background

	finishing finishing
}

// New returns a server. The error is about the store, or an object that cannot be created.
func New(c Config) (*Server, error) {
	s := &Server{
		authenticate: c.Authenticate, hosts: c.Hosts, authorize: c.Authorize, audit: c.Audit, now: c.Now,
	}
	if s.now == nil {
		s.now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	s.log = logs.New(c.Log)
	if c.Store == nil {
		c.Store = memory.New()
	}
	s.checker, _ = c.Store.(store.Checker)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.limits, s.metrics = c.Limits.withDefaults(), newMetrics(&s.flight)
	s.backend = &rest.Backend{
		Store: countedStore{c.Store, s.metrics}, Now: s.now, Stored: s.stored, CBOR: c.CBOR, Brief: c.EventTTL, MaxObject: c.MaxObject,
		Alike: func(r *catalog.Resource) []*catalog.Version { return s.catalog.Load().Alike(r) },
	}
	if s.backend.Brief == 0 {
		s.backend.Brief = eventTTL
	}
	s.backend.Resources = func(of kschema.GroupResource) *catalog.Resource {
		return s.catalog.Load().Lookup(of.Group, of.Resource)
	}
	s.backend.User = func(ctx context.Context) admission.User { return admission.User(UserOf(ctx)) }
	var err error
	if s.hooks, err = s.newWebhooks(c.Webhooks); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if s.conversions, err = conversion.NewClient(s.ctx, services{s}); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.backend.Admission = slices.Concat(
		admission.Chain{admission.Mutate(s.lifecycle), admission.Mutate(s.completePod), admission.Validate(advise),
			admission.Validate(warnUnenforced)}, c.Admission,
		admission.Chain{s.hooks})
	if err := s.begin(c); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.resume(s.ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.reportUnenforced(s.ctx)
	if c.Shared {
		s.followOthers()
	}
	switch {
	case c.Past != nil:
		s.keepPast(*c.Past, compactEvery)
	case !c.Shared:
		s.keepPast(DefaultPast, compactEvery)
	}
	return s, nil
}

// DefaultMaxObject is how large an object may be by default, as in a kube-apiserver on an etcd with default settings.
const DefaultMaxObject = rest.DefaultMaxObject

// eventTTL is how long Events are kept unless the server is told otherwise.
const eventTTL = time.Hour

// begin makes the catalog, and creates what every server has and the objects of c.
func (s *Server) begin(c Config) error {
	namespaces, err := builtin.Namespaces(s.now)
	if err != nil {
		return err
	}
	kinds, err := builtin.Kinds(s.now)
	if err != nil {
		return err
	}
	knowConfigurations(kinds)
	s.base = slices.Concat([]*catalog.Resource{namespaces, crd.Definitions(s.now), builtin.Bindings(s.now)}, builtin.Reviews(s.now), kinds)
	if err := s.settleDefinitions(s.ctx); err != nil {
		return err
	}
	if err := s.fixHooks(c.Webhooks.Fixed); err != nil {
		return err
	}
	for _, name := range systemNamespaces {
		if err := s.Create(s.ctx, newNamespace(name)); err != nil {
			return err
		}
	}
	for _, class := range systemPriorityClasses {
		if err := s.Create(s.ctx, class); err != nil {
			return err
		}
	}
	for i, object := range c.Objects {
		if err := s.createFirst(object); err != nil {
			return &ObjectError{i, object, err}
		}
	}
	return s.beginHooks()
}

// ObjectError is why a server cannot begin with one of its [Config.Objects].
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

// createFirst creates an object that the server begins with. What it is of may be defined by another server that begins just now.
func (s *Server) createFirst(object value.Value) error {
	if _, err := s.versionOf(object); err != nil {
		if err := s.settleDefinitions(s.ctx); err != nil {
			return err
		}
	}
	return s.begins(s.ctx, object)
}

// Close ends what the server does in the background, and waits for it. Requests after it fail.
func (s *Server) Close() error {
	s.closing.Lock()
	s.cancel()
	s.closing.Unlock()
	s.wait.Wait()
	return nil
}

// named is how many resources of definitions a summary names.
const named = 5

// Summary says in a few words what the server serves.
func (s *Server) Summary() string {
	served, more := []string{"built-in kinds", "CustomResourceDefinitions"}, 0
	for r := range s.catalog.Load().All() {
		switch {
		case !r.Custom:
		case len(served) < 2+named:
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
