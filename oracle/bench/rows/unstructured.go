package rows

import (
	"bytes"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/oracle/peer"
)

// deedUnstructured holds objects as maps: deed converts both in, and the answer out.
func deedUnstructured(r request) (deedForm, error) {
	live, err := decode(r.live)
	if err != nil {
		return deedForm{}, err
	}
	sent, err := decode(r.sent)
	if err != nil {
		return deedForm{}, err
	}
	var out map[string]any
	return deedForm{
		live: func() (managedfields.Object, error) { return fromMap(live) },
		sent: func() (managedfields.Object, error) { return fromMap(sent) },
		done: func(o managedfields.Object) (err error) {
			out, err = o.ToAny()
			return err
		},
		answer: func() (string, error) { return canonical(out) },
	}, nil
}

// fromMap is [managedfields.ObjectFromAny], for which no map is no object.
func fromMap(content map[string]any) (managedfields.Object, error) {
	if content == nil {
		return managedfields.Object{}, nil
	}
	return managedfields.ObjectFromAny(content)
}

// peerUnstructured holds objects as maps, as the peer takes and returns them.
func peerUnstructured(r request, p *peer.Peer) (peerForm, error) {
	live, err := p.Decode(r.live)
	if err != nil {
		return peerForm{}, err
	}
	sent, err := decode(r.sent)
	if err != nil {
		return peerForm{}, err
	}
	var out runtime.Object
	restore := restorer(sent)
	return peerForm{
		live: func() (runtime.Object, error) { return live, nil },
		sent: func() (runtime.Object, error) {
			restore()
			return &unstructured.Unstructured{Object: sent}, nil
		},
		done:   func(o runtime.Object) error { out = o; return nil },
		answer: func() (string, error) { return canonicalUnstructured(out) },
	}, nil
}

// restorer returns a function that undoes what the peer's Update does to the object it is given: it replaces the managed
// fields in it.
func restorer(object map[string]any) func() {
	metadata, _ := object["metadata"].(map[string]any)
	entries, ok := metadata["managedFields"]
	if !ok {
		return func() {}
	}
	return func() { metadata["managedFields"] = entries }
}

// deedCold is deedUnstructured with inputs none of whose fieldsV1 has ever been seen: no cache by their text can help.
func deedCold(r request) (deedForm, error) {
	inputs := unseen{request: r}
	var out map[string]any
	return deedForm{
		prepare: inputs.prepare,
		live:    func() (managedfields.Object, error) { return managedfields.ObjectFromAny(inputs.next().live) },
		sent:    func() (managedfields.Object, error) { return managedfields.ObjectFromAny(inputs.current().sent) },
		done: func(o managedfields.Object) (err error) {
			out, err = o.ToAny()
			return err
		},
		answer: func() (string, error) { return canonical(out) },
	}, nil
}

// peerCold is peerUnstructured with the inputs of deedCold.
func peerCold(r request, _ *peer.Peer) (peerForm, error) {
	inputs := unseen{request: r}
	var out runtime.Object
	return peerForm{
		prepare: inputs.prepare,
		live: func() (runtime.Object, error) {
			return &unstructured.Unstructured{Object: inputs.next().live}, nil
		},
		sent: func() (runtime.Object, error) {
			return &unstructured.Unstructured{Object: inputs.current().sent}, nil
		},
		done:   func(o runtime.Object) error { out = o; return nil },
		answer: func() (string, error) { return canonicalUnstructured(out) },
	}, nil
}

// unseen makes variants of a request's objects that differ in the fieldsV1 of every manager.
type unseen struct {
	request
	serial int
	ready  []variant
}

type variant struct{ live, sent map[string]any }

// prepare makes n variants. The field that makes their sets differ is in no object, which is of no account: managers may own
// what is gone.
func (u *unseen) prepare(n int) error {
	u.ready = u.ready[:0]
	for range n {
		u.serial++
		mark := fmt.Appendf(nil, `"f:metadata":{"f:serial-%d":{},`, u.serial)
		live, err := decode(bytes.ReplaceAll(u.live, []byte(`"f:metadata":{`), mark))
		if err != nil {
			return err
		}
		sent, err := decode(bytes.ReplaceAll(u.sent, []byte(`"f:metadata":{`), mark))
		if err != nil {
			return err
		}
		u.ready = append(u.ready, variant{live, sent})
	}
	u.ready = append(u.ready, variant{}) // in front of which next begins
	return nil
}

// next moves to the next variant and returns it.
func (u *unseen) next() variant {
	last := len(u.ready) - 1
	u.ready[last] = variant{}
	u.ready = u.ready[:last]
	return u.current()
}

func (u *unseen) current() variant { return u.ready[len(u.ready)-1] }

func decode(text []byte) (content map[string]any, err error) {
	if len(text) == 0 {
		return nil, nil
	}
	return content, utiljson.Unmarshal(text, &content)
}

func canonicalUnstructured(o runtime.Object) (string, error) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return "", fmt.Errorf("expected an unstructured object, got %T", o)
	}
	return canonical(u.Object)
}
