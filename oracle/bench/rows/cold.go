package rows

import (
	"bytes"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/oracle/peer"
)

// deedCold is deedUnstructured with inputs none of whose fieldsV1 has ever been seen: no cache of them can help.
func deedCold(r request) (deedForm, error) {
	inputs := unseen[map[string]any]{request: r, decode: decode}
	form, err := deedUnstructured(r)
	form.prepare = inputs.prepare
	form.live = func() (managedfields.Object, error) {
		return managedfields.ObjectFromAny(inputs.next().live)
	}
	form.sent = func() (managedfields.Object, error) { return managedfields.ObjectFromAny(inputs.current().sent) }
	return form, err
}

// peerCold is peerUnstructured with the inputs of deedCold.
func peerCold(r request, p *peer.Peer) (peerForm, error) {
	inputs := unseen[map[string]any]{request: r, decode: decode}
	form, err := peerUnstructured(r, p)
	form.prepare = inputs.prepare
	form.live = func() (runtime.Object, error) { return &unstructured.Unstructured{Object: inputs.next().live}, nil }
	form.sent = func() (runtime.Object, error) { return &unstructured.Unstructured{Object: inputs.current().sent}, nil }
	return form, err
}

// deedTextCold is deedText with inputs none of whose fieldsV1 has ever been seen.
func deedTextCold(r request) (deedForm, error) {
	inputs := unseen[[]byte]{request: r, decode: asText}
	form, err := deedText(r)
	form.prepare = inputs.prepare
	form.live = func() (managedfields.Object, error) {
		return managedfields.ParseObject(inputs.next().live)
	}
	form.sent = func() (managedfields.Object, error) { return managedfields.ParseObject(inputs.current().sent) }
	return form, err
}

// peerTextCold is peerText with the inputs of deedTextCold.
func peerTextCold(r request, p *peer.Peer) (peerForm, error) {
	inputs := unseen[[]byte]{request: r, decode: asText}
	form, err := peerText(r, p)
	form.prepare = inputs.prepare
	form.live = func() (runtime.Object, error) { return p.Decode(inputs.next().live) }
	form.sent = func() (runtime.Object, error) { return p.Decode(inputs.current().sent) }
	return form, err
}

func asText(text []byte) ([]byte, error) { return text, nil }

// unseen makes variants of a request's objects that differ in the fieldsV1 of every manager.
type unseen[T any] struct {
	request
	decode func(text []byte) (T, error) // into the form in which workers take objects
	serial int
	ready  []variant[T]
}

type variant[T any] struct{ live, sent T }

// unmarked is how the fieldsV1 of every manager begins in the objects that cold rows are about.
var unmarked = []byte(`"fieldsV1":{"f:metadata":{`)

// prepare makes n variants. The field that makes their sets differ is in no object, which is of no account: managers may own
// what is gone. It sorts before all others, so that texts stay canonical.
func (u *unseen[T]) prepare(n int) (err error) {
	u.ready = u.ready[:0]
	for range n {
		u.serial++
		marked := fmt.Appendf(nil, `%s"f:-serial-%d":{},`, unmarked, u.serial)
		var v variant[T]
		if v.live, err = u.decode(bytes.ReplaceAll(u.live, unmarked, marked)); err != nil {
			return err
		}
		if v.sent, err = u.decode(bytes.ReplaceAll(u.sent, unmarked, marked)); err != nil {
			return err
		}
		u.ready = append(u.ready, v)
	}
	u.ready = append(u.ready, variant[T]{}) // in front of which next begins
	return nil
}

// next moves to the next variant and returns it.
func (u *unseen[T]) next() variant[T] {
	last := len(u.ready) - 1
	u.ready[last] = variant[T]{}
	u.ready = u.ready[:last]
	return u.current()
}

func (u *unseen[T]) current() variant[T] { return u.ready[len(u.ready)-1] }
