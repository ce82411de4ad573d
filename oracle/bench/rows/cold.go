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
	inputs := variants[map[string]any]{request: r, vary: unseen, decode: decode}
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
	inputs := variants[map[string]any]{request: r, vary: unseen, decode: decode}
	form, err := peerUnstructured(r, p)
	form.prepare = inputs.prepare
	form.live = func() (runtime.Object, error) { return &unstructured.Unstructured{Object: inputs.next().live}, nil }
	form.sent = func() (runtime.Object, error) { return &unstructured.Unstructured{Object: inputs.current().sent}, nil }
	return form, err
}

// deedTextCold is deedText with inputs none of whose fieldsV1 has ever been seen.
func deedTextCold(r request) (deedForm, error) {
	inputs := variants[[]byte]{request: r, vary: unseen, decode: asText}
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
	inputs := variants[[]byte]{request: r, vary: unseen, decode: asText}
	form, err := peerText(r, p)
	form.prepare = inputs.prepare
	form.live = func() (runtime.Object, error) { return p.Decode(inputs.next().live) }
	form.sent = func() (runtime.Object, error) { return p.Decode(inputs.current().sent) }
	return form, err
}

// unmarked is how the fieldsV1 of every manager begins in the objects that cold rows are about.
var unmarked = []byte(`"fieldsV1":{"f:metadata":{`)

// unseen returns text with a field in the fieldsV1 of every manager that no text had before. The field is in no object, which
// is of no account: managers may own what is gone. It sorts before all others, so that texts stay canonical.
func unseen(text []byte, serial int) []byte {
	return bytes.ReplaceAll(text, unmarked, fmt.Appendf(nil, `%s"f:-serial-%d":{},`, unmarked, serial))
}
