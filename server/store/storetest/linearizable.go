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
	"github.com/deed-project/deed/server/store"
)

// operation is one call on a key, and answer what came of it.
type (
	operation struct {
		key    string
		kind   string // get, put or delete
		text   string
		expect store.Revision
	}
	answer struct {
		revision store.Revision // of the record that was read, or of the write
		text     string
		outcome  string // ok, conflict or missing
	}
	register struct {
		revision store.Revision // 0 if there is no record
		text     string
	}
)

// linearizable: what concurrent clients do with a key looks as if one did it after the other, each
// between its call and its return.
func linearizable(t *testing.T, s store.Store) {
	const clients, each = 8, 250
	start := time.Now()
	var mu sync.Mutex
	var history []porcupine.Operation
	var running sync.WaitGroup
	record := func(client int, op operation) answer {
		called := time.Since(start)
		got := perform(t, s, op)
		returned := time.Since(start)
		mu.Lock()
		defer mu.Unlock()
		history = append(history, porcupine.Operation{
			ClientId: client, Input: op, Output: got, Call: called.Nanoseconds(), Return: returned.Nanoseconds(),
		})
		return got
	}
	for i := range clients {
		r := rand.New(rand.NewPCG(3, uint64(i)))
		running.Go(func() {
			known := map[string]store.Revision{}
			for n := range each {
				op := randomOperation(r, known, i*each+n)
				known[op.key] = record(i, op).revision
			}
		})
	}
	running.Wait()
	// What the clients meet depends on who comes first; these make sure of every outcome.
	there := record(0, operation{key: "0", kind: "get"}).revision
	there = record(0, operation{key: "0", kind: "put", text: "last", expect: there}).revision
	record(0, operation{key: "0", kind: "delete", expect: there - 1})
	record(0, operation{key: "0", kind: "delete", expect: there})
	record(0, operation{key: "0", kind: "delete", expect: there})
	record(0, operation{key: "0", kind: "get"})
	if result := porcupine.CheckOperationsTimeout(registers, history, patience); result != porcupine.Ok {
		t.Errorf("the history of %d operations is %s", len(history), result)
	}
	outcomes := map[string]int{}
	for _, op := range history {
		outcomes[op.Input.(operation).kind+" "+op.Output.(answer).outcome]++
	}
	for _, outcome := range []string{"get ok", "get missing", "put ok", "put conflict", "delete ok", "delete missing", "delete conflict"} {
		if outcomes[outcome] == 0 {
			t.Errorf("no operation was %s: %v", outcome, outcomes)
		}
	}
}

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
		op.expect = 1 // what no record has, as the empty store has it
	}
	return op
}

func perform(t *testing.T, s store.Store, op operation) answer {
	ctx := context.Background()
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
	default:
		t.Error(err)
	}
	return got
}

// registers is the model: a record for each key, on its own.
var registers = porcupine.Model{
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
	Init: func() any { return register{} },
	Step: func(state, input, output any) (bool, any) {
		return state.(register).step(input.(operation), output.(answer))
	},
}

// step reports whether an operation may be answered so in a state, and returns the state after it.
func (r register) step(op operation, got answer) (bool, register) {
	seen := got.revision == r.revision && got.text == r.text
	switch {
	case op.kind == "get" && r.revision == 0, op.kind == "delete" && r.revision == 0:
		return got.outcome == "missing", r
	case op.kind == "get":
		return got.outcome == "ok" && seen, r
	case op.kind == "delete" && op.expect == 0:
		return got.outcome == "ok", register{}
	case op.expect != r.revision:
		return got.outcome == "conflict" && seen, r
	case op.kind == "delete":
		return got.outcome == "ok", register{}
	}
	return got.outcome == "ok" && got.revision > r.revision, register{got.revision, op.text}
}
