package storetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server/store"
)

// operation is one call on a key, and answer its outcome.
type (
	operation struct {
		key    string
		kind   string // get, put or delete
		text   string
		expect store.Revision
	}
	answer struct {
		revision store.Revision // of the read record, or of the write
		text     string
		outcome  string // ok, conflict or missing
	}
	register struct {
		revision store.Revision // 0 for no record
		text     string
	}
)

// History describes random operations of concurrent clients on few keys.
type History struct {
	Clients, Each int    // number of clients, and of operations of each
	Prefix        string // of keys

	// Store returns the store for the next operation: a store may be closed and opened again during the history.
	Store func() store.Store
	// Context returns the context of an operation. It may draw from the client's random numbers.
	Context func(*rand.Rand) (context.Context, context.CancelFunc)
	// Uncertain reports whether an operation that failed with err may or may not have happened. Any other error outside of the contract
	// fails the test.
	Uncertain func(err error) bool
}

// linearizable: concurrent operations on a key look as if they happened one after the other, each between its call and its return.
func linearizable(t *testing.T, s store.Store) {
	Linearizable(t, History{
		Clients: 8, Each: 250,
		Store:     func() store.Store { return s },
		Context:   func(*rand.Rand) (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) },
		Uncertain: func(error) bool { return false },
	})
}

// Linearizable runs a history and checks that it is linearizable. An uncertain operation may have happened at any later time, or never.
// Every possible outcome must occur in the history.
func Linearizable(t *testing.T, h History) {
	t.Helper()
	start := time.Now()
	var mu sync.Mutex
	var history []porcupine.Operation
	var running sync.WaitGroup
	seed := seeds.First(t)
	outcomes := map[string]int{}
	record := func(client int, r *rand.Rand, op operation) answer {
		op.key = h.Prefix + op.key
		called := time.Since(start)
		got := h.perform(t, r, op)
		returned := time.Since(start)
		mu.Lock()
		defer mu.Unlock()
		outcomes[op.kind+" "+got.outcome]++
		switch {
		case got.outcome != uncertain:
		case op.kind == "get":
			return got // of no use for the model
		default:
			returned = time.Hour
		}
		history = append(history, porcupine.Operation{
			ClientId: client, Input: op, Output: got, Call: called.Nanoseconds(), Return: returned.Nanoseconds(),
		})
		return got
	}
	for i := range h.Clients {
		r := seeds.Stream(seed, i)
		running.Go(func() {
			known := map[string]store.Revision{}
			for n := range h.Each {
				op := randomOperation(r, known, i*h.Each+n)
				known[op.key] = record(i, r, op).revision
			}
		})
	}
	running.Wait()
	// The outcomes above depend on timing; the operations below produce every outcome.
	r := seeds.Stream(seed, h.Clients)
	there := record(0, r, operation{key: "0", kind: "get"}).revision
	there = record(0, r, operation{key: "0", kind: "put", text: "last", expect: there}).revision
	record(0, r, operation{key: "0", kind: "delete", expect: there - 1})
	record(0, r, operation{key: "0", kind: "delete", expect: there})
	record(0, r, operation{key: "0", kind: "delete", expect: there})
	record(0, r, operation{key: "0", kind: "get"})
	if result := porcupine.CheckOperationsTimeout(registers, history, patience); result != porcupine.Ok {
		t.Errorf("the history of %d operations is %s: %v", len(history), result, outcomes)
	}
	for _, outcome := range []string{"get ok", "get missing", "put ok", "put conflict", "delete ok", "delete missing", "delete conflict"} {
		if outcomes[outcome] == 0 {
			t.Errorf("no operation was %s: %v", outcome, outcomes)
		}
	}
	t.Logf("%d operations: %v", h.Clients*h.Each, outcomes)
}

// uncertain is the outcome of an operation that may or may not have happened.
const uncertain = "uncertain"

func randomOperation(r *rand.Rand, known map[string]store.Revision, n int) operation {
	op := operation{key: strconv.Itoa(r.IntN(3)), text: strconv.Itoa(n)}
	switch r.IntN(5) {
	case 0, 1:
		op.kind = "get"
	case 2, 3:
		op.kind, op.expect = "put", known[op.key]
	default:
		op.kind, op.expect = "delete", known[op.key]
	}
	if op.kind != "get" && r.IntN(8) == 0 {
		op.expect = 1 // no record has the revision of the empty store
	}
	return op
}

func (h *History) perform(t *testing.T, r *rand.Rand, op operation) answer {
	ctx, cancel := h.Context(r)
	defer cancel()
	s := h.Store()
	var got answer
	var err error
	switch op.kind {
	case "get":
		var r store.Record
		r, err = s.Get(ctx, op.key, 0)
		got = answer{revision: r.Revision, text: string(r.Text)}
	case "put":
		got.revision, err = s.Put(ctx, op.key, []byte(op.text), op.expect)
	case "delete":
		_, err = s.Delete(ctx, op.key, op.expect)
	}
	var conflict *store.ConflictError
	switch {
	case err == nil:
		got.outcome = "ok"
	case errors.As(err, &conflict):
		got = answer{conflict.Current.Revision, string(conflict.Current.Text), "conflict"}
	case errors.Is(err, store.ErrNotFound):
		got = answer{outcome: "missing"}
	case h.Uncertain(err):
		got = answer{outcome: uncertain}
	default:
		t.Error(err)
	}
	return got
}

// registers is the model: one independent record for each key.
var registers = (&porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[string][]porcupine.Operation{}
		for _, op := range history {
			key := op.Input.(operation).key
			byKey[key] = append(byKey[key], op)
		}
		var parts [][]porcupine.Operation
		for _, part := range byKey {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() []any { return []any{register{}} },
	Step: func(state, input, output any) []any {
		var next []any
		for _, r := range state.(register).step(input.(operation), output.(answer)) {
			next = append(next, r)
		}
		return next
	},
}).ToModel()

// unknown is the revision of a record of an uncertain write that has not been read.
const unknown store.Revision = -1

// is reports whether the register may hold the record that was read. It returns the register with that revision. No text is written twice.
func (r register) is(got answer) (register, bool) {
	if r.revision == unknown && got.revision > 0 && got.text == r.text {
		return register{got.revision, r.text}, true
	}
	return r, got.revision == r.revision && got.text == r.text
}

// step returns the states after an operation with an answer, or none if the answer is impossible in this state.
func (r register) step(op operation, got answer) []register {
	if got.outcome == uncertain {
		return append(r.made(op, unknown), r)
	}
	now, seen := r.is(got)
	switch {
	case op.kind == "get" && r.revision == 0, op.kind == "delete" && r.revision == 0:
		return only(r, got.outcome == "missing")
	case op.kind == "get":
		return only(now, got.outcome == "ok" && seen)
	case got.outcome == "conflict":
		return only(now, seen && op.expect != now.revision && (op.kind != "delete" || op.expect != 0))
	case got.outcome != "ok" || op.kind == "put" && got.revision <= r.revision:
		return nil
	}
	return r.made(op, got.revision)
}

// made returns the state after a successful write, if the write can succeed.
func (r register) made(op operation, at store.Revision) []register {
	expected := op.expect == r.revision || r.revision == unknown && op.expect > 0
	switch {
	case op.kind == "delete":
		return only(register{}, r.revision != 0 && (expected || op.expect == 0))
	case op.kind == "put":
		return only(register{at, op.text}, expected)
	}
	return nil
}

func only(r register, ok bool) []register {
	if !ok {
		return nil
	}
	return []register{r}
}
