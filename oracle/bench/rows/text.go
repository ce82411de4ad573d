package rows

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/oracle/peer"
)

// deedText holds objects as JSON text.
func deedText(r request) (deedForm, error) {
	var decoder managedfields.Decoder
	var out []byte
	return deedForm{
		live: func() (managedfields.Object, error) {
			if r.verb == apply { // a configuration has too little in common with the object's text
				return managedfields.ParseObject(r.live)
			}
			r.begin(&decoder)
			return decoder.Parse(r.live)
		},
		sent: func() (managedfields.Object, error) {
			if r.verb == apply {
				return managedfields.ParseObject(r.sent)
			}
			return decoder.Parse(r.sent)
		},
		done: func(o managedfields.Object) error {
			out = o.AppendJSON(nil)
			return nil
		},
		answer: func() (string, error) { return canonical(json.RawMessage(out)) },
	}, nil
}

// peerText holds objects as JSON text, which it decodes as kube-apiserver does and prints by encoding/json.
func peerText(r request, p *peer.Peer) (peerForm, error) {
	var out []byte
	return peerForm{
		live: func() (runtime.Object, error) { return p.Decode(r.live) },
		sent: func() (runtime.Object, error) {
			content, err := decode(r.sent)
			return &unstructured.Unstructured{Object: content}, err
		},
		done: func(o runtime.Object) (err error) {
			if u, ok := o.(*unstructured.Unstructured); ok {
				out, err = json.Marshal(u.Object)
			} else {
				out, err = json.Marshal(o)
			}
			return err
		},
		answer: func() (string, error) { return canonical(json.RawMessage(out)) },
	}, nil
}
