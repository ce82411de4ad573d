// Package aggregation serves the group versions that APIServices register, as k8s.io/kube-aggregator does. A local APIService is about a
// version that the server itself has. A remote one names a service, and requests for its version go there:
//
//	[Aggregator]   which APIServices there are (table.go), and which should be (register.go)
//	               whether remote ones are available (availability.go)
//	               what they say of their resources (documents.go, openapi.go)
//	               how requests reach them (proxy.go)
//
// Stored APIServices are the truth. [Aggregator.Sync] reads what changed, after each write of an APIService and before the client gets its
// answer. A server without remote APIServices has no goroutine for them.
//
// A new store gets its APIServices before the first request for APIServices or for the groups of the server: see [Aggregator.Ensure]. A server
// in a test, whose clients know the kinds, starts without them.
package aggregation

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/store"
)

// Group and Plural name the resource of APIServices.
const (
	Group  = "apiregistration.k8s.io"
	Plural = "apiservices"
)

// Resolver finds the address of a port of a service.
type Resolver interface {
	ResolveEndpoint(namespace, name string, port int32) (*url.URL, error)
	// IsFixed reports whether a service has an address that does not follow from its object.
	IsFixed(namespace, name string) bool
}

// Definitions are the CustomResourceDefinitions of a server.
type Definitions interface {
	// Serve reads definitions that changed.
	Serve(ctx context.Context) error
	// Defines reports whether a definition has a served version, whether or not its names are accepted.
	Defines(gv kschema.GroupVersion) bool
}

// Aggregator keeps APIServices in line, and knows the remote ones. Its exported fields are set before Start; then it is safe for concurrent
// use.
type Aggregator struct {
	Store       store.Store
	Catalog     func() *catalog.Catalog
	Definitions Definitions
	Client      *loopback.Client
	Resolver    Resolver
	// Certificate and Key identify the server to remote API servers, in PEM. Both may be empty.
	Certificate, Key []byte
	Shared           bool // other servers use the Store: what they register is registered at once
	Now              func() time.Time
	Go               func(func(context.Context)) // runs background work until the server ends
	Report           func(what string, err error)
	// Lost is called with the name of an APIService that is no longer available, and the reason.
	Lost func(name, reason string)

	mu    sync.Mutex
	table table                             // guarded by mu
	due   map[kschema.GroupVersion]struct{} // whose registration may be out of line; guarded by mu

	remotes atomic.Pointer[map[kschema.GroupVersion]*service] // nil if there are none
	changes atomic.Int64                                      // how often the documents of remotes changed
	watched sync.Once                                         // whether availability is watched
	started atomic.Bool                                       // whether APIServices are created by requests

	pending atomic.Bool // whether nothing is registered yet
	ensure  sync.Mutex  // is held while everything is registered
	begin   time.Time   // when the server started
}

// resource returns the resource of APIServices.
func (a *Aggregator) resource() *catalog.Resource { return a.Catalog().Lookup(Group, Plural) }

// Start registers the built-in group versions, and those of the definitions that are stored. A store without APIServices is left to Ensure.
func (a *Aggregator) Start(ctx context.Context) error {
	a.begin = a.Now()
	page, err := a.Store.Range(ctx, store.Range{Prefix: a.resource().Prefix, Limit: 1})
	if err != nil {
		return err
	}
	if len(page.Records) == 0 && !a.Shared {
		a.pending.Store(true)
		return nil
	}
	return a.registerAll(ctx)
}

// Started has APIServices created by requests from now on, which pass admission.
func (a *Aggregator) Started() {
	if !a.pending.Load() {
		a.started.Store(true)
	}
}

// Ensure registers what Start left, before an answer shows APIServices or group versions. If that fails, the next call tries again.
func (a *Aggregator) Ensure(ctx context.Context) {
	if !a.pending.Load() {
		return
	}
	a.ensure.Lock()
	defer a.ensure.Unlock()
	if !a.pending.Load() {
		return
	}
	if err := a.registerAll(context.WithoutCancel(ctx)); err != nil {
		a.Report("APIServices are not registered", err)
		return
	}
	a.started.Store(true)
	a.pending.Store(false)
	// A definition that came meanwhile was left to this call.
	if err := a.settle(context.WithoutCancel(ctx)); err != nil {
		a.Report("APIServices are not registered", err)
	}
}

// registerAll registers the built-in group versions and those of definitions.
func (a *Aggregator) registerAll(ctx context.Context) error {
	if err := a.read(ctx); err != nil {
		return err
	}
	if err := a.registerBuiltIn(ctx); err != nil {
		return err
	}
	return a.settle(ctx)
}

// Sync reads the APIServices that changed, and restores those that the server keeps.
func (a *Aggregator) Sync(ctx context.Context) error {
	if err := a.read(ctx); err != nil {
		return err
	}
	return a.Settle(ctx)
}

// read brings the table up to date. Remote APIServices that changed are checked in the background.
func (a *Aggregator) read(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	changed, err := a.table.read(ctx, a.Store, a.resource().Prefix, a.newRemote)
	unsettled := false
	for _, s := range changed {
		// One that a client made or labelled may have been deleted, so that the server's own takes its place. Those of built-in group versions are
		// registered once, when the server starts.
		if s.managed != onStart || a.started.Load() {
			a.mark(s.gv)
		}
		unsettled = unsettled || s.remote != nil || !s.isLocal
	}
	if len(changed) > 0 {
		a.remotes.Store(a.table.remotes())
		a.changes.Add(1)
	}
	if unsettled {
		a.watched.Do(func() { a.Go(a.watch) })
	}
	return err
}

// mark has the registration of a group version looked at. The caller holds a.mu.
func (a *Aggregator) mark(gv kschema.GroupVersion) {
	if a.due == nil {
		a.due = map[kschema.GroupVersion]struct{}{}
	}
	a.due[gv] = struct{}{}
}

// Changed has the registrations of group versions looked at by the next [Aggregator.Settle], because definitions changed.
func (a *Aggregator) Changed(of []kschema.GroupVersion) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, gv := range of {
		a.mark(gv)
	}
}

// Settle brings the registrations in line that were marked. Several calls may share the work. Before anything is registered, it leaves them to
// Ensure.
func (a *Aggregator) Settle(ctx context.Context) error {
	if a.pending.Load() {
		return nil
	}
	return a.settle(ctx)
}

func (a *Aggregator) settle(ctx context.Context) error {
	var errs []error
	for {
		gv, ok := a.next()
		if !ok {
			return errors.Join(errs...)
		}
		errs = append(errs, a.register(ctx, gv))
	}
}

// next takes a marked registration.
func (a *Aggregator) next() (gv kschema.GroupVersion, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for gv := range a.due {
		delete(a.due, gv)
		return gv, true
	}
	return gv, false
}

// Groups returns the groups of all APIServices but that of the core group, in the order of plain discovery: by priority, then by name of the
// first APIService. The result is shared and must not be modified.
func (a *Aggregator) Groups() []catalog.Group {
	a.Ensure(context.Background())
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.table.groups()
}

// Handler returns the handler of a path that a remote API server serves, nil for other paths. Behind it, the context of a request must be a
// request.Context.
func (a *Aggregator) Handler(path string) http.Handler {
	remotes := a.remotes.Load()
	if remotes == nil {
		return nil
	}
	if s := (*remotes)[versionOf(path)]; s != nil {
		return s
	}
	return nil
}
