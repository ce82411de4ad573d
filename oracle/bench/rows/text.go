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
	var sent managedfields.Object
	var out []byte
	return deedForm{
		live: func(*managedfields.FieldManager) (live managedfields.Object, err error) {
			if r.verb == update {
				live, sent, err = managedfields.ParseObjects(r.live, r.sent)
				return live, err
			}
			if sent, err = managedfields.ParseObject(r.sent); err == nil {
				live, err = managedfields.ParseObject(r.live)
			}
			return live, err
		},
		sent: func() (managedfields.Object, error) { return sent, nil },
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
