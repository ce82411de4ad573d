package flowcontrol

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/replica"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Controller finds the flows of requests. It is safe for concurrent use.
//
// Invariant: a request that is classified after Changed has returned is classified by all objects that were stored before Changed was
// called. changes counts the calls of Changed. A table has the count that was read before the store was.
type Controller struct {
	store store.Store
	log   logs.Logger
	seats int // of all priority levels together
	seed  maphash.Seed

	changes atomic.Uint64
	table   atomic.Pointer[table] // nil before the first request

	mu      sync.Mutex // is held while a table is made
	schemas replica.Replica[*flowcontrolv1.FlowSchema]
	levels  replica.Replica[*flowcontrolv1.PriorityLevelConfiguration]
}

// New returns a Controller. seats is how many requests that are not exempt are carried out at once.
func New(s store.Store, schemas, levels *catalog.Resource, seats int, log logs.Logger) *Controller {
	return &Controller{
		store: s, log: log, seats: seats, seed: maphash.MakeSeed(),
		schemas: stored[flowcontrolv1.FlowSchema](schemas.Prefix), levels: stored[flowcontrolv1.PriorityLevelConfiguration](levels.Prefix),
	}
}

// stored returns a replica of the objects of a resource, which are of Go type T.
func stored[T any](prefix string) replica.Replica[*T] {
	return replica.Replica[*T]{Prefix: prefix, Derive: func(object value.Value) (*T, error) {
		out := new(T)
		return out, structs.Into(object, out)
	}}
}

// Changed tells the controller that a FlowSchema or priority level was written or deleted.
func (c *Controller) Changed() { c.changes.Add(1) }

// table is what the stored objects say. It is immutable.
type table struct {
	changes uint64  // see Controller
	flows   []*flow // in the order in which they are asked
	levels  map[string]*level
}

// flow is a FlowSchema whose priority level exists.
type flow struct {
	name          string
	precedence    int32
	uid           []string // the value of a header
	rules         []flowcontrolv1.PolicyRulesWithSubjects
	distinguisher flowcontrolv1.FlowDistinguisherMethodType // empty if the flow is one for all requests
	level         *level
}

// Flow is the flow of one request.
type Flow struct {
	// Schema and Level are the UIDs of the FlowSchema and its priority level, as values of headers. They must not be modified. A UID is empty
	// if a mandatory object was deleted: the object counts nevertheless, and is soon made again.
	Schema, Level []string
	// SchemaName and LevelName are the names of both.
	SchemaName, LevelName string
	// Exempt tells that the priority level has no limit.
	Exempt bool

	hash  uint64 // of the FlowSchema, and of what tells its flows apart
	level *level
}

// Classify returns the flow of a request: that of the first FlowSchema whose rules match.
func (c *Controller) Classify(ctx context.Context, u auth.User, i *request.Info) Flow {
	asked := newCall(u, i)
	of := c.current(ctx).flow(&asked)
	out := Flow{
		Schema: of.uid, Level: of.level.uid, SchemaName: of.name, LevelName: of.level.object.Name, Exempt: of.level.exempt, level: of.level,
	}
	if of.level.queuing.queues < 2 {
		return out
	}
	var h maphash.Hash
	h.SetSeed(c.seed)
	h.WriteString(of.name)
	h.WriteByte(0)
	switch of.distinguisher {
	case flowcontrolv1.FlowDistinguisherMethodByUserType:
		h.WriteString(u.Name)
	case flowcontrolv1.FlowDistinguisherMethodByNamespaceType:
		h.WriteString(i.Target.Namespace)
	}
	out.hash = h.Sum64()
	return out
}

// flow returns the first flow whose rules match. The flow catch-all gets a request of a user in neither of the groups that it has.
func (t *table) flow(c *call) *flow {
	var last *flow
	for _, f := range t.flows {
		if c.matches(f.rules) {
			return f
		}
		if f.name == flowcontrolv1.FlowSchemaNameCatchAll {
			last = f
		}
	}
	return last
}

// Do carries a request out once its priority level has a seat for it, which may be at once, and otherwise returns why it did not. A request waits
// no longer than patience.
func (f Flow) Do(ctx context.Context, patience time.Duration, carryOut func()) Refusal {
	if f.Exempt {
		f.level.room.enter()
	} else {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if why := f.level.room.acquire(ctx, f.hash); why != "" {
			return why
		}
	}
	defer f.level.room.release()
	carryOut()
	return ""
}

// Seats says how many seats a priority level has: by its shares, at least and at most, and at the moment.
type Seats struct {
	Level                         string
	Nominal, Least, Most, Current int
}

// Seats returns the seats of each priority level, in no order. There are none before the first request.
func (c *Controller) Seats() []Seats {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Seats
	if t := c.table.Load(); t != nil {
		for name, l := range t.levels {
			out = append(out, Seats{name, l.nominal, l.least, l.most, l.seats})
		}
	}
	return out
}

// current returns the table of what is stored now. If the store cannot be read, it is the table before, or that of the mandatory objects.
//
// The count is read before the store. So a write that is stored meanwhile is read now, or makes the next call read again.
func (c *Controller) current(ctx context.Context) *table {
	if t := c.table.Load(); t != nil && t.changes == c.changes.Load() {
		return t
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	changes, before := c.changes.Load(), c.table.Load()
	if before != nil && before.changes == changes {
		return before
	}
	for _, catchUp := range []func(context.Context, store.Store) error{c.levels.CatchUp, c.schemas.CatchUp} {
		if err := catchUp(ctx, c.store); err != nil {
			c.log.Error("FlowSchemas and priority levels cannot be read", logs.Fault(err))
			if before == nil {
				before = c.compile(0)
			}
			return before
		}
	}
	t := c.compile(changes)
	c.table.Store(t)
	return t
}

// compile returns the table of the objects that were read. A FlowSchema whose priority level does not exist has no effect. A mandatory
// FlowSchema that is missing stands where it belongs.
func (c *Controller) compile(changes uint64) *table {
	t := &table{changes: changes, levels: c.compileLevels()}
	have := map[string]bool{}
	for o := range c.schemas.All() {
		if f := t.compileFlow(o); f.level != nil {
			t.flows, have[f.name] = append(t.flows, f), true
		}
	}
	slices.SortFunc(t.flows, func(a, b *flow) int {
		return cmp.Or(cmp.Compare(a.precedence, b.precedence), cmp.Compare(a.name, b.name))
	})
	if first := bootstrap.MandatoryFlowSchemaExempt; !have[first.Name] {
		t.flows = slices.Insert(t.flows, 0, t.compileFlow(first))
	}
	if last := bootstrap.MandatoryFlowSchemaCatchAll; !have[last.Name] {
		t.flows = append(t.flows, t.compileFlow(last))
	}
	return t
}

func (t *table) compileFlow(o *flowcontrolv1.FlowSchema) *flow {
	f := &flow{
		name: o.Name, precedence: o.Spec.MatchingPrecedence, uid: []string{string(o.UID)}, rules: o.Spec.Rules,
		level: t.levels[o.Spec.PriorityLevelConfiguration.Name],
	}
	if d := o.Spec.DistinguisherMethod; d != nil {
		f.distinguisher = d.Type
	}
	return f
}

// AdjustInterval is the time after which seats move to the levels that need them.
const AdjustInterval = 10 * time.Second

// Adjust moves seats between priority levels by their demand since the last time.
func (c *Controller) Adjust(context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.table.Load(); t != nil {
		adjust(t.levels)
	}
}
