package rows

import (
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
	var decoder managedfields.Decoder
	var out map[string]any
	return deedForm{
		live: func() (managedfields.Object, error) {
			if r.begin(&decoder); live == nil {
				return managedfields.Object{}, nil
			}
			return decoder.FromAny(live)
		},
		sent: func() (managedfields.Object, error) { return decoder.FromAny(sent) },
		done: func(o managedfields.Object) (err error) {
			out, err = o.AsAny()
			return err
		},
		answer: func() (string, error) { return canonical(out) },
	}, nil
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
