package history

import (
	"encoding/json"
	"fmt"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/deed-project/deed/oracle/peer"
)

// Engine answers apply and update requests for objects of one kind. It gets the live object, which is empty if there is none, and returns
// the new one.
type Engine interface {
	Apply(live, config []byte, manager string, force bool) peer.Answer
	Update(live, object []byte, manager string) peer.Answer
}

// Record is a request with the answer of an engine.
type Record struct {
	Step    string          `json:"step"`
	Manager string          `json:"manager"`
	Verb    string          `json:"verb"` // apply, force, or update
	Time    time.Time       `json:"time"`
	Sent    json.RawMessage `json:"sent"`             // the applied configuration, or the whole updated object
	Object  json.RawMessage `json:"object,omitempty"` // the new object of a successful request
	Entries json.RawMessage `json:"entries,omitempty"`
	Status  json.RawMessage `json:"status,omitempty"`
	Error   string          `json:"error,omitempty"`
}

// pause is the time between two requests, so that managedFields entries have different times.
const pause = time.Minute

// Play runs the managers of kind on engine, beginning without an object. alpha, beta and gamma apply their configurations, and alpha its
// second one. Then a controller writes, alpha applies again, beta gives up all its fields, and an editor removes all labels. A conflicting
// apply is repeated with force. The clock advances by time.Sleep, so call Play in a testing/synctest bubble.
func Play(engine Engine, kind Kind) ([]Record, error) {
	identity, err := identityOf(kind.A)
	if err != nil {
		return nil, err
	}
	p := player{engine: engine}
	p.apply("create", "alpha", kind.A)
	p.apply("join", "beta", kind.B)
	p.apply("overlap", "gamma", kind.C)
	p.apply("change", "alpha", kind.A2)
	p.update("write", "controller", kind.Controller)
	p.apply("repeat", "alpha", kind.A2)
	p.apply("withdraw", "beta", identity)
	p.update("strip", "editor", []byte(`{"metadata":{"labels":null}}`))
	return p.records, p.err
}

type player struct {
	engine  Engine
	live    []byte
	records []Record
	err     error
}

// apply requests an apply, and repeats it with force after a conflict.
func (p *player) apply(step, manager string, config []byte) {
	if p.err != nil {
		return
	}
	if answer := p.engine.Apply(p.live, config, manager, false); p.record(step, manager, "apply", config, answer) {
		p.record(step, manager, "force", config, p.engine.Apply(p.live, config, manager, true))
	}
}

// update requests a change of the live object by a merge patch.
func (p *player) update(step, manager string, patch []byte) {
	if p.err != nil {
		return
	}
	object, err := jsonpatch.MergePatch(p.live, patch)
	if err != nil {
		p.err = fmt.Errorf("%s: %w", step, err)
		return
	}
	p.record(step, manager, "update", object, p.engine.Update(p.live, object, manager))
}

// record adds an answer and reports whether it is a conflict. Any other failure ends the history.
func (p *player) record(step, manager, verb string, sent []byte, a peer.Answer) (conflict bool) {
	r := Record{Step: step, Manager: manager, Verb: verb, Time: time.Now().UTC(),
		Sent: sent, Object: a.Object, Entries: a.Entries, Status: a.Status}
	conflict = a.Status != nil && a.Conflict()
	if a.Err != nil {
		r.Error = a.Err.Error()
	} else {
		p.live = a.Object
	}
	if a.Err != nil && !conflict && p.err == nil {
		p.err = fmt.Errorf("%s by %s: %w", step, manager, a.Err)
	}
	p.records = append(p.records, r)
	time.Sleep(pause)
	return conflict
}

// identityOf returns the part of an object that all its configurations have.
func identityOf(object []byte) ([]byte, error) {
	var o struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace,omitempty"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(object, &o); err != nil {
		return nil, err
	}
	return json.Marshal(o)
}
